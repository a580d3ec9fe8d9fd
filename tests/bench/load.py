"""Load of a given concurrency on one request, measured by wrk or else by a process of ours."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Shot:
    """One request, sent over and over, and words every good answer holds."""

    url: str
    headers: dict[str, str]
    body: str
    expected: str
    seeds: tuple[str, ...] = ()  # where TOKEN stands in the body: one each, then the refresh_token of the answer to it


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
    """Runs the load in a process of its own, pinned away from the server."""
    return (_wrk if shutil.which("wrk") else _python)(shot, concurrency, seconds, pin)


def _wrk(shot: Shot, concurrency: int, seconds: float, pin: Callable[[], None]) -> Sample:
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "expected": shot.expected,
            "body": shot.body,
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


async def _connection(shot: Shot, number: int, until: float, times: list[float], wrong: list[int]) -> None:
    parts = urlsplit(shot.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    lines = [f"POST {parts.path} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in shot.headers.items()]
    token = shot.seeds[number] if shot.seeds else ""
    while (started := time.perf_counter()) < until:
        body = shot.body.replace("TOKEN", token) if token else shot.body
        writer.write(("\r\n".join([*lines, f"Content-Length: {len(body)}"]) + "\r\n\r\n" + body).encode())
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        times.append(time.perf_counter() - started)
        if b" 200 " not in head[:20] or shot.expected.encode() not in answer:
            wrong.append(1)
        if token:
            token = json.loads(answer).get("refresh_token", token)
    writer.close()


async def _fire_here(shot: Shot, concurrency: int, seconds: float) -> Sample:
    times: list[float] = []
    wrong: list[int] = []
    started = time.perf_counter()
    await asyncio.gather(*(_connection(shot, number, started + seconds, times, wrong) for number in range(concurrency)))
    took = time.perf_counter() - started
    times.sort()
    p50, p99 = (times[int(len(times) * share)] * 1e3 for share in (0.5, 0.99))
    return Sample(len(times), took, p50, p99, len(wrong))


if __name__ == "__main__":
    _shot, _concurrency, _seconds = json.load(sys.stdin)
    print(json.dumps(asdict(asyncio.run(_fire_here(Shot(**_shot), _concurrency, _seconds)))))
