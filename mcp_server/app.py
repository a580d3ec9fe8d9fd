"""Settings and the toolbox come in, the running ASGI application goes out."""

import gc
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
from mcp_server.pages import calendar_feed, connect_account, inbound_mail_hook, shared_documents
from mcp_server.rest import openapi
from mcp_server.rest.routes import Rest
from mcp_server.transport import sdk_server, well_known
from mcp_server.transport.middleware import RequestGate
from mcp_server.transport.revocation_events import listen
from mcp_server.transport.streamable_http import Transport
from mcp_server.transport.token_verifier import TokenVerifier, api_key_verifier
from shared.asgi import ClientDisconnected
from shared.reference.load import reference
from shared.settings import settings

log = logging.getLogger(__name__)


def build(*extensions: Extension) -> RequestGate:
    """The application of one process; uvicorn calls this in each worker."""
    logging.basicConfig(level=settings().log_level, format="%(levelname)s %(name)s: %(message)s")
    reference()  # facts that do not hold together stop the start, not a call
    openapi.build()
    bearers, keys = TokenVerifier(), api_key_verifier()
    transport = Transport(sdk_server.build(*extensions))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with transport.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(kept_up, USAGE_LOG.keep_flushing)
            tasks.start_soon(kept_up, partial(listen, bearers, keys))
            tasks.start_soon(kept_up, watch_corrections)
            _settle_memory()
            yield
            tasks.cancel_scope.cancel()
        await bearers.close()
        await keys.close()
        await anyio.to_thread.run_sync(USAGE_LOG.flush)

    pages = Starlette(
        routes=[
            *well_known.routes(bearers.auth_server),
            *Rest(keys).routes(),
            *calendar_feed.routes(),
            *shared_documents.routes(),
            *inbound_mail_hook.routes(),
            *connect_account.routes(),
        ],
        exception_handlers={
            ProblemResponse: handle_problem,
            ClientDisconnected: handle_disconnect,
            HTTPException: handle_http_error,
            Exception: handle_crash,
        },
        lifespan=lifespan,
    )
    pages.router.redirect_slashes = False  # a redirect loses bodies and credentials on the way
    return RequestGate(bearers, transport, pages)


async def kept_up(work: Callable[[], Awaitable[None]]) -> None:
    """Background work for ever: a bug in it is logged and must not take the serving of requests along."""
    while True:
        try:
            await work()
        except Exception:  # the edge of a task nobody waits for
            log.exception("background work stopped and begins again")
        await anyio.sleep(1)


def _settle_memory() -> None:
    """What was built at start stays for good, so the collector need not walk it again: shorter pauses, same memory."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
