"""Change of an account's email address: a link to the new address and one to the present, and only both change it.

A session by itself is not enough to change anything. For a week the link "this was not me" of a mail to the old address
gives the account back to it.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select

from auth_server.accounts import accounts, email_links
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signup import DEAD_LINK, check_link_form, show_link_form
from auth_server.web.outcomes import FlowResult, Page, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.address_changes import AddressChange
from shared.db.one_time_links import OneTimeLink
from shared.db.profile import find_addressee
from shared.errors import Fault, Invalid
from shared.outbox.enqueue import write_to
from shared.secrets import digest

LIFETIME = timedelta(hours=24)
PURPOSES = {"new-address": "new_address", "old-address": "old_address"}  # of the links, by the pages behind them


def find_pending(uow: UnitOfWork, account: Account, *, lock: bool = False) -> AddressChange | None:
    change = uow.db.get(AddressChange, account.id, with_for_update=lock, populate_existing=True)
    return change if change is not None and change.expires_at > clock.now() else None


def request_change(uow: UnitOfWork, data: RequestData, account: Account, email: str) -> AddressChange:
    """Begins a change in place of an earlier one; the present address gets its mail. Raises Invalid."""
    address = accounts.normalize_email(email)
    accounts.check_reachable(address)
    if address == account.email:
        raise Invalid(Fault("email", "is your address already", "another one"))
    withdraw(uow, account)
    now = clock.now()
    change = AddressChange(account_id=account.id, new_email=address, created_at=now, expires_at=now + LIFETIME)
    uow.db.add(change)
    uow.db.flush()
    confirm = email_links.add_link(uow, account, "old_address", "/dashboard/account")
    more = {"confirm": confirm}
    record_event(uow, account, "address_asked", subject=address, user_agent=data.user_agent, more=more)
    return change


def withdraw(uow: UnitOfWork, account: Account) -> None:
    uow.db.execute(delete(AddressChange).where(AddressChange.account_id == account.id))
    links = (OneTimeLink.account_id == account.id, OneTimeLink.purpose.in_(PURPOSES.values()))
    uow.db.execute(delete(OneTimeLink).where(*links))


def write_to_new_address(uow: UnitOfWork, _data: RequestData, account_id: int, address: str) -> None:
    """Runs after the response, so that its duration does not tell who has an account.

    If the address already has one, its owner gets a notice instead of the link.
    """
    account = uow.db.get(Account, account_id)
    if account is None or not email_links.can_mail(address):
        return
    owner = accounts.find_account(uow.db, address)
    if owner is not None:
        write_to(uow.db, owner, "address_taken", {}, dedupe_key=f"taken:{owner.id}:{clock.now().isoformat()}")
        return
    facts = email_links.add_link(uow, account, "new_address", "/dashboard/account", address=address)
    addressee = find_addressee(uow.db, account.id)._replace(email=address)
    write_to(uow.db, addressee, "confirm_new_address", facts, dedupe_key=f"new_address:{facts['nonce']}")


def show_form(uow: UnitOfWork, data: RequestData, action: str) -> FlowResult:
    """The page behind either link; opening it changes nothing."""
    match = email_links.find(uow, PURPOSES[action], data.query_value("token"))
    change = find_pending(uow, match[1]) if match is not None else None
    if change is None:
        return DEAD_LINK
    describe = {"action": action, "new_email": change.new_email}
    return show_link_form(uow, data, PURPOSES[action], action, lambda *_: describe)


def confirm(uow: UnitOfWork, data: RequestData, action: str) -> FlowResult:
    checked = check_link_form(uow, data, PURPOSES[action], action)
    if isinstance(checked, Page):
        return checked
    _, link, account = checked
    change = find_pending(uow, account, lock=True)
    if change is None:
        return DEAD_LINK
    uow.db.delete(link)
    if action == "new-address":
        change.new_confirmed_at = clock.now()
    else:
        change.old_confirmed_at = clock.now()
    if change.new_confirmed_at is None:
        return _show_next("The change needs one more step", f"Please open the link in the mail to {change.new_email}.")
    if change.old_confirmed_at is None:
        return _show_next(
            "The change needs one more step",
            "Please open the link in the mail to the address the account has at present.",
        )
    return _complete(uow, data, account, change.new_email)


def _show_next(title: str, text: str) -> Page:
    return show_problem(title, text, 200)


def _complete(uow: UnitOfWork, data: RequestData, account: Account, address: str) -> Page:
    """Changes the address once both have confirmed. Links to the old one end, but for "this was not me"."""
    withdraw(uow, account)
    if not _is_free(uow, address):
        return show_problem("This address cannot be used", "Nothing was changed. Please choose another address.", 409)
    record_event(uow, account, "address_changed", subject=address, user_agent=data.user_agent)
    set_address(uow, account, address)
    write_to(uow.db, account, "address_confirmed", {}, dedupe_key=f"address:{account.id}:{clock.now().isoformat()}")
    return _show_next("Your address is changed", f"From now on you sign in with {address}, and all mails go there.")


def _is_free(uow: UnitOfWork, address: str) -> bool:
    """Takes the same lock as a sign-up with this address, so that the second of two at once finds it taken."""
    uow.db.execute(select(func.pg_advisory_xact_lock(int(digest(address)[:15], 16))))
    return accounts.find_account(uow.db, address) is None


def set_address(uow: UnitOfWork, account: Account, address: str) -> None:
    account.email, account.email_confirmed_at = address, clock.now()
    email_links.delete_all(uow, account)
    uow.events.append({"account": account.public_id})


def give_back(uow: UnitOfWork, account: Account, address: str | None) -> None:
    """Gives the account back to the address a mail was sent to; links to its current address end."""
    withdraw(uow, account)
    if address is None or address == account.email or not _is_free(uow, address):
        return
    set_address(uow, account, address)
    elsewhere = (OneTimeLink.account_id == account.id, OneTimeLink.address != address)
    uow.db.execute(delete(OneTimeLink).where(*elsewhere))
