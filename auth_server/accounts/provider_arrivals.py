"""Arrivals from another provider: a linked identity signs in, a new address gets an account, a known one is asked."""

from dataclasses import dataclass

from sqlalchemy import func, select

from auth_server.accounts import (
    access,
    accounts,
    email_links,
    identity_linking,
    linked_identities,
    signin,
    signup,
    step_up,
)
from auth_server.accounts.identity_providers import Identity
from auth_server.accounts.provider_journeys import BEGIN_AGAIN, Return, show_provider_problem
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page, Redirect
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.linked_identities import LinkedIdentity
from shared.db.oauth import WebSession
from shared.errors import Invalid, LimitReached
from shared.secrets import digest
from shared.settings.identity_providers import OidcProvider

METHODS_PAGE = "/dashboard/sign-in-methods"


@dataclass(frozen=True)
class _Arrival:
    """Someone who came back from a provider, in the browser session that was sent there."""

    uow: UnitOfWork
    data: RequestData
    session: WebSession
    provider: OidcProvider
    identity: Identity
    return_to: str

    @property
    def title(self) -> str:
        return self.provider.title

    def show_problem(self, title: str, text: str, status: int) -> Page:
        return show_provider_problem(title, text, self.return_to, status)

    def find_linked(self) -> LinkedIdentity | None:
        return linked_identities.find_identity(self.uow.db, self.identity.issuer, self.identity.subject)

    def continue_as(self, account: Account) -> FlowResult:
        """Signs in; our own second factor is still asked for."""
        return signin.continue_sign_in(self.uow, self.data, self.session, account, self.return_to)

    def link_to(self, account: Account) -> bool:
        """Links the identity; False when it signs in to another account. Raises LimitReached."""
        return linked_identities.add_identity(self.uow, account, self.identity, self.title, self.data.user_agent)


def arrive(
    uow: UnitOfWork, data: RequestData, provider: OidcProvider, came_back: Return, identity: Identity
) -> FlowResult:
    session = sessions.load(uow.db, data.cookie)
    if session is None:
        return BEGIN_AGAIN
    arrival = _Arrival(uow, data, session, provider, identity, came_back.return_to)
    if came_back.journey.fresh and _is_too_old(identity):
        text = f"This page asks for a sign-in of the last ten minutes, and {provider.title} says that yours is older."
        return arrival.show_problem("Please sign in again", f"{text} Sign out there, or sign in another way.", 403)
    return _connect(arrival) if came_back.purpose == "connect" else _sign_in(arrival)


def _is_too_old(identity: Identity) -> bool:
    moment, limit = identity.authenticated_at, step_up.MAX_AGE.total_seconds()
    return moment is not None and clock.now().timestamp() - moment > limit


def _connect(arrival: _Arrival) -> FlowResult:
    """Connects the provider for someone signed in: the account is this one, whatever address the provider has."""
    account = sessions.find_account(arrival.uow.db, arrival.session)
    if account is None:
        return BEGIN_AGAIN
    try:
        is_own = arrival.link_to(account)
    except LimitReached as refusal:
        return arrival.show_problem("There are too many linked sign-ins", refusal.message, 409)
    if not is_own:
        text = f"That account of {arrival.title} signs in to another account here. Remove it there first."
        return arrival.show_problem("It is linked already", text, 409)
    return Redirect(f"{METHODS_PAGE}?done=identity_added")


def _sign_in(arrival: _Arrival) -> FlowResult:
    linked = arrival.find_linked()
    return _begin_with_address(arrival) if linked is None else _continue_as_linked(arrival, linked)


def _continue_as_linked(arrival: _Arrival, linked: LinkedIdentity) -> FlowResult:
    account = arrival.uow.db.get(Account, linked.account_id)
    if account is None or account.disabled_at is not None:
        return access.SUSPENDED
    linked.last_used_at = clock.now()
    return arrival.continue_as(account)


def _begin_with_address(arrival: _Arrival) -> FlowResult:
    """Handles an identity that is new here. One without a verified address is refused."""
    db, identity = arrival.uow.db, arrival.identity
    try:
        address = accounts.normalize_email(identity.address or "")
    except Invalid:
        text = f"{arrival.title} has not verified an email address of yours. Verify it there, or sign in another way."
        return arrival.show_problem("Your address is not verified", text, 403)
    db.execute(select(func.pg_advisory_xact_lock(int(digest(address)[:15], 16))))
    if (linked := arrival.find_linked()) is not None:  # by another tab, while this one waited
        return _continue_as_linked(arrival, linked)
    account = accounts.find_account(db, address)
    if account is not None and account.disabled_at is not None:
        return access.SUSPENDED
    if account is None or account.email_confirmed_at is None:
        return _sign_up(arrival, address, account)
    return identity_linking.begin(arrival.uow, arrival.session, account, identity, arrival.title, arrival.return_to)


def _sign_up(arrival: _Arrival, address: str, unconfirmed: Account | None) -> FlowResult:
    """Signs up; an address that was never confirmed may not be this person's, so its old password goes."""
    if not signup.signup_allows(arrival.uow.db, address):
        text = "This installation does not take new accounts with this address. The support page says who runs it."
        return arrival.show_problem("No account can be made", text, 403)
    if (refusal := signup.check_rate_limit(arrival.data)) is not None:
        return refusal
    account = unconfirmed or accounts.add_account(arrival.uow.db, address, None)
    account.password_hash, account.email_confirmed_at = None, clock.now()
    email_links.delete_all(arrival.uow, account)
    arrival.link_to(account)
    return arrival.continue_as(account)
