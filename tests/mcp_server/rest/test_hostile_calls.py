"""Hostile calls over the wire, by REST through the web host and by MCP: no 5xx, no one else's rows."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from mcp_server.calls.usage import USAGE_LOG
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import AccessToken, Client, Family
from shared.secrets import digest, mint
from shared.settings import SCOPE
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.tools.hostile_people import Owner, add_owner, list_rows_with_foreign_words, prepare_calls
from tests.mcp_server.tools.test_isolation import everything_of

ROUND = 200  # calls of each: below what one account may make in a minute


def open_access(world: World, owner: Owner) -> str:
    """An access token for MCP, and any number of REST calls a month."""
    token, name = mint("awt_at_"), owner.caller.public_id
    with transaction() as session:
        account = session.get_one(Account, owner.caller.account_id)
        account.api_calls_per_month = 10**6
        session.add(Client(client_id=name, kind="dcr", name=name, auth_method="none", redirect_uris=[]))
        session.flush()
        session.add(Family(id=name, account_id=account.id, client_id=name))
        session.flush()
        row = {"scope": SCOPE, "resource": world.mcp_url, "expires_at": clock.now() + timedelta(hours=1)}
        session.add(AccessToken(token_hash=digest(token), family_id=name, client_id=name, **row))
    return token


def send(world: World, way: str, secret: str, name: str, arguments: dict[str, Any]) -> tuple[int, str]:
    """The status and the text of the answer; JSON is sent as ASCII, so that halves of surrogate pairs can be said."""
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    if way == "rest":
        url, body = f"{world.url}/api/v1/tools/{name}", arguments
    else:
        params = {"name": name, "arguments": arguments}
        url, body = world.mcp_url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = world.http.post(url, content=json.dumps(body), headers=headers)
    return answer.status_code, answer.text


def play_round(world: World, random: Random, number: int) -> Iterator[tuple[int, str]]:
    """Two accounts in turn, each by REST and by MCP. Yields the status, and what was wrong with an answer."""
    quiet, ann, ben = (add_owner(f"{name}{number}", 3 * number + n) for n, name in enumerate(("vera", "ann", "ben")))
    sides = []
    for owner, other in ((ann, ben), (ben, ann)):
        secrets = {"rest": world.key(owner.caller), "mcp": open_access(world, owner)}
        sides.append((prepare_calls(random, owner, other, quiet), secrets, other))
    before = everything_of(quiet.caller)
    for n in range(2 * ROUND):
        calls, secrets, other = sides[n % 2]
        way = random.choice(["rest", "mcp"])
        name, arguments = calls.make_call()
        status, text = send(world, way, secrets[way], name, arguments)
        shown = other.find_in(text) + quiet.find_in(text)
        failed = status >= 500 and "backend_unavailable" not in text  # a source that cannot be asked is told by 503
        wrong = failed or shown or "internal_error" in text
        yield status, f"{way} {name} {json.dumps(arguments)[:1500]}: {status} {shown} {text[:300]}" if wrong else ""
    rows = list_rows_with_foreign_words(ann, ben, quiet) + list_rows_with_foreign_words(ben, ann, quiet)
    yield 0, f"rows of another: {rows}" if rows or everything_of(quiet.caller) != before else ""
    USAGE_LOG.flush()


@pytest.mark.slow  # hundreds of generated calls
def test_hostile_calls_over_the_wire(world: World) -> None:
    statuses, faults = Counter[int](), list[str]()
    for status, fault in play_round(world, Random(1), 0):
        statuses[status] += 1
        faults += [fault] if fault else []
    assert faults == []
    assert {200, 400, 404} <= set(statuses), statuses


@pytest.mark.fuzz
def test_four_thousand_hostile_calls_over_the_wire(world: World) -> None:
    random = Random(2)
    assert [fault for number in range(10) for _, fault in play_round(world, random, number) if fault] == []
