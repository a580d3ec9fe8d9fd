"""Wording, held against texts a person has read."""

import re
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from shared.outbox.links import facts, read_unsubscribe_token
from shared.outbox.wording.messages import MAIL_KINDS, SANDBOX_LINE, load_templates, message, notice, short

HERE = Path(__file__).parent
OPTION: dict[str, Any] = {
    "date": "2027-03-04",
    "airline": "BA",
    "airline_name": "British Airways",
    "program": "british-airways-club",
    "program_name": "The British Airways Club",
    "cabin": "premium_economy",
    "points": 42500,
    "taxes": "210.40",
    "taxes_currency": "GBP",
    "seats": 2,
    "flight_numbers": ["BA117"],
    "origin": "LHR",
    "destination": "JFK",
    "departs_at": "2027-03-04T20:10",
    "arrives_at": "2027-03-05T02:00",
    "stops": 0,
    "others": 2,
    "checked_at": "2026-11-21T05:58+00:00",
}
BARE = {**OPTION, "date": "2027-03-05", "taxes": None, "seats": None, "flight_numbers": [], "checked_at": None}
PAYMENT: dict[str, Any] = {
    "program_name": "The British Airways Club",
    "needed": 85000,
    "missing": 0,
    "parts": [
        {
            "program_name": "Chase Ultimate Rewards",
            "balance": 184500,
            "points": 85000,
            "targets": ["The British Airways Club"],
            "posting": "instant",
        }
    ],
}
PLAN: dict[str, Any] = {"plan": "free", "paused": {}, "resumed": {}}


def found(*options: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    return {
        "monitor_id": 12,
        "origin": "LHR",
        "destination": "JFK",
        "earliest": "2027-03-01",
        "latest": "2027-03-31",
        "origin_name": "London (LHR)",
        "destination_name": "New York (JFK)",
        "cabin": "premium_economy",
        "passengers": 2,
        "total": len(options) if total is None else total,
        "flight_days": len(options) if total is None else total - 1,
        "options": list(options),
        "book": [{"name": "The British Airways Club", "url": "https://www.britishairways.com/"}],
        "funding": [],
    }


@pytest.mark.parametrize("kind", ["text", "html"])
def test_the_mail_of_a_match_reads_as_reviewed(kind: str) -> None:
    worded = message("route_monitor_match", found(OPTION, BARE, total=23) | {"funding": [PAYMENT]}, sandbox=False)
    assert worded.subject == "New York for two: from 85,000 points on Thu 4 Mar"
    reviewed = HERE / f"route_monitor_match.{ {'text': 'txt', 'html': 'html'}[kind] }"
    assert getattr(worded, kind) == reviewed.read_text(encoding="utf-8")


def test_a_flight_is_said_once_with_its_days_the_best_first() -> None:
    dear, later = OPTION | {"points": 50000, "flight_numbers": ["BA115"]}, OPTION | {"date": "2027-03-09"}
    text = message("route_monitor_match", found(OPTION, later, dear), sandbox=False).text
    wanted = [
        "85,000 points for two",
        "+ 421 GBP, 42,500 each, The British Airways Club, premium economy, 2 seats",
        "LHR 20:10 to JFK 02:00 +1, BA117, nonstop",
        "Thu 4 Mar\nAlso on Tue 9 Mar",
        "- 4 Mar: BA115, nonstop; 20:10-02:00 +1, The British Airways Club",
        "100,000; 50,000 each; + 421 GBP",
    ]
    assert [text.find(words) for words in wanted] == sorted(text.find(words) for words in wanted)
    assert -1 not in [text.find(words) for words in wanted]


def test_the_week_shows_what_is_new_on_each_day_for_everybody() -> None:
    week = [{"date": "2027-03-03", "points": None}, {"date": "2027-03-04", "points": 42500}]
    facts = found(OPTION) | {"week": [*week, {"date": "2027-03-05", "points": 60250}]}
    mail = message("route_monitor_match", facts, sandbox=False)
    assert "New that week, for two\n- 3 none\n- 4 85k\n- 5 120.5k\n" in mail.text
    assert re.findall(r'<td class="h(\d)"', mail.html) == ["0", "1", "3"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"mailed": True}, "A mail says the same."),
        (
            {"mailed": False, "mailed_for": [["route_monitor", 3]]},
            "No mail goes out: these seats were mailed for route monitor 3 already.",
        ),
        ({"mailed": False, "mailed_for": []}, "2 seats"),
    ],
)
def test_the_notice_of_seats_says_whether_a_mail_went(facts: dict[str, Any], words: str) -> None:
    assert notice("flight_alert_match", found(OPTION) | facts).body.splitlines()[-1].endswith(words)


def test_moments_are_in_the_time_zone_of_the_person() -> None:
    mail = message("route_monitor_match", found(OPTION), sandbox=False, time_zone="America/New_York")
    for body in (mail.text, mail.html):
        assert "Seen Sat 21 Nov, 00:58 EST" in body
    assert "Seen Sat 21 Nov, 05:58 UTC" in message("route_monitor_match", found(OPTION), sandbox=False).text


DROP: dict[str, Any] = {
    "booking_id": 7,
    "hotel": "Conrad Tokyo",
    "check_in": "2027-05-04",
    "check_out": "2027-05-07",
    "kind": "award",
    "was": "200,000 points",
    "now": "150,000 points",
    "saved": "50,000 points",
    "percent": "25.0",
    "room_type": "Standard <King>",
    "booked_room": "Deluxe King",
    "is_same_room": False,
    "source": "rooms_aero",
    "checked_at": "2026-11-21T05:58+00:00",
    "free_until": "2027-05-01",
}


@pytest.mark.parametrize("kind", ["text", "html"])
def test_the_mail_of_a_price_drop_reads_as_reviewed(kind: str) -> None:
    worded = message("hotel_price_drop", DROP, sandbox=False)
    assert worded.subject == "Conrad Tokyo: 150,000 points instead of 200,000 points"
    reviewed = HERE / f"hotel_price_drop.{ {'text': 'txt', 'html': 'html'}[kind] }"
    assert getattr(worded, kind) == reviewed.read_text(encoding="utf-8")


def test_the_notice_of_a_price_drop_says_what_was_saved_and_until_when_cancelling_was_free() -> None:
    said = notice("hotel_price_drop", DROP)
    assert said.kind == "hotel_price_drop"
    assert "is offered for 150,000 points, 50,000 points (25.0%) less than booked" in said.body
    assert "free cancellation until Sat 1 May 2027" in said.body
    assert "by rooms.aero. The price is for the cheapest room, Standard <King>; you booked Deluxe King." in said.body
    assert "cancellation" not in notice("hotel_price_drop", {**DROP, "free_until": None}).body


@pytest.mark.spec("s6.2.route_monitor_email")
def test_a_sandbox_mail_says_so_in_the_subject_and_in_its_first_line() -> None:
    worded = message("route_monitor_match", found(OPTION), sandbox=True)
    assert worded.subject == "[SANDBOX] New York for two: from 85,000 points on Thu 4 Mar"
    assert worded.text.startswith(SANDBOX_LINE)
    assert worded.html.index(SANDBOX_LINE) < worded.html.index("<h1")
    assert "SANDBOX" not in message("route_monitor_match", found(OPTION), sandbox=False).text


DELAY: dict[str, Any] = {
    "airport": "JFK",
    "airport_name": "John F Kennedy International Airport",
    "delays": [
        {"kind": "ground_stop", "minutes": None, "reason": "thunderstorms", "ends_at": "15:00", "source": "faa_nas"},
        {"kind": "departure", "minutes": 75, "reason": "", "ends_at": None, "source": "faa_nas"},
        {"kind": "ground_delay", "minutes": 40, "reason": "", "ends_at": None, "source": "faa_nas"},
    ],
    "alerts": [[4, "Work"], [5, None]],
}


def test_a_delay_reads_as_a_notice_as_a_mail_and_on_a_phone() -> None:
    said = notice("delay_alert", DELAY)
    lines = [
        'Ground stop, "thunderstorms", until 15:00 (FAA).',
        "Departure delays of up to 75 minutes (FAA).",
        "Ground delay of 40 minutes on average (FAA).",
        "From delay alerts 4 (Work), 5 for John F Kennedy International Airport.",
    ]
    assert (said.kind, said.title, said.body.splitlines()) == ("delay_alert", "JFK: ground stop", lines)
    mail = message("delay_alert", DELAY, sandbox=False)
    assert all(line in mail.text for line in lines)
    paused = message("delay_alert", DELAY, sandbox=False, account="acc_alice").text
    assert re.findall(r"Pause delay alert (\d): \S+token=(\w+\.\d)\.acc_alice", paused) == [
        ("4", "delay_alert.4"),
        ("5", "delay_alert.5"),
    ]
    assert "&#34;thunderstorms&#34;" in mail.html
    assert short("delay_alert", DELAY, sandbox=False).text == (
        'JFK: ground stop ("thunderstorms") and 2 more. Award Travel delay alert 4.'
    )
    assert short("delay_alert", DELAY, sandbox=False).blanks == ("JFK", "ground stop", "thunderstorms")


def test_an_invented_delay_says_so_on_a_phone_too() -> None:
    said = short("delay_alert", DELAY, sandbox=True)
    assert said.text.startswith("SANDBOX: JFK")
    assert said.blanks[2] == "SANDBOX: thunderstorms"


def test_a_flight_alert_says_which_alert_it_was_and_how_to_pause_it() -> None:
    facts = {k: v for k, v in found(OPTION, total=30).items() if k != "monitor_id"} | {"alert_id": 7}
    said = notice("flight_alert_match", facts)
    assert (said.kind, said.title) == ("flight_alert", "New York for two: from 85,000 points on Thu 4 Mar")
    assert said.body.splitlines()[-1] == "and 29 more."
    text = message("flight_alert_match", facts, sandbox=False).text
    assert "London (LHR) to New York (JFK), premium economy, two travellers, Mon 1 to Wed 31 Mar 2027." in text
    assert "This comes from flight alert 7." in text
    assert "\nPause this alert: " in message("flight_alert_match", facts, sandbox=False, account="acc_alice").text


@pytest.mark.parametrize("event", ["route_monitor_match", "flight_alert_match"])
def test_a_mail_that_can_be_turned_off_says_where(event: str) -> None:
    mail = message(event, found(OPTION) | {"alert_id": 7}, sandbox=False, account="acc_alice")
    assert mail.unsubscribe is not None
    assert read_unsubscribe_token(mail.unsubscribe.partition("token=")[2]) == ("acc_alice", MAIL_KINDS[event])
    assert mail.text.rstrip().endswith(mail.unsubscribe)
    assert f'<a href="{mail.unsubscribe}"' in mail.html


def test_a_mail_about_the_account_cannot_be_turned_off() -> None:
    event = {"kind": "key_created", "subject": "My key", "browser": "", "at": "2026-11-21T12:00+00:00"}
    mail = message("security_event", facts("not_me", "acc_alice", "n1") | event, sandbox=False, account="acc_alice")
    assert mail.unsubscribe is None
    assert "unsubscribe" not in mail.text + mail.html


def test_names_from_outside_cannot_put_markup_into_a_mail() -> None:
    named = {**OPTION, "airline_name": "<script>alert(1)</script>", "program_name": "A & B"}
    html = message("route_monitor_match", found(named), sandbox=False).html
    assert "<script>" not in html
    assert "A &amp; B" in html


def test_the_notice_lists_five_options_and_counts_the_rest() -> None:
    said = notice("route_monitor_match", found(*[OPTION] * 7))
    assert said.kind == "route_monitor"
    lines = said.body.splitlines()
    price = "42,500 points each, 85,000 for two, 420.80 GBP taxes with The British Airways Club, 2 seats"
    assert lines[0] == f"Thu 4 Mar 2027, British Airways, premium economy: {price}"
    assert lines[5:] == ["and 2 more: the watch shows them."]


def test_only_what_can_be_paid_is_told_and_else_what_the_best_price_lacks() -> None:
    lacking = PAYMENT | {"missing": 4500, "parts": [], "program_name": "Qantas"}
    body = notice("route_monitor_match", found(OPTION) | {"funding": [lacking, PAYMENT]}).body
    assert "short" not in body
    both = notice("route_monitor_match", found(OPTION) | {"funding": [lacking, lacking | {"program_name": "EVA"}]}).body
    assert "For 85,000 Qantas points your balances are 4,500 short" in both
    assert "EVA" not in both


def test_facts_of_an_older_release_are_still_worded() -> None:
    new = ("origin_name", "destination_name", "cabin", "passengers", "flight_days", "funding", "book")
    options = [{k: v for k, v in OPTION.items() if k not in ("departs_at", "arrives_at", "stops", "others", "origin")}]
    facts = {k: v for k, v in found(*options, total=23).items() if k not in new}
    assert "LHR to JFK, any cabin, one traveller" in message("route_monitor_match", facts, sandbox=False).text
    assert "All 23 offers in your watch" in message("route_monitor_match", facts, sandbox=False).html


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ["You have it. Move 85,000 of your 184,500 Chase Ultimate Rewards points to", "they arrive at once"]),
        ({"missing": 4500, "parts": []}, ["You are 4,500 The British Airways Club points short."]),
        (
            {"parts": [PAYMENT["parts"][0] | {"targets": []}]},
            ["You have it. You hold 184,500 Chase Ultimate Rewards points: enough for the 85,000."],
        ),
        (
            {"parts": [PAYMENT["parts"][0] | {"targets": [], "lent": [{"member": "Sam", "points": 4500}]}]},
            ["You have it. You and Sam hold 184,500 Chase Ultimate Rewards points, once they are put together: enough"],
        ),
        ({"parts": [PAYMENT["parts"][0] | {"posting": "days"}]}, ["they take days, so the seat can be gone"]),
        (
            {
                "parts": [
                    PAYMENT["parts"][0] | {"targets": [], "points": 25000},
                    PAYMENT["parts"][0] | {"points": 60000},
                ]
            },
            ["Use 25,000 of your 184,500 Chase Ultimate Rewards points and move 60,000 of your"],
        ),
    ],
)
def test_a_mail_says_how_the_balances_pay(changes: dict[str, Any], words: list[str]) -> None:
    facts = found(OPTION) | {"funding": [PAYMENT | changes]}
    mail = message("route_monitor_match", facts, sandbox=False)
    for body in (mail.text, re.sub(r"</?b>", "", mail.html)):
        assert [part for part in words if part not in body] == []


def test_a_mail_whose_best_price_cannot_be_paid_says_which_other_can() -> None:
    facts = found(OPTION) | {"funding": [PAYMENT | {"missing": 500, "parts": []}, PAYMENT | {"program_name": "Avios"}]}
    text = message("route_monitor_match", facts, sandbox=False).text
    assert "You are 500 The British Airways Club points short. You hold 184,500" in text


@pytest.mark.parametrize(
    ("event", "facts", "words"),
    [
        ("mail_uncertain", {"subject": "S", "recipient": "a@b.c"}, "may or may not have reached a@b.c"),
        ("mail_failed", {"subject": "S", "recipient": "a@b.c"}, "could not be delivered to a@b.c"),
        ("plan_changed", PLAN | {"paused": {"route monitors": [3, 4]}}, "Paused route monitors: 3, 4."),
        ("plan_changed", PLAN | {"resumed": {"delay alerts": [3]}}, "Resumed delay alerts: 3."),
    ],
)
def test_notices_about_the_account_say_what_happened(event: str, facts: dict[str, Any], words: str) -> None:
    said = notice(event, facts)
    assert said.kind == "account"
    assert words in said.body


def test_templates_that_were_loaded_are_not_put_together_again(monkeypatch: pytest.MonkeyPatch) -> None:
    load_templates()

    def compile_again(*_: Any, **__: Any) -> None:
        raise AssertionError("a template was put together in a process that has them")

    monkeypatch.setattr(Environment, "compile", compile_again)
    assert message("route_monitor_match", found(OPTION), sandbox=False).text
