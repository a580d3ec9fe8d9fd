"""Operators' pages of runs and messages: what waits and since when, what failed, and one of it done again."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from auth_server.pages.operate import unfinished_work
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.db.operator_actions import OperatorAction
from shared.db.runs import JobRun, Schedule
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_operate import WHY, make_operator, trail

JOBS, MAIL = "/operate/jobs", "/operate/mail"


def add_run(status: str, kind: str = "delay_check", waits: timedelta = timedelta(), **columns: Any) -> int:
    with transaction() as session:
        subject_id = session.scalars(sa.select(sa.func.count()).select_from(Schedule)).one()
        schedule = Schedule(
            kind=kind, subject_id=subject_id, every=timedelta(days=1), next_due_at=sa.func.now() + waits
        )
        session.add(schedule)
        session.flush()
        run = JobRun(schedule_id=schedule.id, due_at=sa.func.now() - waits, status=status, **columns)
        session.add(run)
        session.flush()
        return run.id


def add_message(email: str, status: str, **columns: Any) -> str:
    with transaction() as session:
        account_id = session.scalars(sa.select(Account.id).where(Account.email == email)).one()
        values = {"channel": "email", "recipient": email, "event": "deadlines", "facts": {"n": "secret words"}}
        row = Delivery(account_id=account_id, dedupe_key=str(uuid4()), status=status, **values | columns)
        session.add(row)
        session.flush()
        return str(row.id)


def count_rows(model: type[Any]) -> int:
    with transaction() as session:
        return session.scalars(sa.select(sa.func.count()).select_from(model)).one()


def repeat(browser: Browser, path: str, name: str, **fields: str) -> Any:
    return send(browser, f"{path}?id={name}", path, **{"id": name, "reason": WHY} | fields)


# --- runs


def test_the_first_page_says_that_all_is_well_or_what_waits_and_where(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    assert "All is well" in ann.get("/operate").text
    add_run("failed", finished_at=sa.func.now())
    add_message(bob.email, "failed")
    add_message(bob.email, "failed", created_at=sa.func.now() - timedelta(days=3))
    page = ann.get("/operate").text
    assert "2 things wait for you" in page
    assert re.findall(r'href="(/operate/\w+)">([^<]+)</a></b>', page) == [
        (JOBS, "1 run failed"),
        (MAIL, "1 message did not go out"),
    ]


def test_jobs_show_what_waits_since_when_and_what_failed(ann: Browser) -> None:
    make_operator(ann)
    failed = add_run("failed", error="the source said <no>", attempt=5, finished_at=sa.func.now())
    add_run("pending", "inbound_mail", timedelta(hours=3), queue="mail")
    page = ann.get(JOBS).text
    assert "the source said &lt;no&gt;" in page
    assert re.findall(rf"{JOBS}/retry\?id=(\d+)", page) == [str(failed)]
    assert re.search(r"Oldest due run of mail</dt><dd>3 hours<", page)
    assert re.search(r"Oldest due run of checks</dt><dd>nothing is due<", page)
    assert "inbound_mail" in page


def test_a_failed_run_is_made_once_more_with_the_reason_in_the_trail(ann: Browser) -> None:
    make_operator(ann)
    failed = add_run("failed", error="boom", finished_at=sa.func.now())
    assert "boom" in ann.get(f"{JOBS}/retry?id={failed}").text
    assert repeat(ann, f"{JOBS}/retry", str(failed)).headers["location"] == f"{JOBS}?done=retried"
    with transaction() as session:
        new = session.scalars(sa.select(JobRun).where(JobRun.status == "pending")).one()
        assert new.attempt == 0
    detail = f"delay_check, as run {new.id}"
    assert trail() == [(f"admin:{ann.public_id}", "jobs retry", f"run:{failed}", detail, WHY)]


def test_the_same_form_sent_twice_acts_once(ann: Browser) -> None:
    make_operator(ann)
    failed = add_run("failed", finished_at=sa.func.now())
    answers = [repeat(ann, f"{JOBS}/retry", str(failed), once="0" * 32) for _ in range(2)]
    assert [answer.headers["location"].partition("=")[2] for answer in answers] == ["retried", "unchanged"]
    assert (count_rows(JobRun), count_rows(OperatorAction)) == (2, 1)


@pytest.mark.parametrize("name", ["0", "x", "\u00b2", "9" * 19, "", "-1"])
def test_a_run_that_did_not_fail_is_not_there(ann: Browser, name: str) -> None:
    make_operator(ann)
    for run in (name, str(add_run("pending"))):
        assert ann.get(f"{JOBS}/retry?id={run}").status_code == 404
    assert trail() == []


def test_jobs_say_so_when_the_database_is_too_busy_to_count(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("select", {}, Exception("canceling statement due to statement timeout"))

    make_operator(ann)
    monkeypatch.setattr(unfinished_work, "read_service_figures", fail)
    for path in (JOBS, MAIL):
        answer = ann.get(path)
        assert (answer.status_code, "too busy to count" in answer.text) == (200, True)


# --- messages


def test_mail_shows_what_failed_or_is_uncertain_and_never_what_it_says(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    names = {status: add_message(bob.email, status, error="mailbox full") for status in ("failed", "uncertain", "sent")}
    add_message(bob.email, "pending", created_at=sa.func.now() - timedelta(days=2, hours=1))
    page = ann.get(MAIL).text
    assert set(re.findall(rf"{MAIL}/resend\?id=([^\"]+)", page)) == {names["failed"], names["uncertain"]}
    assert f"/operate/users/show?id={bob.public_id}" in page
    assert "secret words" not in page
    assert re.search(r"Oldest due message</dt><dd>2 days<", page)


@pytest.mark.parametrize("status", ["failed", "uncertain"])
def test_a_message_is_written_again_once_with_the_reason_in_the_trail(ann: Browser, bob: Browser, status: str) -> None:
    make_operator(ann)
    old, form = add_message(bob.email, status), {"once": "0" * 32}
    assert bob.email in ann.get(f"{MAIL}/resend?id={old}").text
    before = count_rows(Delivery)
    assert repeat(ann, f"{MAIL}/resend", old, **form).headers["location"] == f"{MAIL}?done=resent"
    assert repeat(ann, f"{MAIL}/resend", old, **form).headers["location"] == f"{MAIL}?done=unchanged"
    assert count_rows(Delivery) == before + 1
    assert trail() == [(f"admin:{ann.public_id}", "mail resend", bob.public_id, old, WHY)]


def test_a_message_whose_text_is_gone_is_not_written_again(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    assert (
        repeat(ann, f"{MAIL}/resend", add_message(bob.email, "failed", facts={}))
        .headers["location"]
        .endswith("unchanged")
    )
    assert trail() == []


@pytest.mark.parametrize("name", ["", "x", "\u00b2", "8d156a2c-797f-440a-8c14-0343bea6c8ab"])
def test_a_message_that_is_not_unsent_is_not_there(ann: Browser, bob: Browser, name: str) -> None:
    make_operator(ann)
    for message in (name, add_message(bob.email, "sent")):
        assert ann.get(f"{MAIL}/resend?id={message}").status_code == 404


# --- both


@pytest.mark.parametrize("path", [f"{JOBS}/retry", f"{MAIL}/resend"])
@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_nothing_is_done_again_without_a_reason(ann: Browser, path: str, reason: str) -> None:
    make_operator(ann)
    name = str(add_run("failed")) if path.startswith(JOBS) else add_message(ann.email, "failed")
    before = count_rows(JobRun) + count_rows(Delivery)
    answer = repeat(ann, path, name, reason=reason)
    assert (answer.status_code, "Please say why" in answer.text) == (422, True)
    assert count_rows(JobRun) + count_rows(Delivery) == before
    assert trail() == []


def test_pages_with_many_failures_are_small_and_turned(ann: Browser) -> None:
    make_operator(ann)
    for _ in range(25):
        add_run("failed", "w" * 40, error="e" * 5000, finished_at=sa.func.now())
        add_message(ann.email, "failed", recipient=f"{'w' * 100}@example.test", error="e" * 5000)
    for path, again in ((JOBS, "retry"), (MAIL, "resend")):
        first, second, third = (ann.get(f"{path}?page={page}") for page in (1, 2, 3))
        assert len(first.content) < 30_000
        shown = [set(re.findall(rf"{again}\?id=([^\"]+)", answer.text)) for answer in (first, second)]
        assert [len(names) for names in shown] == [20, 5]
        assert not shown[0] & shown[1]
        assert "There is nothing on this page." in third.text
        assert len(ann.get(f"{path}/{again}?id={shown[0].pop()}").content) < 10_000
