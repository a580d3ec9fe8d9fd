"""Strict comparison of what was read from a letter with what it states: one outcome and the differences."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from shared.domain.confirmations.mail_parts import UnreadableMail
from shared.domain.confirmations.mail_reader import read_mail
from shared.domain.confirmations.model import MailReading, to_json
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from tests.shared.domain.confirmations.corpus.expectations import Allowed, Expected, read_expected
from tests.shared.domain.confirmations.corpus.letter_source import Letter

OUTCOMES = ("right", "asks_right", "partly", "wrong_asks", "WRONG_STORED", "silent")
_SAME = ("flight_number", "origin", "destination", "departure_date", "departure_time", "hotel_name", "check_in_date")
CHANGED = "changed_booking"  # what filing a letter that changes a booking asks for, whatever was read
Record = dict[str, str]


@dataclass
class Score:
    """`outcome` is one of OUTCOMES; each difference is (booking, field, what the letter states, what was read)."""

    letter: Letter
    outcome: str
    missing: list[str] = field(default_factory=list)
    wrong: list[tuple[str, str, str, str]] = field(default_factory=list)
    lacking: list[tuple[str, str, str, str]] = field(default_factory=list)


@lru_cache(maxsize=1)
def _world() -> TravelNames:
    return TravelNames(reference())


def score(letter: Letter) -> Score:
    """How the readers of today do on a letter."""
    expected = read_expected(letter.expected)
    try:
        reading = read_mail(letter.build(), _world())
    except UnreadableMail as no:
        return Score(letter, "partly", [str(no)])
    records = [_to_record(to_json(b)) for b in reading.bookings]
    changes = [CHANGED] if any(r["action"] == "change" for r in records) else []
    result = Score(letter, "", [*reading.missing, *changes])
    if expected.cancelled:
        _compare_cancelled(result, expected, records)
    else:
        _compare(result, expected, records)
    result.outcome = _judge(result, expected, reading)
    return result


def _judge(result: Score, expected: Expected, reading: MailReading) -> str:
    if not reading.bookings:
        if expected.nothing:
            return "right"
        return "partly" if reading.missing or reading.unread else "silent"
    importable = not result.missing
    if expected.nothing and expected.may and not importable:
        return "right"
    asks = bool(result.missing) if "*" in expected.ask else expected.ask <= set(result.missing)
    if importable and (result.wrong or expected.ask or any(f == "booking" for _, f, _, _ in result.lacking)):
        return "WRONG_STORED"
    if result.wrong:
        return "wrong_asks"
    needless = set() if "*" in expected.ask | expected.may else set(result.missing) - expected.ask - expected.may
    if not result.lacking and asks and not needless:
        return "right"
    if importable:
        return "partly"
    return "asks_right" if all(name in result.missing for _, name, _, _ in result.lacking) else "partly"


def _to_record(booking: dict[str, object]) -> Record:
    return {name: _to_text(value) for name, value in booking.items()}


def _to_text(value: object) -> str:
    text = re.sub(r"\s+", " ", str(value)).strip().casefold()
    return f"{Decimal(text).normalize():f}" if re.fullmatch(r"\d+\.\d+", text) else text


def _compare_cancelled(result: Score, expected: Expected, records: list[Record]) -> None:
    numbers = {r.get("confirmation_number", "-") for r in records if r.get("action") == "cancel"}
    targets = {_to_text(number) for number in expected.cancelled}
    for r in records:
        if r.get("action") != "cancel":
            result.wrong.append((_name(r), "booking", "cancelled", "booked"))
    for number in sorted(numbers - targets):
        result.wrong.append((number, "confirmation_number", " ".join(sorted(targets)), number))
    for number in sorted(targets - numbers):
        result.lacking.append((number, "booking", "cancelled", "-"))


def _compare(result: Score, expected: Expected, records: list[Record]) -> None:
    rest = list(records)
    for kind, allowed in expected.bookings:
        record = _find_alike(kind, allowed, rest)
        if record is None:
            result.lacking.append((_name_allowed(allowed), "booking", "booked", "-"))
            continue
        rest.remove(record)
        actions = ("create", "change") if expected.changed else ("create",)
        if record["action"] not in actions:
            result.wrong.append((_name(record), "action", actions[-1], record["action"]))
        for name, values in allowed.items():
            texts, value = {_to_text(v) for v in values}, record.get(name, "-")
            if value not in texts and not _holds_name(name, value, texts, allowed, record):
                side = result.lacking if value == "-" else result.wrong
                side.append((_name_allowed(allowed), name, "|".join(sorted(values)), value))
    for record in rest:
        result.wrong.append((_name(record), "booking", "-", "booked"))


def _holds_name(name: str, value: str, texts: set[str], allowed: Allowed, record: Record) -> bool:
    """Of a hotel that was recognised, the name may bear more than its own words."""
    same = record.get("hotel_id", "-") in allowed.get("hotel_id", set()) - {"-"}
    return name == "hotel_name" and same and any(text in value for text in texts)


def _find_alike(kind: str, allowed: Allowed, records: list[Record]) -> Record | None:
    """The record of that kind with the most fields in agreement, if any that tells flights or stays apart agrees."""

    def count(record: Record) -> tuple[int, int]:
        same = [n for n, v in allowed.items() if record.get(n, "-") in {_to_text(x) for x in v} and n in record]
        return sum(n in _SAME for n in same), len(same)

    alike = [r for r in records if r.get("type") == kind]
    best = max(alike, key=count, default=None)
    return best if best is not None and (count(best)[0] or len(alike) == 1) else None


def _name(record: Record) -> str:
    names = ("flight_number", "origin", "destination", "departure_date", "hotel_name", "check_in_date")
    return " ".join(record[n] for n in names if n in record) or record.get("type", "")


def _name_allowed(allowed: Allowed) -> str:
    keys = ("flight_number", "origin", "destination", "departure_date", "hotel_name", "check_in_date")
    return " ".join(sorted(allowed[n])[-1] for n in keys if n in allowed)
