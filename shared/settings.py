"""The settings of the service, read once from the environment; all that is missing or wrong is reported at once."""

import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

VERSION = "0.4.0"
STATUS = "Online"
SCOPE = "mcp:read"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# What the web host hands to the MCP server, Host unchanged; the sample proxy file is tested against this list.
PASSED_PATHS = (
    "/mcp",
    "/api/v1/tools",
    "/api/v1/facts",
    "/facts/",
    "/.well-known/openapi.yaml",
    "/integrations/",
    "/feeds/",
    "/shared/",
    "/hooks/mail",
)

DataMode = Literal["sandbox", "live"]


class SettingsError(Exception):
    """The environment does not describe a service; the text names each setting and its remedy."""


def driver_url(value: str) -> str:
    """The database's address as SQLAlchemy wants it, from any of the usual spellings."""
    head, _, tail = value.partition("://")
    if head.split("+")[0] not in ("postgres", "postgresql"):
        raise ValueError("must be a postgresql:// address")
    return f"postgresql+psycopg://{tail}"


def _outside(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        raise ValueError("must be https, or http on this machine")
    return value.rstrip("/")


OutsideUrl = Annotated[str, AfterValidator(_outside)]


class Settings(BaseSettings):
    """One line per setting; deploy/env.example is compared with this class by a test."""

    model_config = SettingsConfigDict(env_prefix="", extra="ignore", frozen=True)

    # what the service is
    app_env: Literal["development", "production"] = "development"
    web_url: str = "http://127.0.0.1:8000"  # public web address: OAuth issuer, pages, REST
    mcp_url: str = "http://127.0.0.1:8001/mcp"  # dedicated tool address, ending in /mcp
    mcp_upstream_url: str | None = None  # where the web host finds the MCP server; absent = a proxy does it
    auth_internal_url: str | None = None  # where tools and jobs find the auth server; absent = at WEB_URL
    # where state lives
    database_url: str
    redis_url: str
    # secrets
    secret_keys: SecretStr  # comma list, newest first: seals tokens at rest and derives one-time links
    service_client_id: str = "award-travel-services"
    service_client_secret: SecretStr  # the service's own confidential client: introspection and look-ups
    # data
    award_backend: Literal["sandbox", "live"] | None = None
    sandbox_fault: str | None = None  # down | quota | empty | slow:SECONDS, to show outage wording
    seats_aero_api_key: SecretStr | None = None
    duffel_api_key: SecretStr | None = None
    serpapi_api_key: SecretStr | None = None
    travelpayouts_token: SecretStr | None = None
    liteapi_key: SecretStr | None = None
    rooms_aero_api_key: SecretStr | None = None
    flightaware_api_key: SecretStr | None = None  # delays only: neither prices nor seats, so it changes no data mode
    # where the sources are: others only for tests and for proxies of your own
    seats_aero_base_url: OutsideUrl = "https://seats.aero/partnerapi"
    rooms_aero_base_url: OutsideUrl = "https://rooms.aero/partnerapi"
    duffel_base_url: OutsideUrl = "https://api.duffel.com"
    liteapi_base_url: OutsideUrl = "https://api.liteapi.travel/v3.0"
    serpapi_base_url: OutsideUrl = "https://serpapi.com"
    travelpayouts_base_url: OutsideUrl = "https://api.travelpayouts.com"
    faa_nas_base_url: OutsideUrl = "https://nasstatus.faa.gov/api"
    flightaware_base_url: OutsideUrl = "https://aeroapi.flightaware.com/aeroapi"
    ecb_base_url: OutsideUrl = "https://www.ecb.europa.eu/stats/eurofxref"
    frankfurter_base_url: OutsideUrl = "https://api.frankfurter.dev"
    watch_sources: bool = True  # false = no public file is read to compare our facts with
    # people's own accounts elsewhere; TripIt can be connected by a private calendar address without a key
    seats_aero_client_id: str | None = None
    seats_aero_client_secret: SecretStr | None = None
    seats_aero_oauth_url: OutsideUrl = "https://seats.aero/oauth2"
    awardwallet_api_key: SecretStr | None = None
    awardwallet_base_url: OutsideUrl = "https://business.awardwallet.com/api/export/v1"
    google_client_id: str | None = None
    google_client_secret: SecretStr | None = None
    google_authorize_url: OutsideUrl = "https://accounts.google.com/o/oauth2/v2/auth"
    google_oauth_url: OutsideUrl = "https://oauth2.googleapis.com"
    google_sheets_base_url: OutsideUrl = "https://sheets.googleapis.com"
    tripit_consumer_key: str | None = None
    tripit_consumer_secret: SecretStr | None = None
    tripit_base_url: OutsideUrl = "https://api.tripit.com"
    tripit_web_url: OutsideUrl = "https://www.tripit.com"  # also the only host of private calendars
    autopilot_client_id: str | None = None
    autopilot_client_secret: SecretStr | None = None  # also signs what is sent
    autopilot_authorize_url: OutsideUrl | None = None
    autopilot_token_url: OutsideUrl | None = None
    autopilot_revoke_url: OutsideUrl | None = None  # RFC 7009; absent = there is none
    autopilot_api_base: OutsideUrl | None = None
    autopilot_scope: str | None = None
    # mail
    mail_backend: Literal["outbox", "smtp"] = "outbox"
    mail_from: str = "Award Travel <noreply@localhost>"
    outbox_dir: Path | None = None  # where the outbox backend writes .eml files
    smtp_host: str = "127.0.0.1"
    smtp_port: int = 587
    smtp_username: str | None = None
    smtp_password: SecretStr | None = None
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    inbound_mail_domain: str | None = None  # of the addresses booking confirmations are forwarded to
    inbound_smtp_host: str = "127.0.0.1"  # where `python -m jobs inbox` listens
    inbound_smtp_port: int | None = None  # absent = no listener
    inbound_smtp_tls_cert: Path | None = None  # PEM files; with both the listener offers STARTTLS
    inbound_smtp_tls_key: Path | None = None
    inbound_hook_secret: SecretStr | None = None  # what X-Hook-Secret must be at POST /hooks/mail; absent = no hook
    booking_inbox_trial_days: int = 14  # once per Free account, from its first get_booking_inbox; 0 = none
    # messages to phones, for delay alerts
    twilio_account_sid: str | None = None
    twilio_auth_token: SecretStr | None = None
    twilio_sms_from: str | None = None  # a number, or the MG... id of a messaging service
    twilio_whatsapp_from: str | None = None
    twilio_whatsapp_content_sid: str | None = None  # an approved template with three blanks
    twilio_base_url: OutsideUrl = "https://api.twilio.com/2010-04-01"
    sandbox_allow_messages: bool = False  # true = invented delays are sent to phones too
    operator_email: str | None = None
    operator_name: str = "the operator of this installation"  # as the terms and the privacy page call them
    # the language model that carries out standing orders; without a name there are none
    standing_order_model: str | None = None
    standing_order_model_kind: Literal["anthropic", "openai"] = "anthropic"  # or any endpoint that speaks like it
    standing_order_model_url: OutsideUrl = "https://api.anthropic.com/v1"
    standing_order_model_key: SecretStr | None = None  # a model on this machine needs none
    standing_order_model_auth: Literal["bearer", "x-api-key"] = "bearer"
    standing_order_model_version: str = "2026-10-21"  # of the Anthropic API
    standing_order_areas: str = ""  # comma list of the areas whose tools it is offered; empty = all that read
    standing_order_steps: int = Field(8, ge=1, le=30)  # answers of the model in one run
    standing_order_calls: int = Field(12, ge=1, le=100)  # of tools in one run
    standing_order_tokens: PositiveInt = 400_000  # read and written in one run
    standing_order_answer_tokens: PositiveInt = 2_000  # of one answer
    standing_order_seconds: float = Field(55, gt=0, le=55)  # of one run: it has to end before its worker is stopped
    # authorization
    oauth_dcr_redirect_host_allowlist: str = ""  # comma list of further redirect hosts
    client_document_fetch: bool = True  # false = applications known by a document are those whose copy is shipped
    dcr_per_hour: int = 20
    dcr_trusted_ranges: str = "160.79.104.0/21"  # comma list of networks with the higher limit
    dcr_trusted_per_hour: int = 5000
    agents_per_hour: int = 20  # accounts one address may make for agents
    # limits and pace
    tool_calls_per_day: int | None = None  # overrides every plan's daily ceiling
    anonymous_calls_per_hour: int = 60  # REST calls without a key, of one address
    pdf_link_days: PositiveInt = 90  # how long the public link of a branded PDF opens
    route_monitor_interval_seconds: PositiveInt = 6 * 3600
    flight_alert_interval_seconds: PositiveInt = 6 * 3600
    delay_check_interval_seconds: PositiveInt = 300
    dispatcher_interval_seconds: PositiveFloat = 0.5
    job_lease_seconds: PositiveFloat = 150  # how long a worker may hold a run or a message before another takes over
    wake_up_seconds: PositiveFloat = 60  # how long a wake-up call in the queue is believed before it is made again
    database_threads: int = 10  # size of the connection pool and of the thread limiter beside it
    # how many days the service keeps what it writes about itself; what people store stays until they remove it
    keep_usage_days: int = Field(120, ge=91)  # tool calls and past counters; statistics go back 90 days
    keep_runs_days: PositiveInt = 30
    keep_checks_days: PositiveInt = 90  # the log of a route monitor
    keep_deliveries_days: PositiveInt = 90
    keep_observations_days: PositiveInt = 365  # prices seen
    # plans
    premium_price: float = 9.99
    plan_change_text: str | None = None  # how people change their plan; absent = by writing to the operator
    plan_change_url: str | None = None
    openai_apps_challenge: str | None = None  # what the plugin portal asks a host to show
    forwarded_allow_ips: str = "127.0.0.1"  # proxies whose forwarding headers are believed
    log_level: str = "WARNING"

    @field_validator("web_url", "mcp_upstream_url", "auth_internal_url")
    @classmethod
    def _no_slash(cls, value: str | None) -> str | None:
        return value.rstrip("/") if value else value

    @field_validator("sandbox_fault")
    @classmethod
    def _fault(cls, value: str | None) -> str | None:
        if value and not re.fullmatch(r"down|quota|empty|slow:\d{1,3}(\.\d+)?s?", value):
            raise ValueError("must be down, quota, empty or slow:SECONDS")
        return value or None

    @field_validator("mcp_url")
    @classmethod
    def _mcp_path(cls, value: str) -> str:
        value = value.rstrip("/")
        if not value.endswith("/mcp"):
            raise ValueError("must end in /mcp")
        return value

    @field_validator("database_url")
    @classmethod
    def _driver(cls, value: str) -> str:
        return driver_url(value)

    @model_validator(mode="after")
    def _one_data_mode(self) -> "Settings":
        live = self.live_backends
        if self.award_backend == "sandbox" and live:
            raise ValueError(f"AWARD_BACKEND=sandbox refuses to run beside {', '.join(live)}; unset one of them")
        return self

    @cached_property
    def live_backends(self) -> tuple[str, ...]:
        keys = {
            "SEATS_AERO_API_KEY": self.seats_aero_api_key,
            "DUFFEL_API_KEY": self.duffel_api_key,
            "SERPAPI_API_KEY": self.serpapi_api_key,
            "TRAVELPAYOUTS_TOKEN": self.travelpayouts_token,
            "LITEAPI_KEY": self.liteapi_key,
            "ROOMS_AERO_API_KEY": self.rooms_aero_api_key,
            "SEATS_AERO_CLIENT_SECRET": self.seats_aero_client_secret,
        }
        return tuple(name for name, value in keys.items() if value and value.get_secret_value())

    @cached_property
    def data_mode(self) -> DataMode:
        """Sandbox only when asked for, or in development with no live backend; never a silent fallback."""
        if self.award_backend:
            return self.award_backend
        return "sandbox" if self.app_env == "development" and not self.live_backends else "live"

    @cached_property
    def encryption_keys(self) -> list[str]:
        return [k.strip() for k in self.secret_keys.get_secret_value().split(",") if k.strip()]

    @cached_property
    def inbox_domain(self) -> str | None:
        """Where booking confirmations are sent; in development one that exists on this machine alone."""
        return self.inbound_mail_domain or ("inbox.localhost" if self.app_env == "development" else None)

    @cached_property
    def secure(self) -> bool:
        return self.web_url.startswith("https://")

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The addresses tokens are good for: /mcp on both hosts, and on each loopback name in the local set-up."""
        bases = dict.fromkeys((self.mcp_url, f"{self.web_url}/mcp"))
        for url in tuple(bases):
            parts = urlsplit(url)
            if parts.hostname in ("127.0.0.1", "localhost"):
                for name in ("127.0.0.1", "localhost"):
                    bases.setdefault(parts._replace(netloc=f"{name}:{parts.port or 80}").geturl())
        return tuple(bases)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The Host values served; anything else is refused."""
        return frozenset(urlsplit(r).netloc for r in self.resources)


def _describe_faults(error: ValidationError) -> str:
    lines = []
    for e in error.errors():
        name = str(e["loc"][0]).upper() if e["loc"] else "settings"
        text = "is not set" if e["type"] == "missing" else e["msg"].removeprefix("Value error, ")
        lines.append(f"  {name}: {text}")
    return "The settings are incomplete:\n" + "\n".join(lines) + "\nSee deploy/env.example for what each one means."


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process; raises SettingsError naming everything that is missing."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError(_describe_faults(error)) from None
