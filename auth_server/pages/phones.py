"""Phones page of the settings: numbers are added, proved by the code that was sent to them, and removed."""

from auth_server.accounts import phones
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared.db.phones import PhoneNumber
from shared.domain.phone_numbers import parse_phone_number
from shared.outbox.phone_codes import DIGITS, LIFETIME, PAGE

CHANNEL_NAMES = {"sms": "by SMS", "whatsapp": "by WhatsApp"}
NO_NUMBER = "This is no phone number. Please enter it with the country's code, such as +14155550100."


def show(
    member: Member, status: int = 200, faults: dict[str, str] | None = None, code_of: PhoneNumber | None = None
) -> FlowResult:
    """`faults` are sentences by field (number, code; page for all of it); `code_of` is the number of the code."""
    numbers = phones.list_numbers(member.db, member.account.id)
    unproved = [phone for phone in numbers if phone.proved_at is None]
    return member.show(
        "phones.html",
        status,
        proved=[phone for phone in numbers if phone.proved_at is not None],
        pending=[(phone, phones.is_undelivered(member.db, phone)) for phone in unproved],
        waiting=phones.list_waiting(member.db, member.account.id),
        channels=[(channel, CHANNEL_NAMES[channel]) for channel in phones.list_channels()],
        bar=phones.explain_bar(member.account),
        faults={"page": "", "number": "", "code": ""} | (faults or {}),
        code_of=code_of.id if code_of is not None else None,
        entered={name: member.data.form_value(name) for name in ("number", "channel", "code")},
        digits=DIGITS,
        minutes=int(LIFETIME.total_seconds()) // 60,
    )


def _read_id(member: Member, field: str) -> int | None:
    text = member.data.form_value(field)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def _find_number(member: Member) -> PhoneNumber | None:
    phone_id = _read_id(member, "phone_id")
    return phones.find_number(member.db, member.account.id, phone_id) if phone_id is not None else None


def send_code(member: Member) -> FlowResult:
    """Sends a code to the number typed."""
    number = parse_phone_number(member.data.form_value("number"))
    if number is None:
        return show(member, 422, {"number": NO_NUMBER})
    try:
        phones.send_code(member.uow, member.account, number, member.data.form_value("channel"))
    except phones.PhoneRefused as refusal:
        return show(member, 422, {"number": str(refusal)})
    return redirect_back(PAGE, "code_sent")


def send_another_code(member: Member) -> FlowResult:
    """Sends another code to a listed number, or one that an alert names."""
    phone, alert_id = _find_number(member), _read_id(member, "alert_id")
    number = phones.open_number(phone) if phone is not None else None
    if alert_id is not None:
        number = phones.find_number_of_alert(member.db, member.account.id, alert_id)
    if number is None:
        return redirect_back(PAGE, "phone_gone")
    try:
        phones.send_code(member.uow, member.account, number, member.data.form_value("channel"))
    except phones.PhoneRefused as refusal:
        return show(member, 422, {"page": str(refusal)})
    return redirect_back(PAGE, "code_sent")


def prove(member: Member) -> FlowResult:
    phone = _find_number(member)
    if phone is None:
        return redirect_back(PAGE, "phone_gone")
    try:
        phones.prove(member.uow, member.account, phone, member.data.form_value("code"), member.data.user_agent)
    except phones.PhoneRefused as refusal:
        return show(member, 422, {"code": str(refusal)}, phone)
    return redirect_back(PAGE, "phone_added")


def remove(member: Member) -> FlowResult:
    phone = _find_number(member)
    if phone is not None:
        phones.remove(member.uow, member.account, phone, member.data.user_agent)
    return redirect_back(PAGE, "phone_removed")
