"""Signs of life of the programs behind the queue: workers, and dispatchers that wake them."""

import json
import os
import socket
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from redis.exceptions import RedisError

from shared.redis import connect, key

BEAT_SECONDS = 5  # between two signs of a worker; a dispatcher gives one in each round
LIFE_SECONDS = 30  # for which a sign counts
REMEMBERED_SECONDS = 600  # for which a program that gives none is remembered
_STOCK_WORKERS = "rq:workers"  # of RQ's own class, which gives signs less often

Kind = Literal["worker", "dispatcher"]


@dataclass(frozen=True)
class RunningProgram:
    """A worker or a dispatcher on any host; `age` is that of its last sign of life, in seconds."""

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
        """Whether it gives no sign and did not say that it ends. One of this host that is gone was killed."""
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
    """Raises RedisError while the queue is down. A Redis that lost everything knows it again from the next sign on."""
    name = _name(kind, pid)
    text = json.dumps(
        {"kind": kind, "host": socket.gethostname(), "pid": pid, "parent": parent, "queues": sorted(queues)}
    )
    with connect().pipeline(transaction=False) as pipeline:
        pipeline.sadd(key("programs"), name)
        pipeline.set(key("program", name), text, ex=REMEMBERED_SECONDS)
        pipeline.execute()


def record_end(kind: Kind, pid: int) -> None:
    """Records an end that was asked for, so that no one waits for another sign."""
    with suppress(RedisError, OSError):
        connect().delete(key("program", _name(kind, pid)))


def _name(kind: Kind, pid: int) -> str:
    return f"{kind}:{socket.gethostname()}:{pid}"


def list_programs() -> list[RunningProgram]:
    """All that gave a sign recently, living or silent. Raises RedisError while the queue is down."""
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
    """Workers of RQ's own class; RQ forgets one that gave no sign for eight minutes."""
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
    """Living workers, of one queue or of all; None when the queue is down."""
    try:
        programs = list_programs()
    except (RedisError, OSError):
        return None
    return sum(p.kind == "worker" and p.is_living and (queue is None or queue in p.queues) for p in programs)


def find_dispatcher_age() -> float | None:
    """Seconds since the last sign of a living dispatcher, or None where none lives. Raises RedisError."""
    return min((p.age for p in list_programs() if p.kind == "dispatcher" and p.is_living), default=None)
