"""What others run and the service stands on: sources, connections, a language model, providers of sign-in."""

from typing import Any

from deploy.doctor.results import ANSWER_SECONDS, SwitchedOff
from deploy.errors import CommandError


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


def check_language_model() -> str:
    """Not asked: each answer of a model costs its operator something."""
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
    """Providers of sign-in, and enterprises whose assertions are exchanged: their documents are read now."""
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
    """The mail server is greeted and signed in to; no mail is sent."""
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
