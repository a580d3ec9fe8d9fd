"""What is sent to which program, and next to which other scenario its processor time counts."""

import base64
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.bench.facts import FACTS, RELEASE_WINDOW
from tests.bench.goals import BARE, ECHO, GOALS, OWN_ROWS, name_peer
from tests.bench.load import Shot
from tests.bench.stage import forget_cards, refresh_tokens

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}  # the SDKs insist on it
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OK = '"status":"ok"'
NARROW = ("/lean", "/readonly", "/x/traveller", "/x/cards,vouchers")
DAY = f"{date.today() + timedelta(90)}"
OTHER_READS = ("get_usage", "get_portfolio", "list_flight_bookings", "list_upcoming_deadlines")
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    **FACTS,
    "search_all_airlines": [{"origin": "LHR", "destination": "JFK", "date": DAY}],
    **{name: [{}] for name in (*OWN_ROWS, *OTHER_READS)},
}
# Each request writes: NUMBER is another one every time.
WRITING = {
    "add_card": '{"card":"Bench NUMBER","custom":true}',
    "update_points_balance": '{"program":"british-airways-club","balance":NUMBER}',
}


@dataclass(frozen=True)
class Scenario:
    name: str
    program: str
    shot: Shot
    beside: str = BARE
    prepare: Callable[[], object] | None = None  # before each measurement

    def ready(self, concurrency: int) -> Shot:
        """What to send now: a write finds few rows again, a refresh has tokens that were never used."""
        if self.prepare:
            self.prepare()
        return replace(self.shot, seeds=refresh_tokens(2 * concurrency)) if "TOKEN" in self.shot.body else self.shot


def _rpc(method: str, **params: Any) -> str:
    message = {"jsonrpc": "2.0", "id": 1, "method": method} | ({"params": params} if params else {})
    return json.dumps(message, separators=(",", ":"))


def _call(name: str, arguments: dict[str, Any]) -> str:
    return _rpc("tools/call", name=name, arguments=arguments)


def _comparators(urls: dict[str, str]) -> Iterator[Scenario]:
    """The plainest thing that could be in our place, as each kit makes it."""
    add = _call("add", {"a": 2, "b": 3})
    trivial = {
        BARE: "bare",
        "bare tool, our transport": "bare_fast",
        "TypeScript SDK tool": "typescript",
    }
    for name, program in trivial.items():
        if program in urls:
            # The kits write JSON with and without a blank after the colon, and some as text inside the answer.
            yield Scenario(name, program, Shot(f"{urls[program]}/mcp", JSON, add, "sum"))


def _peers(url: str, ours: Iterable[Scenario]) -> Iterator[Scenario]:
    """What has a goal, sent to the same tools on FastMCP."""
    named = {goal.ours for goal in GOALS}
    for one in ours:
        if one.name in named:
            yield replace(one, name=name_peer(one.name), program="peer", shot=replace(one.shot, url=f"{url}/mcp"))


def _tools(url: str, bearer: dict[str, str], writer: dict[str, str]) -> Iterator[Scenario]:
    for name, sets in ARGUMENTS.items():
        first, *others = (_call(name, arguments) for arguments in sets)
        yield Scenario(name, "ours", Shot(url, bearer, first, OK, tuple(others)))
    for name, text in WRITING.items():
        body = _call(name, {"": 0}).replace('{"":0}', text)
        yield Scenario(name, "ours", Shot(url, writer, body, OK), prepare=forget_cards)
    lean = f"{url}/lean"
    find = _call("find_tools", {"query": "which of my points are about to expire"})
    inside = _call("call_read_tool", {"name": RELEASE_WINDOW, "arguments": FACTS[RELEASE_WINDOW][0]})
    yield Scenario("find_tools", "ours", Shot(lean, bearer, find, OK))
    yield Scenario("call_read_tool", "ours", Shot(lean, bearer, inside, OK))


def _listings(url: str, bearer: dict[str, str]) -> Iterator[Scenario]:
    page = _rpc("resources/read", uri="ui://award-travel/month-of-seats.html")
    yield Scenario("resources/read", "ours", Shot(url, bearer, page, '"contents":[{'))
    for path in ("", *NARROW):
        shot = Shot(url + path, bearer, _rpc("tools/list"), '"tools":[{')
        yield Scenario(f"tools/list {path}".strip(), "ours", shot)


def _grants(urls: dict[str, str], token: str) -> Iterator[Scenario]:
    login = f"award-travel-services:{os.environ.get('SERVICE_CLIENT_SECRET', '')}"
    basic = FORM | {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}
    asked = urlencode({"token": token, "token_type_hint": "access_token"})
    again = urlencode({"grant_type": "refresh_token", "client_id": "bench", "refresh_token": "TOKEN"})
    path, active = "/oauth/introspect", '"active":true'
    yield Scenario(ECHO, "echo", Shot(urls["echo"] + path, basic, asked, active), beside="")
    yield Scenario("introspection", "auth", Shot(urls["auth"] + path, basic, asked, active), ECHO)
    refresh = Shot(f"{urls['auth']}/oauth/token", FORM, again, '"refresh_token":"awt_rt_')
    yield Scenario("refresh", "auth", refresh, ECHO)


def scenarios(urls: dict[str, str], token: str, writer: str) -> list[Scenario]:
    """All there are, with addresses of programs by name and the tokens of a reader and of someone who writes."""
    bearer, writing = (JSON | {"Authorization": f"Bearer {one}"} for one in (token, writer))
    mcp = f"{urls['ours']}/mcp"
    ours = [*_tools(mcp, bearer, writing), *_listings(mcp, bearer)]
    peers = _peers(urls["peer"], ours) if "peer" in urls else ()
    every = [*_comparators(urls), *ours, *peers, *_grants(urls, token)]
    return [replace(one, beside="") if one.name == one.beside else one for one in every]


def select(every: Iterable[Scenario], parts: Iterable[str]) -> list[Scenario]:
    """Those with one of the parts in their name, and what they are compared with; all without parts."""
    known, parts = list(every), [part for part in parts if part]
    chosen = {one.name for one in known if not parts or any(part in one.name for part in parts)}
    chosen |= {goal.theirs for goal in GOALS if goal.ours in chosen}
    chosen |= {one.beside for one in known if one.name in chosen}
    return [one for one in known if one.name in chosen]


def concurrencies(name: str) -> list[int]:
    """How many ask at once: 16, and fewer and more where it is to be seen how the times grow."""
    return [1, 16, 64] if name in (BARE, ECHO, "list_my_cards") else [16]
