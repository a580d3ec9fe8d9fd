"""Figures for administrators: over thousands of calls every figure equals a recount."""

import random
import socket
from collections import Counter
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from shared import clock, provider_health
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.call_figures import take_out_calls
from shared.db.delay_alerts import DelayAlert
from shared.db.messages import Delivery
from shared.db.runs import JobRun, Schedule
from shared.db.source_watch import SourceItem, store_items
from shared.db.trips import SearchRecord
from shared.db.usage import API_CALLS, Note, ToolCall, store_calls, take
from shared.redis import connect, key
from shared.services.operations import audit, fact_reports
from shared.services.operations.workers import LIFE_SECONDS, REMEMBERED_SECONDS, record_sign
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.support.people import People, account

OUTCOMES = ("ok",) * 6 + ("paywall", "not_found", "invalid", "internal_error", "limit_reached")
CLIENTS = ("Claude", "ChatGPT", "<b>bold</b>", None)
DAYS = 5


def midnight(back: int = 0) -> datetime:
    return datetime.combine(clock.today() - timedelta(days=back), time(), UTC)


@pytest.fixture
def notes(people: People) -> list[Note]:
    """Some thousand calls of four accounts, half of them older than the days that are asked for."""
    draw = random.Random(7)
    since, span = midnight(2 * DAYS - 1), (clock.now() - midnight(2 * DAYS - 1)).total_seconds()
    who = [p.account_id for p in (people.alice, people.bob, people.charlie, people.paula)]
    made = [
        Note(
            draw.choice(who),
            draw.choice(CLIENTS),
            draw.choice(("mcp", "rest")),
            draw.choice(("list_trips", "add_card", "get_usage", "unknown")),
            draw.choice(OUTCOMES),
            draw.randrange(2000),
            since + timedelta(seconds=draw.random() * span),
        )
        for _ in range(4000)
    ]
    edge = (midnight(DAYS - 1), midnight(DAYS - 1) - timedelta(microseconds=1))
    made += [Note(who[0], "Edge", "mcp", "list_trips", "ok", 1, at) for at in edge]
    with transaction() as session:
        store_calls(session, made)
    return [note for note in made if note.at >= midnight(DAYS - 1)]


def percentile(values: list[int], part: float) -> float:
    """Between the two nearest, as statisticians do it."""
    ordered, place = sorted(values), part * (len(values) - 1)
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(values) - 1)]
    return low + (high - low) * (place - int(place))


def recount(notes: list[Note]) -> dict[str, Any]:
    errors = ("invalid", "internal_error", "admin_only")
    return {
        "calls": len(notes),
        "errors": sum(n.outcome in errors for n in notes),
        "paywalls": sum(n.outcome == "paywall" for n in notes),
    }


def test_admin_mcp_usage_stats_equal_a_recount_of_thousands_of_calls(
    people: People, use: Use, notes: list[Note]
) -> None:
    answer = use(people.ada, "admin_mcp_usage_stats", days=DAYS)
    whole = recount(notes)
    rate = round(whole["paywalls"] / whole["calls"], 4)
    assert answer["totals"] == {**whole, "users": 4, "paywall_rate": rate}
    assert 0.05 < rate < 0.15
    for of_tool in answer["by_tool"]:
        mine = [n for n in notes if n.tool == of_tool["tool"]]
        assert {k: of_tool[k] for k in ("calls", "errors", "paywalls")} == recount(mine)
        times = [n.milliseconds for n in mine]
        assert of_tool["p50_ms"] == pytest.approx(percentile(times, 0.5))
        assert of_tool["p95_ms"] == pytest.approx(percentile(times, 0.95))
    assert {t["tool"] for t in answer["by_tool"]} == {n.tool for n in notes}
    assert [t["calls"] for t in answer["by_tool"]] == sorted((t["calls"] for t in answer["by_tool"]), reverse=True)
    days = Counter(n.at.date().isoformat() for n in notes)
    users = {day: len({n.account_id for n in notes if n.at.date().isoformat() == day}) for day in days}
    assert answer["by_day"] == [{"day": d, "calls": days[d], "users": users[d]} for d in sorted(days)]
    clients = Counter(n.client or "unknown" for n in notes)
    assert {c["client_name"]: c["calls"] for c in answer["by_client"]} == clients


@pytest.mark.spec("s4.4.admin_mcp_usage_stats.days", "s8.ranges_as_listed")
def test_admin_mcp_usage_stats_cover_fourteen_days_unless_told_otherwise(
    people: People, use: Use, notes: list[Note]
) -> None:
    for asked, days in (({}, 14), ({"days": 1}, 1), ({"days": 90}, 90)):
        answer = use(people.ada, "admin_mcp_usage_stats", **asked)
        assert [d["day"] for d in answer["by_day"]] == [midnight(n).date().isoformat() for n in reversed(range(days))]
        assert sum(d["calls"] for d in answer["by_day"]) == answer["totals"]["calls"]
    for bad in (0, 91, -1, "many"):
        assert use(people.ada, "admin_mcp_usage_stats", days=bad)["status"] == "invalid"


def test_admin_mcp_usage_stats_of_nothing_are_noughts(people: People, use: Use) -> None:
    answer = use(people.ada, "admin_mcp_usage_stats", days=2)
    assert answer["totals"] == {"calls": 0, "users": 0, "errors": 0, "paywalls": 0, "paywall_rate": 0.0}
    assert (answer["by_tool"], answer["by_client"]) == ([], [])
    assert [d["calls"] for d in answer["by_day"]] == [0, 0]


def test_admin_mcp_usage_stats_show_the_busiest_applications_and_say_how_many_there_are(
    people: People, use: Use
) -> None:
    who, now = people.bob.account_id, clock.now()
    with transaction() as session:
        store_calls(session, [Note(who, f"App {n % 60}", "mcp", "list_trips", "ok", 5, now) for n in range(90)])
    answer = use(people.ada, "admin_mcp_usage_stats")
    assert [c["calls"] for c in answer["by_client"]] == [2] * 30 + [1] * 20
    assert answer["message"].endswith("The 50 busiest of 60 applications are shown.")


def test_admin_mcp_usage_stats_do_not_count_an_account_that_left(people: People, use: Use, notes: list[Note]) -> None:
    before = use(people.ada, "admin_mcp_usage_stats", days=DAYS)["totals"]
    with transaction() as session:
        take_out_calls(session, people.bob.account_id)
        session.execute(sa.delete(Account).where(Account.id == people.bob.account_id))
    after = use(people.ada, "admin_mcp_usage_stats", days=DAYS)["totals"]
    bobs = sum(n.account_id == people.bob.account_id for n in notes)
    assert (after["calls"], after["users"]) == (before["calls"] - bobs, 3)


def _runs(statuses: list[tuple[str, timedelta]]) -> None:
    now = clock.now()
    with transaction() as session:
        standing = Schedule(kind="tick", subject_id=1, every=timedelta(days=1), next_due_at=now)
        session.add(standing)
        session.flush()
        session.add_all(
            JobRun(schedule_id=standing.id, due_at=now + timedelta(n), status=s, finished_at=now - ago)
            for n, (s, ago) in enumerate(statuses)
        )


def _deliveries(who: int, *statuses: str) -> None:
    with transaction() as session:
        session.add_all(
            Delivery(
                account_id=who, dedupe_key=f"d{n}", channel="email", recipient="a@b.c", event="e", facts={}, status=s
            )
            for n, s in enumerate(statuses)
        )


def test_admin_platform_overview_counts_what_there_is(people: People, use: Use) -> None:
    day = timedelta(days=1)
    for who in (people.alice, people.bob):
        with transaction(who.account_id) as session:
            store_rows(session, rows_of_every_kind(who.account_id))
            session.add(DelayAlert(airport="LHR", channels=["email"], min_delay_minutes=30))
    with transaction() as session:
        for number, seen in ((people.alice, day), (people.bob, 6 * day), (people.charlie, 8 * day)):
            session.get_one(Account, number.account_id).last_seen_at = clock.now() - seen
    _runs([("pending", day), ("running", day), ("done", day), ("failed", day), ("failed", 8 * day)])
    _deliveries(people.alice.account_id, "pending", "claimed", "handing_over", "sent", "failed", "uncertain")
    answer = use(people.ada, "admin_platform_overview")
    assert answer["users"] == {
        "total": 5,
        "by_tier": {"free": 2, "premium": 2, "pro": 1, "enterprise": 0},
        "active_7d": 2,
    }
    rows = rows_of_every_kind().values()
    per_account = Counter(type(row).__name__ for row in rows)
    assert answer["records"] == {
        "flight_bookings": 2 * per_account["FlightBooking"],
        "hotel_bookings": 2 * per_account["HotelBooking"],
        "monitors": 2 * per_account["RouteMonitor"],
        "alerts": 2 * (per_account["FlightAlert"] + per_account["DelayAlert"] + per_account["HotelAlert"] + 1),
        "standing_orders": 2 * per_account["StandingOrder"],
        "trips": 2 * per_account["Trip"],
    }
    assert answer["jobs"] == {"queued": 5, "failed": 2, "workers": 0}


def test_admin_platform_overview_counts_what_is_open_about_facts(people: People, use: Use) -> None:
    nothing = {"reports": 0, "differences": 0, "unread_sources": 0, "sources_checked_at": None}
    assert use(people.ada, "admin_platform_overview")["fact_items"] == nothing
    report = {"file": "cards.csv", "key": "Gold", "wrong": "The fee is another."}
    numbers = [fact_reports.receive_report(report, "192.0.2.7") for _ in range(3)]
    today = clock.today()
    with transaction() as session:
        assert audit.close_item(session, f"R{numbers[0]}", "ada", "mended")
        item = {"source": "list", "file": "cards.csv", "ours": "1", "theirs": "2", "link": "https://raw.example/"}
        fields = ("annual_fee", "bonus_amount", "bonus_spend", "source")
        store_items(session, [item | {"key": "Gold", "field": field} for field in fields], today)
        number = session.scalars(sa.select(SourceItem.id).where(SourceItem.field == "bonus_spend")).one()
        assert audit.close_item(session, f"D{number}", "ada", "old")
    figures = use(people.ada, "admin_platform_overview")["fact_items"]
    assert figures == nothing | {"reports": 2, "differences": 2, "unread_sources": 1}


@pytest.mark.spec("s4.4.admin_platform_overview.days", "s8.ranges_as_listed")
def test_admin_platform_overview_shows_sign_ups_of_each_day_of_its_window(people: People, use: Use) -> None:
    for number in range(4):
        account(f"older{number}", created_at=midnight(29))
        account(f"oldest{number}", created_at=midnight(29) - timedelta(seconds=1))
    answer = use(people.ada, "admin_platform_overview")
    days = [midnight(n).date().isoformat() for n in reversed(range(30))]
    assert [s["day"] for s in answer["signups_by_day"]] == days
    assert [s["count"] for s in answer["signups_by_day"]] == [4, *[0] * 28, 5]
    assert len(use(people.ada, "admin_platform_overview", days=365)["signups_by_day"]) == 365
    for bad in (0, 366):
        assert use(people.ada, "admin_platform_overview", days=bad)["status"] == "invalid"


def test_admin_platform_overview_shows_workers_that_live_and_how_sources_fare(people: People, use: Use) -> None:
    record_sign("worker", 1, ["checks"])
    record_sign("worker", 2, ["checks"])
    connect().expire(key("program", f"worker:{socket.gethostname()}:2"), REMEMBERED_SECONDS - LIFE_SECONDS - 1)
    connect().sadd("rq:workers", "rq:worker:stock", "rq:worker:killed")  # by RQ's own class
    connect().hset("rq:worker:stock", mapping={"hostname": "other", "pid": 3, "queues": "checks,mail"})
    provider_health.record_success("sandbox:anyone")
    answer = use(people.ada, "admin_platform_overview")
    assert answer["jobs"]["workers"] == 2
    backend = {b["name"]: b for b in answer["backends"]}["sandbox"]
    assert backend["state"] == "live"
    assert datetime.fromisoformat(backend["last_success_at"]) > clock.now() - timedelta(minutes=1)
    provider_health.record_failure("sandbox:anyone", "timeout")
    assert use(people.ada, "admin_platform_overview")["backends"][0]["state"] == "degraded"
    for _ in range(4):
        provider_health.record_failure("sandbox:anyone", "timeout")
    assert use(people.ada, "admin_platform_overview")["backends"][0]["state"] == "down"


def test_a_source_that_accounts_connect_themselves_is_judged_by_all_connections(clean: None) -> None:
    everybody = provider_health.shared_name("seats:account-7")
    for number in range(3):
        provider_health.record_failure(f"seats:account-{number}", "timeout")
    assert provider_health.read_health([everybody])[everybody].failures == 3
    provider_health.record_success("seats:account-9")
    assert provider_health.read_health([everybody])[everybody].failures == 0
    assert provider_health.shared_name("seats:operator") == "seats:operator"


def _searches(who: int, number: int) -> None:
    with transaction(who) as session:
        session.add_all(
            SearchRecord(tool="search_availability", arguments={"n": n}, summary=f"search {n}", outcome="ok",
                         created_at=clock.now() - timedelta(minutes=n))
            for n in range(number)
        )  # fmt: skip


@pytest.mark.spec("s4.4.admin_get_user.result")
def test_admin_get_user_shows_plan_use_and_newest_searches(people: People, use: Use) -> None:
    alice, now = people.alice.account_id, clock.now()
    _searches(alice, 25)
    _searches(people.bob.account_id, 3)
    rest = [
        ("list_trips", "ok"),
        ("list_trips", "not_found"),
        ("get_usage", "ok"),
        ("add_card", "confirmation_required"),
    ]
    with transaction() as session:
        take(session, alice, API_CALLS, clock.today().replace(day=1), None, 40)
        store_calls(session, [Note(alice, "CLI", "rest", tool, ended, 3, now) for tool, ended in rest])
        store_calls(session, [Note(alice, "CLI", "rest", "list_trips", "ok", 3, midnight() - timedelta(seconds=1))])
        store_calls(session, [Note(alice, "Claude", "mcp", "list_trips", "ok", 3, now)])
    answer = use(people.ada, "admin_get_user", id=alice)
    assert answer["user"] == {
        "id": alice,
        "email": "alice@example.test",
        "created_at": answer["user"]["created_at"],
        "tier": "premium",
        "is_admin": False,
    }
    assert answer["subscription"] == {"tier": "premium", "state": "active", "renews_on": None}
    assert answer["api_usage"] == {"this_month": 40, "cap": 150, "today": 2}
    assert [s["summary"] for s in answer["recent_searches"]] == [f"search {n}" for n in range(20)]


@pytest.mark.spec("s4.4.admin_get_user.lookup")
def test_admin_get_user_finds_by_id_by_whole_address_or_by_both(people: People, use: Use) -> None:
    bob = people.bob.account_id
    for found in ({"id": bob}, {"email": "bob@example.test"}, {"email": "BOB@Example.test"}):
        assert use(people.ada, "admin_get_user", **found)["user"]["id"] == bob
    assert use(people.ada, "admin_get_user", id=bob, email="bob@example.test")["status"] == "ok"
    for nobody in (
        {"id": bob, "email": "alice@example.test"},
        {"email": "bob"},
        {"email": "%"},
        {"email": ""},
        {"id": 10**9},
    ):
        assert use(people.ada, "admin_get_user", **nobody)["status"] == "not_found"
    for bad in ({}, {"id": 0}, {"id": 10**30}, {"email": "x" * 255}):
        assert use(people.ada, "admin_get_user", **bad)["status"] == "invalid"


def test_admin_get_user_shows_agreed_numbers_agents_and_disabled_accounts(people: People, use: Use) -> None:
    agent = account("agent", api_calls_per_month=7, disabled_at=clock.now())
    with transaction() as session:
        session.get_one(Account, agent.account_id).email = None
    answer = use(people.ada, "admin_get_user", id=agent.account_id)
    assert (answer["user"]["email"], answer["api_usage"]["cap"]) == (None, 7)
    assert answer["subscription"]["state"] == "disabled"
    assert use(people.ada, "admin_get_user", id=people.bob.account_id)["subscription"]["state"] == "none"


@pytest.mark.parametrize("name", ["admin_get_user", "admin_mcp_usage_stats", "admin_platform_overview"])
def test_an_administrators_tool_sends_as_many_statements_for_any_number_of_rows(
    people: People, use: Use, queries: list[str], notes: list[Note], name: str
) -> None:
    arguments = {"id": people.alice.account_id} if name == "admin_get_user" else {}
    sent = []
    for _ in range(2):
        use(people.ada, "list_trips")
        queries.clear()
        assert use(people.ada, name, **arguments)["status"] == "ok"
        sent.append(len(queries))
        _searches(people.alice.account_id, 30)
        with transaction() as session:
            session.execute(sa.update(ToolCall).values(tool=ToolCall.tool + sa.cast(ToolCall.id % 50, sa.Text)))
    assert sent[0] == sent[1] <= 6
    assert use(people.alice, name, **arguments)["status"] == "admin_only"


def test_failed_messages_are_counted_without_those_that_were_sent(people: People) -> None:
    """Of ten million messages of two weeks this took 1.4 s."""
    _deliveries(people.alice.account_id, *["sent"] * 500, "failed")
    failed = "select count(*) from deliveries where status = 'failed' and created_at > now() - interval '7 days'"
    with transaction() as session:
        session.execute(sa.text("analyze deliveries"))
        session.execute(sa.text("set local enable_seqscan = off"))
        plan = "\n".join(session.scalars(sa.text(f"explain {failed}")))
    assert "ix_deliveries_failed" in plan
