"""Tokens of connections: renewed early and once, anyone who asks; sealed with the newest key; broken is told once."""

import subprocess
import sys
from datetime import timedelta
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.connections import Connection
from shared.db.messages import Notification
from shared.domain.plans import Plan
from shared.providers.contract import Unanswered
from shared.secrets import key_id, seal
from shared.services.connections.credentials import Credentials, get_credential, reject_token, unseal_token
from shared.settings import settings
from tests.support.fake_accounts import Outside
from tests.support.people import account


@pytest.fixture
def alice(outside: Outside) -> Caller:
    return account("alice", Plan.PREMIUM)


def connect(caller: Caller, *, left: timedelta, **more: Any) -> None:
    """A connection to seats.aero whose token lasts so long."""
    key = settings().encryption_keys[0]
    with transaction(caller.account_id) as session:
        session.add(
            Connection(
                provider="seats_aero",
                state="connected",
                connected_at=clock.now(),
                expires_at=clock.now() + left,
                details={},
                **{"access_sealed": seal(key, "first"), "refresh_sealed": seal(key, "refresh-0"), **more},
            )
        )


def row() -> Connection:
    with transaction() as session:
        return session.scalars(select(Connection)).one()


def ask(caller: Caller) -> str | None:
    return anyio.run(get_credential, caller.account_id, "seats_aero")


def test_a_token_that_lasts_is_sent_as_it_is(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=10))
    assert ask(alice) == "Bearer first"
    assert outside.asked == []


def test_a_token_is_renewed_five_minutes_early_and_the_rotated_one_kept(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=4))
    assert ask(alice) == "Bearer seats-access-1"
    assert outside.last("/seats/token")["refresh_token"] == "refresh-0"
    assert unseal_token(row().refresh_sealed) == "seats-refresh-1"
    assert ask(alice) == "Bearer seats-access-1"
    assert outside.count("/seats/token") == 1


def test_many_who_ask_at_once_renew_once(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(seconds=-1))
    told: list[str | None] = []

    async def many() -> None:
        async def one() -> None:
            told.append(await get_credential(alice.account_id, "seats_aero"))

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(one)

    anyio.run(many)
    assert told == ["Bearer seats-access-1"] * 20
    assert outside.count("/seats/token") == 1


ASKS = """
import sys, anyio
from shared.services.connections.credentials import get_credential
print(anyio.run(get_credential, int(sys.argv[1]), "seats_aero"))
"""


@pytest.mark.slow  # starts two programs
@pytest.mark.running_clock  # programs of their own take part
def test_two_processes_renew_once(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(seconds=-1))
    command = [sys.executable, "-c", ASKS, str(alice.account_id)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = {process.communicate(timeout=60)[0].strip() for process in running}
    assert told == {"Bearer seats-access-1"}
    assert outside.count("/seats/token") == 1


@pytest.mark.running_clock  # programs of their own take part
def test_a_lease_of_a_process_that_died_ends_by_itself(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(seconds=-1), refreshing_until=clock.now() + timedelta(seconds=1))
    assert ask(alice) == "Bearer seats-access-1"


def test_while_another_renews_the_present_token_serves(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=2), refreshing_until=clock.now() + timedelta(seconds=9))
    assert ask(alice) == "Bearer first"


@pytest.mark.parametrize(("kind", "reason"), [("html", "upstream_blocked"), ("broken", "http_503")])
def test_a_wall_or_an_outage_is_not_a_broken_connection(
    alice: Caller,
    outside: Outside,
    kind: str,
    reason: str,
) -> None:
    connect(alice, left=timedelta(seconds=-1))
    outside.says["seats"] = kind
    with pytest.raises(Unanswered) as no:
        ask(alice)
    assert (no.value.status, no.value.reason) == ("down", reason)
    assert (row().state, row().last_error) == ("connected", reason)
    outside.says.clear()
    assert ask(alice) == "Bearer seats-access-1"


def test_an_outage_of_the_renewal_goes_unnoticed_while_the_token_lasts(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=4))
    outside.says["seats"] = "broken"
    assert [ask(alice), ask(alice)] == ["Bearer first"] * 2
    assert outside.count("/seats/token") == 1


def test_a_revoked_connection_is_broken_and_told_once(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(seconds=-1))
    outside.says["seats"] = "refused"
    for _ in range(3):
        with pytest.raises(Unanswered) as no:
            ask(alice)
        assert no.value.status == "broken"
    assert outside.count("/seats/token") == 1
    with transaction() as session:
        assert [n.title for n in session.scalars(select(Notification))] == ["seats.aero has to be connected again"]


def test_a_token_refused_twice_in_a_row_is_broken(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=50))
    reject_token(alice.account_id, "seats_aero", "another")
    assert ask(alice) == "Bearer first"
    reject_token(alice.account_id, "seats_aero", "first")
    assert ask(alice) == "Bearer seats-access-1"
    reject_token(alice.account_id, "seats_aero", "seats-access-1")
    assert row().state == "broken"


def test_what_an_earlier_key_sealed_is_sealed_with_the_newest_when_read(alice: Caller, outside: Outside) -> None:
    newest, earlier = settings().encryption_keys
    connect(
        alice,
        left=timedelta(minutes=50),
        access_sealed=seal(earlier, "first"),
        refresh_sealed=seal(earlier, "refresh-0"),
    )
    assert ask(alice) == "Bearer first"
    assert str(row().access_sealed).startswith(key_id(newest))
    assert str(row().refresh_sealed).startswith(key_id(newest))


def test_what_no_key_opens_has_to_be_connected_again(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=50), access_sealed=seal("lost", "first"))
    with pytest.raises(Unanswered) as no:
        ask(alice)
    assert no.value.status == "broken"
    assert row().last_error == "unreadable"


def test_nobody_has_anothers_credential(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=50))
    other = account("charlie", Plan.PREMIUM)
    assert ask(other) is None


def test_a_provider_nobody_set_up_is_not_configured(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEATS_AERO_CLIENT_ID")
    settings.cache_clear()
    with pytest.raises(Unanswered) as no:
        ask(alice)
    assert no.value.status == "not_configured"


def test_one_call_looks_a_connection_up_once(alice: Caller, outside: Outside) -> None:
    connect(alice, left=timedelta(minutes=50))
    of = Credentials(alice.account_id)

    async def twice() -> list[str | None]:
        first = await of("seats_aero")
        with transaction() as session:
            session.delete(session.scalars(select(Connection)).one())
        return [first, await of("seats_aero")]

    assert anyio.run(twice) == ["Bearer first"] * 2
