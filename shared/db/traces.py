"""Spans of the statements that this process sends to the database."""

from functools import cache
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

from shared.telemetry.traces import end_statement, is_tracing, start_statement


@cache
def trace_statements(source: Engine) -> None:
    """Traces the statements of one engine, once, and only if tracing is on."""
    if not is_tracing():
        return
    event.listen(source, "before_cursor_execute", _start)
    event.listen(source, "after_cursor_execute", _end)
    event.listen(source, "handle_error", _fail)


def _start(_connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: bool) -> None:
    if context is not None:
        context.award_span = start_statement(statement)


def _end(_connection: Any, _cursor: Any, _statement: str, _values: Any, context: Any, _many: bool) -> None:
    end_statement(getattr(context, "award_span", None))


def _fail(failure: ExceptionContext) -> None:
    end_statement(getattr(failure.execution_context, "award_span", None), failure.original_exception)
