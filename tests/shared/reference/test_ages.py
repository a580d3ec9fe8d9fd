"""The age from which on a fact is unknown: one rule by file."""

from datetime import date

from shared.reference.ages import describe_left_out, is_outdated
from shared.reference.load import reference
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact

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


def test_no_page_carries_the_day_somebody_looked_at_it() -> None:
    """An undated page is undated: the day of the look would make a page of 2016 one of this month."""
    facts = [(file, row) for file, kind in FILES.items() if issubclass(kind, Fact) for row in reference().rows(file)]
    first_look = min(row.audited_on for _, row in facts if row.audited_on)
    assert [(file, row) for file, row in facts if row.as_of and row.as_of >= first_look.isoformat()] == []


def test_what_is_too_old_to_be_shown_is_counted() -> None:
    rows = reference().rows("status_matches.csv")
    left_out = sum(is_outdated("status_matches.csv", row, date(2027, 5, 30)) for row in rows)
    words = describe_left_out("status_matches.csv", rows, date(2027, 5, 30))
    assert left_out
    assert words == f" {left_out} more, from sources older than 1 year, left out."
    assert describe_left_out("status_matches.csv", [], date(2027, 5, 30)) == ""
