"""Page of the addresses a person forwards bookings from."""

from auth_server.accounts import forwarding_addresses
from auth_server.accounts.signup import describe_faults
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult, show_problem
from shared.db.forwarding_addresses import list_addresses
from shared.errors import Invalid
from shared.limits import hit

PATH = "/dashboard/settings/addresses"
ADDED_PER_DAY = 20


def show(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    rows = list_addresses(member.db, member.account.id)
    return member.show(
        "forwarding_addresses.html",
        status,
        rows=rows,
        full=len(rows) >= forwarding_addresses.MAX_ADDRESSES,
        most=forwarding_addresses.MAX_ADDRESSES,
        faults=faults or {},
        email=member.read_field("email"),
    )


def add(member: Member) -> FlowResult:
    verdict = hit(f"forwarding:{member.account.id}", ADDED_PER_DAY, 86400)
    if not verdict.allowed:
        return show_problem("Too many addresses", "Please wait a day and try again.", 429, verdict.retry_after)
    try:
        forwarding_addresses.add_address(member.uow, member.account, member.data.form_value("email"))
    except Invalid as error:
        return show(member, 422, describe_faults(error))
    return redirect_back(PATH, "forwarding_asked")


def remove(member: Member) -> FlowResult:
    number = member.data.form_value("address_id")
    if number.isascii() and number.isdigit() and len(number) < 19:
        forwarding_addresses.remove_address(member.uow, member.account, int(number))
    return redirect_back(PATH, "forwarding_removed")
