"""Journeys of browsers to another provider and back: started by one of our forms, bound to the session, usable once."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, select

from auth_server.accounts import signin
from auth_server.accounts.identity_providers import Journey, build_request
from auth_server.web import sessions
from auth_server.web.outcomes import Page, Redirect
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.linked_identities import ProviderSignIn
from shared.db.oauth import WebSession
from shared.secrets import digest, sign
from shared.settings.identity_providers import OidcProvider

LIFETIME = timedelta(minutes=15)
MAX_AT_ONCE = 10  # of one session: people open several tabs


@dataclass(frozen=True)
class Return:
    """A journey that came back to the session it started in."""

    journey: Journey
    purpose: str
    return_to: str


def _derive_journey(session: WebSession, state: str, *, fresh: bool) -> Journey:
    """Derives nonce and PKCE verifier from session and state, so that no row stores them."""
    nonce, verifier = (sign(session.csrf_key, f"{use}:{state}") for use in ("nonce", "verifier"))
    return Journey(state, nonce, verifier, fresh)


def show_provider_problem(title: str, text: str, return_to: str, status: int = 400) -> Page:
    """Shows what went wrong, and the way back to where the person started."""
    return Page("provider_problem.html", {"title": title, "text": text, "return_to": return_to}, status)


BEGIN_AGAIN = show_provider_problem(
    "This sign-in cannot be finished here",
    "It was begun in another browser, more than 15 minutes ago, or has been finished already. Please begin it again.",
    signin.HOME,
)


def begin(
    uow: UnitOfWork, session: WebSession, name: str, provider: OidcProvider, metadata: dict[str, object], **row: object
) -> Redirect:
    """Redirects to the provider. `row` is the purpose, where to go next, and whether a fresh sign-in is needed."""
    uow.db.execute(delete(ProviderSignIn).where(ProviderSignIn.created_at < clock.now() - LIFETIME))
    own = ProviderSignIn.session_hash == session.id_hash
    keep = (
        select(ProviderSignIn.state_hash).where(own).order_by(ProviderSignIn.created_at.desc()).limit(MAX_AT_ONCE - 1)
    )
    uow.db.execute(delete(ProviderSignIn).where(own, ProviderSignIn.state_hash.not_in(keep)))
    state = secrets.token_urlsafe(32)
    journey = _derive_journey(session, state, fresh=bool(row["fresh"]))
    keys = {"state_hash": digest(state), "session_hash": session.id_hash, "provider": name}
    uow.db.add(ProviderSignIn(**keys, **row, created_at=clock.now()))
    return Redirect(build_request(name, provider, metadata, journey))


def take(uow: UnitOfWork, data: RequestData, name: str) -> Return | Page:
    """The journey that this answer belongs to. Its row is deleted in the same statement: an answer works once."""
    session, state = sessions.load(uow.db, data.cookie), data.query_value("state") or ""
    if session is None:
        return BEGIN_AGAIN
    taking = delete(ProviderSignIn).where(
        ProviderSignIn.state_hash == digest(state),
        ProviderSignIn.session_hash == session.id_hash,
        ProviderSignIn.provider == name,
    )
    row = uow.db.scalar(taking.returning(ProviderSignIn))
    if row is None or clock.now() - row.created_at > LIFETIME:
        return BEGIN_AGAIN
    return Return(_derive_journey(session, state, fresh=row.fresh), row.purpose, row.return_to)
