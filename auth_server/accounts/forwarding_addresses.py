"""More addresses a person forwards bookings from: adding, confirming by a mailed link, and removing."""

from sqlalchemy import delete, select

from auth_server.accounts import accounts, email_links
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signup import DEAD_LINK, check_link_form, show_link_form
from auth_server.web.outcomes import FlowResult, Page, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.forwarding_addresses import ForwardingAddress, list_addresses
from shared.db.one_time_links import OneTimeLink
from shared.db.profile import find_addressee
from shared.errors import Fault, Invalid
from shared.outbox.enqueue import write_to

MAX_ADDRESSES = 10  # of one account
PURPOSE, ACTION = "forwarding_address", "forwarding-address"


def add_address(uow: UnitOfWork, account: Account, text: str) -> None:
    """Adds it unconfirmed, and mails a link to it; adding it again mails another one. Raises Invalid."""
    address = accounts.normalize_email(text)
    accounts.check_reachable(address)
    lock(uow.db, account.id)
    rows = {row.address: row for row in list_addresses(uow.db, account.id)}
    row = rows.get(address)
    if address == account.email or (row is not None and row.confirmed_at is not None):
        raise Invalid(Fault("email", "is confirmed already", "another address"))
    if row is None and len(rows) >= MAX_ADDRESSES:
        raise Invalid(Fault("email", "is one too many", f"at most {MAX_ADDRESSES}; remove one first"))
    if row is None:
        row = ForwardingAddress(account_id=account.id, address=address)
        uow.db.add(row)
    row.created_at = clock.now()
    uow.db.flush()
    if email_links.can_mail(address):
        facts = email_links.add_link(uow, account, PURPOSE, "/dashboard/settings/addresses", address=address)
        addressee = find_addressee(uow.db, account.id)._replace(email=address)
        write_to(uow.db, addressee, "confirm_forwarding", facts, dedupe_key=f"{PURPOSE}:{facts['nonce']}")


def remove_address(uow: UnitOfWork, account: Account, number: int) -> None:
    """Removes an address: mails from it now wait for review, and links to it end."""
    row = uow.db.get(ForwardingAddress, number)
    if row is None or row.account_id != account.id:
        return
    links = (OneTimeLink.account_id == account.id, OneTimeLink.purpose == PURPOSE, OneTimeLink.address == row.address)
    uow.db.execute(delete(OneTimeLink).where(*links))
    uow.db.delete(row)


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """The page behind the link; opening it changes nothing."""
    return show_link_form(uow, data, PURPOSE, ACTION, lambda _uow, link, _account: {"address": link.address})


def confirm(uow: UnitOfWork, data: RequestData) -> FlowResult:
    checked = check_link_form(uow, data, PURPOSE, ACTION)
    if isinstance(checked, Page):
        return checked
    _, link, account = checked
    own = (ForwardingAddress.account_id == account.id, ForwardingAddress.address == link.address)
    row = uow.db.scalar(select(ForwardingAddress).where(*own).with_for_update())
    uow.db.delete(link)
    if row is None:
        return DEAD_LINK
    row.confirmed_at = clock.now()
    record_event(uow, account, "forwarding_added", subject=row.address, user_agent=data.user_agent)
    text = f"Bookings forwarded from {row.address} are filed from now on."
    return show_problem("The address is confirmed", text, 200)
