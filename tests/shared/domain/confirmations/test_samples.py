"""The sample mails, each with exactly the bookings stored next to it."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.domain.confirmations.model import to_json
from tests.shared.domain.confirmations.mails import read

SAMPLES = Path(__file__).parent / "samples"
PROGRAMS = {"avios": "british-airways-club"}  # as the samples call it, and as the facts do
NAMES = {"cancel_by": "free_cancellation_until"}
ASIDE = {"trip_group", "hotel_match"}


def _read_expected(booking: dict[str, Any]) -> dict[str, Any]:
    stored = {NAMES.get(k, k): v for k, v in booking.items() if k not in ASIDE and v is not None}
    if "program" in stored:
        stored["program"] = PROGRAMS[stored["program"]]
    if "hotel_match" in booking:
        stored["hotel_id"] = f"htl_{booking['hotel_match']}"
    return stored


@pytest.mark.parametrize("name", sorted(p.stem for p in SAMPLES.glob("*.eml")))
def test_a_sample_states_what_was_agreed(name: str) -> None:
    expected = json.loads((SAMPLES / f"{name}.expected.json").read_text(encoding="utf-8"))
    result = read((SAMPLES / f"{name}.eml").read_bytes())
    assert result.source == expected["source"]
    assert result.forwarded == expected.get("forwarded", False)
    assert len(result.bookings) == len(expected["bookings"])
    for booking, target in zip(result.bookings, expected["bookings"], strict=True):
        record = to_json(booking)
        assert record | _read_expected(target) == record
        assert [k for k, v in target.items() if v is None and record.get(k) is not None] == []
    assert result.missing == []
