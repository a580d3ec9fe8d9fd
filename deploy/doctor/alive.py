"""`award-travel alive NAME`: whether a program on this machine works, for probes that restart it if not.

An open port is no sign of life: the kernel accepts connections for a process that is stopped or hangs.
"""

import argparse
import socket

from deploy.errors import CommandError

CONNECT_SECONDS = 3


def run_alive(arguments: argparse.Namespace) -> None:
    """Raises CommandError if it is not alive. What it depends on may be down: a new process would not help."""
    print(greet_inbox() if arguments.program == "inbox" else _check_sign(arguments.program))


def greet_inbox() -> str:
    from shared.settings import settings

    s = settings()
    host = "127.0.0.1" if s.inbound_smtp_host in ("0.0.0.0", "::", "") else s.inbound_smtp_host  # noqa: S104 - a name
    where = f"{host}:{s.inbound_smtp_port}"
    try:
        with socket.create_connection((host, s.inbound_smtp_port or 25), CONNECT_SECONDS) as connection:
            greeting = connection.recv(3)
    except OSError:
        greeting = b""
    if greeting != b"220":
        raise CommandError(f"{where} does not greet: see its log, and start python -m jobs inbox")
    return f"{where} takes mail for {s.inbox_domain}"


def _check_sign(kind: str) -> str:
    from redis.exceptions import RedisError

    from shared.services.operations.workers import list_programs

    try:
        here = [p for p in list_programs() if p.kind == kind and p.host == socket.gethostname()]
    except (RedisError, OSError):
        return f"{kind}: the queue is down, through which it gives signs of life"
    if ages := [program.age for program in here if program.is_living]:
        return f"{kind}: a sign of life {min(ages):.0f} s ago"
    if not _answers_database():
        return f"{kind}: the database is down, without which it does nothing"
    raise CommandError(f"no {kind} on this machine gave a sign of life for 30 s: see its log, and start it again")


def _answers_database() -> bool:
    import psycopg

    from shared.settings import settings

    try:
        psycopg.connect(settings().database_url.replace("+psycopg", "", 1), connect_timeout=CONNECT_SECONDS).close()
    except psycopg.OperationalError:
        return False
    return True
