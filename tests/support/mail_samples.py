"""Facts of every kind of mail, with long names and many rows, for tests that read or look at all of them."""

from typing import Any

from shared.outbox import links
from shared.outbox.wording.messages import Message, message

ACCOUNT = "acc_alice"
ZONE = "America/Los_Angeles"


def _find_seat(number: int, day: int, **changes: Any) -> dict[str, Any]:
    return {
        "date": f"2027-03-{day:02}",
        "airline": "NH",
        "airline_name": "All Nippon Airways",
        "program": "flying-club",
        "program_name": "Virgin Atlantic Flying Club",
        "cabin": "business",
        "points": 60000 + 500 * number,
        "taxes": "312.00",
        "taxes_currency": "USD",
        "seats": 2,
        "flight_numbers": ["NH105"],
        "origin": "LAX",
        "destination": "HND",
        "departs_at": f"2027-03-{day:02}T11:55",
        "arrives_at": f"2027-03-{day + 1:02}T15:40",
        "minutes": 705,
        "stops": 0,
        "others": 1,
        "checked_at": "2026-11-22T16:10+00:00",
    } | changes


_VIA = {
    "airline_name": "Singapore Airlines and partners",
    "flight_numbers": ["SQ37", "SQ636"],
    "arrives_at": "2027-03-22T06:30",
    "stops": 1,
    "minutes": None,
    "taxes": None,
    "seats": None,
    "others": 0,
    "checked_at": None,
}
SEATS: dict[str, Any] = {
    "monitor_id": 12,
    "alert_id": 7,
    "origin": "LAX",
    "destination": "TYO",
    "origin_name": "Los Angeles (LAX)",
    "destination_name": "Tokyo (TYO)",
    "earliest": "2027-03-01",
    "latest": "2027-03-31",
    "cabin": "business",
    "passengers": 2,
    "total": 41,
    "flight_days": 30,
    "options": [
        _find_seat(0, 19),
        _find_seat(0, 24),
        _find_seat(4, 17, program="aeroplan", program_name="Air Canada Aeroplan"),
        *(_find_seat(5 + n, 20 + n, **_VIA) for n in range(3)),
        *(_find_seat(9, 1 + n, flight_numbers=["NH125"], departs_at=f"2027-03-{1 + n:02}T00:5{n}") for n in range(4)),
    ],
    "week": [
        {"date": f"2027-03-{day}", "points": points}
        for day, points in [(16, None), (17, 62000), (18, None), (19, 60000), (20, 62500), (21, 63000), (22, 90000)]
    ],
    "book": [
        {"name": "Virgin Atlantic Flying Club", "url": "https://www.virginatlantic.com/"},
        {"name": "Air Canada Aeroplan", "url": "https://www.aircanada.com/aeroplan"},
    ],
    "funding": [
        {
            "program_name": "Virgin Atlantic Flying Club",
            "needed": 120000,
            "missing": 0,
            "parts": [
                {
                    "program_name": "Virgin Atlantic Flying Club",
                    "balance": 60400,
                    "points": 60400,
                    "targets": [],
                    "posting": "instant",
                },
                {
                    "program_name": "Chase Ultimate Rewards",
                    "balance": 184500,
                    "points": 60000,
                    "targets": ["Virgin Atlantic Flying Club"],
                    "posting": "instant",
                },
            ],
        }
    ],
}
REBOOKING: dict[str, Any] = {
    "booking": {
        "booking_id": 31,
        "flight_number": "NH105",
        "cabin": "business",
        "points_each": 75000,
        "fee_points": 0,
        "fee_money": "50.00",
        "fee_currency": "USD",
    }
}
DROP: dict[str, Any] = {
    "booking_id": 7,
    "hotel": "Hotel Toranomon Hills, in The Unbound Collection",
    "check_in": "2027-05-04",
    "check_out": "2027-05-07",
    "kind": "cash",
    "was": "$1,230",
    "now": "$1,047",
    "saved": "$183",
    "percent": "14.9",
    "room_type": "SANDBOX standard room",
    "booked_room": "Deluxe King",
    "rate_plan": "Flexible rate with breakfast",
    "is_same_room": False,
    "source": "liteapi",
    "checked_at": "2026-11-22T16:10+00:00",
    "free_until": "2027-05-01",
}
FITS = {"now": "75,000 points", "nightly": "25,000 points", "limit": "30,000 points", "booked_room": None}
DELAY: dict[str, Any] = {
    "airport": "JFK",
    "airport_name": "John F Kennedy International Airport",
    "delays": [
        {"kind": "ground_stop", "minutes": None, "reason": "thunderstorms", "ends_at": "15:00", "source": "faa_nas"},
        {"kind": "departure", "minutes": 75, "reason": "", "ends_at": None, "source": "faa_nas"},
    ],
    "alerts": [[4, "Work"], [5, None]],
    "unproved": ["123"],
}
ORDER: dict[str, Any] = {
    "order_id": 7,
    "prompt": "Which transfer bonuses began this week?",
    "result": "# Bonuses\n\n- **Air Canada**: 20% until 30 Nov\n\n| bank | bonus |\n|---|---|\n| Chase | 20% |\n\n"
    "[Chase](https://www.chase.com/x) `code`",
    "error": None,
}


def _end(kind: str, title: str, day: str, days_left: int, worth: str | None, **changes: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": title,
        "due_on": day,
        "days_left": days_left,
        "amount": None,
        "currency": None,
        "worth": worth,
        "worth_currency": worth and "USD",
        "subject": ["card", "12"],
    } | changes


DEADLINES: dict[str, Any] = {
    "total": 34,
    "deadlines": [
        _end("points", "31,800 ANA Mileage Club miles expire", "2026-11-29", 7, "445.20")
        | {"subject": ["points_balance", "ana-mileage-club of Zoë"]},
        _end("card_credit", "150 USD of hotel credit of American Express Platinum ends", "2026-12-31", 39, "150"),
        _end(
            "card_bonus", "Welcome bonus of Sapphire Preferred", "2027-01-02", 41, None, amount="5000", currency="USD"
        ),
        _end("booking", "Free cancellation of Conrad Tokyo ends", "2027-01-31", 70, "900"),
    ],
}
NEWS: dict[str, Any] = {
    "finds": [
        {
            "title": "Business seats from Los Angeles (LAX) to Tokyo (TYO): 60,000 points a person",
            "on": "2026-11-22",
            "about": "",
            "subject": ["route_monitor", "12"],
        },
        {
            "title": "Hotel Toranomon Hills costs $183 less",
            "on": "2026-11-20",
            "about": "",
            "subject": ["hotel_booking", "7"],
        },
    ],
    "finds_total": 7,
    "bookings": [
        {
            "title": "LAX to HND of Zoë",
            "on": "2026-12-04",
            "about": "NH105, 11:55",
            "subject": ["flight_booking", "31"],
        },
        {
            "title": "Hotel Toranomon Hills, in The Unbound Collection",
            "on": "2026-12-05",
            "about": "3 nights",
            "subject": ["hotel_booking", "7"],
        },
    ],
    "bookings_total": 2,
}
_EVENT = {"subject": "Award desk", "browser": "Firefox on Linux", "at": "2026-11-21T12:00+00:00"}


def _link(purpose: str) -> dict[str, str]:
    return links.facts(purpose, ACCOUNT, "n1")


def build_mails(*, sandbox: bool = True) -> dict[str, Message]:
    """Every kind of mail by a name, in each of its shapes."""
    security = {"kind": "new_browser", **_EVENT, **_link("not_me")}
    late = {"plan": "premium", "at": "2026-12-02T12:00:00+00:00"}
    facts: dict[str, tuple[str, dict[str, Any]]] = {
        "route_monitor_match": ("route_monitor_match", SEATS),
        "rebooking": ("route_monitor_match", SEATS | REBOOKING | {"passengers": 1, "funding": []}),
        "flight_alert_match": ("flight_alert_match", SEATS),
        "hotel_price_drop": ("hotel_price_drop", DROP),
        "hotel_without_terms": ("hotel_price_drop", DROP | dict.fromkeys(("free_until", "booked_room", "rate_plan"))),
        "hotel_alert_match": ("hotel_alert_match", DROP | FITS),
        "open_nights": ("hotel_alert_match", DROP | FITS | {"limit": None}),
        "delay_alert": ("delay_alert", DELAY),
        "standing_order_done": ("standing_order_done", ORDER),
        "standing_order_failed": ("standing_order_failed", ORDER | {"error": "timeout"}),
        "deadlines": ("deadlines", DEADLINES),
        "one_deadline": ("deadlines", DEADLINES | {"total": 1, "deadlines": DEADLINES["deadlines"][:1]}),
        "weekly_overview": ("weekly_overview", DEADLINES | {"total": 4} | NEWS),
        "quiet_overview": ("weekly_overview", DEADLINES | {"total": 4}),
        "finds_alone": ("weekly_overview", {"total": 0, "deadlines": []} | NEWS | {"bookings": []}),
        "confirm_email": ("confirm_email", _link("confirm_email")),
        "reset_password": ("reset_password", _link("reset_password")),
        "link_identity": (
            "link_identity",
            {"provider": "Google", "address": "alice@example.test"} | _link("link_identity"),
        ),
        "invitation": ("invitation", {"until": "2026-11-29T12:00+00:00"} | _link("invitation")),
        "account_exists": ("account_exists", {}),
        "confirm_forwarding": ("confirm_forwarding", _link("forwarding_address")),
        "confirm_new_address": ("confirm_new_address", _link("new_address")),
        "address_confirmed": ("address_confirmed", {}),
        "address_taken": ("address_taken", {}),
        "reference_audit": (
            "reference_audit",
            {"total": 3, "kinds": {"old": 2, "contradicted": 1}, "findings": ["cards.csv 12: x"]},
        ),
        "billing": ("billing", late | {"kind": "payment_failed"}),
        "payment_missing": ("billing", {"plan": "free", "at": "", "kind": "payment_missing"}),
        "plan_ends": ("billing", late | {"kind": "plan_ends"}),
        "trial_ends": ("billing", late | {"kind": "trial_ends"}),
        "security_event": ("security_event", security),
        "password_locked": ("security_event", security | {"kind": "password_locked"}),
        "by_operator": ("security_event", security | {"kind": "account_suspended", "browser": ""}),
        "old_address": ("security_event", security | {"kind": "address_asked", "confirm": _link("old_address")}),
    }
    return {
        name: message(event, given, sandbox=sandbox, account=ACCOUNT, time_zone=ZONE)
        for name, (event, given) in facts.items()
    }
