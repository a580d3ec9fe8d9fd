"""The one format of log lines of all programs, as text or JSON."""

import json
import logging
import platform
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TextIO

from shared.settings import VERSION, settings
from shared.telemetry.call_context import get_context

# Below these levels libraries write down tokens, headers, whole addresses or the text of calls.
_LIBRARY_LEVELS = {
    "authlib": logging.WARNING,
    "httpx": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx2": logging.WARNING,
    "httpcore2": logging.WARNING,
    "urllib3": logging.WARNING,
    "mcp": logging.WARNING,
    "mail.log": logging.ERROR,
    "sse_starlette": logging.WARNING,
}
# Loggers to which their libraries add their own handlers: each line would be written twice. `uvicorn.access`, which
# writes whole addresses, is not listed: the servers switch it off, and `served_requests` writes a line in its place.
_LIBRARIES_WITH_HANDLERS = ("rq", "rq.worker", "rq.worker_pool", "rq.job", "uvicorn", "uvicorn.error")
_START = "award_travel"
_MAX_CHARACTERS = 16_000  # of one line; a deep traceback keeps its end
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127)} | {10: "\\n", 13: "\\r", 9: " "}


def configure_logging() -> None:
    """Writes all lines of this process to standard error, once each. May be called again."""
    handler = StandardError()
    handler.setFormatter(JsonLines() if settings().log_format == "json" else TextLines())
    root = logging.getLogger()
    replaced = (logging.StreamHandler, StandardError)  # those of programs' own, such as pytest's, stay
    root.handlers[:] = [*(other for other in root.handlers if type(other) not in replaced), handler]
    root.setLevel(settings().log_level.upper())
    for name in _LIBRARIES_WITH_HANDLERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(root.level)  # RQ sets INFO where no level is set
    for name, level in _LIBRARY_LEVELS.items():
        logging.getLogger(name).setLevel(max(level, root.level))
    logging.captureWarnings(True)  # Python writes them in two lines and another format
    logging.getLogger(_START).setLevel(logging.INFO)  # an empty log would not show whether a program is alive


def announce(program: str, **facts: Any) -> None:
    """Writes the first line of a program, at every level: what it is, its version, and where it can be reached."""
    facts = {"mode": settings().data_mode, "env": settings().app_env, "python": platform.python_version()} | facts
    words = " ".join(f"{name}={value}" for name, value in facts.items() if value not in (None, ""))
    logging.getLogger(_START).info("%s %s starts: %s", program, VERSION, words)


class StandardError(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is when the line is written."""

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _stream: TextIO) -> None:
        """Does nothing: the one that the base class sets may be closed by the next line."""


class TextLines(logging.Formatter):
    """`TIME LEVEL logger [call=ID account=ID] message`, with a traceback below it."""

    def format(self, record: logging.LogRecord) -> str:
        labels = " ".join(f"{name}={value}" for name, value in _list_labels())
        message = record.getMessage().translate(_CONTROL)
        line = f"{_write_time(record)} {record.levelname} {record.name} {f'[{labels}] ' if labels else ''}{message}"
        trace = _describe_exception(record)
        return line[:_MAX_CHARACTERS] + (f"\n{trace}" if trace else "")


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, process, message, and call, account and exception, if any."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": _write_time(record),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            **dict(_list_labels()),
            "message": record.getMessage()[:_MAX_CHARACTERS],
        }
        if trace := _describe_exception(record):
            fields["exception"] = trace
        return json.dumps(fields, ensure_ascii=False)


def _write_time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _list_labels() -> Iterator[tuple[str, str]]:
    context = get_context()
    if context is not None:
        yield "call", context.id
        if context.account:
            yield "account", context.account


def _describe_exception(record: logging.LogRecord) -> str:
    """Where it happened and of which type it was, with its causes.

    What an exception says of itself may quote a person's words or a secret, so it is written only at the level DEBUG.
    """
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    if logging.getLogger().level <= logging.DEBUG:
        return "".join(traceback.format_exception(error))[-_MAX_CHARACTERS:]
    parts = []
    for link in _list_causes(error):
        name = f"{type(link).__module__}.{type(link).__qualname__}".removeprefix("builtins.")
        parts.append("".join(traceback.format_tb(link.__traceback__)) + name)
    return "\n".join(parts)[-_MAX_CHARACTERS:]


def _list_causes(error: BaseException) -> list[BaseException]:
    """The exception last, after its causes."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        hidden = link.__suppress_context__
        link = link.__cause__ or (None if hidden else link.__context__)
    return chain[::-1]
