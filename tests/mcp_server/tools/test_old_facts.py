"""Facts on a later day: an old one is told as old, and none leaves an answer without a word."""

import re
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mcp_server.views.trip_plans import list_trip_rules
from shared.domain.offers import MAX_AGE, find_known_start
from shared.reference.ages import is_outdated
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

# The day the facts were gathered, the day after the last offer without an end is past, half a year, and two years.
DAYS = (date(2026, 11, 30), date(2026, 12, 7), date(2027, 5, 30), date(2028, 11, 30))


@pytest.fixture(params=DAYS, ids=str)
def today(request: pytest.FixtureRequest, standing_clock: StandingClock) -> date:
    standing_clock.set(datetime.combine(request.param, datetime.min.time(), UTC) + timedelta(hours=12))
    return request.param  # type: ignore[no-any-return]


def read_pages(use: Use, people: People, name: str, rows: str) -> list[dict[str, Any]]:
    first = use(people.bob, name, per_page=10)
    pages = range(2, -(-first["paging"]["total"] // 10) + 1)
    return [*first[rows], *(row for page in pages for row in use(people.bob, name, per_page=10, page=page)[rows])]


@pytest.mark.slow  # every card of the catalogue
def test_each_welcome_offer_is_current_or_past_and_none_is_lost(people: People, use: Use, today: date) -> None:
    begun = [row for row in reference().rows("welcome_offers.csv") if (find_known_start(row) or today) <= today]
    cards = {card["slug"]: card for card in read_pages(use, people, "search_card_catalog", "cards")}
    for slug in {row.card_slug for row in begun} & cards.keys():
        offer, past = cards[slug]["welcome_bonus"], cards[slug]["past_welcome_offer"]
        assert (offer is None) != (past is None), slug
        if offer and offer["ends_on"]:
            assert date.fromisoformat(offer["ends_on"]) >= today, slug
        elif offer:
            assert today - date.fromisoformat(offer["as_of"]) <= MAX_AGE, slug
    assert cards.keys() >= {row.card_slug for row in begun}


def test_status_matches_are_shown_or_counted_as_left_out(people: People, use: Use, today: date) -> None:
    answer = use(people.bob, "get_status_matches", per_page=50)
    rows = reference().rows("status_matches.csv")
    gone = [row for row in rows if not row.is_valid(today) or is_outdated("status_matches.csv", row, today)]
    assert answer["paging"]["total"] + len(gone) == len(rows)
    assert (f" {len(gone)} more ended or were last seen over a year ago" in answer["message"]) == bool(gone)


def test_a_goal_for_which_only_old_offers_are_known_is_told_of_them(people: People, use: Use, today: date) -> None:
    answer = use(people.bob, "recommend_status_path", program="hilton", target_tier="Gold")
    told = " ".join([answer["message"], *answer.get("not_possible", ())])
    assert "No status-match or challenge offers have been gathered" not in told


def test_prices_of_points_are_shown_or_counted_as_left_out(people: People, use: Use, today: date) -> None:
    answer = use(people.bob, "get_buy_points_pricing")
    rows = reference().rows("buy_points.csv")
    old = len(rows) - len(answer["programs"])
    assert old == sum(is_outdated("buy_points.csv", row, today) for row in rows)
    assert (f" {old} more, from sources older than 5 years, left out." in answer["message"]) == bool(old)


@pytest.mark.parametrize("name", ["get_award_chart_faq", "get_program_rules"])
def test_rules_of_programmes_are_shown_or_counted_as_left_out(
    people: People, use: Use, standing_clock: StandingClock, name: str
) -> None:
    for day in (date(2026, 11, 30), date(2030, 11, 30), date(2033, 11, 30)):
        standing_clock.set(datetime.combine(day, datetime.min.time(), UTC) + timedelta(hours=12))
        for program in ("icelandair-saga-club", "air-canada-aeroplan", "united-mileageplus", "accor-live-limitless"):
            files = ["program_facts.csv", "points_expiry.csv", "points_pooling.csv", "cancellation_fees.csv"]
            files += ["status_earning_rules.csv"] if name == "get_award_chart_faq" else []
            rows = [row for file in files for row in reference().rows(file) if row.program == program]
            old = sum(is_outdated("program_facts.csv", row, day) for row in rows)
            answer = use(people.bob, name, program=program)
            told = "older than 5 years" in answer["message"]
            assert told == bool(old), (program, day, answer["message"])
            if name == "get_award_chart_faq" and old:
                assert f" {old} more, from sources older than 5 years, left out." in answer["message"], (program, day)


def test_a_trip_counts_the_rules_that_are_too_old() -> None:
    later = date(2033, 1, 31)
    call, wish = (
        SimpleNamespace(reference=reference(), today=later),
        SimpleNamespace(infants=1, children=1, baby_shares={}),
    )
    journey = SimpleNamespace(
        needs={"air-canada-aeroplan": 1, "icelandair-saga-club": 1}, back=None, seats=(), onward=()
    )
    rules = list_trip_rules(cast(Any, call), cast(Any, wish), cast(Any, journey))
    asked = ("stopover", "infants", "children", "child_discount")
    rows = [r for r in reference().rows("program_facts.csv") if r.program in journey.needs and r.topic in asked]
    old = sum(is_outdated("program_facts.csv", row, later) for row in rows)
    assert old
    assert rules[-1] == f"Rules of these programmes: {old} more, from sources older than 5 years, left out."


def test_nothing_that_ended_is_on_sale(people: People, use: Use, today: date) -> None:
    answer = use(people.bob, "whats_on_sale")
    running = [*answer["transfer_bonuses"], *answer["points_sales"]]
    assert all(date.fromisoformat(offer["ends_on"]) >= today for offer in running)
    if not running:
        assert "The newest list of offers is of" in answer["message"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_pricing", {"program": "aeroplan", "origin": "FRA", "destination": "JFK", "partner_airline": "LH"}),
        ("list_transfer_partners", {"program": "citi"}),
        ("get_program_rules", {"program": "ana"}),
        ("get_cancellation_fee", {"airline": "EVA Air"}),
    ],
)
def test_old_unchecked_facts_are_told_with_the_day_of_their_source(
    people: People, use: Use, standing_clock: StandingClock, name: str, arguments: dict[str, str]
) -> None:
    standing_clock.set(datetime(2027, 5, 30, 12, tzinfo=UTC))
    message = use(people.bob, name, **arguments)["message"]
    which = "of these" if message.count(" not checked;") else "source"  # some were checked, or none
    assert re.search(rf"; the oldest {which} is of (?:\d\d? )?(?:[A-Z][a-z]{{2}} )?20\d\d\.", message), message
