"""The settings of log lines, metrics and traces."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr


class TelemetrySettings(BaseModel):
    """The part of the settings by which programs tell how they are."""

    log_level: str = "WARNING"
    log_format: Literal["text", "json"] = "text"  # of the lines on standard error, in all programs
    # metrics for Prometheus; each program listens at its own port: auth_server, mcp_server, dispatcher, worker, inbox
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = Field(None, ge=1, le=65531)  # of the first program; absent = none of them listens
    metrics_token: SecretStr | None = None  # the bearer token a scraper must send; absent = none is asked for
    metrics_dir: Path | None = None  # where the processes of a program count; absent = its own temporary folder
    # traces for OpenTelemetry, by the names its documentation uses
    otel_exporter_otlp_endpoint: str | None = Field(None, pattern=r"https?://\S+")  # absent = there are none
    otel_exporter_otlp_headers: SecretStr | None = None  # comma list of NAME=VALUE, such as the collector's key
    otel_traces_sampler_arg: float = Field(1.0, ge=0, le=1)  # the share of traces that is kept
