"""Codes that prove a phone or a channel: written when they are sent, checked when they are entered, within limits."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from shared import clock
from shared.domain.plurals import pluralize
from shared.limits import hit, take_back
from shared.outbox.phone_codes import DIGITS, LIFETIME, derive_code, hash_code
from shared.secrets import is_same_secret

MAX_TRIES = 5


class ProofRefused(Exception):
    """A refusal; the text is a sentence for the owner."""


class Provable(Protocol):
    """A row that a code proves."""

    code_hash: Any
    code_sent_at: Any
    code_tries: Any
    proved_at: Any


def count_code(limits: Sequence[tuple[str, int, int, str]]) -> None:
    """Counts one code on each name: limit, window in seconds, and the rule as a sentence with a place for the limit.

    Raises ProofRefused beyond a limit. A refused code is not counted.
    """
    for position, (name, limit, window, rule) in enumerate(limits):
        verdict = hit(name, limit, window)
        if not verdict.allowed:
            for purpose_name, _, seconds, _ in limits[: position + 1]:
                take_back(purpose_name, seconds)
            minutes = -(-verdict.retry_after // 60)
            wait = pluralize(minutes, "minute") if minutes <= 60 else pluralize(-(-minutes // 60), "hour")
            raise ProofRefused(f"{rule.format(limit)} Please try again in {wait}.")


def note_code(row: Provable, row_hash: str, facts: Mapping[str, Any]) -> None:
    """Makes the code of these facts the one that proves the row, replacing an earlier one."""
    row.code_hash = hash_code(derive_code(facts), row_hash)[0]
    row.code_sent_at, row.code_tries = clock.now(), 0


def check_code(row: Provable, row_hash: str, code: str) -> bool:
    """Proves the row; False when it was proved before. Raises ProofRefused; a wrong code counts."""
    digits = re.sub(r"[\s-]", "", code)
    # Takes as long whatever was entered, and whether or not there is a code.
    stored, is_right = row.code_hash or "", False
    for value in hash_code(digits, row_hash):
        is_right = is_same_secret(value, stored) or is_right
    if row.proved_at is not None:
        return False
    sent_at: datetime | None = row.code_sent_at
    if row.code_hash is None or sent_at is None:
        raise ProofRefused("No code is waiting. Ask for one.")
    if row.code_tries >= MAX_TRIES:
        raise ProofRefused(f"{MAX_TRIES} wrong codes were entered. Ask for a new code.")
    if clock.now() - sent_at > LIFETIME:
        raise ProofRefused(f"The code is older than {LIFETIME // timedelta(minutes=1)} minutes. Ask for a new one.")
    if not re.fullmatch(rf"[0-9]{{{DIGITS}}}", digits):
        raise ProofRefused(f"Please enter the {DIGITS} digits of the code.")
    if not is_right:
        row.code_tries += 1
        rest = MAX_TRIES - row.code_tries
        if not rest:
            raise ProofRefused("The code is wrong, and it was the last try. Ask for a new code.")
        raise ProofRefused(f"The code is wrong. You have {pluralize(rest, 'try', 'tries')} left.")
    row.proved_at, row.code_hash = clock.now(), None
    return True
