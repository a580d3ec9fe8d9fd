"""The web host in process: a fresh application over the real database, and a person with a browser to drive it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle
from typing import Any

import pytest
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from auth_server.accounts.accounts import create_account
from auth_server.app import create_app
from auth_server.oauth import signing_keys
from auth_server.web import flows
from shared.db.base import transaction
from tests.auth_server.in_process_browser import BASE, PASSWORD, Browser
from tests.auth_server.mailbox import mails  # noqa: F401 - a fixture
from tests.support.fake_identity_providers import outside, serving  # noqa: F401 - fixtures
from tests.support.settings_and_clock import StandingClock


@pytest.fixture(scope="session")
def quick_keys() -> Iterator[None]:
    """The same few signing keys in all tests: to make or to import an RSA key takes longer than most of them."""
    keys = [signing_keys._generate() for _ in range(4)]
    contents = [key.as_dict(private=True) for key in keys]
    turns = cycle(keys)

    class QuickKey(RSAKey):  # type: ignore[misc]
        @classmethod
        def import_key(cls, value: Any, *more: Any) -> RSAKey:
            return keys[contents.index(value)] if value in contents else RSAKey.import_key(value, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signing_keys, "_generate", lambda: next(turns))
        patch.setattr(signing_keys, "RSAKey", QuickKey)
        yield


@pytest.fixture
def host(clean: None, quick_keys: None) -> Iterator[TestClient]:
    """The application, with its own event loop for the whole test."""
    flows.limiter.cache_clear()
    flows.hashing_limiter.cache_clear()
    with TestClient(create_app(), base_url=BASE, follow_redirects=False, client=("127.0.0.1", 50000)) as client:
        yield client


@pytest.fixture
def stranger(host: TestClient) -> Browser:
    """A browser no one has signed in with, on its own loopback application."""
    return Browser(host)


def person(host: TestClient, name: str) -> Browser:
    email = f"{name}@example.test"
    with transaction() as session:
        account = create_account(session, email, PASSWORD)
        public_id = account.public_id
    return Browser(host, email, public_id)


@pytest.fixture
def ann(host: TestClient) -> Browser:
    return person(host, "ann")


@pytest.fixture
def bob(host: TestClient) -> Browser:
    return person(host, "bob")


@pytest.fixture
def later(standing_clock: StandingClock) -> Callable[[timedelta], None]:
    """later(timedelta(...)) moves the clock of this program forward."""
    return standing_clock.advance


@pytest.fixture
def published_events(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was told to the tool servers, in order."""
    events: list[dict[str, Any]] = []
    monkeypatch.setattr(flows, "publish", lambda **event: events.append(event))
    return events
