"""Settings changed for one test: names and values go in, this process reads them anew until the test ends."""

from collections.abc import Callable, Iterator

import pytest

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
