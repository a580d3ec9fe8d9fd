"""The programs of the service: both servers, the mail listener, and those behind the queue."""

import socket
import time
from collections import Counter

from deploy.doctor.results import ANSWER_SECONDS, SwitchedOff, build_fault
from deploy.errors import CommandError
from shared.domain.plurals import pluralize
from shared.services.operations.workers import Program

# Seconds that rows may wait for anybody to take them, as in the alerts of deploy/observability.
MAX_WAIT_SECONDS = {"schedule": 120, "run": 900, "message": 600}


def check_auth_server() -> str:
    import httpx

    from shared.http import sync_client
    from shared.settings import settings

    url = settings().web_url
    try:
        with sync_client(timeout=httpx.Timeout(ANSWER_SECONDS)) as client:
            ready = client.get(f"{url}/readyz")
            issuer = client.get(f"{url}/.well-known/oauth-authorization-server").json().get("issuer")
    except (httpx.HTTPError, ValueError, AttributeError) as error:
        mend = "see its log, and start python -m auth_server, or everything with award-travel up"
        raise build_fault(url, error, mend) from None
    if ready.status_code != 200:
        raise CommandError(f"{url} is not ready ({ready.status_code}): see its log")
    if issuer != url:
        raise CommandError(f"{url} calls itself {issuer}: set WEB_URL to the address it is reached at")
    return f"{url} is ready"


def check_internal_address() -> str:
    """Asked about a token that none has, by the way on which tools and jobs ask the auth server."""
    import anyio
    import httpx

    from shared.internal_api import AuthServerClient
    from shared.settings import settings

    url = settings().auth_internal_url or settings().web_url

    async def ask() -> int:
        async with AuthServerClient(httpx.Timeout(ANSWER_SECONDS)) as auth_server:
            return (await auth_server.post("/oauth/introspect", {"token": "none"})).status_code

    try:
        status = anyio.run(ask)
    except httpx.HTTPError as error:
        raise build_fault(url, error, "see whether AUTH_INTERNAL_URL is right") from None
    if status == 401:
        raise CommandError(f"{url} refuses the service's own client: give all programs the same SERVICE_CLIENT_SECRET")
    if status != 200:
        raise CommandError(f"{url} is not the auth server ({status}): see whether AUTH_INTERNAL_URL is right")
    return f"{url} takes the service's own client"


def check_tools_server() -> str:
    """Asked at its own address, past the web host: a stopped program takes connections and answers none of them."""
    import httpx

    from shared.http import sync_client
    from shared.settings import settings

    url = settings().mcp_upstream_url or settings().mcp_url.removesuffix("/mcp")
    try:
        with sync_client(timeout=httpx.Timeout(ANSWER_SECONDS)) as client:
            status = client.get(f"{url}/readyz").status_code
    except httpx.HTTPError as error:
        raise build_fault(url, error, "see its log, and start python -m mcp_server") from None
    if status != 200:
        raise CommandError(f"{url} is not ready ({status}): see its log")
    return f"{url} is ready"


def check_mail_listener() -> str:
    from shared.settings import settings

    s = settings()
    if s.inbound_smtp_port is None or not s.inbox_domain:
        return SwitchedOff("no listener: INBOUND_SMTP_PORT and INBOUND_MAIL_DOMAIN start one")
    host = "127.0.0.1" if s.inbound_smtp_host in ("0.0.0.0", "::", "") else s.inbound_smtp_host  # noqa: S104 - a name
    where = f"{host}:{s.inbound_smtp_port}"
    try:
        with socket.create_connection((host, s.inbound_smtp_port), ANSWER_SECONDS) as connection:
            greeting = connection.recv(3)
    except OSError:
        greeting = b""
    if greeting != b"220":
        raise CommandError(f"{where} does not greet: see its log, and start python -m jobs inbox")
    return f"{where} takes mail for {s.inbox_domain}"


def check_workers(*, served: bool) -> str:
    """Where something is missing it looks again for a while: Redis may just have lost everything."""
    from redis.exceptions import RedisError

    from shared.services.operations.workers import BEAT_SECONDS, list_programs

    try:
        fault, until = _find_idle_parts(list_programs()), time.monotonic() + BEAT_SECONDS + 1
        while fault and served and time.monotonic() < until:
            time.sleep(0.5)
            fault = _find_idle_parts(list_programs())
        programs, waiting = list_programs(), _count_wake_ups()
    except (RedisError, OSError):
        raise CommandError("nothing is known of them while the queue is down") from None
    if fault and served:
        raise CommandError(fault)
    kinds = Counter(program.kind for program in programs if program.is_living)
    counts = ", ".join(pluralize(kinds[kind], kind) for kind in ("worker", "dispatcher"))
    return f"{counts}, {pluralize(waiting, 'wake-up')} waiting"


def _count_wake_ups() -> int:
    from jobs.queue import ENTRIES
    from shared.redis import connect

    return sum(int(connect().llen(f"rq:queue:{name}")) for name in ENTRIES)


def _find_idle_parts(programs: list[Program]) -> str | None:
    """What no one does, or who stopped doing it, with what to do."""
    living = [program for program in programs if program.is_living]
    silent = [
        f"the {program.kind} {program.pid} on {program.host} gave no sign of life for {program.age:.0f} s"
        for program in programs
        if program.is_silent
    ]
    if not any(program.kind == "worker" for program in living):
        return "; ".join([*silent, "no worker listens: start python -m jobs worker"])
    if not any(program.kind == "dispatcher" for program in living):
        return "; ".join([*silent, "no dispatcher works: start python -m jobs dispatcher"])
    if idle := _find_unserved_queues(living):
        return (
            f"no worker serves the queue {' or '.join(idle)}, and what is due there waits: start python -m jobs worker,"
            " or name the queue on the command line of rq worker"
        )
    return f"{'; '.join(silent)}: continue it, or end it; the others go on" if silent else None


def _find_unserved_queues(living: list[Program]) -> list[str]:
    """Mail counts only where mail can arrive."""
    from jobs.queue import ENTRIES, MAIL
    from shared.settings import settings

    served = {queue for program in living for queue in program.queues}
    return [name for name in ENTRIES if name not in served and (name != MAIL or settings().inbox_domain)]


def check_waiting_work(*, served: bool) -> str:
    """What is due and no one has taken. While nothing runs it may wait."""
    from shared.db.service_figures import read_service_figures

    figures = read_service_figures()
    oldest = {
        "schedule": figures.oldest_due_schedule,
        "run": max(figures.oldest_due_runs.values()),
        "message": figures.oldest_due_delivery,
    }
    words = ", ".join(f"the oldest {noun} {_describe_seconds(age)}" for noun, age in oldest.items() if age >= 1)
    late = [noun for noun, age in oldest.items() if age > MAX_WAIT_SECONDS[noun]]
    if late and served:
        raise CommandError(f"due for too long: {words}; see the logs of the dispatcher and the workers, and start more")
    return f"due: {words}" if words else "nothing that is due waits"


def _describe_seconds(seconds: float) -> str:
    if seconds < 120:
        return f"for {seconds:.0f} s"
    return f"for {seconds / 60:.0f} minutes" if seconds < 7200 else f"for {seconds / 3600:.0f} hours"
