"""Stories as people tell them in public, each on a fresh account, judged by the answers and by what is kept.

A test for many of them: a database for each would cost more than the stories. A fault names its story.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.plans import Plan
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People, account
from tests.support.settings_and_clock import StandingClock

Answer = dict[str, Any]
Ask = Callable[..., Answer]
Story = Callable[[Ask], object]
LONGEST = 500  # of a message
CHASE_FULL = {
    "us-chase-sapphire-preferred": "2025-02-10",
    "us-amex-gold": "2025-06-12",
    "us-capital-one-venture-x": "2025-11-20",
    "us-citi-strata-premier": "2026-03-05",
    "us-chase-freedom-unlimited": "2026-09-15",
}


def our_avios_are_one_purse(ask: Ask) -> object:
    ask("update_points_balance", program="british-airways-club", balance=62_000)
    ask("update_points_balance", program="british-airways-club", balance=118_000, member="Tom")
    answer = ask("compare_transfer_options", target_program="british-airways-club", points_needed=180_000)
    return answer["shortfall"] == 0 and answer["pooled_with"][0]["member"] == "Tom"


def two_adults_and_two_children_to_rome(ask: Ask) -> object:
    ask("update_points_balance", program="chase-ultimate-rewards", balance=210_000)
    dates = {"earliest_date": "2027-06-18", "latest_date": "2027-06-30", "nights": 9}
    plan = ask("plan_trip", origin="ORD", destination="Rome", passengers=4, children=2, **dates)["best"]
    booking = next(step for step in plan["steps"] if step.startswith("Book with") and "https" in step)
    return plan["points_total"] <= 210_000 and "Enter 2 children there" in booking


def into_tokyo_over_taipei_and_home_from_osaka(ask: Ask) -> object:
    ask("update_points_balance", program="amex-membership-rewards", balance=400_000)
    dates = {"earliest_date": "2027-10-01", "latest_date": "2027-10-14", "nights": 8}
    stops = {"stops": [{"place": "Taipei", "nights": 3}], "return_from": "Osaka"}
    plan = ask("plan_trip", origin="SEA", destination="Tokyo", cabin="business", passengers=2, **dates, **stops)["best"]
    return [s["nights"] for s in plan["stays"]] == [3, 8] and plan["points_total"] <= 400_000


def where_can_my_aeroplan_points_take_me_in_march(ask: Ask) -> object:
    asked = {"program": "air-canada-aeroplan", "points_balance": 70_000, "month_from": "2027-03", "month_to": "2027-03"}
    rows = ask("explore_destinations", origin="FRA", **asked)["destinations"]
    return bool(rows) and all(row["points"] <= 70_000 and row["best_dates"][0][:7] == "2027-03" for row in rows)


def what_does_the_long_way_cost_in_miles(ask: Ask) -> object:
    asked = {"program": "KrisFlyer", "origin": "SIN", "destination": "SFO", "cabin": "premium_economy"}
    answer = ask("get_pricing", **asked)
    points = answer["cabins"]["premium_economy"]["standard"]
    return bool(answer["message"].startswith(f"Premium economy {points:,}, one way per person"))


def two_hotel_nights_run_out(ask: Ask) -> object:
    for again in (False, True):
        ask("add_voucher", voucher_slug="hyatt-free-night-cat-1-7", expires_on="2027-03-31", again=again)
    held = ask("list_my_vouchers")
    stay = {"check_in_date": "2027-02-12", "check_out_date": "2027-02-14"}
    found = ask("search_hotels", destination="Paris", chains=["hyatt"], **stay)
    paid = [h["category"] for h in found["hotels"] if h["certificates"]]
    return "until 31 Mar 2027" in held["message"] and bool(paid) and max(paid) <= 7


def five_cards_in_two_years_and_another_chase(ask: Ask) -> object:
    for slug, day in CHASE_FULL.items():
        ask("add_card", card=slug, opened_on=day)
    answer = ask("recommend_cards", country="US", goal_program="chase-ultimate-rewards")
    return answer["recommendations"][0]["free_on"] == "2027-02-11" and "11 Feb 2027" in answer["message"][:90]


def is_the_fee_of_my_platinum_worth_it(ask: Ask) -> object:
    ask("add_card", card="us-amex-platinum", opened_on="2024-01-14", annual_fee=895)
    first = ask("list_upcoming_deadlines", within_days=60)["message"]
    return "895 USD" in first and "14 Jan 2027" in first and "Keep it" in first


def a_tax_bill_opens_a_bonus(ask: Ask) -> object:
    best = ask("recommend_cards", country="US", category="tax", purchase_amount=9000)["recommendations"][0]
    return best["welcome_offer"]["reachable"] == "yes" and best["breakdown"]["bonus"] > 0


def sixteen_nights_before_the_year_ends(ask: Ask) -> object:
    ask("set_loyalty_status", program="marriott-bonvoy", tier="Gold", progress=34, target_tier="Platinum")
    progress = ask("get_status_progress", program="marriott-bonvoy")["message"]
    path = ask("recommend_status_path", target_program="Marriott Bonvoy", target_tier="Platinum", deadline="2026-12-31")
    return "16 nights to Platinum by 31 Dec 2026 (31 days left), or 50 from 1 Jan 2027" in progress and bool(
        path["paths"]
    )


def our_award_is_cancelled_and_the_miles_are_back(ask: Ask) -> object:
    ask("update_points_balance", program="american-airlines-aadvantage", balance=12_000)
    flight = {"airline": "AA", "origin": "JFK", "destination": "LHR", "departure_date": "2027-02-10"}
    paid = {"kind": "award", "program": "AAdvantage", "points_spent": 115_000, "taxes_paid": 11.2, "passengers": 2}
    booked = ask("add_flight_booking", cabin_class="business", **flight, **paid)["booking"]
    back = {"cancelled_on": "2026-11-30", "points_back": 115_000, "money_back": 11.2, "credit_points_back": True}
    ask("update_flight_booking", booking_id=booked["booking_id"], **back)
    (balance,) = ask("list_points_balances")["balances"]
    return balance["balance"] == 127_000 and ask("list_flight_bookings", when="cancelled")["paging"]["total"] == 1


def ninety_five_minutes_between_two_tickets(ask: Ask) -> object:
    trip = ask("create_trip", name="Helsinki", start_date="2027-04-02", end_date="2027-04-06")["trip"]["trip_id"]
    leg = {"cabin_class": "economy", "kind": "cash", "cash_paid": 300, "workspace_trip_id": trip}
    first = {"airline": "BA", "origin": "JFK", "destination": "LHR", "departure_date": "2027-04-02"}
    times = {"departure_time": "21:45", "arrival_time": "10:05", "arrival_date": "2027-04-03"}
    ask("add_flight_booking", confirmation_number="AAA111", **first, **times, **leg)
    second = {"airline": "AY", "origin": "LHR", "destination": "HEL", "departure_date": "2027-04-03"}
    times = {"departure_time": "11:40", "arrival_time": "16:40"}
    ask("add_flight_booking", confirmation_number="BBB222", **second, **times, **leg)
    message = ask("get_trip", trip_id=trip)["message"]
    return message.startswith("Helsinki: 2 flights.") and "Only 1 h 35 min at LHR" in message


def a_voucher_pays_for_travel_after_its_last_day(ask: Ask) -> object:
    voucher = ask("add_voucher", voucher_slug="ba-amex-companion-voucher", expires_on="2027-11-30")["voucher"]
    flight = {"airline": "BA", "origin": "LHR", "destination": "BGI", "departure_date": "2028-02-12"}
    booked = ask("add_flight_booking", cabin_class="business", kind="award", **flight)["booking"]["booking_id"]
    on = {"voucher_id": voucher["voucher_id"], "booking_type": "flight", "booking_id": booked}
    return bool(ask("apply_voucher_to_booking", **on)["applied"])


def lifemiles_of_my_wife_end_in_december(ask: Ask) -> object:
    saved = {"program": "avianca-lifemiles", "balance": 12_400, "expires_on": "2026-12-20"}
    ask("update_points_balance", member="Eva", **saved)
    rule = ask("get_program_rules", program="LifeMiles", topics=["expiry"])
    due = ask("list_upcoming_deadlines")["deadlines"][0]
    return "only earning extends" in rule["message"] and (due["kind"], due["due_on"]) == ("points", "2026-12-20")


def points_of_banks_outside_the_list(ask: Ask) -> object:
    for name in ("Livelo", "HDFC Infinia", "DBS Points", "Rakuten Points"):
        ask("update_points_balance", other_name=name, balance=50_000)
    kept = {b["program"] for b in ask("list_points_balances")["balances"]}
    ask("list_transfer_partners", program="Livelo")
    return len(kept) == 4 and not any("united" in slug or "turkish" in slug for slug in kept)


def sixty_two_thousand_as_a_german_writes_it(ask: Ask) -> object:
    ask("update_points_balance", program="lufthansa-miles-and-more", balance="62.000")
    return bool(ask("list_points_balances")["balances"][0]["balance"] == 62_000)


def two_seats_to_sydney_for_at_most_ninety_thousand(ask: Ask) -> object:
    limits = {"cabin": "business", "passengers": 2, "max_points": 90_000}
    days = {"earliest_date": "2027-11-01", "latest_date": "2027-12-31"}
    ask("create_route_monitor", origin="LAX", destination="SYD", **days, **limits)
    listed = ask("list_route_monitors")
    return "LAX-SYD" in listed["message"] and limits.items() <= listed["monitors"][0].items()


def an_advisor_sends_a_new_client_two_options(ask: Ask) -> object:
    points = [{"program": "Amex Membership Rewards", "points": 300_000}]
    client = ask("create_client_portfolio", client_name="The Okafors", balances=points)["portfolio"]["portfolio_id"]
    asked = {"origin": "BOS", "destination": "LIS", "date": "2027-05-12", "cabin": "business", "passengers": 3}
    found = ask("search_all_airlines", flex_days=3, **asked)["options"][:2]
    ask("generate_branded_pdf", title="Lisbon", flights=found, client_portfolio_id=client)
    return "The Okafors" in ask("list_client_portfolios")["message"] and len(ask("list_branded_pdfs")["pdfs"]) == 1


def my_balances_stand_in_a_spreadsheet(ask: Ask) -> object:
    pasted = "Program,Member,Balance,Expires\nUnited MileagePlus,Me,84210,\nHilton Honors,Sara,212000,2027-10-01\n"
    answer = ask("get_portfolio", pasted=pasted, sheet="balances")
    return "2 rows to add" in answer["message"] and ask("list_points_balances")["balances"] == []


def points_by_the_names_we_use(ask: Ask) -> object:
    for name, points in {"BA Avios": 62_000, "Amex MR": 40_000, "Hyatt": 12_000, "Livelo": "80.000"}.items():
        ask("update_points_balance", program=name, balance=points)
    held = {b["program"]: b["balance"] for b in ask("list_points_balances")["balances"]}
    return (held["british-airways-club"], held["livelo"], len(held)) == (62_000, 80_000, 4)


def the_least_that_saves_my_miles(ask: Ask) -> object:
    ask("update_points_balance", program="AAdvantage", balance="18,400", expires_on="2027-01-14")
    rule = ask("get_program_rules", program="AAdvantage", topics=["expiry"])["message"]
    return "24 months after the last activity" in rule and "14 Jan 2027" in ask("list_upcoming_deadlines")["message"]


def my_reserve_became_a_freedom(ask: Ask) -> object:
    card = ask("add_card", card="Chase Sapphire Reserve", opened_on="2022-04-01", annual_fee=795)["card"]["card_id"]
    ask("update_card", card_id=card, card="Chase Freedom Unlimited", annual_fee=0)
    (kept,) = ask("list_my_cards")["cards"]
    return kept["name"] == "Chase Freedom Unlimited" and not float(kept["annual_fee"])


def i_have_used_the_dunkin_credit(ask: Ask) -> object:
    card = ask("add_card", card="American Express Gold", opened_on="2025-03-01", country="US")["card"]["card_id"]
    ask("update_card", card_id=card, credit="Dunkin", credit_used_on="2026-11-12")
    due = ask("list_upcoming_deadlines", within_days=20, kinds=["card_credit"])["deadlines"]
    return bool(due) and not any("Dunkin" in row["title"] for row in due)


def all_four_of_us_in_the_lounge(ask: Ask) -> object:
    ask("add_card", card="Capital One Venture X", opened_on="2026-02-01")
    return "3 guests cost" in ask("list_lounge_visits", airport="DFW", guests=3)["message"]


def a_first_card_in_britain(ask: Ask) -> object:
    asked = {"country": "United Kingdom", "goal_program": "british-airways-club", "spend_currency": "GBP"}
    spend = [{"category": "groceries", "amount": 600}]
    cards = ask("recommend_cards", **asked, max_annual_fee=300, monthly_spend=spend)["recommendations"]
    return bool(cards) and all(card["slug"].startswith(("uk-", "gb-")) for card in cards)


def a_card_for_krisflyer_in_india(ask: Ask) -> object:
    cards = ask("recommend_cards", country="India", goal_program="KrisFlyer")["recommendations"]
    return bool(cards) and all(card["slug"].startswith("in-") for card in cards)


def are_bought_miles_worth_it(ask: Ask) -> object:
    price = ask("get_buy_points_pricing", program="LifeMiles", quantity=60_000)["message"]
    worth = ask("get_points_valuation", program="LifeMiles", points=63_000, taxes=90, cash=3_400)["check"]
    return "60,000 points of LifeMiles cost " in price and worth["better"] == "points"


def transfer_now_or_wait(ask: Ask) -> object:
    ask("update_points_balance", program="Citi ThankYou", balance=90_000)
    on_sale = ask("whats_on_sale", category="transfer_bonus")
    path = ask("find_transfer_paths", from_program="Citi", target_program="Flying Blue", points_needed=50_000)
    return on_sale["points_sales"] == [] and "None of them is instant" in path["message"]


def my_award_got_cheaper(ask: Ask) -> object:
    flight = {"airline": "American", "origin": "LAX", "destination": "HND", "departure_date": "2027-03-03"}
    paid = {"cabin_class": "business", "kind": "award", "program": "AAdvantage", "points_spent": 120_000}
    booked = ask("add_flight_booking", **flight, **paid)["booking"]["booking_id"]
    days = {"earliest_date": "2027-03-03", "latest_date": "2027-03-03"}
    watch = ask("create_route_monitor", origin="LAX", destination="HND", booking_id=booked, **days)["message"]
    return "free" in ask("get_cancellation_fee", airline="AA")["message"] and "after the fee for cancelling" in watch


def nine_nights_in_december(ask: Ask) -> object:
    ask("set_loyalty_status", program="Hyatt", tier="Explorist", progress=51, target_tier="Globalist")
    asked = {"target_program": "Hyatt", "target_tier": "Globalist", "deadline": "2026-12-31"}
    return ask("recommend_status_path", **asked)["message"].startswith("9 nights to go for Globalist.")


def how_near_is_the_companion_pass(ask: Ask) -> object:
    found = ask("list_voucher_types", query="companion", program="Southwest")["message"]
    return found.startswith("Southwest Companion Pass: one named companion flies for taxes and fees")


def a_bonus_that_only_i_was_offered(ask: Ask) -> object:
    asked = {"from_program": "Amex MR", "target_program": "Virgin Atlantic", "points_needed": 80_000}
    answer = ask("find_transfer_paths", bonus_percent=40, **asked)
    first, told = answer["paths"][0], "Counted with the bonus of 40% to Virgin Atlantic Flying Club, offered to you."
    ask("find_transfer_paths", bonus_percent=30, from_program="Citi", target_program="Flying Blue")  # by many cards
    return (first["hops"], first["source_points"]) == (1, 58_000) and told in answer["message"]


def never_ryanair_nor_wizz(ask: Ask) -> object:
    profile = ask("update_profile", avoided_airlines=["Ryanair", "Wizz Air"], default_cabin="business")["profile"]
    return (profile["avoided_airlines"], profile["default_cabin"]) == (["FR", "W6"], "business")


def all_my_balances_in_one_message(ask: Ask) -> object:
    pasted = "Hello Ana, your World of Hyatt points balance is 63,410 as of Nov 20, 2026.\nBonvoy: 120.450 points"
    *rows, unclear = ask("get_portfolio", pasted=f"{pasted}\nMembership Rewards: 88,204 points")["sheet"]["rows"]
    if (unclear["state"], unclear["problem"]) != ("refused", "is the name of several"):
        return False
    for row in rows:
        ask("update_points_balance", **row["arguments"])
    kept = {b["program"]: (b["balance"], b["as_of"]) for b in ask("list_points_balances")["balances"]}
    return kept == {"world-of-hyatt": (63_410, "2026-11-20"), "marriott-bonvoy": (120_450, "2026-11-30")}


def which_hotel_do_you_watch(ask: Ask) -> object:
    stay = {"check_in_date": "2027-10-12", "check_out_date": "2027-10-15"}
    ask("add_hotel_booking", hotel_id="Park Hyatt Kyoto", booked=False, max_points_per_night=40_000, **stay)
    return "1 hotel alert" in ask("list_hotel_bookings")["message"]


def what_does_my_companion_voucher_take_off(ask: Ask) -> object:
    kinds = ask("list_voucher_types", query="BA Amex Companion Voucher")["voucher_types"]
    shares = {kind["voucher_slug"]: (kind["companion_share"], kind["solo_share"]) for kind in kinds}
    return shares["ba-amex-companion-voucher"] == (1.0, 0.5)


def a_card_in_singapore_without_figures(ask: Ask) -> object:
    answer = ask("recommend_cards", country="SG", goal_program="KrisFlyer")
    return answer["message"].startswith("None can be valued, for no bonus is known and no spending is given: 3")


def which_chase_card_while_many_rules_speak(ask: Ask) -> object:
    for slug, day in {**CHASE_FULL, "us-chase-ink-preferred": "2026-05-05"}.items():
        ask("add_card", card=slug, opened_on=day)
    return "Chase counts 5 of 5 cards" in ask("recommend_cards", goal_program="Hyatt")["message"]


TRIPS: tuple[Story, ...] = (
    two_adults_and_two_children_to_rome,
    into_tokyo_over_taipei_and_home_from_osaka,
    where_can_my_aeroplan_points_take_me_in_march,
    what_does_the_long_way_cost_in_miles,
)
MONEY: tuple[Story, ...] = (
    five_cards_in_two_years_and_another_chase,
    is_the_fee_of_my_platinum_worth_it,
    a_tax_bill_opens_a_bonus,
    sixteen_nights_before_the_year_ends,
    two_hotel_nights_run_out,
)
KEPT: tuple[Story, ...] = (
    our_avios_are_one_purse,
    our_award_is_cancelled_and_the_miles_are_back,
    ninety_five_minutes_between_two_tickets,
    a_voucher_pays_for_travel_after_its_last_day,
    lifemiles_of_my_wife_end_in_december,
    points_of_banks_outside_the_list,
    sixty_two_thousand_as_a_german_writes_it,
    two_seats_to_sydney_for_at_most_ninety_thousand,
    an_advisor_sends_a_new_client_two_options,
    my_balances_stand_in_a_spreadsheet,
)
WALLET: tuple[Story, ...] = (
    points_by_the_names_we_use,
    the_least_that_saves_my_miles,
    my_reserve_became_a_freedom,
    i_have_used_the_dunkin_credit,
    all_four_of_us_in_the_lounge,
    how_near_is_the_companion_pass,
    never_ryanair_nor_wizz,
    all_my_balances_in_one_message,
    which_hotel_do_you_watch,
    what_does_my_companion_voucher_take_off,
)
ADVICE: tuple[Story, ...] = (
    a_first_card_in_britain,
    a_card_for_krisflyer_in_india,
    are_bought_miles_worth_it,
    transfer_now_or_wait,
    my_award_got_cheaper,
    nine_nights_in_december,
)
LIMITS: tuple[Story, ...] = (
    a_bonus_that_only_i_was_offered,
    a_card_in_singapore_without_figures,
    which_chase_card_while_many_rules_speak,
)


def _tell(use: Use, number: int, story: Story) -> list[str]:
    """What went wrong in one story: calls refused, messages too long, and whether the wish was met."""
    person, faults = account(f"asker{number}", Plan.PRO), list[str]()

    def ask(tool: str, /, **arguments: Any) -> Answer:
        answer = use(person, tool, **arguments)
        if answer["status"] != "ok" or not 0 < len(answer["message"]) <= LONGEST:
            faults.append(f"{tool}: {answer['status']} {answer['message']}")
        return answer

    try:
        ended = story(ask)
    except (AttributeError, LookupError, TypeError, StopIteration) as error:
        return [*faults, f"broke off: {error!r}"]
    return faults if ended else [*faults, "did not end as wished"]


GROUPS = {"trips": TRIPS, "money": MONEY, "kept": KEPT, "wallet": WALLET, "advice": ADVICE, "limits": LIMITS}


@pytest.mark.parametrize("stories", GROUPS.values(), ids=GROUPS)
def test_each_story_ends_as_the_person_wished(
    people: People, use: Use, standing_clock: StandingClock, stories: tuple[Story, ...]
) -> None:
    standing_clock.set(datetime(2026, 11, 30, 12, tzinfo=UTC))
    faults = {story.__name__: _tell(use, number, story) for number, story in enumerate(stories)}
    assert {name: told for name, told in faults.items() if told} == {}
