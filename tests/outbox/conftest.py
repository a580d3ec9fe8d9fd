"""Settings changed for one test, and a real mail server on loopback whose behaviour a test chooses."""

from collections.abc import Callable, Iterator

import pytest

from shared.settings import settings
from tests.mailserver import Mailbox, mail_server

Configure = Callable[..., None]


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Configure]:
    """configure(MAIL_BACKEND="smtp", ...): the settings of this process for the rest of the test."""

    def change(**environment: object) -> None:
        for name, value in environment.items():
            monkeypatch.setenv(name, str(value))
        settings.cache_clear()

    yield change
    monkeypatch.undo()
    settings.cache_clear()


@pytest.fixture
def mailbox(configure: Configure) -> Iterator[Mailbox]:
    """A server that takes mail; the process is set to use it."""
    with mail_server() as box:
        configure(MAIL_BACKEND="smtp", SMTP_PORT=box.port, SMTP_SECURITY="none", MAIL_FROM="Award <award@example.test>")
        yield box
