"""Settings changed for one test, and the clock, which stands still at noon UTC of the present day."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from shared import clock
from shared.settings import settings

Configure = Callable[..., None]
NOON = time(12)
DAY_OF_WRITING = date(2026, 11, 24)  # of the tests that name days or reviewed facts: both grow old
OWN_PROGRAMS = {"e2e", "browser", "conformance"}  # folders whose tests talk to programs that keep the machine's clock


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Configure]:
    """configure(WEB_URL=..., ...) for this test alone."""

    def change(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        settings.cache_clear()

    yield change
    monkeypatch.undo()
    settings.cache_clear()


class StandingClock:
    """A clock that moves only when a test moves it."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment

    def set(self, moment: datetime) -> None:
        self._moment = moment

    def advance(self, by: timedelta) -> None:
        self._moment += by


def _keeps_running(request: pytest.FixtureRequest) -> bool:
    folders = Path(request.node.path).relative_to(Path(__file__).parents[1]).parts
    return folders[0] in OWN_PROGRAMS or request.node.get_closest_marker("running_clock") is not None


@pytest.fixture(autouse=True)
def standing_clock(request: pytest.FixtureRequest) -> Iterator[StandingClock]:
    """Noon of today in `shared.clock`: no day turns and no limit by the minute begins anew within a test.

    It is today's day, because the database's now() decides which runs are due.
    A test marked `running_clock`, and each test of OWN_PROGRAMS, keeps the machine's clock.
    """
    standing = StandingClock(datetime.combine(datetime.now(UTC).date(), NOON, UTC))
    if _keeps_running(request):
        yield standing
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", standing.now)
        yield standing


@pytest.fixture
def on_day_of_writing(standing_clock: StandingClock) -> None:
    """Noon of DAY_OF_WRITING, for tests of days or facts that would be past one day."""
    standing_clock.set(datetime.combine(DAY_OF_WRITING, NOON, UTC))
