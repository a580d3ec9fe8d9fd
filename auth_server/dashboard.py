"""The dashboard: the signed-in person's connected applications go out, a wish to disconnect one comes in."""

from sqlalchemy import delete, select

from auth_server import sessions
from auth_server.incoming import Incoming
from auth_server.replies import Onward, Outcome, Page, problem
from auth_server.server import Server
from shared.db.oauth import Client, Consent, Family


def page(server: Server, inc: Incoming) -> Outcome:
    session = sessions.load(server.db, inc.cookie)
    account = sessions.person(server.db, session)
    if session is None or account is None:
        return Onward("/signin?return_to=/dashboard", status=302)
    connected = server.db.execute(
        select(Client.client_id, Client.name, Consent.redirect_host, Consent.granted_at)
        .join(Consent, Consent.client_id == Client.client_id)
        .where(Consent.account_id == account.id)
        .order_by(Consent.granted_at.desc())
    ).all()
    shown = {
        "email": account.email,
        "plan": account.plan.title(),
        "connected": connected,
        "csrf_revoke": sessions.csrf(session, "disconnect"),
        "csrf_signout": sessions.csrf(session, "signout"),
    }
    return Page("dashboard.html", shown)


def disconnect(server: Server, inc: Incoming) -> Outcome:
    """Every token of the application dies at once, and it has to ask again."""
    session = sessions.load(server.db, inc.cookie)
    account = sessions.person(server.db, session)
    if account is None or not sessions.csrf_holds(session, "disconnect", inc.value("csrf")):
        return problem("This form has expired", "Please go back and try again.", 403)
    client_id = inc.value("client_id")
    theirs = (Family.account_id == account.id, Family.client_id == client_id, Family.revoked_at.is_(None))
    for family_id in server.db.scalars(select(Family.id).where(*theirs)).all():
        server.revoke_family(family_id, "disconnected_by_person")
    server.db.execute(delete(Consent).where(Consent.account_id == account.id, Consent.client_id == client_id))
    return Onward("/dashboard")
