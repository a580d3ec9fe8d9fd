"""Signed ids of award rows and sightings: each is good for one account."""

import base64
import binascii

from shared.secrets import is_same_secret, sign
from shared.settings import settings

_MARK = 24  # characters of the signature: 96 bits


def _sign_row(key: str, account_id: int, row: str) -> str:
    return sign(key, f"award row\0{account_id}\0{row}")[:_MARK]


def award_id(account_id: int | None, source: str, ref: str) -> str | None:
    """The same row has the same id at every search of an account; without an account there is no id."""
    if account_id is None:
        return None
    row = f"{source}|{ref}"
    text = base64.urlsafe_b64encode(row.encode()).decode().rstrip("=")
    prefix = "sbx" if source == "sandbox" else "awd"
    return f"{prefix}_{text}_{_sign_row(settings().encryption_keys[0], account_id, row)}"


def award_row(account_id: int, trip_id: str) -> tuple[str, str] | None:
    """The source and its name of the row, if this id was made for this account and belongs to this data mode."""
    prefix, _, rest = trip_id.partition("_")
    text, _, mark = rest.rpartition("_")
    try:
        row = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)).decode()
    except (ValueError, binascii.Error):
        return None
    source, _, ref = row.partition("|")
    if (prefix == "sbx") != (settings().data_mode == "sandbox") or (prefix == "sbx") != (source == "sandbox"):
        return None
    if not any(is_same_secret(mark, _sign_row(key, account_id, row)) for key in settings().encryption_keys):
        return None
    return source, ref


def flight_id(account_id: int, sighting: int) -> str:
    """The id of a stored sighting, which nobody else can use and nobody can count from."""
    return f"flt_{sighting}_{_sign_row(settings().encryption_keys[0], account_id, f'flight|{sighting}')}"


def sighting_of(account_id: int, flight_id_text: str) -> int | None:
    """The sighting, if this id was made for this account."""
    prefix, _, rest = flight_id_text.partition("_")
    number, _, mark = rest.partition("_")
    if prefix != "flt" or not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    signatures = (_sign_row(key, account_id, f"flight|{number}") for key in settings().encryption_keys)
    return int(number) if any(is_same_secret(mark, sign) for sign in signatures) else None
