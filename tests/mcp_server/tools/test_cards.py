"""Cards through the gate: linked, asked about or kept as text; every field by its rule; listed, changed, removed."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from mcp_server.toolkit.registry import TOOLS
from shared import clock
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

GOLD = "us-amex-gold"
GOLD_NAME = "American Express Gold Card"


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def list_cards(use: Use, people: People) -> list[dict[str, Any]]:
    cards: list[dict[str, Any]] = use(people.alice, "list_my_cards", per_page=100)["cards"]
    return cards


@pytest.fixture
def add(people: People, use: Use) -> Any:
    """add(card=..., ...) as Alice; custom text unless told otherwise."""

    def run(**given: Any) -> dict[str, Any]:
        return use(people.alice, "add_card", **{"card": "House card", "custom": True, "again": True, **given})

    return run


@pytest.mark.spec("s4.4.add_card.exact_links", "s2.1.card_required", "s2.1.country_inherited")
@pytest.mark.parametrize("text", [GOLD, GOLD_NAME, "american express gold card"])
def test_add_card_links_an_exact_slug_or_name(people: People, use: Use, text: str) -> None:
    answer = use(people.alice, "add_card", card=text)
    card = answer["card"]
    assert (answer["status"], answer["saved"], answer["linked_to_catalogue"]) == ("ok", True, True)
    assert (card["slug"], card["name"], card["issuer"]) == (GOLD, GOLD_NAME, "American Express")
    assert (card["country"], card["custom"], card["currency"]) == ("US", False, "USD")


@pytest.mark.spec("s4.4.add_card.inexact_asks")
def test_add_card_asks_about_an_inexact_name_and_saves_nothing(people: People, use: Use) -> None:
    answer = use(people.alice, "add_card", card="Amex Gold")
    assert (answer["status"], answer["saved"]) == ("candidates", False)
    assert set(answer["candidates"][0]) == {"slug", "name", "issuer", "country", "score"}
    assert GOLD in [c["slug"] for c in answer["candidates"]]
    assert list_cards(use, people) == []
    assert use(people.alice, "add_card", card=answer["candidates"][0]["slug"])["linked_to_catalogue"] is True


def test_add_card_narrows_by_country_before_likeness(people: People, use: Use) -> None:
    sent = use(people.alice, "add_card", card="Platinum", country="US")
    assert {c["country"] for c in sent["candidates"]} == {"US"}
    assert sent["candidates"][0]["slug"] == "us-amex-platinum"
    use(people.bob, "update_profile", country="US")
    assert use(people.bob, "add_card", card="Platinum")["candidates"] == sent["candidates"]
    british = use(people.bob, "add_card", card="Platinum", country="GB")
    assert {c["country"] for c in british["candidates"]} == {"GB"}


def test_add_card_links_everyday_names_of_the_own_country(people: People, use: Use) -> None:
    asked = use(people.bob, "add_card", card="Amex Gold")
    assert {c["slug"] for c in asked["candidates"]} == {"us-amex-gold", "ca-amex-gold"}
    use(people.bob, "update_profile", country="US")
    for text in ("Amex Gold", "Capital One Venture X", "Chase Ink Business Preferred", "Bilt Blue"):
        assert use(people.bob, "add_card", card=text)["linked_to_catalogue"] is True, text
    unknown = use(people.bob, "add_card", card="Ink Business Plus")
    assert (unknown["saved"], unknown["linked_to_catalogue"], unknown["card"]["name"]) == (
        True,
        False,
        "Ink Business Plus",
    )


def test_list_my_cards_sums_fees_of_record_and_catalogue(people: People, use: Use) -> None:
    use(people.alice, "add_card", card="us-chase-sapphire-preferred")
    use(people.alice, "add_card", card="House card", custom=True, annual_fee=30, currency="EUR")
    use(people.alice, "add_card", card="Other card", custom=True)
    use(people.alice, "add_card", card="us-amex-gold", closed_on=day(-1))
    answer = use(people.alice, "list_my_cards")
    assert answer["totals"]["annual_fees_by_currency"] == {"EUR": 30, "USD": 95}
    assert answer["message"] == (
        "4 cards, among them: Chase Sapphire Preferred; House card; Other card."
        " The open cards cost 30.00 EUR and 95.00 USD a year."
        " For 1 card this is the fee of the catalogue. For 1 card no fee is known."
    )
    fees = [c["expected_fee"] for c in answer["cards"][:3]]
    assert fees[0] == {"amount": 95, "currency": "USD", "source": "catalogue"}
    assert (fees[1]["source"], fees[2]) == ("stored", None)


@pytest.mark.spec("s4.4.add_card.no_fit_is_free_text")
def test_add_card_keeps_a_name_that_fits_nothing_as_text(people: People, use: Use) -> None:
    answer = use(people.alice, "add_card", card=" Zorblatt Credit Union ")
    card = answer["card"]
    assert (answer["saved"], answer["linked_to_catalogue"]) == (True, False)
    assert (card["slug"], card["name"], card["issuer"], card["country"]) == (None, "Zorblatt Credit Union", None, None)
    assert card["custom"] is False


@pytest.mark.spec("s2.1.custom_flag")
def test_add_card_custom_skips_the_catalogue(people: People, use: Use) -> None:
    answer = use(people.alice, "add_card", card=GOLD_NAME, custom=True)
    assert (answer["card"]["slug"], answer["card"]["custom"], answer["linked_to_catalogue"]) == (None, True, False)


@pytest.mark.spec("s2.1.nickname", "s2.1.opened_closed_dates", "s2.1.bonus_currency", "s2.1.bonus_earned_on")
def test_add_card_keeps_every_field(add: Any, use: Use, people: People) -> None:
    given = {
        "nickname": "Daily",
        "opened_on": "2024-02-29",
        "closed_on": "2025-06-01",
        "notes": "From the branch",
        "bonus_amount": 60000,
        "bonus_currency": "Membership Rewards",
        "bonus_status": "earned",
        "bonus_earned_on": "2024-06-01",
        "spend_requirement": 4000.5,
        "spend_deadline_on": "2024-08-29",
        "annual_fee": 325,
        "currency": "eur",
        "country": "de",
    }
    add(**given)
    (card,) = list_cards(use, people)
    assert {k: card[k] for k in given} == given | {"currency": "EUR", "country": "DE"}


@pytest.mark.spec("s4.4.add_card.hint_list_first")
def test_add_card_description_says_to_look_at_the_list_first() -> None:
    assert "list_my_cards first" in TOOLS["add_card"].description


@pytest.mark.spec("s2.1.bonus_amount_digits_as_string", "s2.1.bonus_amount_types", "s2.1.spend_requirement_types")
def test_add_card_stores_numbers_sent_as_text(add: Any) -> None:
    card = add(bonus_amount="60000", spend_requirement="95.5", annual_fee="0")["card"]
    assert (card["bonus_amount"], card["spend_requirement"], card["annual_fee"]) == (60000, 95.5, 0.0)


@pytest.mark.spec(
    "s2.1.bonus_amount_empty_clears",
    "s2.1.bonus_status_enum",
    "s2.1.bonus_earned_on",
    "s2.1.annual_fee_types",
    "s2.1.spend_window_strings",
    "s2.1.country_empty_resets",
)
def test_add_card_takes_empty_text_as_nothing(people: People, use: Use) -> None:
    names = (
        "bonus_amount",
        "bonus_status",
        "bonus_earned_on",
        "spend_requirement",
        "spend_deadline_on",
        "spend_window_months",
        "annual_fee",
        "country",
    )
    card = use(people.alice, "add_card", card=GOLD, **dict.fromkeys(names, ""))["card"]
    assert {card[n] for n in names if n != "country"} == {None}
    assert card["country"] == "US"


@pytest.mark.spec("s2.1.country_uk_means_gb", "s2.1.currency_default_usd", "s2.1.country_two_letters")
def test_add_card_takes_uk_for_gb_and_dollars_by_default(add: Any) -> None:
    card = add(country="uk")["card"]
    assert (card["country"], card["currency"]) == ("GB", "USD")


@pytest.mark.spec("s2.1.spend_window_values", "s2.1.spend_window_strings", "s2.1.spend_window_computes_deadline")
@pytest.mark.parametrize(
    ("window", "deadline"),
    [(1, "2026-02-28"), (2, "2026-03-31"), ("3", "2026-04-30"), ("6", "2026-07-31"), (12, "2027-01-31")],
)
def test_add_card_counts_the_spend_deadline_from_the_opening(add: Any, window: Any, deadline: str) -> None:
    card = add(opened_on="2026-01-31", spend_window_months=window)["card"]
    assert (card["spend_deadline_on"], card["spend_window_months"]) == (deadline, int(window))


@pytest.mark.spec("s2.1.spend_window_yields_to_deadline", "s2.1.spend_deadline_on")
def test_add_card_reads_the_window_only_without_a_deadline(add: Any) -> None:
    card = add(opened_on="2026-01-31", spend_window_months=3, spend_deadline_on="2026-03-15")["card"]
    assert (card["spend_deadline_on"], card["spend_window_months"]) == ("2026-03-15", None)
    card = add(opened_on="2026-01-31", spend_window_months=3, spend_deadline_on="")["card"]
    assert card["spend_deadline_on"] == "2026-04-30"
    assert add(spend_window_months=3, spend_deadline_on="2026-03-15")["status"] == "ok"


@pytest.mark.spec("s2.1.spend_window_needs_opened_on")
def test_add_card_refuses_a_window_without_an_opening_day(add: Any, use: Use, people: People) -> None:
    no = add(spend_window_months=3)
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "opened_on")
    assert list_cards(use, people) == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"card": ""}, "card"),
        ({"card": "  "}, "card"),
        ({"card": "x" * 121}, "card"),
        ({"custom": "maybe"}, "custom"),
        ({"opened_on": "2026-02-30"}, "opened_on"),
        ({"opened_on": ""}, "opened_on"),
        ({"closed_on": "2025-01-01", "opened_on": "2025-01-02"}, "closed_on"),
        ({"spend_deadline_on": "2025-01-01", "opened_on": "2025-01-02"}, "spend_deadline_on"),
        ({"bonus_earned_on": "2025-01-01", "opened_on": "2025-01-02"}, "bonus_earned_on"),
        ({"bonus_status": "won"}, "bonus_status"),
        ({"bonus_amount": -1}, "bonus_amount"),
        ({"bonus_amount": "60k"}, "bonus_amount"),
        ({"bonus_amount": True}, "bonus_amount"),
        ({"bonus_amount": 1.5}, "bonus_amount"),
        ({"bonus_amount": 10**25}, "bonus_amount"),
        ({"annual_fee": "free"}, "annual_fee"),
        ({"annual_fee": -0.01}, "annual_fee"),
        ({"spend_requirement": True}, "spend_requirement"),
        ({"spend_window_months": 5}, "spend_window_months"),
        ({"spend_window_months": "4"}, "spend_window_months"),
        ({"currency": "DOLLARS"}, "currency"),
        ({"country": "Atlantis"}, "country"),
        ({"nickname": "x" * 81}, "nickname"),
        ({"notes": "x" * 4001}, "notes"),
        ({"color": "blue"}, "color"),
    ],
)
def test_add_card_refuses_bad_input_by_name(add: Any, use: Use, people: People, arguments: Any, field: str) -> None:
    no = add(**arguments)
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert list_cards(use, people) == []


@pytest.mark.spec("s3.card.status_set_by_caller", "s2.1.bonus_status_enum")
@pytest.mark.parametrize("status", ["pending", "earned", "missed"])
def test_add_card_stores_the_status_that_was_sent(add: Any, status: str) -> None:
    assert add(bonus_status=status)["card"]["bonus_status"] == status


@pytest.mark.spec("s3.card.no_automatic_move")
def test_add_card_never_moves_a_status_by_dates(add: Any, use: Use, people: People) -> None:
    add(bonus_status="pending", spend_deadline_on="2020-01-01")
    add(bonus_earned_on="2020-01-01")
    assert [(c["bonus_status"], c["bonus_days_left"]) for c in list_cards(use, people)] == [
        ("pending", None),
        (None, None),
    ]


@pytest.mark.spec("s3.card.earned_goes_with_date")
def test_add_card_points_out_an_earned_bonus_without_its_date(add: Any) -> None:
    undated = add(bonus_status="earned")
    assert (undated["status"], undated["card"]["bonus_earned_on"]) == ("ok", None)
    assert "bonus_earned_on" in undated["message"]
    assert "bonus_earned_on" not in add(bonus_status="earned", bonus_earned_on="2026-01-01")["message"]


def test_list_my_cards_tells_days_left_and_the_next_fee(add: Any, use: Use, people: People) -> None:
    opened = clock.today().replace(day=1) - timedelta(days=400)
    add(bonus_status="pending", spend_deadline_on=day(10), annual_fee=95, opened_on=opened.isoformat())
    (card,) = list_cards(use, people)
    due = date.fromisoformat(card["next_fee_on"])
    assert card["bonus_days_left"] == 10
    assert (due.month, due >= clock.today()) == (opened.month, True)


def test_list_my_cards_knows_the_fee_date_of_a_catalogue_card(people: People, use: Use) -> None:
    use(people.alice, "add_card", card=GOLD, opened_on="2024-05-09")
    (card,) = list_cards(use, people)
    assert card["annual_fee"] is None
    assert card["next_fee_on"].endswith("-05-09")


def test_list_my_cards_filters_and_adds_up(add: Any, use: Use, people: People) -> None:
    add(card="A", annual_fee=95, bonus_status="pending")
    add(card="B", annual_fee=300.5, currency="GBP")
    add(card="C", annual_fee=100, closed_on=day(-1), bonus_status="earned", bonus_earned_on=day(-9))
    add(card="D", annual_fee=5, closed_on=day(30))

    def names(**given: Any) -> list[str]:
        return [c["name"] for c in use(people.alice, "list_my_cards", **given)["cards"]]

    assert names() == ["A", "B", "C", "D"]
    assert names(include_closed=False) == ["A", "B", "D"]
    assert names(bonus_status="unknown") == ["B", "D"]
    assert names(bonus_status="earned", include_closed=False) == []
    assert names(page=2, per_page=3) == ["D"]
    assert use(people.alice, "list_my_cards")["totals"] == {
        "open": 3,
        "closed": 1,
        "annual_fees_by_currency": {"GBP": 300.5, "USD": 100.0},
        "bonuses_pending": 1,
    }


def test_list_my_cards_finds_one_card_or_says_there_is_none(add: Any, use: Use, people: People) -> None:
    first = add(card="A")["card"]
    add(card="B")
    answer = use(people.alice, "list_my_cards", card_id=first["card_id"])
    assert [c["name"] for c in answer["cards"]] == ["A"]
    assert answer["paging"]["total"] == 1
    for who, number in ((people.alice, 10**9), (people.charlie, first["card_id"])):
        no = use(who, "list_my_cards", card_id=number)
        assert (no["status"], no["what"], no["id"]) == ("not_found", "card", number)


def test_list_my_cards_sends_no_more_statements_for_more_cards(
    add: Any, use: Use, people: People, queries: list[str]
) -> None:
    add()
    use(people.alice, "list_my_cards")
    counts = []
    for _ in range(2):
        queries.clear()
        use(people.alice, "list_my_cards", per_page=100)
        counts.append(len(queries))
        for _ in range(15):
            add()
    assert counts[0] == counts[1] <= 3


@pytest.fixture
def update(people: People, use: Use) -> Any:
    """update(number, ...) as Alice."""

    def run(number: int, **given: Any) -> dict[str, Any]:
        return use(people.alice, "update_card", card_id=number, **given)

    return run


FULL = {
    "nickname": "Daily",
    "opened_on": "2026-01-31",
    "closed_on": "2027-06-01",
    "notes": "From the branch",
    "bonus_amount": 60000,
    "bonus_currency": "Avios",
    "bonus_status": "earned",
    "bonus_earned_on": "2026-06-01",
    "spend_requirement": 4000.5,
    "spend_deadline_on": "2026-08-29",
    "annual_fee": 325.0,
    "currency": "EUR",
    "country": "DE",
}


@pytest.mark.parametrize("name", sorted(FULL))
def test_update_card_changes_the_one_field_sent_and_no_other(add: Any, update: Any, name: str) -> None:
    made = add(**FULL)["card"]
    other = {
        "opened_on": "2026-01-30",
        "bonus_status": "missed",
        "currency": "GBP",
        "country": "FR",
        "bonus_amount": "5",
        "spend_requirement": "95.5",
        "annual_fee": 0,
    }.get(name, "2026-09-09" if name.endswith("_on") else "Other")
    done = update(made["card_id"], **{name: other})
    assert (done["status"], done["changed"]) == ("ok", [name])
    stored = float(other) if isinstance(FULL[name], int | float) else other
    derived = dict.fromkeys(("updated_at", "next_fee_on", "expected_fee"), 0)
    assert done["card"] | derived == made | {name: stored} | derived
    assert done["card"]["updated_at"] > made["updated_at"]
    assert update(made["card_id"], **{name: other})["changed"] == []


@pytest.mark.spec(
    "s2.1.nickname",
    "s2.1.bonus_amount_empty_clears",
    "s2.1.bonus_status_enum",
    "s2.1.bonus_earned_on",
    "s2.1.spend_requirement_types",
    "s2.1.spend_deadline_on",
    "s2.1.annual_fee_types",
)
def test_update_card_empties_what_is_sent_empty_or_named(add: Any, update: Any, use: Use, people: People) -> None:
    number = add(**FULL)["card"]["card_id"]
    names = [n for n in FULL if n not in ("opened_on", "closed_on", "currency")]
    done = update(number, **dict.fromkeys(names, ""))
    assert sorted(done["changed"]) == sorted(names)
    assert {done["card"][n] for n in names} == {None}
    update(number, **{n: FULL[n] for n in names})
    names += ["opened_on", "closed_on"]
    done = update(number, clear=names)
    assert sorted(done["changed"]) == sorted(names)
    assert {done["card"][n] for n in names} == {None}
    assert list_cards(use, people) == [done["card"]]


def test_update_card_clears_every_field_that_empty_text_clears() -> None:
    parameters, settable = (TOOLS[name].arguments.schema["properties"] for name in ("update_card", "add_card"))
    others = {"card", "member", "currency"}  # there is always one
    cleared = (parameters.keys() & settable.keys() - others) | {"spend_so_far"}
    assert set(parameters["clear"]["items"]["enum"]) == cleared


@pytest.mark.spec("s2.1.country_empty_resets", "s2.1.country_uk_means_gb")
def test_update_card_resets_the_country_to_the_catalogues(people: People, use: Use, update: Any) -> None:
    number = use(people.alice, "add_card", card=GOLD, country="fr")["card"]["card_id"]
    assert update(number, country="uk")["card"]["country"] == "GB"
    assert update(number, country="")["card"]["country"] == "US"


@pytest.mark.spec("s4.4.add_card.exact_links", "s4.4.add_card.inexact_asks", "s4.4.add_card.no_fit_is_free_text")
def test_update_card_links_again_asks_or_renames(add: Any, update: Any, use: Use, people: People) -> None:
    made = add(nickname="N")["card"]
    asked = update(made["card_id"], card="Amex Gold", nickname="Other")
    assert (asked["status"], asked["saved"]) == ("candidates", False)
    assert "custom" not in asked["message"]
    assert list_cards(use, people) == [made]
    done = update(made["card_id"], card=GOLD)
    assert done["changed"] == ["card"]
    fields = ("slug", "name", "issuer", "country", "custom", "nickname")
    assert [done["card"][f] for f in fields] == [GOLD, GOLD_NAME, "American Express", "US", False, "N"]
    assert update(made["card_id"], card=GOLD)["changed"] == []
    done = update(made["card_id"], card=" Zorblatt Credit Union ")["card"]
    assert (done["slug"], done["name"], done["issuer"]) == (None, "Zorblatt Credit Union", None)


@pytest.mark.spec("s2.1.spend_window_computes_deadline", "s2.1.spend_window_needs_opened_on")
def test_update_card_counts_the_window_from_the_opening_sent_or_stored(add: Any, update: Any) -> None:
    number = add()["card"]["card_id"]
    no = update(number, spend_window_months=3, nickname="N")
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "opened_on")
    done = update(number, spend_window_months=3, opened_on="2026-01-31")
    assert done["card"]["nickname"] is None
    assert (done["card"]["spend_deadline_on"], done["card"]["spend_window_months"]) == ("2026-04-30", 3)
    done = update(number, spend_window_months="1", spend_deadline_on="")
    assert (done["card"]["spend_deadline_on"], done["card"]["spend_window_months"]) == ("2026-02-28", 1)
    assert sorted(done["changed"]) == ["spend_deadline_on", "spend_window_months"]
    no = update(number, spend_window_months=3, clear=["opened_on"])
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "opened_on")


@pytest.mark.spec("s2.1.spend_window_yields_to_deadline", "s2.1.spend_window_strings")
def test_update_card_takes_a_deadline_that_is_sent_before_any_window(add: Any, update: Any) -> None:
    number = add(opened_on="2026-01-31", spend_window_months=3)["card"]["card_id"]

    def update_deadline(**given: Any) -> tuple[Any, Any]:
        made = update(number, **given)["card"]
        return made["spend_deadline_on"], made["spend_window_months"]

    assert update_deadline(spend_window_months=6, spend_deadline_on="2026-05-05") == ("2026-05-05", None)
    assert update_deadline(opened_on="2026-02-01") == ("2026-05-05", None)
    assert update_deadline(spend_window_months=2) == ("2026-04-01", 2)
    assert update_deadline(opened_on="2026-02-15") == ("2026-04-15", 2)
    assert update_deadline(spend_window_months="") == ("2026-04-15", None)
    assert update_deadline(spend_deadline_on="") == (None, None)


@pytest.mark.parametrize("empty", [{"spend_deadline_on": ""}, {"clear": ["spend_deadline_on"]}])
def test_update_card_empties_a_deadline_in_either_way(add: Any, update: Any, empty: dict[str, Any]) -> None:
    number = add(opened_on="2026-01-31", spend_window_months=3)["card"]["card_id"]
    assert update(number, **empty)["card"]["spend_deadline_on"] is None
    again = update(number, spend_window_months=1, **empty)["card"]
    assert (again["spend_deadline_on"], again["spend_window_months"]) == ("2026-02-28", 1)
    kept = update(number, clear=["spend_window_months"])["card"]
    assert (kept["spend_deadline_on"], kept["spend_window_months"]) == ("2026-02-28", None)


@pytest.mark.spec("s3.card.earned_goes_with_date", "s3.card.no_automatic_move")
def test_update_card_marks_a_bonus_earned_only_when_told(add: Any, update: Any) -> None:
    number = add(bonus_status="pending", spend_deadline_on="2020-01-01")["card"]["card_id"]
    assert update(number, bonus_earned_on="2026-01-01")["card"]["bonus_status"] == "pending"
    assert "date is missing" not in update(number, bonus_status="earned")["message"]
    undated = update(number, bonus_earned_on="")
    assert (undated["status"], undated["card"]["bonus_earned_on"]) == ("ok", None)
    assert "date is missing" in undated["message"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"card": " "}, "card"),
        ({"card": "x" * 121}, "card"),
        ({"custom": True}, "custom"),
        ({"opened_on": ""}, "opened_on"),
        ({"opened_on": "2027-07-01"}, "opened_on"),
        ({"closed_on": "2026-01-30"}, "closed_on"),
        ({"bonus_earned_on": "2026-01-30"}, "bonus_earned_on"),
        ({"spend_deadline_on": "2026-01-30"}, "spend_deadline_on"),
        ({"bonus_status": "won"}, "bonus_status"),
        ({"bonus_amount": "60k"}, "bonus_amount"),
        ({"annual_fee": -1}, "annual_fee"),
        ({"spend_window_months": 5}, "spend_window_months"),
        ({"country": "Atlantis"}, "country"),
        ({"currency": ""}, "currency"),
        ({"notes": "x", "clear": ["notes"]}, "clear"),
        ({"annual_fee": 0, "clear": ["annual_fee"]}, "clear"),
        ({"clear": ["currency"]}, "clear[0]"),
        ({"clear": ["notes", "colour"]}, "clear[1]"),
    ],
)
def test_update_card_refuses_bad_input_by_name(
    add: Any, update: Any, use: Use, people: People, given: Any, field: str
) -> None:
    made = add(**FULL)["card"]
    no = update(made["card_id"], **{"nickname": "Other", **given})
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert list_cards(use, people) == [made]


def test_update_card_and_remove_card_of_another_account_find_nothing(add: Any, use: Use, people: People) -> None:
    made = add()["card"]
    for who, number in ((people.charlie, made["card_id"]), (people.alice, 10**9)):
        for tool, given in (("update_card", {"card": GOLD}), ("remove_card", {})):
            no = use(who, tool, card_id=number, **given)
            assert (no["status"], no["what"], no["id"]) == ("not_found", "card", number)
    assert list_cards(use, people) == [made]


def test_remove_card_deletes_it_once_and_asks_the_model_to_confirm(add: Any, use: Use, people: People) -> None:
    number = add(card="A")["card"]["card_id"]
    gone = use(people.alice, "remove_card", card_id=number)
    assert (gone["status"], gone["removed"]) == ("ok", {"card_id": number, "name": "A"})
    assert use(people.alice, "remove_card", card_id=number)["status"] == "not_found"
    assert list_cards(use, people) == []
    assert "Confirm with the user first" in TOOLS["remove_card"].description


def test_update_card_marks_a_credit_as_used_in_its_cycle(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))
    card = use(people.alice, "add_card", card="us-chase-sapphire-reserve", opened_on="2024-02-29")["card"]["card_id"]
    part = use(people.alice, "update_card", card_id=card, credit="travel", credit_used=120.5)
    assert part["changed"] == ["credit"]
    assert part["message"].startswith(
        "Changed Chase Sapphire Reserve: credit. Travel credit: 179.50 of 300 USD open until Sat 27 Feb 2027."
    )
    travel = {c["credit"]: c for c in part["credits"]}["travel"]
    assert (travel["cycle_start"], travel["ends_on"], travel["open"]) == ("2026-02-28", "2027-02-27", 179.5)
    assert use(people.alice, "update_card", card_id=card, credit="travel", credit_used=120.5)["changed"] == []
    whole = use(people.alice, "update_card", card_id=card, credit="Dining credit")
    assert {c["credit"]: c["open"] for c in whole["credits"]}["dining"] == 0
    before = use(people.alice, "update_card", card_id=card, credit="dining", credit_used_on="2026-06-30")
    assert {c["credit"]: c["used"] for c in before["credits"]}["dining"] == 150  # of this half-year alone
    undone = use(people.alice, "update_card", card_id=card, credit="dining", credit_used=0)
    assert {c["credit"]: c["used"] for c in undone["credits"]}["dining"] == 0


def test_update_card_names_the_credits_a_card_has(people: People, use: Use) -> None:
    card = use(people.alice, "add_card", card=GOLD)["card"]["card_id"]
    lost = use(people.alice, "update_card", card_id=card, credit="lounge")
    assert (lost["status"], lost["nearest"]) == ("not_found", ["dining", "dunkin", "resy", "uber-cash"])
    alone = use(people.alice, "update_card", card_id=card, credit_used=5)
    assert (alone["status"], alone["errors"][0]["field"]) == ("invalid", "credit")
    much = use(people.alice, "update_card", card_id=card, credit="resy", credit_used=5000)
    assert (much["status"], much["errors"][0]["field"]) == ("invalid", "credit_used")
    venture = use(people.alice, "add_card", card="us-capital-one-venture-x")["card"]["card_id"]
    undated = use(people.alice, "update_card", card_id=venture, credit="travel")
    assert (undated["status"], undated["errors"][0]["field"]) == ("invalid", "opened_on")
    dated = use(people.alice, "update_card", card_id=venture, credit="travel", opened_on=day(-30))
    assert (dated["changed"], dated["credits"][0]["open"]) == (["opened_on", "credit"], 0)
    for wrong in (day(1), "2020-01-01"):
        refused = use(people.alice, "update_card", card_id=card, credit="resy", credit_used_on=wrong)
        assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "credit_used_on")
    theirs = use(people.charlie, "update_card", card_id=card, credit="resy")
    assert theirs["status"] == "not_found"


def test_list_my_cards_says_when_spending_after_the_deadline_may_be_in(people: People, use: Use) -> None:
    fields = {"opened_on": "2025-01-05", "spend_requirement": 100, "spend_deadline_on": "2025-03-15"}
    card = use(people.alice, "add_card", card="House card", custom=True, bonus_status="pending", **fields)
    lines = [
        {"date": "2025-03-03", "description": "Zed Ltd", "amount": "60", "category": "other"},
        {"date": "2025-03-30", "description": "Zed Ltd", "amount": "20", "category": "other"},
        {"date": "2025-04-03", "description": "Zed Ltd", "amount": "500", "category": "other"},
    ]
    use(people.alice, "import_spending_statement", rows=lines, currency="USD", card_id=card["card"]["card_id"])
    progress = use(people.alice, "list_my_cards")["cards"][0]["bonus_progress"]
    assert (progress["spent"], progress["is_most"]) == (80, True)
    assert progress["sentence"] == (
        "At most 80 of 100 USD spent by 3 Apr 2025 as far as statements show; 20 short on Sat 15 Mar 2025."
    )


def test_add_card_and_update_card_say_whose_a_card_is(people: People, use: Use) -> None:
    use(people.alice, "update_points_balance", program="air-canada-aeroplan", balance=1_000, member="Anna")
    use(people.alice, "add_card", card=GOLD)
    added = use(people.alice, "add_card", card=GOLD, member=" anna ")
    card = added["card"]["card_id"]
    assert added["card"]["member"] == "Anna"  # as it is written with the balance
    assert added["message"].startswith(f"American Express Gold Card of Anna is saved as card {card}")
    assert [c["member"] for c in use(people.alice, "list_my_cards")["cards"]] == [None, "Anna"]
    assert use(people.alice, "add_card", card=GOLD, member=" ")["status"] == "invalid"
    assert use(people.alice, "update_card", card_id=card, member="ANNA")["changed"] == []
    own = use(people.alice, "update_card", card_id=card, member="")
    assert (own["changed"], own["card"]["member"]) == (["member"], None)
    assert use(people.alice, "update_card", card_id=card, member="Ben")["card"]["member"] == "Ben"
