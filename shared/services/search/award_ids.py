"""Signed ids of award rows and sightings, of 24 characters: each is good for one account.

The first 48 bits say where to look: the route, day and cabin of an award row, or the number of a sighting. The other 72
are the signature, which tells the row among those seen there. So no id is stored: every row that was ever shown is kept
as a sighting with the name its source gave it.
"""

import base64

from sqlalchemy.orm import Session

from shared.db.sightings import list_row_names
from shared.domain.short_ids import decode_base64, number_cell, read_cell
from shared.providers.contract import AwardSeat
from shared.secrets import is_same_secret, sign
from shared.settings import settings

RowName = tuple[str, str]  # the source, and its own name of the row
_PLACE = 6  # bytes
_MARK = 18  # characters of the signature: 72 bits
_LONG_MARK = 24
_BODY = 20  # characters after the prefix


def award_id(account_id: int | None, source: str, seat: AwardSeat) -> str | None:
    """The same row has the same id at every search of an account.

    There is none without an account, and none of a row whose name was not kept.
    """
    place = number_cell((seat.origin, seat.destination, seat.date, seat.cabin))
    if account_id is None or place is None or not seat.ref:
        return None
    return _build_id("sbx" if source == "sandbox" else "awd", account_id, place, f"{source}|{seat.ref}")


def find_award_row(session: Session, account_id: int, trip_id: str) -> RowName | None:
    """The row, if this id was made for this account, belongs to this data mode, and the account may see the row."""
    prefix, _, body = trip_id.partition("_")
    if (prefix == "sbx") != (settings().data_mode == "sandbox"):
        return None
    if len(body) != _BODY:
        return _read_long_award_id(account_id, prefix, body)
    place, mark = _read_body(body)
    cell = read_cell(place)
    names = list_row_names(session, account_id, *cell) if cell else []
    return next((name for name in names if _is_signed(mark, account_id, "|".join(name))), None)


def _read_long_award_id(account_id: int, prefix: str, body: str) -> RowName | None:
    """Ids were of up to 120 characters and held the whole name. Stored matches of route monitors still name them."""
    text, _, mark = body.rpartition("_")
    try:
        row = decode_base64(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return None
    source, _, ref = row.partition("|")
    if len(mark) != _LONG_MARK or (prefix == "sbx") != (source == "sandbox"):
        return None
    return (source, ref) if _is_signed(mark, account_id, row) else None


def flight_id(account_id: int, sighting: int) -> str:
    """The id of a stored sighting, which no one else can use and no one can count from."""
    return _build_id("flt", account_id, sighting, f"flight|{sighting}")


def sighting_of(account_id: int, flight_id_text: str) -> int | None:
    """The sighting, if this id was made for this account. Ids of earlier days hold the number in digits."""
    prefix, _, body = flight_id_text.partition("_")
    number, _, mark = body.partition("_")
    if len(body) == _BODY:
        place, mark = _read_body(body)
    elif number.isascii() and number.isdigit() and len(number) < 19 and len(mark) == _LONG_MARK:
        place = int(number)
    else:
        return None
    return place if prefix == "flt" and _is_signed(mark, account_id, f"flight|{place}") else None


def _build_id(prefix: str, account_id: int, place: int, row: str) -> str:
    mark = bytes.fromhex(_sign_row(settings().encryption_keys[0], account_id, row)[:_MARK])
    return f"{prefix}_{base64.urlsafe_b64encode(place.to_bytes(_PLACE, 'big') + mark).decode()}"


def _read_body(body: str) -> tuple[int, str]:
    """The place, and the signature in hexadecimal digits; an empty one where the text was never written here."""
    try:
        raw = decode_base64(body)
    except ValueError:
        return 0, ""
    return int.from_bytes(raw[:_PLACE], "big"), raw[_PLACE:].hex()


def _sign_row(key: str, account_id: int, row: str) -> str:
    return sign(key, f"award row\0{account_id}\0{row}")


def _is_signed(mark: str, account_id: int, row: str) -> bool:
    signatures = (_sign_row(key, account_id, row)[: len(mark)] for key in settings().encryption_keys)
    return len(mark) >= _MARK and any(is_same_secret(mark, signature) for signature in signatures)
