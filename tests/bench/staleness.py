"""How long the second machine still answers as before after something was changed on the first."""

import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import httpx

from tests.bench.load import Shot
from tests.bench.machines import Machine
from tests.bench.stage import add_account

KNOWN_WITHIN = 2.0
GOLD = ("slug=us-amex-gold", "annual_fee=375", "source_url=https://www.americanexpress.com/us/gold")
WHY = ("--reason", "bench")
_CATALOG = (
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    '{"name":"search_card_catalog","arguments":{"query":"us-amex-gold"}}}'
)


def _ask(machine: Machine, shot: Shot) -> str:
    """The status and the text of one call on its own connection, so that any of the processes answers."""
    sent = shot.at(f"{machine.tools_url}/mcp")
    answer = httpx.post(sent.url, headers=sent.headers, content=sent.body, timeout=30, trust_env=False)
    return f"{answer.status_code} {answer.text}"


def measure_staleness(change: Callable[[], object], ask: Callable[[], str], new: str) -> float:
    """Seconds after the change until the last answer that did not show it; asked for so long that it would be seen."""
    for _ in range(40):
        assert new not in ask(), "it is known before it is done"
    change()
    changed, stale = time.perf_counter(), 0.0
    while (asked := time.perf_counter() - changed) < 2 * KNOWN_WITHIN:
        if new not in ask():
            stale = asked
    return stale


def _revoke(machine: Machine, token: str) -> None:
    host = {"Host": urlsplit(machine.environment["WEB_URL"]).netloc}
    form = {"client_id": "bench", "token": token}
    answer = httpx.post(f"{machine.web_url}/oauth/revoke", data=form, headers=host, trust_env=False)
    assert answer.status_code == 200, answer.text


def _sent_by(shot: Shot, token: str) -> Shot:
    return replace(shot, headers=shot.headers | {"Authorization": f"Bearer {token}"})


def measure_changes(machines: list[Machine], cards: Shot) -> dict[str, float]:
    """Seconds by change. `cards` asks for the cards of someone; tokens of others take its place where they end."""
    first, second = machines
    revoked, suspended = add_account("revoked"), add_account("suspended")
    fee = replace(cards, body=_CATALOG)

    def turn(*words: str) -> Callable[[], None]:
        return lambda: first.run(*words)

    def until(shot: Shot, new: str, change: Callable[[], object]) -> float:
        return measure_staleness(change, lambda: _ask(second, shot), new)

    return {
        "a corrected fact": until(fee, '"annual_fee":375', turn("fact", "set", "cards.csv", *GOLD, *WHY)),
        "a revoked token": until(_sent_by(cards, revoked), "401 ", lambda: _revoke(first, revoked)),
        "a suspended account": until(
            _sent_by(cards, suspended), "401 ", turn("user", "suspend", "suspended@example.test", *WHY)
        ),
        "maintenance": until(cards, "temporarily_unavailable", turn("maintenance", "on")),
        "its end": until(cards, '"status":"ok"', turn("maintenance", "off")),
    }
