"""Callers who mean harm: slow heads, bodies and readers, thousands of fields, deep JSON, and those who hang up."""

import itertools
import json
import multiprocessing.connection
import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from shared.asgi import MAX_HEADERS, MAX_TARGET_BYTES

CROWD = 8  # connections that one route is held by at once; they live for 15 s, so they become a thousand
MANY = 10_000
_LIMIT_SECONDS = 30
_NICENESS = 19
_processes = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Target:
    """One route of one server: where it is, what it takes, and who the stranger is there."""

    server: str
    base: str
    path: str
    methods: frozenset[str]
    credentials: str = ""  # header lines

    @property
    def method(self) -> str:
        return "POST" if "POST" in self.methods else "GET"

    def __str__(self) -> str:
        return f"{self.server} {self.method} {self.path}"

    def head(self, *lines: str, query: str = "", method: str = "") -> bytes:
        parts = urlsplit(self.base)
        first = f"{method or self.method} {self.path}{query} HTTP/1.1\r\nHost: {parts.netloc}\r\n{self.credentials}"
        return (first + "".join(f"{line}\r\n" for line in lines) + "\r\n").encode()


def draw_address() -> str:
    """One that no one else has: all of 127.0.0.0/8 is this machine.

    It is drawn, for processes cannot count together here: one that is ended while it counts would keep the lock.
    """
    number = secrets.randbelow(250**3)
    return f"127.{number // 250**2 + 1}.{number // 250 % 250}.{number % 250 + 1}"


def connect(base: str, *, receive_bytes: int | None = None) -> socket.socket:
    line = socket.socket()
    line.settimeout(_LIMIT_SECONDS)
    if receive_bytes is not None:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    line.bind((draw_address(), 0))
    parts = urlsplit(base)
    line.connect((parts.hostname, parts.port))
    return line


def hang_up(line: socket.socket) -> None:
    """With a reset instead of an orderly end."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def read_status(line: socket.socket) -> int:
    """Of the answer, which is read to its end; 0 when there is none."""
    answer = b""
    with suppress(OSError):
        while piece := line.recv(1 << 20):
            answer = answer or piece
    return int(answer[9:12] or 0)


# What holds a connection: (what is sent at once, what follows each second)
Opening = tuple[bytes, bytes]
KIND = "Content-Type: application/x-www-form-urlencoded"
JSON_KIND = "Content-Type: application/json"


def slow_head(target: Target) -> Opening:
    return target.head()[:-2] + b"X-Slow: ", b"a"


def slow_body(target: Target) -> Opening:
    return target.head(JSON_KIND if target.server != "web" else KIND, "Content-Length: 1000") + b"a", b"a"


def slow_reader(target: Target) -> Opening:
    return target.head("Content-Length: 0") * 3, b""


HOLDS: dict[str, Callable[[Target], Opening]] = {
    "slow head": slow_head,
    "slow body": slow_body,
    "slow reader": slow_reader,
}


@dataclass
class Held:
    """Connections that are held open, and what becomes of them."""

    lines: dict[socket.socket, tuple[float, bytes, str]] = field(default_factory=dict)
    longest: dict[str, float] = field(default_factory=dict)  # seconds a connection lived, by abuse

    def add(self, abuse: str, target: Target, count: int = CROWD) -> None:
        opening, drop = HOLDS[abuse](target)
        for _ in range(count):
            line = connect(target.base, receive_bytes=2048 if abuse == "slow reader" else None)
            line.sendall(opening)
            line.setblocking(False)
            self.lines[line] = (time.monotonic(), drop, abuse)

    def drip(self) -> None:
        """One more byte for each, as every second; those that the server has closed are taken off."""
        for line, (since, drop, abuse) in list(self.lines.items()):
            if self._is_closed(line, drop):
                if drop:  # a reader learns of the end only when it has read all, a byte a second
                    self.longest[abuse] = max(self.longest.get(abuse, 0), time.monotonic() - since)
                line.close()
                del self.lines[line]

    def _is_closed(self, line: socket.socket, drop: bytes) -> bool:
        """A reader who does not read never learns it: what it has not read comes first."""
        try:
            if drop:
                line.send(drop)
            return line.recv(65536 if drop else 1) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def wait_for_end(self, seconds: float) -> None:
        until, pause = time.monotonic() + seconds, threading.Event()
        while self.count_open() and time.monotonic() < until:
            self.drip()
            pause.wait(1)
        assert self.count_open() == 0, f"connections are open after {seconds} s"

    def count_open(self) -> int:
        """But for readers who do not read; whether the server has closed those, its open files say."""
        return sum(abuse != "slow reader" for _, _, abuse in self.lines.values())

    def close(self) -> None:
        for line in self.lines:
            line.close()
        self.lines.clear()


# What is sent whole, again and again: the bytes of one request
def many_headers(target: Target) -> bytes:
    return target.head(*["a:"] * MANY, "Connection: close")


def full_headers(target: Target) -> bytes:
    """As many fields as are read, and nearly as many bytes."""
    return target.head(*[f"a{n}: {'a' * 290}" for n in range(MAX_HEADERS - 10)], "Connection: close")


def many_parameters(target: Target) -> bytes:
    return target.head("Connection: close", query="?" + "&".join(f"a{n}=" for n in range(MANY // 2)))


def full_parameters(target: Target) -> bytes:
    """As long a target as is read."""
    return target.head("Connection: close", query="?" + "&a=" * ((MAX_TARGET_BYTES - len(target.path) - 1) // 3))


def _send(target: Target, body: bytes, kind: str) -> bytes:
    return target.head(kind, f"Content-Length: {len(body)}", "Connection: close", method="POST") + body


def many_fields(target: Target) -> bytes:
    return _send(target, "&".join(f"a{n}=" for n in range(MANY)).encode(), KIND)


def _wrap(target: Target, arguments: bytes) -> bytes:
    """The arguments as the route takes them."""
    if not target.path.startswith("/mcp"):
        return arguments
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_usage"}}).encode()
    return call.removesuffix(b"}}") + b', "arguments": ' + arguments + b"}}"


def many_arguments(target: Target) -> bytes:
    return _send(target, _wrap(target, json.dumps({f"a{n}": n for n in range(MANY)}).encode()), JSON_KIND)


def deep_json(target: Target) -> bytes:
    return _send(target, _wrap(target, b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), JSON_KIND)


# Nearly 4 MiB, the most that is read anywhere but for mails
_VALUES = b'{"a":[' + b"[]," * 1_300_000 + b"0]}"
_KEYS = b"{" + ",".join(f'"{n:x}":0' for n in range(390_000)).encode() + b"}"


def million_values(target: Target) -> bytes:
    return _send(target, _wrap(target, _VALUES), JSON_KIND)


def million_keys(target: Target) -> bytes:
    return _send(target, _wrap(target, _KEYS), JSON_KIND)


def ask_whole(target: Target, request: bytes) -> int:
    """The status of the answer; 0 for a connection that ended without one."""
    with connect(target.base) as line:
        with suppress(OSError):  # refused before it was all sent
            line.sendall(request)
        return read_status(line)


def leave_in_the_body(target: Target, request: bytes) -> int:
    return leave(target, request[: len(request) // 2])


def leave_in_the_answer(target: Target, request: bytes) -> int:
    return leave(target, request, wait_bytes=1)


def leave(target: Target, sent: bytes, wait_bytes: int = 0) -> int:
    line = connect(target.base)
    with suppress(OSError):
        line.sendall(sent)
        if wait_bytes:
            line.recv(wait_bytes)
    hang_up(line)
    return 0


Request = Callable[[Target], int]


def _whole(build_request: Callable[[Target], bytes]) -> Request:
    build_once = lru_cache(maxsize=1)(build_request)
    return lambda target: ask_whole(target, build_once(target))


# What is done again and again, in groups of similar weight
GROUPS: dict[str, dict[str, Request]] = {
    "large heads": {
        "10,000 header fields": _whole(many_headers),
        "190 header fields": _whole(full_headers),
        "5,000 parameters": _whole(many_parameters),
        "2,700 parameters": _whole(full_parameters),
        "leaving in the answer": lambda target: leave_in_the_answer(target, target.head()),
    },
    "large bodies": {
        "10,000 form fields": _whole(many_fields),
        "10,000 arguments": _whole(many_arguments),
        "leaving in the body": lambda target: leave_in_the_body(target, many_arguments(target)),
        "100,000 deep": _whole(deep_json),
        "1,300,000 values": _whole(million_values),
        "390,000 keys": _whole(million_keys),
    },
}


@contextmanager
def hold_open(target: Target) -> Iterator[None]:
    """All that holds connections, at this route alone."""
    held = Held()
    for abuse in HOLDS:
        held.add(abuse, target)
    try:
        yield
    finally:
        held.close()


@dataclass
class Attack:
    """What one stranger does again and again, and what he was answered: name and status."""

    answers: multiprocessing.connection.Connection
    statuses: list[tuple[str, int]] = field(default_factory=list)

    def count_answers(self) -> int:
        with suppress(EOFError):
            while self.answers.poll():
                self.statuses.append(self.answers.recv())
        return len(self.statuses)


@contextmanager
def repeat_attack(target: Target, abuses: dict[str, Request], at_once: int = 1) -> Iterator[Attack]:
    """One stranger does all of it, each as soon as the last is answered, until the block ends; so many times at once.

    He has his own machine, so his own work must not take the processor from the servers: he is a process that
    gives way to them, and the time he needs to write a request is not in what others wait for.
    """
    receiver, sender = _processes.Pipe(duplex=False)

    def act_in_turn(sending: threading.Lock) -> None:
        for name, act in itertools.cycle(abuses.items()):
            status = act(target)
            with sending:
                sender.send((name, status))

    def repeat() -> None:
        os.nice(_NICENESS)
        sending = threading.Lock()
        threads = [threading.Thread(target=act_in_turn, args=(sending,)) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    attack, process = Attack(receiver), _processes.Process(target=repeat, daemon=True)
    process.start()
    try:
        yield attack
    finally:
        process.terminate()
        process.join(_LIMIT_SECONDS)
        attack.count_answers()
