"""The account: password, signed-in browsers, a copy of everything without secrets, and deletion that leaves nothing."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import func, select
from starlette.testclient import TestClient

from auth_server.pages import account as account_pages
from auth_server.web.sessions import describe_browser
from shared import clock
from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.base import Base, engine, transaction
from shared.db.messages import Delivery
from shared.db.own_programs import OwnProgram
from shared.db.route_monitors import MonitorCheck, RouteMonitor
from shared.db.runs import Schedule, create_due_runs, schedule
from shared.db.usage import SEARCHES, take
from shared.outbox.enqueue import tell
from tests.auth_server.in_process_browser import BASE, PASSWORD, Browser
from tests.auth_server.keys import is_key_alive, make_key
from tests.auth_server.mailbox import Mails
from tests.auth_server.test_dashboard import make_app, on_plan, send
from tests.auth_server.test_sweep import every_flow, whole_database

BETTER = "another good password"
PATH = "/dashboard/account"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"


def another(browser: Browser, agent: str = FIREFOX) -> Browser:
    """The same person on another device."""
    other = Browser(browser.host, browser.email, browser.public_id)
    page = other.get("/signin").text
    csrf = re.search(r'name="csrf" value="([^"]*)"', page)
    assert csrf is not None
    fields = {"csrf": csrf[1], "return_to": "", "email": browser.email, "password": PASSWORD}
    assert other.post("/signin", fields, headers={"user-agent": agent}).status_code == 303
    return other


def signed_in(browser: Browser) -> bool:
    return bool(browser.get("/dashboard").status_code == 200)


# --- password


def change(browser: Browser, current: str = PASSWORD, password: str = BETTER, **ticked: str) -> Any:
    return send(browser, PATH, f"{PATH}/password", current=current, password=password, **ticked)


def test_a_new_password_signs_every_other_browser_out(ann: Browser, mails: Mails) -> None:
    ann.sign_in()
    other, before = another(ann), ann.cookie
    changed = change(ann)
    assert (changed.status_code, changed.headers["location"]) == (303, f"{PATH}?done=password")
    assert signed_in(ann)
    assert not signed_in(other)
    assert ann.cookie != before
    assert [mail["Subject"] for mail in mails()] == ["A new browser signed in", "Your password was changed"]
    assert Browser(ann.host, ann.email).sign_in(PASSWORD).status_code == 401
    assert Browser(ann.host, ann.email).sign_in(BETTER).status_code == 303


@pytest.mark.parametrize("ends", [set(), {"applications"}, {"keys"}, {"applications", "keys"}])
def test_applications_and_keys_end_with_the_old_password_where_that_is_ticked(ann: Browser, ends: set[str]) -> None:
    tokens, key = ann.tokens(), make_key(ann)
    fields = {f"end_{name}": "on" for name in ends}
    assert change(ann, **fields).status_code == 303
    left = {"applications": ann.alive(tokens["access_token"]), "keys": is_key_alive(key)}
    assert {name for name, is_alive in left.items() if not is_alive} == ends


def test_a_refused_change_ends_nothing_and_keeps_the_ticks(ann: Browser) -> None:
    tokens = ann.tokens()
    answer = change(ann, password="short", end_applications="on")
    assert re.findall(r'name="(\w+)" checked', answer.text) == ["end_applications"]
    assert change(ann, current="not this one", end_applications="on").status_code == 403
    assert ann.alive(tokens["access_token"])


def test_the_present_password_is_needed_and_guesses_are_counted(ann: Browser) -> None:
    ann.sign_in()
    codes = [change(ann, f"guess {n} of many").status_code for n in range(11)]
    assert codes == [403] * 10 + [429]
    assert change(ann).status_code == 429
    assert Browser(ann.host, ann.email).sign_in().status_code == 429


def test_a_weak_new_password_is_said_beside_its_field(ann: Browser) -> None:
    ann.sign_in()
    answer = change(ann, password="short")
    assert answer.status_code == 422
    assert "too short" in answer.text
    assert Browser(ann.host, ann.email).sign_in().status_code == 303


# --- browsers


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/150.0 Safari/537.36 Edg/150.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) Version/20.0 Safari/604.1", "Safari on an iPhone"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/150.0 Mobile Safari/537.36", "Chrome on Android"),
        ("award-travel command line", "award-travel on the command line"),
        ("<script>", "A browser"),
        ("", "A browser"),
    ],
)
def test_a_browser_is_named_in_a_few_words_of_ours(agent: str, words: str) -> None:
    assert describe_browser(agent) == words


# --- copy


def belongings(browser: Browser) -> int:
    """A row in many tables; the account's id."""
    with transaction() as session:
        account = session.scalars(select(Account).where(Account.email == browser.email)).one()
        session.add(PointsBalance(account_id=account.id, program="avios", balance=1234, as_of=clock.today()))
        session.add(OwnProgram(account_id=account.id, slug="own-miles", name="Own Miles", transfers=[]))
        today = clock.today()
        monitor = RouteMonitor(
            account_id=account.id, origin="LHR", destination="JFK", earliest_date=today, latest_date=today
        )
        session.add(monitor)
        session.flush()
        session.add(MonitorCheck(monitor_id=monitor.id, outcome="ok", options_seen=0, new_matches=0, failed_sources=[]))
        schedule(session, "route_monitor", monitor.id, clock.midnight() - clock.now())
        tell(
            session,
            account,
            "security_event",
            {"kind": "password_changed", "subject": "", "browser": ""},
            dedupe_key=f"told {account.id}",
            mail=True,
        )
        take(session, account.id, SEARCHES, today, None)
        return account.id


def copy(browser: Browser) -> Any:
    return send(browser, PATH, f"{PATH}/export")


def test_a_copy_holds_what_the_account_holds_and_nobody_elses(ann: Browser, bob: Browser) -> None:
    belongings(ann)
    belongings(bob)
    ann.tokens()
    bob.tokens()
    answer = copy(ann)
    assert answer.headers["content-disposition"].startswith('attachment; filename="award-travel-')
    assert answer.headers["content-type"] == "application/json"
    copied = json.loads(answer.text)
    assert [row["email"] for row in copied["accounts"]] == [ann.email]
    assert [(row["program"], row["balance"]) for row in copied["points_balances"]] == [("avios", 1234)]
    for table in ("own_programs", "route_monitors", "route_monitor_checks", "usage_counters", "security_events"):
        assert len(copied[table]) == 1, table
    for table in ("notifications", "deliveries"):  # the one stored here, and one about the application
        assert len(copied[table]) == 2, table
    for table in ("oauth_consents", "oauth_families", "oauth_access_tokens", "web_sessions"):
        assert len(copied[table]) == 1, table
    assert bob.email not in answer.text
    assert bob.public_id not in answer.text


def test_a_copy_reaches_every_table_that_leads_to_an_account(ann: Browser) -> None:
    """A table added tomorrow is in it, unless nothing ties its rows to an account."""
    ann.sign_in()
    tables = set(json.loads(copy(ann).text)) - {"exported_at"}
    without = {table.name for table in Base.metadata.sorted_tables} - tables
    with transaction() as session:
        for name in without:
            keys = {key.column.table.name for key in Base.metadata.tables[name].foreign_keys}
            assert not keys & tables, f"{name} belongs to an account"
            assert "account_id" not in Base.metadata.tables[name].columns
        assert session.scalar(select(func.count()).select_from(Account)) == 1
    assert {"accounts", "cards", "trips", "api_keys", "oauth_clients", "profiles"} <= tables


def test_a_copy_holds_no_secret(ann: Browser) -> None:
    on_plan("premium")
    secrets = every_flow(ann)
    page = make_app(ann).text
    key = send(ann, "/dashboard/keys", "/dashboard/keys", name="laptop").text
    secrets |= set(re.findall(r"awt_(?:cs|ak)_\w+", page + key))
    copied = copy(ann).text
    assert [secret for secret in secrets if secret in copied] == []
    with engine().connect() as connection:
        hashes = connection.execute(
            sa.text(
                "select password_hash from accounts union all select csrf_key from web_sessions"
                " union all select secret_hash from oauth_clients where secret_hash is not null"
                " union all select key_hash from api_keys union all select token_hash from oauth_refresh_tokens"
            )
        ).scalars()
        assert [hash for hash in hashes if hash in copied] == []


def test_copies_are_limited(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_pages, "COPIES_PER_HOUR", 2)
    ann.sign_in()
    assert [copy(ann).status_code for _ in range(3)] == [200, 200, 429]


# --- deletion


def delete(browser: Browser, password: str = PASSWORD) -> Any:
    return send(browser, f"{PATH}/delete", f"{PATH}/delete", password=password)


def counts() -> dict[str, int]:
    with engine().connect() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def test_a_deleted_account_leaves_nothing_and_others_keep_everything(ann: Browser, bob: Browser) -> None:
    belongings(bob)
    bob.tokens()
    bob_has = json.loads(copy(bob).text)
    before = counts()
    on_plan("premium")
    belongings(ann)
    ann.tokens()
    make_app(ann)
    send(ann, "/dashboard/keys", "/dashboard/keys", name="laptop")
    with transaction() as session:
        create_due_runs(session)
    answer = delete(ann)
    assert answer.status_code == 200
    assert "Your account is deleted" in answer.text
    stored = whole_database()
    assert ann.email not in stored
    assert ann.public_id not in stored
    after = counts()
    of_nobody = {"oauth_clients": 1, "job_runs": 1}  # a client that registered itself; Bob's own due run
    assert {name: n for name, n in after.items() if n - of_nobody.get(name, 0) > before[name]} == {}
    now_has = json.loads(copy(bob).text)
    of_the_copy = {"exported_at", "security_events", "notifications", "deliveries", "one_time_links"}
    assert {k: len(v) for k, v in now_has.items() if k not in of_the_copy} == {
        k: len(v) for k, v in bob_has.items() if k not in of_the_copy
    }


def test_everything_else_that_knew_the_account_is_told(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    tokens = ann.tokens()
    family = ann.introspect(tokens["access_token"])["family"]
    id = belongings(ann)
    assert delete(ann).status_code == 200
    assert {"family": family} in published_events
    assert {"account": ann.public_id} in published_events
    assert not ann.alive(tokens["access_token"])
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert not signed_in(ann)
    assert ann.sign_in().status_code == 401
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Schedule)) == 0
        assert session.scalar(select(func.count()).select_from(Delivery)) == 0
        assert session.get(Account, id) is None


def test_other_peoples_access_by_a_deleted_persons_application_ends(
    ann: Browser, bob: Browser, published_events: list[dict[str, Any]]
) -> None:
    on_plan("premium")
    ann.sign_in()
    page = make_app(ann, uris="http://127.0.0.1:18250/callback").text
    client_id, secret = re.findall(r"<code>((?:app_|awt_cs_)\w+)</code>", page)
    tokens = bob.redeem(client_id, bob.code(client_id), client_secret=secret).json()
    family = bob.introspect(tokens["access_token"])["family"]
    delete(ann)
    assert {"family": family} in published_events
    assert not bob.alive(tokens["access_token"])
    assert signed_in(bob)


def test_deleting_needs_the_password(ann: Browser) -> None:
    ann.sign_in()
    assert delete(ann, "not this one").status_code == 403
    assert delete(ann, "").status_code == 403
    assert signed_in(ann)


def test_a_deletion_that_fails_half_way_changes_nothing(
    ann: Browser, monkeypatch: pytest.MonkeyPatch, published_events: list[dict[str, Any]]
) -> None:
    tokens = ann.tokens()
    host = TestClient(ann.host.app, base_url=BASE, raise_server_exceptions=False, follow_redirects=False)
    broken = Browser(host, ann.email)
    broken.sign_in()
    with refusing_to_delete_accounts():
        assert delete(broken).status_code == 500
    assert published_events == []
    assert ann.alive(tokens["access_token"])
    assert signed_in(ann)


@contextmanager
def refusing_to_delete_accounts() -> Iterator[None]:
    refuse = "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$"
    with engine().begin() as connection:
        connection.execute(sa.text(refuse))
        connection.execute(sa.text("create trigger refusing before delete on accounts execute function refuse()"))
    try:
        yield
    finally:
        with engine().begin() as connection:
            connection.execute(sa.text("drop function refuse() cascade"))


def test_the_same_email_can_begin_anew(ann: Browser) -> None:
    from auth_server.accounts.accounts import create_account

    ann.sign_in()
    delete(ann)
    with transaction() as session:
        create_account(session, ann.email, BETTER)
    fresh = Browser(ann.host, ann.email)
    assert fresh.sign_in(BETTER).status_code == 303
    with transaction() as session:
        assert session.scalars(select(Account.public_id)).one() != ann.public_id


def test_a_wrong_password_is_said_at_its_field(ann: Browser) -> None:
    ann.sign_in()
    change = {"current": "wrong", "password": "another long password", "end_keys": "on"}
    answer = send(ann, "/dashboard/account", "/dashboard/account/password", **change)
    assert answer.status_code == 403
    assert (
        '<p class="fault" id="current-fault" role="alert">The password is wrong. Nothing was changed.</p>'
        in answer.text
    )
    assert re.search(r'id="current"[^>]*aria-invalid="true" aria-describedby="current-fault"', answer.text)
    assert 'name="end_keys" checked' in answer.text
    answer = send(ann, "/dashboard/account/delete", "/dashboard/account/delete", password="wrong")
    assert answer.status_code == 403
    assert re.search(r'id="password"[^>]*aria-invalid="true" aria-describedby="password-fault"', answer.text)
    assert "The password is wrong. Nothing was changed." in answer.text
