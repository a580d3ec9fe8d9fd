"""The ASGI application of the tool server, built once in each worker process."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.to_thread
from mcp.server.extension import Extension
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.calls.fact_refresh import watch_corrections
from mcp_server.calls.problem_details import (
    ProblemResponse,
    handle_crash,
    handle_disconnect,
    handle_http_error,
    handle_outage,
    handle_problem,
)
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.pages import (
    calendar_feed,
    connect_account,
    discovery,
    error_pages,
    fact_reports,
    inbound_mail_hook,
    shared_documents,
    shared_trips,
    status,
    tool_reference,
)
from mcp_server.rest import fact_reports as fact_reports_by_json
from mcp_server.rest import openapi
from mcp_server.rest.page_calls import PageRoute
from mcp_server.rest.routes import Rest
from mcp_server.transport import sdk_server, well_known
from mcp_server.transport.middleware import RequestGate
from mcp_server.transport.revocation_events import follow_events
from mcp_server.transport.streamable_http import Transport
from mcp_server.transport.token_verifier import TokenVerifier, api_key_verifier
from shared.asgi import ClientDisconnected
from shared.db.base import engine
from shared.db.maintenance import WATCH
from shared.db.metrics import count_connections
from shared.db.outages import OUTAGE_ERRORS
from shared.db.traces import trace_statements
from shared.processes import bounded_process
from shared.processes.garbage_collection import freeze_startup_objects
from shared.reference.load import reference
from shared.reference.places import prepare_index
from shared.telemetry.logs import configure_logging
from shared.telemetry.traces import start_tracing

log = logging.getLogger(__name__)

# Modules whose functions read foreign text in their own processes, and the rows they are given.
READERS = (
    "shared.documents.card_statements",
    "shared.domain.folio.audit",
    "shared.providers.tripit.calendar_events",
    "shared.reference.rows",
)


def load_facts() -> None:
    """Loads facts at the start, so that faults stop it and not a call."""
    prepare_index(reference())


def build(*extensions: Extension) -> RequestGate:
    """Builds the application; uvicorn calls it in each worker."""
    _start_telemetry()
    load_facts()
    openapi.forget_documents()
    tokens, api_keys = TokenVerifier(), api_key_verifier()
    transport = Transport(sdk_server.build(*extensions))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with transport.running(), anyio.create_task_group() as tasks:
            for work in (USAGE_LOG.keep_flushing, watch_corrections, WATCH.keep_reading):
                tasks.start_soon(run_forever, work)
            tasks.start_soon(run_forever, partial(follow_events, tokens, api_keys))
            tasks.start_soon(run_forever, transport.answers.follow_others)
            bounded_process.prepare(*READERS)
            freeze_startup_objects()
            yield
            tasks.cancel_scope.cancel()
        await tokens.close()
        await api_keys.close()
        await anyio.to_thread.run_sync(USAGE_LOG.flush)

    pages = Starlette(
        routes=[
            *discovery.routes(),
            *well_known.routes(tokens.auth_server),
            *Rest(api_keys).routes(),
            *PageRoute(tokens).routes(),
            *calendar_feed.routes(),
            *shared_documents.routes(),
            *shared_trips.routes(),
            *inbound_mail_hook.routes(),
            *connect_account.routes(),
            *fact_reports.routes(),
            *tool_reference.routes(),
            *status.StatusPage().routes(),
            *fact_reports_by_json.routes(),
        ],
        exception_handlers={
            ProblemResponse: error_pages.answer_people_too(handle_problem),
            ClientDisconnected: handle_disconnect,
            HTTPException: error_pages.answer_people_too(handle_http_error),
            **dict.fromkeys(OUTAGE_ERRORS, error_pages.answer_people_too(handle_outage)),
            Exception: error_pages.answer_people_too(handle_crash),
        },
        lifespan=lifespan,
    )
    pages.router.redirect_slashes = False  # a redirect would lose bodies and credentials
    return RequestGate(tokens, transport, pages, error_pages.explain_endpoint, error_pages.find_maintenance_answer)


def _start_telemetry() -> None:
    configure_logging()
    count_connections("mcp_server")
    start_tracing("mcp_server")
    trace_statements(engine())


async def run_forever(work: Callable[[], Awaitable[None]]) -> None:
    """Restarts background work whenever it ends or fails: a bug in it must not stop the server."""
    while True:
        try:
            await work()
        except Exception:  # the edge of a task that no one awaits
            log.exception("background work stopped and begins again")
        await anyio.sleep(1)
