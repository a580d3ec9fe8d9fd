"""Links in mails: one-time links to confirm or reset, links that end a kind of mail or pause a watch, and pages.

The secret follows from a key of the environment, so rows that hold the nonce and a hash give nothing away. Links that
end a kind of mail or pause a watch are no secret of a row: they follow from account and kind, and work as long as the
key is known.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote
from uuid import UUID

from shared.domain.short_ids import shorten_uuid
from shared.domain.watch_kinds import KIND_OF_EVENT, WATCH_KINDS, WatchKind
from shared.secrets import is_same_secret, key_id, sign
from shared.settings import settings

PAGES = {
    "confirm_email": "/confirm",
    "reset_password": "/reset",
    "not_me": "/not-me",
    "invitation": "/invitation",
    "link_identity": "/link",
    "new_address": "/new-address",
    "old_address": "/old-address",
    "forwarding_address": "/forwarding-address",
}
# Where a person sees what a mail is about. No other module knows these, so a page that moves is changed only here.
SETTINGS_PAGE = "/dashboard/settings"
DEADLINES_PAGE = "/dashboard/deadlines"
_WATCH_PAGES = {kind.name: f"{kind.path}/{{number}}" for kind in WATCH_KINDS}
_BOOKING_PAGES = {
    "flight": "/dashboard/bookings/flights/{number}",
    "stay": "/dashboard/bookings/stays/{number}",
    "trip": "/dashboard/trips/{number}",
}
# The page that settles a deadline, by its record; {name} and {member} are quoted for a query.
_SETTLING_PAGES = {
    "points_balance": "/dashboard/balances/edit?program={name}&member={member}",
    "loyalty_status": "/dashboard/statuses/edit?program={name}&member={member}",
    "voucher": "/dashboard/vouchers/apply?voucher={name}",
    "card": "/dashboard/cards/edit?card={name}",
    "transfer_bonus": "/dashboard/balances",
    "flight_booking": _BOOKING_PAGES["flight"].replace("number", "name"),
    "hotel_booking": _BOOKING_PAGES["stay"].replace("number", "name"),
}
_CREDITS_PAGE = "/dashboard/cards/credits?card={name}"

WATCHES_PAGE = "/dashboard/watches"
_SUBJECT_PAGES = {
    **_WATCH_PAGES,
    "integration": "/dashboard/integrations",
    "inbox_message": "/dashboard/inbox/{number}",
}
# For news that is about no row.
_EVENT_PAGES = {
    "deadlines": "/dashboard/deadlines",
    "weekly_overview": "/dashboard/deadlines",
    "security_event": "/dashboard/security",
    "plan_changed": "/dashboard/account",
    "billing": "/dashboard/account/plan",
    "mail_failed": SETTINGS_PAGE,
    "mail_uncertain": SETTINGS_PAGE,
    "flight_alert_unanswered": WATCHES_PAGE,
}


class KeyGone(Exception):
    """The key a link was made with is no longer among the settings."""


def facts(purpose: str, account: str, nonce: str) -> dict[str, str]:
    """What a delivery row stores of a link made now."""
    return {"purpose": purpose, "account": account, "nonce": nonce, "key": key_id(settings().encryption_keys[0])}


def secret(link_facts: Mapping[str, Any]) -> str:
    """Raises KeyGone."""
    for material in settings().encryption_keys:
        if key_id(material) == link_facts["key"]:
            return sign(
                material, f"one-time link\0{link_facts['purpose']}\0{link_facts['account']}\0{link_facts['nonce']}"
            )
    raise KeyGone


def address(link_facts: Mapping[str, Any]) -> str:
    return f"{settings().web_url}{PAGES[link_facts['purpose']]}?token={secret(link_facts)}"


_SIGNATURE_CHARACTERS = 40  # hexadecimal characters of the signature
_MAX_DIGITS = 18  # of a number that fits a bigint


def find_watch_path(kind: str, number: int | str) -> str:
    """The page of one watch, as a path of the web host."""
    return _WATCH_PAGES[kind].format(number=number)


def find_subject_path(subject_type: str | None, subject_id: str | int | None) -> str | None:
    """The page of what a notice is about; None where there is no such page."""
    page = _SUBJECT_PAGES.get(subject_type or "")
    id = shorten_uuid(UUID(str(subject_id))) if subject_type == "inbox_message" else subject_id
    return page.format(number=id) if page else None


def find_event_path(event: str) -> str | None:
    """The page of a notice that is about nothing in particular."""
    return _EVENT_PAGES.get(event)


def watch_url(kind: str, number: int) -> str:
    """The page of one watch."""
    return f"{settings().web_url}{find_watch_path(kind, number)}"


def booking_url(kind: str, number: int) -> str:
    """The page of one flight, stay or trip."""
    return f"{settings().web_url}{_BOOKING_PAGES[kind].format(number=number)}"


def _sign_unsubscribe(material: str, account: str, kind: str) -> str:
    return sign(material, f"unsubscribe\0{account}\0{kind}")[:_SIGNATURE_CHARACTERS]


def unsubscribe_url(account: str, kind: str) -> str:
    """Where this account turns off this kind of mail, without signing in."""
    signature = _sign_unsubscribe(settings().encryption_keys[0], account, kind)
    return f"{settings().web_url}/unsubscribe?token={kind}.{account}.{signature}"


def read_unsubscribe_token(token: str) -> tuple[str, str] | None:
    """The account and the kind of mail that such a link is about; None when it was not made here."""
    kind, _, rest = token.partition(".")
    account, _, signature = rest.rpartition(".")
    signatures = (_sign_unsubscribe(material, account, kind) for material in settings().encryption_keys)
    if any(is_same_secret(signature, valid) for valid in signatures):
        return account, kind
    return None


def _sign_pause(material: str, account: str, kind: str, number: int) -> str:
    return sign(material, f"pause\0{account}\0{kind}\0{number}")[:_SIGNATURE_CHARACTERS]


def pause_url(account: str, kind: str, number: int) -> str:
    """Where this account pauses this one watch, without signing in."""
    signature = _sign_pause(settings().encryption_keys[0], account, kind, number)
    return f"{settings().web_url}/pause?token={kind}.{number}.{account}.{signature}"


def describe_watch(event: str, facts: Mapping[str, Any], account: str) -> dict[str, Any]:
    """`name`, `page` and `pauses`, each with `words` and `address`; empty where an event comes from no watch."""
    kind = KIND_OF_EVENT.get(event)
    if kind is None:
        return {}
    numbers = list_numbers(kind, facts)
    return {
        "name": f"{kind.noun} {numbers[0]}",
        "page": watch_url(kind.name, numbers[0]),
        "pauses": [
            {
                "words": kind.pause_words if len(numbers) == 1 else f"Pause {kind.noun} {number}",
                "address": pause_url(account, kind.name, number),
            }
            for number in numbers
            if account and kind.pause_words
        ],
    }


def list_numbers(kind: WatchKind, facts: Mapping[str, Any]) -> list[int]:
    """The numbers of the watches that a message comes from."""
    numbers = facts[kind.number]
    return [numbers] if isinstance(numbers, int) else [number for number, *_ in numbers]


def read_pause_token(token: str) -> tuple[str, str, int] | None:
    """The account, the kind and the number of the watch such a link is about; None when it was not made here."""
    kind, number, account, signature = (*token.split(".", 3), "", "", "", "")[:4]
    if not (number.isascii() and number.isdecimal() and len(number) <= _MAX_DIGITS):
        return None
    signatures = (_sign_pause(material, account, kind, int(number)) for material in settings().encryption_keys)
    if any(is_same_secret(signature, valid) for valid in signatures):
        return account, kind, int(number)
    return None


def find_settling_path(kind: str, subject_type: str, subject_id: str) -> str:
    """Where a deadline of this kind is settled, as a path of the web host.

    `subject_id` is that of `list_upcoming_deadlines`: a number, or a programme with " of " and the member behind it.
    """
    page = _CREDITS_PAGE if kind == "card_credit" else _SETTLING_PAGES.get(subject_type, DEADLINES_PAGE)
    name, _, member = subject_id.partition(" of ")
    return page.format(name=quote(name, safe=""), member=quote(member, safe=""))
