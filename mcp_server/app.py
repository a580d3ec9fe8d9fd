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
    handle_problem,
)
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.pages import calendar_feed, connect_account, fact_reports, inbound_mail_hook, shared_documents
from mcp_server.rest import fact_reports as fact_reports_by_json
from mcp_server.rest import openapi
from mcp_server.rest.routes import Rest
from mcp_server.transport import sdk_server, well_known
from mcp_server.transport.middleware import RequestGate
from mcp_server.transport.revocation_events import follow_events
from mcp_server.transport.streamable_http import Transport
from mcp_server.transport.token_verifier import TokenVerifier, api_key_verifier
from shared.asgi import ClientDisconnected
from shared.garbage_collection import freeze_startup_objects
from shared.reference.load import reference
from shared.reference.places import prepare_index
from shared.settings import settings

log = logging.getLogger(__name__)


def build(*extensions: Extension) -> RequestGate:
    """Called by uvicorn in each worker."""
    logging.basicConfig(level=settings().log_level, format="%(levelname)s %(name)s: %(message)s")
    prepare_index(reference())  # facts with faults stop the start, not a call
    openapi.build()
    tokens, api_keys = TokenVerifier(), api_key_verifier()
    transport = Transport(sdk_server.build(*extensions))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with transport.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(run_forever, USAGE_LOG.keep_flushing)
            tasks.start_soon(run_forever, partial(follow_events, tokens, api_keys))
            tasks.start_soon(run_forever, watch_corrections)
            freeze_startup_objects()
            yield
            tasks.cancel_scope.cancel()
        await tokens.close()
        await api_keys.close()
        await anyio.to_thread.run_sync(USAGE_LOG.flush)

    pages = Starlette(
        routes=[
            *well_known.routes(tokens.auth_server),
            *Rest(api_keys).routes(),
            *calendar_feed.routes(),
            *shared_documents.routes(),
            *inbound_mail_hook.routes(),
            *connect_account.routes(),
            *fact_reports.routes(),
            *fact_reports_by_json.routes(),
        ],
        exception_handlers={
            ProblemResponse: handle_problem,
            ClientDisconnected: handle_disconnect,
            HTTPException: handle_http_error,
            Exception: handle_crash,
        },
        lifespan=lifespan,
    )
    pages.router.redirect_slashes = False  # a redirect would lose bodies and credentials
    return RequestGate(tokens, transport, pages)


async def run_forever(work: Callable[[], Awaitable[None]]) -> None:
    """Background work, started again whenever it ends or fails: a bug in it must not stop the server."""
    while True:
        try:
            await work()
        except Exception:  # the edge of a task that nobody awaits
            log.exception("background work stopped and begins again")
        await anyio.sleep(1)
