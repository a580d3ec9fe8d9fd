"""Settings and the clock changed for one test: this process reads them anew until the test ends."""

from collections.abc import Callable, Iterator

import pytest

from shared import clock
from shared.settings import settings

Configure = Callable[..., None]


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


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands: no limit by the minute begins anew, and no day turns, in the middle of the test."""
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
