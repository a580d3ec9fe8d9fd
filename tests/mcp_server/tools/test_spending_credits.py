"""Credits of a card ticked off by its imported statements: what is proved is kept, the rest is asked for."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.card_credits import find_uses
from shared.domain.spending.model import StatementLine
from shared.reference.cards import list_credits
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

TODAY = date(2026, 11, 22)


@pytest.fixture(autouse=True)
def november(standing_clock: StandingClock) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))


def lines(*rows: tuple[str, str, float]) -> dict[str, Any]:
    named = [{"date": day, "description": words, "amount": amount} for day, words, amount in rows]
    return {"rows": named, "currency": "USD"}


def read_credits(use: Use, who: Any, card: int) -> dict[str, dict[str, Any]]:
    return {c["credit"]: c for c in use(who, "list_my_cards", card_id=card)["credits"]}


def test_a_credit_the_issuer_gave_back_is_marked_and_a_purchase_that_may_not_count_is_asked_for(
    people: People, use: Use
) -> None:
    card = use(people.alice, "add_card", card="us-amex-gold", opened_on="2025-03-02")["card"]["card_id"]
    first = lines(
        ("2026-11-03", "DUNKIN #345678 BOSTON", 9.2),
        ("2026-11-05", "AMEX DUNKIN CREDIT", -7),
        ("2026-11-06", "GROCER", 30),
    )
    dry = use(people.alice, "import_spending_statement", card_id=card, dry_run=True, **first)
    assert "Would be marked as used: Dunkin' credit: 7.00 USD credited, the last on 5 Nov 2026." in dry["message"]
    assert read_credits(use, people.alice, card)["dunkin"]["used"] == 0
    answer = use(people.alice, "import_spending_statement", card_id=card, **first)
    (dunkin,) = answer["credits_seen"]
    assert (dunkin["cycle_start"], dunkin["amount"], dunkin["marked"]) == ("2026-11-01", 7, True)
    credit = read_credits(use, people.alice, card)["dunkin"]
    assert (credit["used"], credit["proof"]) == (7, "7.00 USD credited, the last on 5 Nov 2026")
    again = use(people.alice, "import_spending_statement", card_id=card, **first)
    assert again["credits_seen"] == []
    asked = lines(("2026-10-03", "DUNKIN #345678 BOSTON", 9.2), ("2026-10-06", "GROCER", 30))
    answer = use(people.alice, "import_spending_statement", card_id=card, **asked)
    assert [c["marked"] for c in answer["credits_seen"]] == [False]
    assert "Used if it was activated, so say so: Dunkin' credit: 7.00 USD spent where it counts" in answer["message"]
    elsewhere = use(people.alice, "import_spending_statement", **lines(("2026-09-03", "DUNKIN #1", 9.2)))
    assert elsewhere["credits_seen"] == []  # of no card


def test_what_the_person_said_stays_and_erased_spending_leaves_no_proof(people: People, use: Use) -> None:
    card = use(people.alice, "add_card", card="us-amex-hilton-surpass", opened_on="2025-03-02")["card"]["card_id"]
    use(people.alice, "update_card", card_id=card, credit="hilton", credit_used=20)
    stay = lines(("2026-11-03", "HAMPTON INN AUSTIN", 15), ("2026-11-06", "GROCER", 30))
    use(people.alice, "import_spending_statement", card_id=card, **stay)
    credit = read_credits(use, people.alice, card)["hilton"]
    assert (credit["used"], credit["proof"]) == (20, None)
    longer = lines(("2026-11-10", "HILTON GARDEN", 35), ("2026-11-12", "GROCER", 30))
    use(people.alice, "import_spending_statement", card_id=card, **longer)
    assert read_credits(use, people.alice, card)["hilton"]["used"] == 35
    more = lines(("2026-11-14", "CONRAD NEW YORK", 200), ("2026-11-15", "GROCER", 30))
    use(people.alice, "import_spending_statement", card_id=card, **more)
    assert read_credits(use, people.alice, card)["hilton"]["used"] == 50  # never more than the credit
    use(people.alice, "delete_spending_data", confirm=True)
    credit = read_credits(use, people.alice, card)["hilton"]
    assert (credit["used"], credit["proof"]) == (50, None)


AMOUNTS = st.integers(-60, 120).map(Decimal)
LINES = st.builds(
    lambda day, amount, words: StatementLine(1, day, amount, words, "other", None),
    st.dates(date(2026, 9, 1), TODAY),
    AMOUNTS,
    st.sampled_from(["HILTON GARDEN", "HILTON CREDIT", "GROCER", "CHILTONVILLE"]),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(LINES, max_size=8))
def test_no_use_is_more_than_the_credit_or_than_what_the_lines_hold(rows: list[StatementLine]) -> None:
    own = [c for c in list_credits(reference(), "us-amex-hilton-surpass", TODAY) if c.credit == "hilton"]
    for use in find_uses(own, rows, "USD", None):
        cycle = [r for r in rows if r.description.startswith("HILTON") and r.day >= use.cycle_start]
        assert 0 < use.amount <= 50
        assert use.amount <= sum(abs(r.amount) for r in cycle)
        assert use.cycle_start <= use.day
    assert find_uses(own, rows, "GBP", None) == []
