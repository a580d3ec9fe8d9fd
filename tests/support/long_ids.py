"""Ids of award rows and sightings as they were handed out before they had 24 characters."""

import base64

from shared.secrets import sign
from shared.settings import settings


def _sign_row(account_id: int, row: str) -> str:
    return sign(settings().encryption_keys[0], f"award row\0{account_id}\0{row}")[:24]


def build_long_award_id(account_id: int, source: str, ref: str) -> str:
    row = f"{source}|{ref}"
    text = base64.urlsafe_b64encode(row.encode()).decode().rstrip("=")
    return f"{'sbx' if source == 'sandbox' else 'awd'}_{text}_{_sign_row(account_id, row)}"


def build_long_flight_id(account_id: int, sighting: int) -> str:
    return f"flt_{sighting}_{_sign_row(account_id, f'flight|{sighting}')}"
