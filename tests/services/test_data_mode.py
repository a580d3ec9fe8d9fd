"""One installation, one data mode: claimed at the first start, defended at each later one, left by one command."""

from datetime import date, timedelta

import pytest
from sqlalchemy import func, select

from shared import clock
from shared.db.accounts import ServiceFact
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.db.runs import Schedule
from shared.db.watches import RouteMonitor
from shared.services.data_mode import WrongDataMode, claim_data_mode, reset_sandbox
from shared.services.watch_checks import KIND
from shared.settings import settings
from tests.people import account


@pytest.fixture(autouse=True)
def _fresh(clean: None) -> None:
    pass


def in_mode(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("AWARD_BACKEND", mode)
    settings.cache_clear()


@pytest.fixture(autouse=True)
def _back(monkeypatch: pytest.MonkeyPatch) -> object:
    yield
    monkeypatch.undo()
    settings.cache_clear()


def claim() -> None:
    with transaction() as session:
        claim_data_mode(session)


def seen(source: str) -> AwardObservation:
    return AwardObservation(
        source=source,
        airline="BA",
        program="british-airways-club",
        origin="LHR",
        destination="JFK",
        date=date(2027, 3, 9),
        cabin="business",
        points=80_000,
        synthetic=source == "sandbox",
    )


def monitor(account_id: int) -> None:
    with transaction(account_id) as session:
        row = RouteMonitor(
            origin="LHR", destination="JFK", earliest_date=date(2027, 3, 9), latest_date=date(2027, 3, 9)
        )
        session.add(row)
        session.flush()
        session.add(Schedule(kind=KIND, subject_id=row.id, every=timedelta(hours=6), next_due_at=clock.now()))


def observations() -> list[str]:
    with transaction() as session:
        session.info.pop("synthetic", None)
        return sorted(session.scalars(select(AwardObservation.source)))


def test_the_first_start_claims_the_mode_and_later_ones_agree() -> None:
    claim()
    claim()
    with transaction() as session:
        assert session.get_one(ServiceFact, "data_mode").value == "sandbox"


def test_a_sandbox_database_does_not_open_live_and_the_mend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    claim()
    in_mode(monkeypatch, "live")
    with pytest.raises(WrongDataMode, match="award-travel reset-sandbox"):
        claim()


def test_a_live_database_does_not_open_in_sandbox_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    in_mode(monkeypatch, "live")
    claim()
    in_mode(monkeypatch, "sandbox")
    with pytest.raises(WrongDataMode, match="never live ones"):
        claim()


def test_resetting_counts_first_and_deletes_only_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    claim()
    monitor(account("alice").account_id)
    with transaction() as session:
        session.add(seen("sandbox"))
    in_mode(monkeypatch, "live")
    with transaction() as session:
        session.add(seen("seats_aero"))
    with transaction() as session:
        counts = reset_sandbox(session, apply=False)
    assert counts == {"award_observations": 1, "route_monitors": 1}
    assert observations() == ["sandbox", "seats_aero"]
    with transaction() as session:
        assert reset_sandbox(session, apply=True) == counts
    assert observations() == ["seats_aero"]
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Schedule)) == 0
    claim()
    with transaction() as session:
        assert session.get_one(ServiceFact, "data_mode").value == "live"


def test_resetting_keeps_accounts_and_live_monitors(monkeypatch: pytest.MonkeyPatch) -> None:
    in_mode(monkeypatch, "live")
    claim()
    alice = account("alice")
    monitor(alice.account_id)
    with transaction() as session:
        assert reset_sandbox(session, apply=True) == {}
        assert session.scalar(select(func.count()).select_from(Schedule)) == 1
        assert session.scalar(select(func.count()).select_from(RouteMonitor)) == 1
        assert session.get_one(ServiceFact, "data_mode").value == "live"
