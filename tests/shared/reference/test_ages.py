"""The age from which on a fact is unknown: one rule by file."""

from datetime import date

from shared.reference.ages import is_outdated
from shared.reference.load import reference

TODAY = date(2026, 11, 22)


def test_no_shown_rule_or_rate_is_older_than_its_limit() -> None:
    for file, years in (("earning_rates.csv", 5), ("program_facts.csv", 5), ("buy_points.csv", 5)):
        for row in reference().fresh_rows(file, TODAY):
            seen = row.audited_on.isoformat() if row.audited_on else row.as_of or "undated"
            assert seen >= f"{TODAY.year - years}-11", (file, row)


def test_an_audit_makes_an_old_source_young_again() -> None:
    old = next(r for r in reference().rows("earning_rates.csv") if r.program == "jal-mileage-bank")
    assert is_outdated("earning_rates.csv", old, TODAY)
    assert not is_outdated("earning_rates.csv", old, date(2020, 1, 1))
