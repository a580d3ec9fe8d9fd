"""Load of a given concurrency on one request, measured by wrk or else by a process of ours."""

import asyncio
import gc
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Shot:
    """One request, sent over and over, and words every good answer holds. NUMBER in the body is another each time."""

    url: str
    headers: dict[str, str]
    body: str
    expected: str
    others: tuple[str, ...] = ()  # bodies sent in turn with the first
    seeds: tuple[str, ...] = ()  # where TOKEN stands in the body: one each, then the refresh_token of the answer to it

    def at(self, url: str) -> "Shot":
        """The same to a server at another address than its public one, which it is told as a proxy does."""
        return replace(self, url=url, headers=self.headers | {"Host": urlsplit(self.url).netloc})


@dataclass(frozen=True)
class Sample:
    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    wrong: int

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def tool() -> str:
    return "wrk" if shutil.which("wrk") else "a Python process"


def fire(shot: Shot, concurrency: int, seconds: float, pin: Callable[[], None]) -> Sample:
    """Runs the load in its own process, pinned away from the server."""
    return (_wrk if shutil.which("wrk") else _python)(shot, concurrency, seconds, pin)


def _wrk(shot: Shot, concurrency: int, seconds: float, pin: Callable[[], None]) -> Sample:
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "expected": shot.expected,
            "bodies": "\n".join((shot.body, *shot.others)),
            "headers": "".join(f"{k}: {v}\n" for k, v in shot.headers.items()),
            "seeds": "".join(f"{seed}\n" for seed in shot.seeds),
        }
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        line = ["wrk", "-t1", f"-c{concurrency}", f"-d{max(1, round(seconds))}s", "--timeout", "10s"]
        line += ["-s", str(HERE / "post.lua"), shot.url, "--", *(str(Path(folder, n)) for n in files)]
        told = subprocess.run(line, capture_output=True, text=True, check=True, timeout=seconds + 60, preexec_fn=pin)
    figures = next(w for w in told.stdout.splitlines() if w.startswith("RESULT")).split()[1:]
    requests, micros, p50, p99, wrong = (int(f) for f in figures)
    return Sample(requests, micros / 1e6, p50 / 1e3, p99 / 1e3, wrong)


def _python(shot: Shot, concurrency: int, seconds: float, pin: Callable[[], None]) -> Sample:
    told = subprocess.run(
        [sys.executable, "-m", "tests.bench.load"],
        input=json.dumps([asdict(shot), concurrency, seconds]),
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
        preexec_fn=pin,
        env=os.environ.copy(),
    )
    return Sample(**json.loads(told.stdout))


@dataclass
class _Load:
    """What all connections of one load share."""

    shot: Shot
    until: float
    times: list[float] = field(default_factory=list)
    wrong: int = 0
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(int(time.time()) % 10_000 * 10_000))

    def __post_init__(self) -> None:
        parts = urlsplit(self.shot.url)
        lines = {"Host": parts.netloc} | self.shot.headers
        self.head = f"POST {parts.path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items())
        self.expected = self.shot.expected.encode()
        ready = [self._request(body) for body in (self.shot.body, *self.shot.others)]
        self.plain = None if re.search("TOKEN|NUMBER", self.shot.body) else itertools.cycle(ready)

    def _request(self, body: str) -> bytes:
        return f"{self.head}Content-Length: {len(body)}\r\n\r\n{body}".encode()

    def request(self, token: str) -> bytes:
        if self.plain is not None:
            return next(self.plain)
        return self._request(self.shot.body.replace("TOKEN", token).replace("NUMBER", str(next(self.numbers))))


class _Connection(asyncio.Protocol):
    """Sends the next request when the answer to the last is whole. On asyncio's streams a request to the echo costs
    65 us here instead of 45, which the echo's rate then shows."""

    def __init__(self, load: _Load, token: str) -> None:
        self.load, self.token, self.buffer = load, token, b""
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.load.wrong += 1
            self.ended.set_result(None)

    def _send(self) -> None:
        self.started = time.perf_counter()
        if self.started < self.load.until:
            self.transport.write(self.load.request(self.token))
        else:
            self.ended.set_result(None)
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, blank, answer = self.buffer.partition(b"\r\n\r\n")
        if blank and _is_whole(head, answer):
            self.buffer = b""
            self._judge(head, answer)
            self._send()

    def _judge(self, head: bytes, answer: bytes) -> None:
        self.load.times.append(time.perf_counter() - self.started)
        if b" 200 " not in head[:20] or self.load.expected not in answer:
            self.load.wrong += 1
        if self.token:
            self.token = json.loads(answer).get("refresh_token", self.token)


_LENGTH = re.compile(rb"content-length: *(\d+)", re.I)


def _is_whole(head: bytes, answer: bytes) -> bool:
    length = _LENGTH.search(head)
    return len(answer) >= int(length[1]) if length else answer.endswith(b"0\r\n\r\n")


async def _fire_here(shot: Shot, concurrency: int, seconds: float) -> Sample:
    parts, loop, started = urlsplit(shot.url), asyncio.get_running_loop(), time.perf_counter()
    load = _Load(shot, started + seconds)
    tokens = iter(shot.seeds or [""] * concurrency)
    made = [
        await loop.create_connection(lambda: _Connection(load, next(tokens)), parts.hostname, parts.port)
        for _ in range(concurrency)
    ]
    await asyncio.gather(*(connection.ended for _, connection in made))
    took = time.perf_counter() - started
    times = sorted(load.times)
    p50, p99 = (times[int(len(times) * share)] * 1e3 for share in (0.5, 0.99)) if times else (0.0, 0.0)
    return Sample(len(times), took, p50, p99, load.wrong)


def main() -> None:
    gc.disable()  # a collection of the load's own would count as a slow answer
    shot, concurrency, seconds = json.load(sys.stdin)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(asdict(runner.run(_fire_here(Shot(**shot), concurrency, seconds)))))


if __name__ == "__main__":
    main()
