"""The operators' page of figures: weeks of 90 days, each figure as a chart with its table, and none that takes long."""

import re
from datetime import UTC, date, datetime, time, timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from auth_server.pages.operate import figures
from shared import clock
from shared.db import daily_figures
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.call_figures import CallCount
from shared.db.daily_figures import count_by_day
from shared.db.messages import Delivery
from shared.db.route_monitors import MonitorCheck, RouteMonitor
from shared.db.usage import UNCOUNTED_TOOL
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_operate import make_operator

PAGE = "/operate/figures"
CHECKS = "Checks of route watches"
DAYS = 95  # some of them before the first of the page


def add_rows(email: str, each: int = 1) -> None:
    """On each day of many: calls, one of three errors, a message of every status."""
    noon = datetime.combine(clock.today(), time(12), UTC)
    with transaction() as session:
        account_id = session.scalars(sa.select(Account.id).where(Account.email == email)).one()
        session.execute(sa.update(Account).values(created_at=noon - timedelta(days=30)))
        own = {"account_id": account_id}
        for back in range(DAYS):
            at = noon - timedelta(days=back)
            outcomes = {"internal_error": 1, "invalid": 1, "admin_only": 1, "ok": 1000 * each - 3}
            counts = [("list_trips", *numbers) for numbers in outcomes.items()] + [(UNCOUNTED_TOOL, "ok", 7)]
            session.add_all(CallCount(day=at.date(), tool=t, outcome=o, calls=number) for t, o, number in counts)
            for status in ("sent", "failed", "uncertain", "pending", "claimed"):
                to = {"channel": "email", "recipient": email, "event": "deadlines", "facts": {}}
                session.add(Delivery(dedupe_key=str(uuid4()), status=status, created_at=at, **to, **own))


def read_page(browser: Browser) -> str:
    """Both parts of it."""
    return "".join(browser.get(f"{PAGE}?part={part}").text for part in figures.PARTS)


def read_table(browser: Browser, name: str) -> dict[str, list[str]]:
    """Figures by week, as the table under the chart says them."""
    page = read_page(browser)
    table = page.partition(f">{name} as a table<")[2].partition("</table>")[0]
    rows = re.findall(r"<tr role=\"row\">(.*?)</tr>", table, re.DOTALL)[1:]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return {row[0]: row[1:] for row in cells}


def test_calls_are_summed_by_week_of_the_last_90_days(ann: Browser) -> None:
    make_operator(ann)
    add_rows(ann.email)
    weeks = read_table(ann, "Calls of tools")
    assert sum(int(numbers[0].replace(",", "")) for numbers in weeks.values()) == 90_000
    first, *whole, last = weeks.values()
    assert {numbers[0] for numbers in whole} == {"7,000"}
    today = clock.today()
    assert last == [f"{today.weekday() + 1},000"]
    assert first[0] != "7,000" or (today - timedelta(days=89)).weekday() == 0
    monday = today - timedelta(days=today.weekday())
    assert list(weeks)[-1] == f"week of {monday.day} {monday:%b}"


def test_errors_and_messages_are_told_apart(ann: Browser) -> None:
    make_operator(ann)
    add_rows(ann.email)
    errors, messages = read_table(ann, "Calls that ended in an error"), read_table(ann, "Messages")
    assert list(errors.values())[1] == ["7", "7", "7", "21"]
    assert list(messages.values())[1] == ["14", "7", "7", "7", "35"]  # pending and claimed wait
    page = read_page(ann)
    for words in ("internal error", "admin only", "waiting", "uncertain"):
        assert f">{words}</li>" in page


def test_accounts_and_checks_are_counted_and_none_of_the_other_data_mode(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    now, filters = clock.now(), {"origin": "LHR", "destination": "JFK"}
    dates = {"earliest_date": clock.today(), "latest_date": clock.today()}
    with transaction() as session:
        session.execute(sa.update(Account).values(created_at=now))
        account_id = session.scalars(sa.select(Account.id).where(Account.email == bob.email)).one()
        monitor = RouteMonitor(account_id=account_id, **filters, **dates)
        session.add(monitor)
        session.flush()
        log = {"outcome": "ok", "options_seen": 0, "new_matches": 0, "failed_sources": [], "checked_at": now}
        session.add_all(MonitorCheck(monitor_id=monitor.id, **log) for _ in range(3))
    assert [list(read_table(ann, name).values())[-1] for name in ("New accounts", CHECKS)] == [["2"], ["3"]]
    with transaction() as session:
        session.execute(sa.text("update route_monitor_checks set synthetic = not synthetic"))
    assert read_table(ann, CHECKS) == {}


def test_a_page_without_rows_says_so(ann: Browser) -> None:
    make_operator(ann)
    with transaction() as session:
        session.execute(sa.update(Account).values(created_at=clock.now() - timedelta(days=91)))
    assert read_page(ann).count("There were none.") == sum(map(len, figures._CHARTS.values()))


def test_a_page_with_much_on_it_is_small(ann: Browser) -> None:
    make_operator(ann)
    add_rows(ann.email, each=123_456)
    with transaction() as session:
        day, log = clock.now() - timedelta(days=91), {"options_seen": 0, "new_matches": 0, "failed_sources": []}
        account_id = session.scalars(sa.select(Account.id)).one()
        window = {"earliest_date": clock.today(), "latest_date": clock.today()}
        monitor = RouteMonitor(account_id=account_id, origin="LHR", destination="JFK", **window)
        session.add(monitor)
        session.flush()
        checks = [day + timedelta(days=number) for number in range(92)]
        session.add_all(MonitorCheck(monitor_id=monitor.id, outcome="ok", checked_at=at, **log) for at in checks)
    for part, number in (("use", 3), ("work", 2)):
        answer = ann.get(f"{PAGE}?part={part}")
        assert answer.text.count('<svg class="chart" ') == number
        assert len(answer.content) < 30_000
    assert ann.get(f"{PAGE}?part=all").status_code == 404


def test_one_figure_that_takes_too_long_leaves_the_others(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_for_errors(name: str, since: date) -> object:
        if name == "errors":
            raise OperationalError("select", {}, Exception("canceling statement due to statement timeout"))
        return count_by_day(name, since)

    make_operator(ann)
    add_rows(ann.email)
    monkeypatch.setattr(figures, "count_by_day", fail_for_errors)
    page = read_page(ann)
    assert (page.count("too many to count"), page.count('<svg class="chart" ')) == (1, 3)


def test_each_statement_ends_at_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily_figures, "TIMEOUT_MILLISECONDS", 50)
    monkeypatch.setitem(daily_figures._STATEMENTS, "calls", "select current_date, '', pg_sleep(10)")
    with pytest.raises(SQLAlchemyError, match="statement timeout"):
        count_by_day("calls", clock.today())
