"""Signed ids of award rows and sightings, of 24 characters: each works for one account.

The first 48 bits say where to look: the route, day and cabin of an award row, or the number of a sighting. The other 72
are the signature, which tells the row among those seen there. So no id is stored: every row ever shown is kept
as a sighting with the name its source gave it.
"""

import base64
from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.db.sightings import list_row_names
from shared.domain.short_ids import decode_base64, number_cell, read_cell
from shared.providers.contract import AwardSeat
from shared.secrets import is_same_secret, sign
from shared.settings import settings

RowName = tuple[str, str]  # the source, and its own id of the row
_PLACE = 6  # bytes
_MARK = 18  # characters of the signature: 72 bits
_LONG_MARK = 24
_BODY = 20  # characters after the prefix


def award_id(account_id: int | None, source: str, seat: AwardSeat) -> str | None:
    """The same row has the same id at every search of an account.

    None without an account, nor for a row whose name was not saved.
    """
    place = number_cell((seat.origin, seat.destination, seat.date, seat.cabin))
    if account_id is None or place is None or not seat.ref:
        return None
    return _build_id("sbx" if source == "sandbox" else "awd", account_id, place, f"{source}|{seat.ref}")


def find_award_rows(session: Session, account_id: int, trip_ids: Sequence[str]) -> list[RowName | None]:
    """The row of each id, if made for this account and data mode, and the account may see it.

    One statement, however many there are.
    """
    prefix = "sbx" if settings().data_mode == "sandbox" else "awd"
    bodies = [body if start == prefix else "" for start, _, body in (id.partition("_") for id in trip_ids)]
    read = {body: _read_body(body) for body in bodies if len(body) == _BODY}
    cells = {cell for place, _ in read.values() if (cell := read_cell(place))}
    names = list_row_names(session, account_id, cells)

    def find(body: str) -> RowName | None:
        if body not in read:
            return _read_long_award_id(account_id, prefix, body)
        _, mark = read[body]
        return next((name for name in names if _is_signed(mark, account_id, "|".join(name))), None)

    return [find(body) for body in bodies]


def _read_long_award_id(account_id: int, prefix: str, body: str) -> RowName | None:
    """Reads an old id of up to 120 characters with the whole name, as in stored matches of route monitors."""
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
    """The id of a stored sighting, which others cannot use or enumerate."""
    return _build_id("flt", account_id, sighting, f"flight|{sighting}")


def sighting_of(account_id: int, flight_id_text: str) -> int | None:
    """The sighting, if this id was made for this account. Old ids have the number in digits."""
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
    """The place, and the signature in hexadecimal digits; empty if the text is not ours."""
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
