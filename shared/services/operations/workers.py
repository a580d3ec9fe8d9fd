"""Heartbeats of the programs behind the queue: workers, and dispatchers that wake them."""

import json
import os
import socket
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from redis.exceptions import RedisError

from shared.redis import connect, key

BEAT_SECONDS = 5  # between a worker's heartbeats; a dispatcher gives one each round
LIFE_SECONDS = 30  # for which a heartbeat counts
REMEMBERED_SECONDS = 600  # for which a silent program is remembered
_STOCK_WORKERS = "rq:workers"  # of RQ's own class, with less frequent heartbeats

Kind = Literal["worker", "dispatcher"]


@dataclass(frozen=True)
class RunningProgram:
    """A worker or a dispatcher on any host; `age` is seconds since its last heartbeat."""

    kind: Kind
    host: str
    pid: int
    parent: int
    queues: tuple[str, ...]
    age: float

    @property
    def is_living(self) -> bool:
        return self.age < LIFE_SECONDS

    @property
    def is_silent(self) -> bool:
        """Whether heartbeats stopped without an orderly end. Not for one gone from this host: it was killed."""
        return not self.is_living and (self.host != socket.gethostname() or _exists(self.pid))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def record_sign(kind: Kind, pid: int, queues: Collection[str] = (), *, parent: int = 0) -> None:
    """Records a heartbeat, which also restores it in an emptied Redis. Raises RedisError while the queue is down."""
    name = _name(kind, pid)
    text = json.dumps(
        {"kind": kind, "host": socket.gethostname(), "pid": pid, "parent": parent, "queues": sorted(queues)}
    )
    with connect().pipeline(transaction=False) as pipeline:
        pipeline.sadd(key("programs"), name)
        pipeline.set(key("program", name), text, ex=REMEMBERED_SECONDS)
        pipeline.execute()


def record_end(kind: Kind, pid: int) -> None:
    """Records an orderly end, so that no one waits for another heartbeat."""
    with suppress(RedisError, OSError):
        connect().delete(key("program", _name(kind, pid)))


def _name(kind: Kind, pid: int) -> str:
    return f"{kind}:{socket.gethostname()}:{pid}"


def list_programs() -> list[RunningProgram]:
    """All recently seen programs, living or silent. Raises RedisError while the queue is down."""
    members: Any = connect().smembers(key("programs"))
    names = sorted(name.decode() for name in members)
    with connect().pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.get(key("program", name))
            pipeline.pttl(key("program", name))
        answers = pipeline.execute()
    programs, forgotten = [], []
    for name, text, milliseconds in zip(names, answers[::2], answers[1::2], strict=True):
        if text is None:
            forgotten.append(name)
            continue
        values = json.loads(text) | {"age": REMEMBERED_SECONDS - milliseconds / 1000}
        programs.append(RunningProgram(**values | {"queues": tuple(values["queues"])}))
    if forgotten:
        connect().srem(key("programs"), *forgotten)
    return programs + _list_stock_workers({(program.host, program.pid) for program in programs})


def _list_stock_workers(ours: set[tuple[str, int]]) -> list[RunningProgram]:
    """Workers of RQ's own class; RQ forgets one after eight minutes of silence."""
    members: Any = connect().smembers(_STOCK_WORKERS)
    with connect().pipeline(transaction=False) as pipeline:
        for name in sorted(members):
            pipeline.hmget(name, "hostname", "pid", "queues")
        answers = pipeline.execute()
    programs = []
    for values in answers:
        host, pid, queues = (value.decode() if value else "" for value in values)
        if pid and (host, int(pid)) not in ours:
            programs.append(RunningProgram("worker", host, int(pid), 0, tuple(queues.split(",")), 0.0))
    return programs


def count_workers(queue: str | None = None) -> int | None:
    """Living workers, of one queue or of all; None while the queue is down."""
    try:
        programs = list_programs()
    except (RedisError, OSError):
        return None
    return sum(p.kind == "worker" and p.is_living and (queue is None or queue in p.queues) for p in programs)


def find_dispatcher_age() -> float | None:
    """Seconds since the last heartbeat of a living dispatcher, or None without one. Raises RedisError."""
    return min((p.age for p in list_programs() if p.kind == "dispatcher" and p.is_living), default=None)
