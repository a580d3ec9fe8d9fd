"""An account with something of everything in it, and the addresses of every page its owner reads."""

from datetime import timedelta
from typing import Any

from auth_server.app import DASHBOARD
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import HotelPrice
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.hotel_alerts import HotelAlert
from shared.db.spending import SpendingStatement, SpendingTotal
from shared.db.standing_orders import StandingOrder, StandingOrderRun
from shared.db.worth_days import WorthDay
from shared.domain.dates import add_months
from tests.mcp_server.rest.test_watch_pages import add_finds, add_monitor
from tests.mcp_server.tools.test_inbound_mail import arrive
from tests.shared.domain.confirmations.mails import mail
from tests.support.sandbox_seats import set_stay

STAY = "Confirmation Number: 99887766\n12 Main Street, Osaka\nCheck-in: 4 Dec 2027\nCheck-out: 6 Dec 2027\n"
BALANCES = {
    "chase-ultimate-rewards": 184500,
    "amex-membership-rewards": 212300,
    "united-mileageplus": 62340,
    "air-canada-aeroplan": 41200,
    "world-of-hyatt": 95500,
    "marriott-bonvoy": 318000,
    "ana-mileage-club": 31800,
}
SHARES = {"groceries": 610, "dining": 480, "flights": 900, "gas": 140, "hotels": 520}


def day(days: int) -> str:
    return str(clock.today() + timedelta(days=days))


def fill_everything(use: Any, caller: Caller) -> dict[str, int]:
    """The numbers of what has pages: trip, flight, stay, plan, client, and one watch of each kind."""

    def do(tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = use(caller, tool, **arguments)
        assert answer["status"] in ("ok", "partial"), (tool, answer)
        return answer

    for program, balance in BALANCES.items():
        ends = {"expires_on": day(24)} if program == "air-canada-aeroplan" else {}
        ends |= {"expires_on": day(70), "member": "Ben"} if program == "ana-mileage-club" else {}
        do("update_points_balance", program=program, balance=balance, **ends)
    bonus = {"bonus_amount": 60000, "bonus_status": "pending", "spend_requirement": 4000, "spend_deadline_on": day(50)}
    do("add_card", card="chase-sapphire-reserve", opened_on=day(-300), **bonus)
    do("add_card", card="American Express Gold Card", opened_on=day(-500))
    do("add_card", card="us-amex-platinum", opened_on=day(-340), member="Ben")
    do("set_loyalty_status", program="world-of-hyatt", tier="Explorist", valid_until=day(90), progress=41)
    do("set_loyalty_status", program="united-mileageplus", tier="Premier Silver", progress=3100)
    do("add_voucher", voucher_slug="aer-lingus-companion-ticket-us", expires_on=day(24))
    ids = _book(do) | _watch(use, caller, do)
    client = {"client_name": "Zoë Castellanos", "client_email": "zoe@castellanos.test", "notes": "Window seats."}
    points = {"united-mileageplus": 62340, "ana-mileage-club": 31800, "world-of-hyatt": 140000}
    made = do("create_client_portfolio", **client, balances=points, preferences={"home_airport": "LHR"})
    do("create_client_portfolio", client_name="Lee Park", balances={"air-canada-aeroplan": 220000})
    do("create_client_portfolio", client_name="Ana Lima")
    ids["client"] = made["portfolio"]["portfolio_id"]
    do("generate_branded_pdf", title="Ten days in Tokyo", summary="Ten days", client_portfolio_id=ids["client"])
    arrive(use, caller, mail(STAY, subject="Your stay in Osaka"))
    with transaction() as session:
        _spend(session, caller.account_id)
        for days in range(90):
            worth = {"day": clock.today() - timedelta(days=days), "usd": 15200 - 13 * days + 400 * (days % 30 < 9)}
            session.add(WorthDay(account_id=caller.account_id, **worth))
    return ids


def _book(do: Any) -> dict[str, int]:
    dates = {"start_date": day(12), "end_date": day(19)}
    trip = do("create_trip", name="Spring in Tokyo", destination="Tokyo", **dates)["trip"]["trip_id"]
    way = {"airline": "UA", "cabin_class": "business", "passengers": 2, "kind": "award", "points_spent": 88000}
    way |= {"program": "air-canada-aeroplan", "taxes_paid": 113, "confirmation_number": "TKP4QZ"}
    out = {"origin": "SFO", "destination": "NRT", "departure_time": "11:00", "arrival_time": "15:25"}
    back = {"origin": "NRT", "destination": "SFO", "departure_time": "17:30", "arrival_time": "09:50"}
    out |= {"departure_date": day(12), "arrival_date": day(13), "flight_number": "UA837"}
    back |= {"departure_date": day(19), "arrival_date": day(19), "flight_number": "UA838"}
    flight = do("add_flight_booking", **way, **out, workspace_trip_id=trip)["booking"]["booking_id"]
    do("add_flight_booking", **way, **back, workspace_trip_id=trip)
    other = {
        "origin": "LAX",
        "destination": "DEN",
        "cabin_class": "economy",
        "airline": "UA",
        "departure_date": day(60),
    }
    do("add_flight_booking", **other, kind="cash", cash_paid=140)
    set_stay("points:80000", "htl_conrad-tokyo", day(13))
    room = {"hotel_id": "Conrad Tokyo", "check_in_date": day(13), "check_out_date": day(16), "trip_id": trip}
    stay = do("add_hotel_booking", **room, original_points=285000, room_type="King")["booking"]["booking_id"]
    do("check_hotel_booking_price", booking_id=stay)
    plan = {"title": "Tile Museum", "day": day(14), "start_time": "10:30", "location": "Minato", "kind": "activity"}
    item = do("save_itinerary_item", trip_id=trip, **plan)["item"]["item_id"]
    do("create_trip", name="Lisbon", destination="Lisbon", start_date=day(100), end_date=day(110))
    return {"trip": trip, "flight": flight, "stay": stay, "item": item}


def _watch(use: Any, caller: Caller, do: Any) -> dict[str, int]:
    route = add_monitor(use, caller, cabin="business", passengers=2, max_points=80000)
    add_finds(route)
    room = {"hotel_id": "Park Hyatt Kyoto", "check_in_date": day(60), "check_out_date": day(63), "booked": False}
    hotel = do("add_hotel_booking", **room, max_points_per_night=40000)["booking"]["booking_id"]
    now, mine = clock.now(), {"account_id": caller.account_id}
    window = {"date_range_start": clock.today(), "date_range_end": clock.today() + timedelta(days=30)}
    way = {"airline": "JL", "departure": "LAX", "destination": "HND", "cabin_class": "business", "passengers": 2}
    prompt = "Look at business seats to Tokyo in May for two and tell me what changed since last week."
    rows: dict[str, Any] = {
        "airline": FlightAlert(**mine, **way, active=True, last_hit_at=now, last_checked_at=now, **window),
        "delay": DelayAlert(
            **mine, airport="SFO", channels=["email"], min_delay_minutes=45, active=True, last_checked_at=now
        ),
        "order": StandingOrder(**mine, prompt=prompt, cadence="weekly", run_hour=7, run_weekday=5),
    }
    with transaction() as session:
        session.add_all(rows.values())
        session.flush()
        facts = {"outcome": "ok", "queued_at": now, "started_at": now, "finished_at": now, "manual": False}
        result = "Two seats on Friday 12 March with ANA, 60,000 points each."
        session.add(StandingOrderRun(**mine, standing_order_id=rows["order"].id, result=result, **facts))
        stay = session.get_one(HotelAlert, hotel)
        stay.compared_since = now - timedelta(days=9)
        seen = {"hotel_code": stay.hotel_code, "check_in_date": stay.check_in_date, "source": "sandbox"}
        seen |= {"check_out_date": stay.check_out_date, "mode": "sandbox", "complete": True}
        for days, points in ((8, 135000), (6, 126000), (4, 141000), (1, 117000)):
            session.add(HotelPrice(points=points, captured_at=now - timedelta(days=days), **seen))
        return {"route": route, "hotel": hotel} | {kind: row.id for kind, row in rows.items()}


def _spend(session: Any, account_id: int) -> None:
    first = clock.today().replace(day=1)
    facts = {"period_start": add_months(first, -6), "period_end": first, "transactions": 90}
    statement = SpendingStatement(account_id=account_id, fingerprint="x", currency="USD", **facts)
    session.add(statement)
    session.flush()
    for month in range(6):
        for category, amount in SHARES.items():
            total = {"amount": amount + 37 * month, "refunds": 0, "transactions": 9}
            when = {"month": add_months(first, -month), "category": category}
            session.add(SpendingTotal(statement_id=statement.id, account_id=account_id, **when, **total))


def list_member_pages(ids: dict[str, int]) -> list[str]:
    """Every address of the dashboard that answers a signed-in person without a form having led there."""
    lists = {route.path for route in DASHBOARD if "GET" in (route.methods or ()) and "{" not in route.path}
    rows = {
        f"trips/{ids['trip']}",
        f"bookings/flights/{ids['flight']}",
        f"bookings/stays/{ids['stay']}",
        f"clients/{ids['client']}",
        f"watches/route/{ids['route']}",
        f"watches/flight/{ids['airline']}",
        f"watches/delay/{ids['delay']}",
        f"watches/order/{ids['order']}",
        f"watches/hotel/{ids['hotel']}",
    }
    return sorted(lists | {f"/dashboard/{row}" for row in rows})
