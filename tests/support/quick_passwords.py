"""Passwords are hashed at the least cost here, since thousands of tests sign in; `real_hashing` keeps the real one."""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from auth_server.accounts import accounts

_REAL = accounts._hasher


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hasher", quick)
        yield


@pytest.fixture
def real_hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(accounts, "_hasher", _REAL)
    accounts._make_dummy_hash.cache_clear()
    yield
    accounts._make_dummy_hash.cache_clear()
