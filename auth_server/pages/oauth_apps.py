"""Applications a person makes by hand: a name and redirect URIs go in; an id and a secret shown once come out."""

import secrets

from sqlalchemy import func, select

from auth_server.accounts.api_keys import proper_name
from auth_server.oauth import redirect_uris
from auth_server.oauth.server import Server
from auth_server.pages.member import Member, back
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.accounts import lock
from shared.db.oauth import Client, Family
from shared.domain.plans import Plan
from shared.errors import Invalid
from shared.secrets import digest, mint

PATH = "/dashboard/api-apps"
SECRET = "awt_cs_"  # noqa: S105 - the prefix of all
MOST, URIS_MAX = 10, 10


def _mine(me: Member) -> list[Client]:
    theirs = (Client.owner_id == me.account.id, Client.kind == "manual")
    return list(me.server.db.scalars(select(Client).where(*theirs).order_by(Client.created_at.desc())))


def page(me: Member) -> FlowResult:
    return me.page("api_apps.html", apps=_mine(me), may=me.plan >= Plan.PREMIUM, most=MOST)


def new(me: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    if me.plan < Plan.PREMIUM:
        return me.page("api_apps_paid.html", 403)
    return me.page(
        "api_apps_new.html",
        status,
        faults=faults or {},
        name=me.inc.form_value("name"),
        uris=me.inc.form_value("redirect_uris"),
    )


def create(me: Member) -> FlowResult:
    if me.plan < Plan.PREMIUM:
        return me.page("api_apps_paid.html", 403)
    try:
        name = proper_name(me.inc.form_value("name"))
    except Invalid:
        return new(me, 422, {"name": "Give it a name of 1 to 100 visible characters."})
    try:
        uris = _uris(me.inc.form_value("redirect_uris"))
    except redirect_uris.BadRedirect as bad:
        return new(me, 422, {"redirect_uris": f"A redirect URI is not allowed: {bad}."})
    lock(me.server.db, me.account.id)
    count = me.server.db.scalar(select(func.count()).select_from(Client).where(Client.owner_id == me.account.id)) or 0
    if count >= MOST:
        return new(me, 422, {"name": f"You have {MOST} applications, which is the most. Delete one first."})
    secret = mint(SECRET)
    app = Client(
        client_id=f"app_{secrets.token_hex(16)}",
        kind="manual",
        secret_hash=digest(secret),
        name=name,
        auth_method="client_secret",
        redirect_uris=uris,
        owner_id=me.account.id,
        created_at=clock.now(),
    )
    me.server.db.add(app)
    return me.page("api_apps_secret.html", app=app, secret=secret, made=True)


def _uris(text: str) -> list[str]:
    """One a line; raises BadRedirect."""
    found = list(dict.fromkeys(text.split()))
    if not 1 <= len(found) <= URIS_MAX:
        raise redirect_uris.BadRedirect(f"give 1 to {URIS_MAX}, one on each line")
    return [redirect_uris.check_manual(uri) for uri in found]


def _named(me: Member) -> Client | None:
    app = me.server.db.get(Client, me.inc.form_value("client_id"), with_for_update=True)
    return app if app is not None and app.owner_id == me.account.id and app.kind == "manual" else None


def rotate(me: Member) -> FlowResult:
    """The old secret is dead at once; what it was exchanged for lives on."""
    app = _named(me)
    if app is None:
        return back(PATH, "gone")
    secret = mint(SECRET)
    app.secret_hash = digest(secret)
    return me.page("api_apps_secret.html", app=app, secret=secret, made=False)


def delete(me: Member) -> FlowResult:
    app = _named(me)
    if app is None:
        return back(PATH, "gone")
    end(me.server, app)
    return back(PATH, "deleted")


def end(server: Server, app: Client) -> None:
    """The application and everything anybody allowed it."""
    living = (Family.client_id == app.client_id, Family.revoked_at.is_(None))
    server.events += [{"family": id} for id in server.db.scalars(select(Family.id).where(*living))]
    server.db.delete(app)
    server.db.flush()
