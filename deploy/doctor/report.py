"""`award-travel doctor`: one line for each part of the service, with what to do where something is wrong."""

import argparse
import json
import time
from collections import Counter
from typing import Any

from deploy.doctor import stores
from deploy.doctor.alive import greet_inbox
from deploy.doctor.stores import ANSWER_SECONDS, Check, SwitchedOff, build_fault
from deploy.errors import CommandError, user_message
from deploy.local.home import Home
from deploy.local.service import database, is_set_by_environment
from deploy.terminal import open_console, print_row, print_styled
from shared.domain.plurals import pluralize
from shared.services.operations.workers import RunningProgram

# The programs of the service: both servers, the mail listener, and those behind the queue.

# Seconds that rows may wait to be taken, as in the alerts of deploy/observability.
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
    """Asks about a token that no one has, the way tools and jobs ask the auth server."""
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
    """Asks at its own address, past the web host: a stopped program accepts connections but answers none."""
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
    return greet_inbox()


def check_workers(*, served: bool) -> str:
    """Looks for workers again for a while where some are missing: Redis may just have lost everything."""
    from redis.exceptions import RedisError

    from shared.services.operations.workers import BEAT_SECONDS, list_programs

    try:
        fault, until = _find_idle_parts(list_programs()), time.monotonic() + BEAT_SECONDS + 1
        while fault and served and time.monotonic() < until:
            time.sleep(0.5)
            fault = _find_idle_parts(list_programs())
        from jobs.queue import ENTRIES
        from shared.redis import connect

        waiting = sum(int(connect().llen(f"rq:queue:{name}")) for name in ENTRIES)
        programs = list_programs()
    except (RedisError, OSError):
        raise CommandError("nothing is known of them while the queue is down") from None
    if fault and served:
        raise CommandError(fault)
    kinds = Counter(program.kind for program in programs if program.is_living)
    counts = ", ".join(pluralize(kinds[kind], kind) for kind in ("worker", "dispatcher"))
    return f"{counts}, {pluralize(waiting, 'wake-up')} waiting"


def _find_idle_parts(programs: list[RunningProgram]) -> str | None:
    """Parts that no one runs, or that stopped, with what to do."""
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


def _find_unserved_queues(living: list[RunningProgram]) -> list[str]:
    """Queues without a worker; mail counts only where mail can arrive."""
    from jobs.queue import ENTRIES, MAIL
    from shared.settings import settings

    queues = {queue for program in living for queue in program.queues}
    return [name for name in ENTRIES if name not in queues and (name != MAIL or settings().inbox_domain)]


def check_waiting_work(*, served: bool) -> str:
    """Checks due work that no one has taken. While nothing runs it may wait."""
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


# What others run and the service depends on: sources, connections, a language model, providers of sign-in.


def check_sources() -> str:
    from shared.services.search.sources import backends

    sources = backends()
    if down := [source for source in sources if source.state == "down" and not source.is_switched_off]:
        names = ", ".join(f"{source.name} ({source.reason or 'no reason'})" for source in down)
        raise CommandError(
            f"{names} failed when last asked: see its key, whether this machine reaches it, and after a tls_fault"
            " whether it needs CA_BUNDLE"
        )
    return "; ".join(f"{source.name} {_describe_source(source)}" for source in sources)


def _describe_source(source: Any) -> str:
    if source.is_switched_off:
        return "switched off: award-travel providers on"
    if source.state != "live":
        return str(source.state.replace("_", " "))
    return f"answered {source.last_success_at:%Y-%m-%d %H:%M} UTC" if source.last_success_at else "not asked yet"


def check_connections() -> str:
    """Checks which outside accounts people can connect, and whether half a key is missing."""
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


def check_language_model() -> str:
    """Checks its settings without calling the model: each answer costs the operator money."""
    from urllib.parse import urlsplit

    import mcp_server.tools  # noqa: F401 - registers every tool
    from mcp_server.toolkit.registry import TOOLS
    from shared.settings import settings

    s = settings()
    if not s.standing_order_model:
        return SwitchedOff("none, so no standing orders can be made: STANDING_ORDER_MODEL names one")
    where = urlsplit(s.standing_order_model_url).netloc
    if where == "api.anthropic.com" and not s.standing_order_model_key:
        raise CommandError(f"{s.standing_order_model} at {where} needs a key: set STANDING_ORDER_MODEL_KEY")
    areas = {tool.area for tool in TOOLS.values()}
    if unknown := {name.strip() for name in s.standing_order_areas.split(",")} - areas - {""}:
        raise CommandError(
            f"STANDING_ORDER_AREAS names {', '.join(sorted(unknown))}: the areas are {', '.join(sorted(areas))}"
        )
    return f"{s.standing_order_model} at {where} ({s.standing_order_model_kind})"


def check_sign_in() -> str:
    """Reads the documents of sign-in providers, and of enterprises whose assertions are exchanged."""
    import anyio

    from auth_server.accounts.identity_providers import load_metadata, redirect_uri
    from auth_server.accounts.provider_documents import Unavailable, load_document
    from shared.settings import settings

    providers, away = settings().oidc_providers, []
    urls = [entry.jwks_url for entry in settings().enterprise_issuers.values() if entry.jwks_url]
    for name, call, argument in [
        *((name, load_metadata, provider) for name, provider in providers.items()),
        *((url, load_document, url) for url in urls),
    ]:
        try:
            anyio.run(call, argument)  # type: ignore[arg-type]
        except Unavailable as fault:
            away.append(f"{name} ({fault})" if str(fault) else name)
    if away:
        raise CommandError(
            f"{', '.join(away)} cannot be read, or names another issuer: see OIDC_PROVIDERS and ENTERPRISE_ISSUERS"
        )
    ways = ["passwords"] if settings().password_sign_in else []
    return ", ".join([*ways, *(f"{name} (way back: {redirect_uri(name)})" for name in providers)])


def check_outgoing_mail() -> str:
    """Connects and signs in to the mail server; sends no mail."""
    from shared.outbox.channels import NotSent
    from shared.outbox.channels.email import try_handshake
    from shared.settings import settings

    s = settings()
    if s.mail_backend == "outbox":
        return SwitchedOff(f"no mail goes out, each becomes a file in {s.outbox_dir}: MAIL_BACKEND=smtp sends it")
    where = f"{s.smtp_host}:{s.smtp_port}"
    try:
        try_handshake(ANSWER_SECONDS)
    except NotSent as refusal:
        raise CommandError(f"{where}: {refusal.reason}; see SMTP_HOST and the settings next to it") from None
    login = f", signed in as {s.smtp_username}" if s.smtp_username and s.smtp_password else ""
    tls = {"starttls": "STARTTLS", "tls": "TLS", "none": "no TLS"}[s.smtp_security]
    return f"{where} takes mail by {tls}{login}"


# Parts shipped with the program: facts, their files, and the wheels of the private servers.


def check_reference() -> str:
    from shared.reference.load import reference

    facts = reference()
    return f"{len(facts.programs)} programmes, {len(facts.airlines)} airlines, {len(facts.airports)} airports"


def check_source_watch() -> str:
    """A change in another's file is no fault here: it is shown, and the audit lists it."""
    from shared.db.base import transaction
    from shared.services.operations.source_watch import describe_watch

    with transaction() as session:
        return describe_watch(session)


def check_wheels() -> str:
    from deploy.local.wheel_audit import REPLACED_BY_SETTING, check_wheel

    findings = [check_wheel(name) for name in REPLACED_BY_SETTING]
    if changed := [f.text for f in findings if f.state == "changed"]:
        raise CommandError("; ".join(changed))
    return "; ".join(f.text for f in findings)


NOT_LOOKED_AT = SwitchedOff("not looked at: the tables of this release are not there yet")
STYLES = {"ok": "green", "off": "dim", "FAULT": "bold red"}


def _run_check(check: Check) -> tuple[str, str]:
    """Runs a check and returns its word, one of STYLES, and its text."""
    try:
        text = check()
        return "off" if isinstance(text, SwitchedOff) else "ok", text
    except Exception as fault:  # one part that breaks must not hide the others
        return "FAULT", user_message(fault) or f"{type(fault).__name__}: {fault}"


def report_check(name: str, check: Check) -> str:
    """Prints the line and returns its word."""
    word, text = _run_check(check)
    print_row(open_console(), (f"{name:<17}", ""), (f"{word:<7}", STYLES[word]), text)
    return word


def report_json(checks: dict[str, Check]) -> dict[str, str]:
    """Prints one object for programs and returns the words."""
    results = {name: _run_check(check) for name, check in checks.items()}
    words = {name: word for name, (word, _) in results.items()}
    rows = [{"name": name, "state": word.lower(), "text": text} for name, (word, text) in results.items()]
    print(json.dumps({"ok": "FAULT" not in words.values(), "summary": summarize(words)[0], "checks": rows}))
    return words


def summarize(words: dict[str, str]) -> tuple[str, str]:
    """The last line and its style."""
    faults = [name for name, word in words.items() if word == "FAULT"]
    if faults:
        return f"{pluralize(len(faults), 'fault')} in {len(words)} parts: {', '.join(faults)}.", STYLES["FAULT"]
    off = list(words.values()).count("off")
    return f"All is well: {len(words)} parts checked{f', {off} of them off' if off else ''}.", STYLES["ok"]


def list_checks(*, served: bool) -> dict[str, Check]:
    return {
        "database": stores.check_database,
        "partitions": lambda: stores.check_partitions(served=served),
        "queue": stores.check_queue,
        "auth server": check_auth_server,
        "internal address": check_internal_address,
        "tools server": check_tools_server,
        "workers": lambda: check_workers(served=served),
        "waiting work": lambda: check_waiting_work(served=served),
        "mail listener": check_mail_listener,
        "outgoing mail": check_outgoing_mail,
        "reference data": check_reference,
        "watched files": check_source_watch,
        "clock": stores.check_clock,
        "data mode": stores.check_data_mode,
        "connections": check_connections,
        "sources": check_sources,
        "language model": check_language_model,
        "sign-in": check_sign_in,
        "folders": stores.check_folders,
        "backup": stores.check_backup,
        "backup program": stores.check_backup_program,
        "maintenance": stores.check_maintenance,
        "wheels": check_wheels,
    }


def check_settings() -> str:
    from shared.settings import settings

    settings()
    return "complete"


def run_doctor(arguments: argparse.Namespace) -> int:
    """Checks every part; returns 1 if one has a fault. Incomplete settings, or tables of another version, are the only
    fault shown.
    """
    home, next_step = Home(arguments.home), None
    is_served = is_set_by_environment() or home.running() is not None
    with database(home):
        checks: dict[str, Check] = {"settings": check_settings}
        if _run_check(check_settings)[0] == "ok":
            next_step, checks = stores.find_next_step(), list_checks(served=is_served)
        if next_step:
            checks = {"database": stores.check_database, "all others": lambda: NOT_LOOKED_AT}
        words = report_json(checks) if arguments.json else {n: report_check(n, check) for n, check in checks.items()}
    if not arguments.json:
        print_styled(open_console(), "\n", (next_step, STYLES["FAULT"]) if next_step else summarize(words))
    return 1 if "FAULT" in words.values() else 0
