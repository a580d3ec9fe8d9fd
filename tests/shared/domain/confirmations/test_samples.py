"""The agreed samples: each mail goes in, exactly the bookings beside it come out."""

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


def _expected(booking: dict[str, Any]) -> dict[str, Any]:
    kept = {NAMES.get(k, k): v for k, v in booking.items() if k not in ASIDE and v is not None}
    if "program" in kept:
        kept["program"] = PROGRAMS[kept["program"]]
    if "hotel_match" in booking:
        kept["hotel_id"] = f"htl_{booking['hotel_match']}"
    return kept


@pytest.mark.parametrize("name", sorted(p.stem for p in SAMPLES.glob("*.eml")))
def test_a_sample_states_what_was_agreed(name: str) -> None:
    expected = json.loads((SAMPLES / f"{name}.expected.json").read_text(encoding="utf-8"))
    found = read((SAMPLES / f"{name}.eml").read_bytes())
    assert found.source == expected["source"]
    assert found.forwarded == expected.get("forwarded", False)
    assert len(found.bookings) == len(expected["bookings"])
    for booking, wanted in zip(found.bookings, expected["bookings"], strict=True):
        made = to_json(booking)
        assert made | _expected(wanted) == made
        assert [k for k, v in wanted.items() if v is None and made.get(k) is not None] == []
    assert found.missing == []
