"""Whatever strangers do at any route, the answers of everybody else stay under twice their quiet time."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
from starlette.routing import Route

from auth_server.app import ROUTES
from auth_server.web.middleware import find_forwarded
from deploy.local.private_servers import free_port
from jobs.smtp_listener import MAX_CONNECTIONS
from mcp_server.app import build
from shared.asgi import MAX_HEAD_SECONDS, MAX_REST_SECONDS, MAX_UNREAD_SECONDS
from shared.db.base import transaction
from shared.domain.mcp_addresses import ADDRESSES
from shared.domain.plans import Plan
from shared.services.bookings import inbound_mail, secret_links
from tests.performance import hostile_senders, slow_callers
from tests.performance.hostile_callers import GROUPS, HOLDS, Held, Request, Target, hold_open, repeat_attack
from tests.performance.hostile_senders import STATES
from tests.performance.other_callers import (
    Person,
    Timings,
    ask,
    count_files,
    resident_mebibytes,
    send_mail,
    settle,
    time_calls,
)
from tests.support.people import account
from tests.support.service import Service, folder_for_homes, start, stop, wait_for

FLOOR_MILLISECONDS = 25.0  # two turns of other programs on a busy machine; less than that no one notices
ROUNDS = (3, 6)  # calls of each kind, and more when the first were slow
QUIET_ROUNDS, ATTEMPTS = 15, 3
AT_ONCE, MOST_MILLISECONDS = 10, 100.0  # what one account does at once, and what others may wait for an answer
LONG_MILLISECONDS = 12.0  # alone; ten at once of what takes less hold no one up for long
ROWS_SHOWN = 8
SILENCE_SECONDS = 15  # the listener waits for two minutes (RFC 5321 4.5.3.2.7 wants five), this test does not
SLOW = "slow heads, bodies, readers"
# A body has its deadline and then a while for its rest; a look each 5 s, and the machine may be busy.
END_SECONDS = max(MAX_HEAD_SECONDS, MAX_UNREAD_SECONDS) + MAX_REST_SECONDS + 8
MAX_MORE_FILES = 64  # connections to the database and between the servers, which stay open for the next caller
MAX_MORE_MEBIBYTES = 192  # what the allocator keeps; a thousand bodies of 4 MiB would be gigabytes
Calls = dict[str, Callable[[], None]]


@dataclass
class Row:
    """One abuse at one route, and the call of the others that suffered most."""

    target: Target
    abuse: str
    call: str
    quiet: float
    under_abuse: float
    floor: float = 0.0

    @property
    def is_bounded(self) -> bool:
        return self.under_abuse < max(2 * self.quiet, self.quiet + FLOOR_MILLISECONDS, self.floor)

    def __str__(self) -> str:
        return f"{self.quiet:6.1f} {self.under_abuse:7.1f} {self.call:19} {self.target}: {self.abuse}"


@dataclass
class Walk:
    """What was measured, and what no one may answer."""

    calls: dict[str, Calls]  # of others, by server
    at_once: int = 1  # what each stranger does
    floor: float = 0.0  # milliseconds within which an answer is good, whatever it takes while all is quiet
    quiet: dict[str, dict[str, float]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    failures: set[str] = field(default_factory=set)
    again: dict[tuple[Target, str], Callable[[], Row]] = field(default_factory=dict)  # how each row is measured again

    def measure_quiet(self, server: str, rounds: int) -> None:
        self.quiet[server] = time_calls(self.calls[server], rounds).medians()

    def measure(self, target: Target, abuse: str, is_enough: Callable[[], bool] = lambda: True) -> Row:
        """The call of others that suffers most."""
        timings = Timings({name: [] for name in self.calls[target.server]})
        for rounds in ROUNDS:
            time_calls(self.calls[target.server], rounds, timings)
            row = self._find_worst(target, abuse, timings)
            if row.is_bounded and is_enough():
                break
        return row

    def _find_worst(self, target: Target, abuse: str, timings: Timings) -> Row:
        quiet = self.quiet[target.server]
        medians = timings.medians().items()
        rows = [Row(target, abuse, name, quiet[name], value, self.floor) for name, value in medians]
        return max(rows, key=lambda row: (not row.is_bounded, row.under_abuse - row.quiet))

    def attack(self, target: Target, name: str, abuses: dict[str, Request]) -> Row:
        """While one stranger does all of it at the route, again and again."""
        self.again[target, name] = partial(self.attack, target, name, abuses)
        with repeat_attack(target, abuses, self.at_once) as strangers:
            row = self.measure(target, name, lambda: strangers.count_answers() >= len(abuses))
        broken = {f"{target} answered {status} to {abuse}" for abuse, status in strangers.statuses if status >= 500}
        self.failures |= broken
        return row

    def hold(self, target: Target) -> Row:
        with hold_open(target):
            return self.measure(target, SLOW)

    def attack_again(self, row: Row) -> Row:
        """Between two quiet times of the same minute, of which the longer counts: others may hold up any call."""
        for _ in range(ATTEMPTS):
            self.measure_quiet(row.target.server, QUIET_ROUNDS)
            row = self.again[row.target, row.abuse]()
            if not row.is_bounded:
                self.measure_quiet(row.target.server, QUIET_ROUNDS)
                row = replace(row, quiet=max(row.quiet, self.quiet[row.target.server][row.call]))
            if row.is_bounded:
                break
        return row


def list_targets(service: Service) -> list[Target]:
    """Every route of both tables, those of the tool server at both addresses."""
    tool_routes = [r for r in build().pages.routes if isinstance(r, Route)]
    tool_paths = [(r.path, frozenset(r.methods or {"GET"})) for r in tool_routes]
    tool_paths += [(path, frozenset({"POST"})) for path in ADDRESSES]
    mcp_base = service.mcp_url.removesuffix("/mcp")
    targets = [Target("web", service.web_url, r.path, frozenset(r.methods or {"GET"})) for r in ROUTES]
    targets += [Target("tools", mcp_base, path, methods) for path, methods in tool_paths]
    forwarded = [(path, methods) for path, methods in tool_paths if find_forwarded(path)]
    targets += [Target("pass-through", service.web_url, path, methods) for path, methods in forwarded]
    return targets


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with folder_for_homes() as folder:
        service = start(folder)
        yield service
        stop(service)


@pytest.fixture(scope="module")
def person(running: Service) -> Person:
    return settle(running, "anna", "premium")


@pytest.fixture(scope="module")
def targets(running: Service) -> list[Target]:
    """The stranger has an account, a browser, an application and an API key, and shows them wherever they count."""
    stranger = settle(running, "mallory")
    status, body = ask(
        f"{running.web_url}/api/v1/agent/register", "POST", b'{"agent_name": "M"}', {"Content-Type": "application/json"}
    )
    assert status == 201, body
    key = re.findall(rb'"api_key": ?"([^"]+)"', body)[0].decode()
    credentials = {"/mcp": f"Authorization: Bearer {stranger.access}\r\n", "/api": f"X-API-Key: {key}\r\n"}
    cookie = f"Cookie: {stranger.cookie}\r\n"
    examples = {"/api/v1/tools/{name}": "/api/v1/tools/get_usage"}
    return [
        Target(
            t.server,
            t.base,
            re.sub(r"\{[^}]*\}", "x", examples.get(t.path, t.path)),
            t.methods,
            credentials.get(t.path[:4], cookie),
        )
        for t in list_targets(running)
    ]


def walk_holds(walk: Walk, targets: list[Target], held: Held) -> None:
    dripped = time.monotonic()
    for target in targets:
        for abuse in HOLDS:
            held.add(abuse, target)
        walk.rows.append(walk.measure(target, SLOW))
        walk.again[target, SLOW] = partial(walk.hold, target)
        if time.monotonic() - dripped >= 1:
            held.drip()
            dripped = time.monotonic()


def walk_requests(walk: Walk, targets: list[Target], held: Held) -> None:
    for target in targets:
        for name in GROUPS if "POST" in target.methods else ("large heads",):
            walk.rows.append(walk.attack(target, name, GROUPS[name]))
        held.drip()


def walk_again(walk: Walk) -> None:
    """Routes at which the others were held up, each by itself."""
    suspects = [n for n, row in enumerate(walk.rows) if not row.is_bounded]
    for n in suspects:
        walk.rows[n] = walk.attack_again(walk.rows[n])


def is_long(act: Callable[[], int]) -> bool:
    """Whether it takes long alone, the second time as well."""
    for _ in range(2):
        begins = time.perf_counter()
        act()
        if (time.perf_counter() - begins) * 1000 < LONG_MILLISECONDS:
            return False
    return True


def write_table(rows: list[Row]) -> None:
    sys.stderr.write(f"\n{'quiet':>6} {'abused':>7} (milliseconds, medians; the worst pairs of each server)\n")
    for server in sorted({row.target.server for row in rows}):
        of_server = sorted((r for r in rows if r.target.server == server), key=lambda r: r.quiet - r.under_abuse)
        sys.stderr.write(f"{server}: {len(of_server)} pairs of route and abuse\n")
        sys.stderr.writelines(f"{row}\n" for row in of_server[:ROWS_SHOWN])


def measure_processes(service: Service) -> dict[str, tuple[int, float]]:
    """Open files and MiB of memory of each server."""
    pids = service.pids
    return {name: (count_files(pids[name]), resident_mebibytes(pids[name])) for name in ("auth_server", "mcp_server")}


def test_other_callers_feel_nothing_whatever_is_done_at_any_route(
    running: Service, person: Person, targets: list[Target]
) -> None:
    web: Calls = {"page": person.open_page, "token": person.renew_token, "tool": person.call_by_the_web_address}
    tools: Calls = {"tool": person.call_directly, "tool by web address": person.call_by_the_web_address}
    walk, held = Walk({"web": web, "tools": tools, "pass-through": web}, floor=MOST_MILLISECONDS), Held()
    for server in walk.calls:
        time_calls(walk.calls[server], 5)  # whatever is slow only once
        walk.measure_quiet(server, QUIET_ROUNDS)
    before = measure_processes(running)
    walk_holds(walk, targets, held)
    walk_requests(walk, targets, held)
    held.wait_for_end(END_SECONDS)
    wait_for("files given back", lambda: has_given_back(running, before), END_SECONDS)
    held.close()
    walk_again(walk)
    write_table(walk.rows)
    assert [str(row) for row in walk.rows if not row.is_bounded] == []
    assert walk.failures == set()
    assert {abuse: seconds for abuse, seconds in held.longest.items() if seconds > END_SECONDS} == {}


def answer(act: slow_callers.Act, _target: Target) -> int:
    return act()


@pytest.mark.running_clock
# "tools" and "pages" take minutes each: WALKS=files,tools,pages python -m pytest -m performance -k ten_at_once
@pytest.mark.parametrize("group", os.environ.get("WALKS", "files").split(","))
def test_others_are_answered_while_one_account_sends_ten_at_once_of_what_takes_longest(
    running: Service, person: Person, group: str
) -> None:
    """Ten at once of each tool, page and file; tools, a page and the sign-in of another stay as quick as people see."""
    caller = slow_callers.SlowCaller(settle(running, "nell", "pro"))
    calls: Calls = {"tool": person.list_trips, "page": person.open_page, "sign-in": person.open_sign_in}
    walk = Walk({group: calls}, AT_ONCE, MOST_MILLISECONDS)
    time_calls(calls, 5)
    walk.measure_quiet(group, QUIET_ROUNDS)
    acts = slow_callers.GROUPS[group](caller)
    for name in [name for name, act in acts.items() if is_long(act)]:
        act = acts[name]
        walk.rows.append(walk.attack(Target(group, "", name, frozenset()), name, {name: partial(answer, act)}))
    walk_again(walk)
    write_table(walk.rows)
    assert [str(row) for row in walk.rows if not row.is_bounded] == []
    assert {failure for failure in walk.failures if " answered 503 " not in failure} == set()


def has_given_back(service: Service, before: dict[str, tuple[int, float]]) -> bool:
    now = measure_processes(service)
    return all(
        now[name][0] <= files + MAX_MORE_FILES and now[name][1] <= memory + MAX_MORE_MEBIBYTES
        for name, (files, memory) in before.items()
    )


@pytest.fixture
def mailbox(clean: None) -> str:
    alice = account("alice", Plan.PREMIUM)
    with transaction(alice.account_id) as session:
        return str(inbound_mail.address_of(secret_links.get_link(session, alice.account_id, "inbox").secret))


@pytest.fixture
def listener() -> Iterator[tuple[int, int]]:
    """Port and process of a listener that waits for a command for a few seconds only."""
    port = free_port()
    code = f"from jobs import smtp_listener as inbox; inbox.TIMEOUT_SECONDS = {SILENCE_SECONDS}; inbox.run()"
    environment = os.environ | {"INBOUND_SMTP_PORT": str(port)}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        wait_for("the listener", lambda: greets(port), 30)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(20)


def greets(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as there:
            return there.recv(3) == b"220"
    except OSError:
        return False


def test_other_senders_feel_nothing_whatever_is_done_in_any_state(listener: tuple[int, int], mailbox: str) -> None:
    port, pid = listener
    base = f"smtp://127.0.0.1:{port}"
    walk = Walk({"mail": {"mail": partial(send_mail, port, mailbox)}})
    time_calls(walk.calls["mail"], 5)
    walk.measure_quiet("mail", QUIET_ROUNDS)
    before = count_files(pid), resident_mebibytes(pid)
    with hostile_senders.hold_silent_lines(base, mailbox, MAX_CONNECTIONS // len(STATES) + 10) as lines:
        walk.rows.append(walk.measure(Target("mail", base, "all states", frozenset()), "silence"))
        wait_for("their end", lambda: hostile_senders.count_open(lines) == 0, SILENCE_SECONDS + 8)
    for state in STATES:
        for name, abuse in hostile_senders.build_abuses(mailbox).items():
            target = Target("mail", base, state, frozenset())
            walk.rows.append(walk.attack(target, name, {name: abuse}))
    walk_again(walk)
    write_table(walk.rows)
    assert [str(row) for row in walk.rows if not row.is_bounded] == []
    wait_for("files given back", lambda: count_files(pid) <= before[0] + 4)  # a database connection of each thread
    assert resident_mebibytes(pid) < before[1] + MAX_MORE_MEBIBYTES
