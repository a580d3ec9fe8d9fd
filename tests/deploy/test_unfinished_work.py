"""What operators list and do again: accounts by pages, runs that failed, messages that may not have arrived."""

import json
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from auth_server.accounts.accounts import create_account
from shared.db.base import transaction
from shared.db.messages import Delivery, claim_delivery, mark_unsent
from shared.db.runs import JobRun, Schedule
from tests.deploy.test_commands import PASSWORD, Say, _add, _ann, say

__all__ = ["say"]
EMAIL = "ann@example.test"
FACTS = {"reason": "secret words"}


def _add_message(status: str, facts: dict[str, str], **columns: Any) -> str:
    with transaction() as session:
        row = Delivery(
            account_id=_ann().id, dedupe_key="k", channel="email", recipient=EMAIL, event="deadlines", facts=facts
        )
        row.status, row.error = status, "mailbox full"
        session.add(row)
        session.flush()
        return str(row.id)


def _add_run(status: str, kind: str = "delay_check") -> int:
    with transaction() as session:
        schedule = Schedule(kind=kind, subject_id=7, every=sa.func.make_interval(0, 0, 0, 1), next_due_at=sa.func.now())
        session.add(schedule)
        session.flush()
        run = JobRun(schedule_id=schedule.id, due_at=sa.func.now(), status=status, attempt=5, error="boom")
        session.add(run)
        session.flush()
        return run.id


def test_a_failed_run_is_listed_and_done_again_by_a_run_of_its_own(say: Say) -> None:
    failed = _add_run("failed")
    _add_run("pending", "inbound_mail")
    lines = json.loads(say("jobs", "list", "--json")[1])
    assert [(line["id"], line["kind"], line["error"]) for line in lines] == [(failed, "delay_check", "boom")]
    assert "delay_check 7  boom" in say("jobs", "list")[1]
    assert say("jobs", "list", "--kind", "inbound_mail")[1] == "No such run.\n"
    status, text, _ = say("jobs", "retry", str(failed), "--reason", "the source is back")
    assert (status, "delay_check is due again at once" in text) == (0, True)
    with transaction() as session:
        runs = session.scalars(sa.select(JobRun).join(Schedule).where(Schedule.kind == "delay_check")).all()
        assert sorted((run.status, run.attempt) for run in runs) == [("failed", 5), ("pending", 0)]
    assert "jobs retry" in say("trail", "--json")[1]


@pytest.mark.parametrize("status", ["pending", "done"])
def test_only_a_run_that_failed_is_repeated(say: Say, status: str) -> None:
    run = _add_run(status)
    code, _, fault = say("jobs", "retry", str(run))
    assert (code, "see award-travel jobs list" in fault) == (1, True)


@pytest.mark.parametrize("status", ["failed", "uncertain"])
def test_a_message_is_written_again_and_goes_out_with_all_its_attempts(say: Say, status: str) -> None:
    _add(say)
    old = _add_message(status, FACTS)
    listed = say("mail", "list", "--account", EMAIL)[1]
    assert f"{old}" in listed
    assert "secret words" not in listed + say("mail", "list", "--json")[1]
    code, text, _ = say("mail", "resend", old, "--reason", "they asked")
    assert (code, "goes out at once" in text) == (0, True)
    with transaction() as session:
        parcel = claim_delivery(session, 60)
        assert parcel is not None
        assert (parcel.recipient, parcel.event, parcel.facts, parcel.attempt) == (EMAIL, "deadlines", FACTS, 1)
        assert str(parcel.id) != old
        assert session.get_one(Delivery, UUID(old)).status == status
        assert mark_unsent(session, parcel, "failed", "again")
    assert _ann().public_id in say("trail", "--json")[1] or EMAIL in say("trail", "--json")[1]


@pytest.mark.parametrize(("status", "facts"), [("sent", FACTS), ("pending", FACTS), ("failed", {})])
def test_what_went_out_waits_or_has_no_text_is_not_written_again(say: Say, status: str, facts: dict[str, str]) -> None:
    _add(say)
    code, _, fault = say("mail", "resend", _add_message(status, facts))
    assert (code, "see award-travel mail list" in fault) == (1, True)


def _add_people(number: int) -> None:
    with transaction() as session:
        for position in range(number):
            create_account(session, f"p{position}@example.test", PASSWORD)


def test_accounts_are_listed_by_pages_and_as_json(say: Say) -> None:
    _add_people(3)
    first = say("user", "list", "--per-page", "2")[1].splitlines()
    assert [line.split()[0] for line in first[:2]] == ["p0@example.test", "p1@example.test"]
    assert first[2] == "3 accounts in all; the next page: award-travel user list --page 2"
    (last,) = json.loads(say("user", "list", "--page", "2", "--per-page", "2", "--json")[1])
    assert (last["email"], last["plan"], last["state"], last["is_admin"]) == (
        "p2@example.test",
        "free",
        "active",
        False,
    )
    assert say("user", "list", "--page", "9")[1] == "There are 3 accounts.\n"
    assert say("user", "list", "--page", "0")[0] == 1


def test_an_account_is_found_by_a_part_of_its_address_or_by_its_id(say: Say) -> None:
    _add(say)
    _add_people(2)
    assert [line.split()[0] for line in say("user", "find", "P1@")[1].splitlines()] == ["p1@example.test"]
    (line,) = json.loads(say("user", "find", _ann().public_id, "--json")[1])
    assert line["email"] == EMAIL
    assert say("user", "find", "%")[1] == "No account has % in its address.\n"


def test_what_may_use_an_account_is_listed_as_json_too(say: Say) -> None:
    _add(say)
    assert json.loads(say("user", "access", EMAIL, "--json")[1]) == []
