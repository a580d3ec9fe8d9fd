"""API apps page of the dashboard: confidential OAuth clients that a person registers by hand."""

import secrets

from sqlalchemy import func, select

from auth_server.accounts.api_keys import validate_name
from auth_server.accounts.security_events import record_event
from auth_server.oauth import redirect_uris
from auth_server.oauth.clients import delete_client
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.accounts import lock
from shared.db.oauth import Client
from shared.domain.plans import Plan
from shared.errors import Invalid
from shared.secrets import digest, mint

PATH = "/dashboard/api-apps"
SECRET_PREFIX = "awt_cs_"  # noqa: S105
MAX_APPS, MAX_URIS = 10, 10


def show(member: Member) -> FlowResult:
    own = (Client.owner_id == member.account.id, Client.kind == "manual")
    apps = list(member.db.scalars(select(Client).where(*own).order_by(Client.created_at.desc())))
    return member.show("api_apps.html", apps=apps, may=member.plan >= Plan.PREMIUM, most=MAX_APPS)


def show_new(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    if member.plan < Plan.PREMIUM:
        return member.show("api_apps_paid.html", 403)
    return member.show(
        "api_apps_new.html",
        status,
        faults=faults or {},
        name=member.read_field("name"),
        uris=member.read_field("redirect_uris"),
    )


def create(member: Member) -> FlowResult:
    if member.plan < Plan.PREMIUM:
        return member.show("api_apps_paid.html", 403)
    try:
        name = validate_name(member.data.form_value("name"), for_others=True)
    except Invalid as invalid:
        problem = invalid.facts["errors"][0]["problem"]
        return show_new(member, 422, {"name": f"The name {problem}. Give it one of 1 to 100 visible characters."})
    try:
        uris = _parse_uris(member.data.form_value("redirect_uris"))
    except redirect_uris.BadRedirect as bad:
        return show_new(member, 422, {"redirect_uris": f"A redirect URI is not allowed: {bad}."})
    if not member.take_form_once():
        return redirect_back(PATH, "made_before")
    lock(member.db, member.account.id)
    count = member.db.scalar(select(func.count()).select_from(Client).where(Client.owner_id == member.account.id)) or 0
    if count >= MAX_APPS:
        return show_new(
            member, 422, {"name": f"You have {MAX_APPS} applications, which is the most. Delete one first."}
        )
    secret = mint(SECRET_PREFIX)
    app = Client(
        client_id=f"app_{secrets.token_hex(16)}",
        kind="manual",
        secret_hash=digest(secret),
        name=name,
        auth_method="client_secret",
        redirect_uris=uris,
        owner_id=member.account.id,
        created_at=clock.now(),
    )
    member.db.add(app)
    record_event(member.uow, member.account, "application_created", subject=name, user_agent=member.data.user_agent)
    return member.show("api_apps_secret.html", app=app, secret=secret, made=True)


def _parse_uris(text: str) -> list[str]:
    """One URI a line. Raises BadRedirect."""
    uris = list(dict.fromkeys(text.split()))
    if not 1 <= len(uris) <= MAX_URIS:
        raise redirect_uris.BadRedirect(f"give 1 to {MAX_URIS}, one on each line")
    return [redirect_uris.check_manual(uri) for uri in uris]


def _find_app(member: Member) -> Client | None:
    app = member.db.get(Client, member.data.form_value("client_id"), with_for_update=True)
    return app if app is not None and app.owner_id == member.account.id and app.kind == "manual" else None


def rotate(member: Member) -> FlowResult:
    """Replaces the secret; the old one ends at once, and tokens issued with it stay valid."""
    app = _find_app(member)
    if app is None:
        return redirect_back(PATH, "gone")
    if not member.take_form_once():
        return redirect_back(PATH, "made_before")
    secret = mint(SECRET_PREFIX)
    app.secret_hash = digest(secret)
    record_event(member.uow, member.account, "application_secret", subject=app.name, user_agent=member.data.user_agent)
    return member.show("api_apps_secret.html", app=app, secret=secret, made=False)


def delete(member: Member) -> FlowResult:
    app = _find_app(member)
    if app is None:
        return redirect_back(PATH, "gone")
    delete_client(member.uow, app)
    return redirect_back(PATH, "deleted")
