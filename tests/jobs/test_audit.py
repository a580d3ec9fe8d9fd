"""The weekly audit: findings are stored once, end when they are settled, and the operator gets one mail about them."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from jobs import dispatcher
from jobs.runs import work as work_on
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.audit import AuditFinding
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.db.observations import write
from shared.db.run_kinds import RunKind
from shared.db.runs import JobRun, Schedule, claim_run
from shared.outbox.wording.messages import message
from shared.reference.load import reference
from shared.services.operations import audit, fact_reports
from shared.settings import settings
from tests.jobs.conftest import past, rows


def audited() -> None:
    """The schedule comes due and its run is worked on."""
    with transaction() as session:
        session.execute(sa.update(Schedule).where(Schedule.kind == RunKind.REFERENCE_AUDIT).values(next_due_at=past()))
    dispatcher.step()
    with transaction() as session:
        claim = claim_run(session, 60)
    assert claim is not None
    assert claim.kind == "reference_audit"
    work_on(claim)


@pytest.fixture
def planned(alice: Caller) -> None:
    dispatcher.begin()


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> str:
    address = "alice@example.test"
    monkeypatch.setitem(settings().__dict__, "operator_email", address)
    return address


def test_the_audit_is_due_each_week_whoever_starts(planned: None) -> None:
    dispatcher.begin()
    schedules = rows(Schedule)
    assert [(s.kind, s.every.days) for s in schedules if s.kind == RunKind.REFERENCE_AUDIT] == [("reference_audit", 7)]
    assert rows(JobRun) == []


@pytest.mark.slow  # audits all facts
@pytest.mark.spec("s1.5.charts_audited_weekly")
def test_findings_are_stored_and_end_when_they_are_settled(planned: None) -> None:
    audited()
    found = rows(AuditFinding)
    assert len(found) > 100
    assert {f.kind for f in found} >= {"stale", "over", "queue"}
    assert [r.status for r in rows(JobRun)] == ["done"]
    with transaction() as session:
        gone = AuditFinding(
            kind="stale", file="x.csv", key="k", since=found[0].since, text="t",
            first_found_on=found[0].first_found_on, last_found_on=found[0].last_found_on,
        )  # fmt: skip
        session.add(gone)
    audited()
    again = rows(AuditFinding)
    assert len(again) == len(found) + 1
    assert [f.file for f in again if f.ended_on is not None] == ["x.csv"]


@pytest.mark.slow  # audits all facts
def test_findings_that_ended_long_ago_are_gone(planned: None) -> None:
    audited()
    with transaction() as session:
        row = session.scalars(sa.select(AuditFinding)).first()
        assert row is not None
        old = row.first_found_on - timedelta(days=400)
        for file, ended in (("old.csv", old), ("new.csv", row.first_found_on)):
            session.add(
                AuditFinding(
                    kind="stale", file=file, key="k", since=old, text="t",
                    first_found_on=old, last_found_on=old, ended_on=ended,
                )
            )  # fmt: skip
    audited()
    assert [f.file for f in rows(AuditFinding) if f.ended_on is not None] == ["new.csv"]


@pytest.mark.slow  # audits all facts
@pytest.mark.usefixtures("planned")
def test_the_operator_gets_one_mail_with_the_oldest(operator: str) -> None:
    audited()
    mails = rows(Delivery)
    assert [(m.recipient, m.event) for m in mails] == [(operator, "reference_audit")]
    worded = message("reference_audit", mails[0].facts, sandbox=True)
    assert worded.subject == "Facts to look after"
    assert "stale" in worded.text
    assert "award-travel audit --limit 0" in worded.text
    assert "<li>" in worded.html


@pytest.mark.usefixtures("planned")
def test_what_strangers_report_is_text_in_the_mail(operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "audit_facts", lambda *_: [])
    report = {"file": "cards.csv", "key": "Gold", "wrong": "<script>alert(1)</script> <b>Do this now</b>"}
    fact_reports.receive_report(report, "192.0.2.7")
    audited()
    worded = message("reference_audit", rows(Delivery)[0].facts, sandbox=True)
    assert "someone wrote:" in worded.html
    assert "<script" not in worded.html
    assert "<b>Do" not in worded.html
    assert [(f.kind, f.file) for f in rows(AuditFinding)] == [("reported", "cards.csv")]


@pytest.mark.usefixtures("planned")
def test_without_an_operators_address_nobody_is_written_to() -> None:
    audited()
    with transaction() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


@pytest.mark.spec("s1.5.charts_audited_weekly")
def test_prices_providers_showed_are_held_against_the_charts(planned: None) -> None:
    price = reference().route_price("cathay-asia-miles", "CX", "LHR", "HKG")
    assert price is not None
    cabin, asked = next((name, max(p.points.values())) for name, p in price.cabins.items())
    shown = {
        "source": "sandbox", "airline": "CX", "program": "cathay-asia-miles", "origin": "LHR", "destination": "HKG",
        "date": clock.today() + timedelta(days=60), "cabin": cabin, "points": asked + 7_000, "taxes": None,
        "taxes_currency": None, "seats": 2, "provider_checked_at": None,
    }  # fmt: skip
    with transaction() as session:
        write(session, [shown] * 3)
    audited()
    wrong = [f for f in rows(AuditFinding) if f.kind == "contradicted"]
    assert [(f.key, f.last_found_on) for f in wrong] == [(f"cathay-asia-miles CX {cabin}", clock.today())]
