"""One installation, one data mode: claimed at the first start, defended at each later one, left by one command."""

from datetime import date, timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from jobs.startup import start
from mcp_server.program import main as serve
from shared import clock
from shared.db.accounts import ServiceFact
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import Schedule
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.services.operations import data_mode
from shared.services.operations.data_mode import WrongDataMode, claim_data_mode, find_data_mode, reset_sandbox
from shared.settings import SettingsError, settings
from tests.support.people import account


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
        session.add(
            Schedule(kind=ROUTE_MONITOR.run, subject_id=row.id, every=timedelta(hours=6), next_due_at=clock.now())
        )


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
    account("alice")
    in_mode(monkeypatch, "live")
    with pytest.raises(WrongDataMode, match="award-travel reset-sandbox"):
        claim()


def test_a_live_database_does_not_open_in_sandbox_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    in_mode(monkeypatch, "live")
    claim()
    account("alice")
    in_mode(monkeypatch, "sandbox")
    with pytest.raises(WrongDataMode, match="never live ones"):
        claim()


def test_an_empty_database_changes_its_mode_until_something_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for mode in ("live", "sandbox", "live"):
        in_mode(monkeypatch, mode)
        claim()
        with transaction() as session:
            assert find_data_mode(session) == mode
    with transaction() as session:
        session.add(seen("seats_aero"))
    in_mode(monkeypatch, "sandbox")
    with pytest.raises(WrongDataMode):
        claim()
    with transaction() as session:
        assert find_data_mode(session) == "live"


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


def test_each_program_refuses_to_start_on_the_other_modes_database(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim()
    account("alice")
    in_mode(monkeypatch, "live")
    monkeypatch.setenv("MAIL_BACKEND", "smtp")
    settings.cache_clear()
    monkeypatch.setattr("sys.argv", ["mcp_server"])
    monkeypatch.setattr("mcp_server.program.postpone_collections", lambda: None)  # it would hold for later tests
    with pytest.raises(SystemExit, match="award-travel reset-sandbox"):
        serve()
    with pytest.raises(SystemExit):
        start()
    assert "award-travel reset-sandbox" in capsys.readouterr().err


def test_a_database_that_is_away_does_not_stop_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("select 1", {}, Exception("gone"))

    monkeypatch.setattr(data_mode, "transaction", away)
    assert data_mode.hold_data_mode() is None


@pytest.mark.parametrize("key", ["SEATS_AERO_API_KEY", "DUFFEL_API_KEY", "SERPAPI_API_KEY", "LITEAPI_KEY"])
def test_the_sandbox_refuses_to_run_beside_a_live_source(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv(key, "secret")
    in_mode(monkeypatch, "sandbox")
    with pytest.raises(SettingsError, match=key) as no:
        settings()
    assert "secret" not in str(no.value)


@pytest.mark.parametrize(
    ("env", "mode"),
    [
        ({"APP_ENV": "development"}, "sandbox"),
        ({"APP_ENV": "production"}, "live"),
        ({"APP_ENV": "production", "AWARD_BACKEND": "sandbox"}, "sandbox"),
        ({"APP_ENV": "development", "SEATS_AERO_API_KEY": "key"}, "live"),
        ({"APP_ENV": "development", "AWARD_BACKEND": "live"}, "live"),
    ],
)
def test_the_sandbox_runs_only_where_it_was_asked_for_or_nothing_else_is_there(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], mode: str
) -> None:
    monkeypatch.delenv("AWARD_BACKEND")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    assert settings().data_mode == mode


@pytest.mark.parametrize("fault", ["broken", "slow", "slow:x", "DOWN"])
def test_a_sandbox_fault_nobody_knows_is_named_at_start(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setenv("SANDBOX_FAULT", fault)
    settings.cache_clear()
    with pytest.raises(SettingsError, match="SANDBOX_FAULT: must be down, quota, empty or slow:SECONDS"):
        settings()
