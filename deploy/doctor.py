"""`award-travel doctor`: one line for each part of the service, with what to do where something is wrong."""

import argparse
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from deploy.errors import CommandError, user_message
from deploy.local.home import Home
from deploy.local.service import database, is_set_by_environment
from shared.domain.plurals import pluralize

Check = Callable[[], str]
MAX_SKEW = timedelta(seconds=5)


def _check_database() -> str:
    from shared.db.schema import versions
    from shared.settings import settings

    have, want = versions(settings().database_url)
    if have != want:
        raise CommandError(
            f"its tables are at version {have or 'none'}, this program wants {want}: award-travel migrate"
        )
    return f"answers, tables at version {have}"


def _check_queue(*, served: bool) -> str:
    from redis.exceptions import RedisError

    from shared.redis import connect, key

    try:
        queue = connect()
        dispatcher: Any = queue.exists(key("dispatcher"))
        server: Any = queue.info("server")
        workers: Any = queue.scard("rq:workers")
        waiting = sum(int(queue.llen(f"rq:queue:{name}")) for name in ("deliveries", "checks"))
    except (RedisError, OSError):
        raise CommandError("does not answer: see whether REDIS_URL is right and its server runs") from None
    if workers == 0 and served:
        raise CommandError("answers, but no worker listens: start python -m jobs worker")
    if not dispatcher and served:
        raise CommandError("answers, but no dispatcher works: start python -m jobs dispatcher")
    name = server.get("server_name", "redis")
    serving = f"{pluralize(workers, 'worker')}, {pluralize(waiting, 'wake-up')} waiting"
    return f"{name} {server.get(f'{name}_version', '')} answers, {serving}"


def _check_auth_server() -> str:
    import httpx

    from shared.http import sync_client
    from shared.settings import settings

    url = settings().web_url
    try:
        with sync_client() as client:
            ready = client.get(f"{url}/readyz")
            issuer = client.get(f"{url}/.well-known/oauth-authorization-server").json().get("issuer")
    except (httpx.HTTPError, ValueError):
        raise CommandError(f"{url} does not answer: start it with award-travel up") from None
    if ready.status_code != 200:
        raise CommandError(f"{url} is not ready ({ready.status_code}): see its log")
    if issuer != url:
        raise CommandError(f"{url} calls itself {issuer}: set WEB_URL to the address it is reached at")
    return f"{url} is ready"


def _check_reference() -> str:
    from shared.reference.load import reference

    facts = reference()
    return f"{len(facts.programs)} programmes, {len(facts.airlines)} airlines, {len(facts.airports)} airports"


def _check_source_watch() -> str:
    """What another's file does is no fault of this service: it is shown, and the audit lists it."""
    from shared.db.base import transaction
    from shared.services.operations.source_watch import describe_watch

    with transaction() as session:
        return describe_watch(session)


def _check_clock() -> str:
    from sqlalchemy import func, select

    from shared import clock
    from shared.db.base import transaction

    with transaction() as session:
        theirs = session.scalar(select(func.clock_timestamp()))
    skew = abs(clock.now() - theirs) if theirs else timedelta(0)
    if skew > MAX_SKEW:
        raise CommandError(f"differs from the database's by {skew.total_seconds():.0f} s: set both by NTP")
    return f"agrees with the database's within {skew.total_seconds():.1f} s"


def _check_data_mode() -> str:
    from shared.db.base import transaction
    from shared.services.operations.data_mode import claim_data_mode
    from shared.settings import settings

    with transaction() as session:
        claim_data_mode(session)
    return settings().data_mode


def _check_sources() -> str:
    from shared.services.search.sources import backends

    sources = backends()
    if down := [source.name for source in sources if source.state == "down"]:
        raise CommandError(
            f"{', '.join(down)} failed when last asked: see its key, and whether this machine reaches it"
        )
    return "; ".join(f"{source.name} {_describe_source(source)}" for source in sources)


def _describe_source(source: Any) -> str:
    if source.state != "live":
        return str(source.state.replace("_", " "))
    return f"answered {source.last_success_at:%Y-%m-%d %H:%M} UTC" if source.last_success_at else "not asked yet"


def _check_connections() -> str:
    """Which accounts elsewhere people can connect, and whether half of a key was forgotten."""
    from shared.providers.connectors import NAMES, connector
    from shared.settings import settings

    halves = [
        f"{name.upper()}_ID and {name.upper()}_SECRET belong together"
        for name in ("seats_aero_client", "google_client", "autopilot_client")
        if bool(getattr(settings(), f"{name}_id")) != bool(getattr(settings(), f"{name}_secret"))
    ]
    if halves:
        raise CommandError("; ".join(halves))
    open_to = [name for name in NAMES if connector(name).configured()]
    back = f"{settings().web_url}/integrations/PROVIDER/callback"
    return f"{', '.join(open_to)} can be connected; their way back is {back}"


def _check_language_model() -> str:
    """Not asked: each answer of a model costs its operator something."""
    from urllib.parse import urlsplit

    import mcp_server.tools  # noqa: F401 - registers every tool
    from mcp_server.toolkit.registry import TOOLS
    from shared.settings import settings

    s = settings()
    if not s.standing_order_model:
        return "none, so no standing orders can be made: STANDING_ORDER_MODEL names one"
    where = urlsplit(s.standing_order_model_url).netloc
    if where == "api.anthropic.com" and not s.standing_order_model_key:
        raise CommandError(f"{s.standing_order_model} at {where} needs a key: set STANDING_ORDER_MODEL_KEY")
    areas = {tool.area for tool in TOOLS.values()}
    if unknown := {name.strip() for name in s.standing_order_areas.split(",")} - areas - {""}:
        raise CommandError(
            f"STANDING_ORDER_AREAS names {', '.join(sorted(unknown))}: the areas are {', '.join(sorted(areas))}"
        )
    return f"{s.standing_order_model} at {where} ({s.standing_order_model_kind})"


def _check_wheels() -> str:
    from deploy.local.wheel_audit import REPLACED_BY_SETTING, check_wheel

    findings = [check_wheel(name) for name in REPLACED_BY_SETTING]
    if changed := [f.text for f in findings if f.state == "changed"]:
        raise CommandError("; ".join(changed))
    return "; ".join(f.text for f in findings)


def _report(name: str, check: Check) -> bool:
    try:
        word, text = "ok", check()
    except Exception as fault:  # each line stands alone: what one part breaks with does not hide the others
        word, text = "FAULT", user_message(fault) or f"{type(fault).__name__}: {fault}"
    print(f"{name:<16}{word:<7}{text}", flush=True)
    return word == "ok"


def run_doctor(arguments: argparse.Namespace) -> int:
    """Checks every part; 1 when one has a fault."""
    home = Home(arguments.home)
    served = is_set_by_environment() or home.running() is not None
    checks: dict[str, Check] = {
        "database": _check_database,
        "queue": lambda: _check_queue(served=served),
        "auth server": _check_auth_server,
        "reference data": _check_reference,
        "watched files": _check_source_watch,
        "clock": _check_clock,
        "data mode": _check_data_mode,
        "connections": _check_connections,
        "sources": _check_sources,
        "language model": _check_language_model,
        "wheels": _check_wheels,
    }
    with database(home):
        results = [_report(name, check) for name, check in checks.items()]
    return 0 if all(results) else 1
