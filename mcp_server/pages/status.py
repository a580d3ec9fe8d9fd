"""GET /status: which parts and sources of the service work, the same for everyone, as a page or as JSON."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

import anyio
import anyio.to_thread
import httpx
from pydantic_core import to_json
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.pages.public_pages import PAGE_HEADERS, PublicPage, prepare_page, redirect_to_site, send_page
from mcp_server.pages.templates import render_page
from shared import clock
from shared.db.daily_figures import count_by_day
from shared.db.health import check_readiness
from shared.db.maintenance import WATCH
from shared.domain.look_bars import LookBars, draw_looks
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source
from shared.internal_api import AuthServerClient
from shared.providers import registry
from shared.redis import connect
from shared.services.operations.workers import count_workers, find_dispatcher_age
from shared.services.search.sources import Backend, backends
from shared.settings import settings

PATH = "/status"
DAYS, KEPT_DAYS_SECONDS = 30, 900.0  # of the history, which one pass over the log makes for everyone
KEPT_SECONDS = 10.0  # that one answer serves everyone
CHECK_SECONDS = 3.0  # after which a part counts as silent
_THREADS = 4
State = Literal["works", "impaired", "away", "unknown"]
T = TypeVar("T")
_SUBJECTS = {
    "award_seats": "award seats",
    "cash_fares": "fares",
    "hotel_stays": "hotel nights",
    "airport_delays": "delays at airports",
    "exchange_rates": "exchange rates",
}
_LOOKS = {
    "done": "on which every look was answered",
    "part": "on which some looks were not answered",
    "fail": "on which most looks were not answered",
    "due": "without a look",
}
_STATE_OF_SOURCE: dict[str, State] = {"live": "works", "degraded": "impaired", "down": "away"}


@dataclass(frozen=True)
class PartState:
    """A part of the service, and a sentence on what that means for people."""

    name: str
    state: State
    about: str


@dataclass(frozen=True)
class SourceState:
    """A source of data; `last_answer_at` is None if it was never asked."""

    name: str
    subject: str
    state: State
    about: str
    last_answer_at: datetime | None


@dataclass(frozen=True)
class Snapshot:
    """One answer, as a page and as JSON."""

    page: PublicPage
    document: bytes


class StatusPage:
    """The answer of this process, renewed at most every KEPT_SECONDS however many ask."""

    def __init__(self) -> None:
        self.lock, self.threads = anyio.Lock(), anyio.CapacityLimiter(_THREADS)
        self.snapshot: Snapshot | None = None
        self.expires = self.history_expires = 0.0
        self.history: LookBars | None = None

    async def serve(self, request: Request) -> Response:
        """Answers 200 even when something is down: the report itself succeeded."""
        accepted = request.headers.get("accept", "")
        is_program = "application/json" in accepted and "text/html" not in accepted
        if not is_program and (elsewhere := redirect_to_site(request)):
            return elsewhere
        snapshot = await self._read()
        if is_program:
            headers = {"Cache-Control": f"public, max-age={KEPT_SECONDS:.0f}", "Vary": "Accept", **PAGE_HEADERS}
            return Response(snapshot.document, 200, headers, "application/json")
        return send_page(request, snapshot.page, int(KEPT_SECONDS), "Accept, Accept-Encoding")

    async def _read(self) -> Snapshot:
        async with self.lock:
            if self.snapshot is None or time.monotonic() >= self.expires:
                if time.monotonic() >= self.history_expires:
                    self.history = await self._run(_draw_history) or self.history
                    # Also after a failure: a log too long to be counted in time would be counted for every new answer.
                    self.history_expires = time.monotonic() + KEPT_DAYS_SECONDS
                sources = await self._run(_check_sources) or []
                self.snapshot = _draw(await self._check_parts(), sources, self.history)
                self.expires = time.monotonic() + KEPT_SECONDS
            return self.snapshot

    async def _check_parts(self) -> list[PartState]:
        """Checks all concurrently, in the order of the page."""
        states: dict[str, PartState] = {}
        checks: dict[str, Callable[[], Awaitable[PartState | None]]] = {
            "Web host": _check_web_host,
            "Database": lambda: self._run(_check_database),
            "Queue": lambda: self._run(_check_queue),
            "Background jobs": lambda: self._run(_check_jobs),
        }

        async def check(name: str) -> None:
            states[name] = await checks[name]() or PartState(name, "away", "Does not answer in time.")

        async with anyio.create_task_group() as tasks:
            for name in checks:
                tasks.start_soon(check, name)
        web_host, *others = (states[name] for name in checks)
        parts = [web_host, PartState("Tool server", "works", "Answers assistants and programs."), *others]
        return [*_describe_maintenance(), *parts]

    async def _run(self, work: Callable[[], T]) -> T | None:
        """Runs it on one of the few threads for this; None if it takes too long."""
        with anyio.move_on_after(CHECK_SECONDS):
            return await anyio.to_thread.run_sync(work, limiter=self.threads, abandon_on_cancel=True)
        return None

    def routes(self) -> list[Route]:
        return [Route(PATH, self.serve)]


def _describe_maintenance() -> list[PartState]:
    """The first line during maintenance: the parts below it work, but no one is served."""
    maintenance = WATCH.current
    return [PartState("Maintenance", "away", maintenance.sentence)] if maintenance else []


async def _check_web_host() -> PartState:
    try:
        async with AuthServerClient() as auth_server:
            status = (await auth_server.get("/readyz")).status_code
    except httpx.HTTPError:
        return PartState("Web host", "away", "Does not answer: no one can sign in or connect.")
    if status != 200:
        return PartState("Web host", "impaired", "Answers, but cannot work right now.")
    return PartState("Web host", "works", "People can sign in and connect.")


def _check_database() -> PartState:
    checks = check_readiness().document["checks"]
    if not checks["database"]:
        return PartState("Database", "away", "Does not answer: nothing can be looked up or kept.")
    if not checks["schema"]:
        return PartState("Database", "impaired", "Waits for an update to be finished.")
    return PartState("Database", "works", "What is kept can be read and changed.")


def _check_queue() -> PartState:
    try:
        connect().ping()
    except (RedisError, OSError):
        return PartState("Queue", "away", "Does not answer: searches are slower, and mails and checks wait.")
    return PartState("Queue", "works", "Hands out what is due.")


def _check_jobs() -> PartState:
    name = "Background jobs"
    try:
        age, workers = find_dispatcher_age(), count_workers()
    except (RedisError, OSError):
        return PartState(name, "unknown", "Nothing is known of them while the queue is down.")
    if age is None or not workers:
        return PartState(name, "away", "No sign of life: mails, watches and reminders wait until they are back.")
    return PartState(name, "works", f"Last sign of life {describe_age(timedelta(seconds=age))}.")


def _check_sources() -> list[SourceState]:
    """Checks the sources that are set up."""
    return [_describe_source(backend) for backend in backends() if backend.state != "not_configured"]


def _describe_source(backend: Backend) -> SourceState:
    subjects = (_SUBJECTS[verb] for verb in registry.providers()[backend.name].answers if verb in _SUBJECTS)
    last = backend.last_success_at
    when = f"last answer {describe_age(clock.now() - last)}" if last else "not asked yet"
    words = {"live": when, "degraded": f"failed recently; {when}", "down": f"does not answer; {when}"}[backend.state]
    state = _STATE_OF_SOURCE[backend.state]
    name = name_source(backend.name)
    words = words[0].upper() + words[1:] + "."
    return SourceState(name[0].upper() + name[1:] if " " in name else name, ", ".join(subjects), state, words, last)


def _draw_history() -> LookBars | None:
    """Each of the last days by the looks of all watches at their sources; None where the log cannot be read."""
    first = clock.today() - timedelta(days=DAYS - 1)
    try:
        numbers = count_by_day("looks", first)
    except SQLAlchemyError:
        return None
    kinds = []
    for n in range(DAYS):
        day = numbers.get(first + timedelta(days=n), {})
        looks, whole = sum(day.values()), day.get("done", 0)
        # A day fails when less than half of its looks had a whole answer.
        kinds.append("due" if not looks else "done" if whole == looks else "part" if 2 * whole >= looks else "fail")
    return draw_looks(kinds, "day", _LOOKS, DAYS)


def describe_age(age: timedelta) -> str:
    """`just now`, `5 minutes ago`, `3 hours ago`, `2 days ago`: how long ago something was."""
    seconds = max(0, int(age.total_seconds()))
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute"), (5, "second")):
        if seconds >= size:
            return f"{pluralize(seconds // (size if size > 5 else 1), noun)} ago"
    return "right now"


def _judge(parts: list[PartState], sources: list[SourceState]) -> State:
    """Judges the whole: `away` only if an essential part is; one missing source impairs it."""
    if any(part.state == "away" for part in parts if part.name in ("Maintenance", "Web host", "Database")):
        return "away"
    states = {*(part.state for part in parts), *(source.state for source in sources)}
    return "works" if states == {"works"} else "impaired"


def _draw(parts: list[PartState], sources: list[SourceState], history: LookBars | None) -> Snapshot:
    whole, at = _judge(parts, sources), clock.now()
    document: dict[str, Any] = {
        "state": whole,
        "checked_at": at,
        "data": settings().data_mode,
        "parts": [asdict(part) for part in parts],
        "sources": [asdict(source) for source in sources],
    }
    page = render_page("status.html", whole=whole, at=at, parts=parts, sources=sources, history=history)
    return Snapshot(prepare_page(page), to_json(document))
