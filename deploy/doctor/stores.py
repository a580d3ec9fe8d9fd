"""Stores: the database with its clock and data mode, the queue, files, and the last backup."""

import os
import shutil
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deploy.errors import CommandError
from shared.tls import explain_tls_fault

# What a check is, and its results besides a fault.

ANSWER_SECONDS = 10  # a program that takes longer is of no use


class SwitchedOff(str):
    """The result for a part that is not in use: neither good nor bad."""


Check = Callable[[], str]  # its text; what it raises is a fault


def build_fault(address: str, error: Exception, mend: str) -> CommandError:
    """Builds the fault for no answer or failed TLS, with what to do."""
    fault = explain_tls_fault(error)
    return CommandError(f"{address} answers, but {fault}" if fault else f"{address} does not answer: {mend}")


MAX_SKEW = timedelta(seconds=5)
LEAST_FREE_BYTES = 50_000_000  # of a disk that counts as full
# The oldest supported versions, as deploy/docs/operate.md says.
LEAST_POSTGRES = 15
LEAST_QUEUE = {"redis": (7, 0), "valkey": (7, 2)}


def find_next_step() -> str | None:
    """What to do first if the tables are of another release; None if not, or without an answer."""
    from shared.db.schema_version import read_schema
    from shared.settings import settings

    try:
        schema = read_schema(settings().database_url)
    except sa.exc.SQLAlchemyError:
        return None
    if schema.is_usable:
        return None
    is_behind = not (schema.is_newer or schema.is_too_old)
    return "First: award-travel migrate." if is_behind else "First: what the line of the database says."


def check_database() -> str:
    from shared.db.schema_version import read_schema
    from shared.settings import settings

    schema = read_schema(settings().database_url)
    have, want = schema.current, schema.expected
    if (schema.is_newer or schema.is_too_old) and not schema.is_usable:
        raise CommandError(schema.describe_fault())
    if not schema.is_usable:
        raise CommandError(
            f"its tables are at version {have or 'none'}, this program wants {want}: award-travel migrate"
        )
    # Behind a pooler the role sets them, and nothing else would show that they are missing.
    from shared.db.base import transaction

    with transaction() as session:
        if session.scalar(sa.text("show statement_timeout")) == "0":
            raise CommandError(
                "answers, and has no time limit for statements: award-travel migrate, then RECONNECT on PgBouncer"
            )
    newer = ", newer than this program, which runs on them" * schema.is_newer
    return f"PostgreSQL {_check_postgres_version()} answers, tables at version {have}{newer}"


def _check_postgres_version() -> str:
    from shared.db.base import transaction

    with transaction() as session:
        number, text = (session.scalar(sa.text(f"show {name}")) for name in ("server_version_num", "server_version"))
    if int(number) < LEAST_POSTGRES * 10_000:
        raise CommandError(f"is PostgreSQL {text}, and the oldest supported is {LEAST_POSTGRES}: update it")
    return str(text).partition(" ")[0]


def check_partitions(*, served: bool) -> str:
    """Maintenance makes them each hour, and moves rows out of DEFAULT. After a week without it none is ahead,
    which is no fault until something runs."""
    import shared.db.migrations  # noqa: F401 - registers every table
    from shared import clock
    from shared.db.base import transaction
    from shared.db.partitions import find_fault, list_partitioned

    with transaction() as session:
        faults = [fault for table in list_partitioned() if (fault := find_fault(session, table, clock.now()))]
    if faults and served:
        raise CommandError(f"{', '.join(faults)}: maintenance mends that each hour where a worker runs; see its log")
    if faults:
        return f"{', '.join(faults)}: maintenance mends that once a worker runs"
    return f"made ahead for {', '.join(table.name for table in list_partitioned())}"


def check_queue() -> str:
    """Checks only the server; its workers are checked separately."""
    from redis.exceptions import AuthenticationError, RedisError

    from shared.redis import connect, refuse_cluster

    try:
        refuse_cluster()
        server: Any = connect().info("server")
        memory: Any = connect().info("memory")
    except AuthenticationError:
        raise CommandError("refuses the sign-in: see the user and the password in REDIS_URL") from None
    except (RedisError, OSError) as error:
        raise build_fault("the server", error, "see whether REDIS_URL is right and its server runs") from None
    name = server.get("server_name", "redis")
    text = str(server.get(f"{name}_version", ""))
    if (least := LEAST_QUEUE.get(name)) and tuple(map(int, text.split(".")[:2])) < least:
        raise CommandError(f"is {name} {text}, and the oldest supported is {least[0]}.{least[1]}: update it")
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and int(memory.get("maxmemory", 0)):
        raise CommandError(
            f"drops what it needs when its memory is full (maxmemory-policy {policy}): set maxmemory-policy noeviction"
        )
    used, most = int(memory.get("used_memory", 0)), int(memory.get("maxmemory", 0))
    if most and used > 0.9 * most:
        raise CommandError(f"uses {used >> 20} of its {most >> 20} MB (maxmemory): raise it, or see what fills it")
    return f"{name} {text} answers"


def check_clock() -> str:
    from sqlalchemy import func, select

    from shared import clock
    from shared.db.base import transaction

    with transaction() as session:
        database_time = session.scalar(select(func.clock_timestamp()))
    skew = abs(clock.now() - database_time) if database_time else timedelta(0)
    if skew > MAX_SKEW:
        raise CommandError(f"differs from the database's by {skew.total_seconds():.0f} s: set both by NTP")
    return f"agrees with the database's within {skew.total_seconds():.1f} s"


def check_data_mode() -> str:
    """Reads the mode without setting it: the first program that starts does that."""
    from shared.db.base import transaction
    from shared.services.operations.data_mode import check_data_mode, find_data_mode
    from shared.settings import settings

    with transaction() as session:
        check_data_mode(session)
        mode, stored = settings().data_mode, find_data_mode(session)
    return mode if stored == mode else f"{mode}, once a program starts: the database is empty and takes either"


def check_maintenance() -> str:
    """Maintenance is no fault, because someone switched it on; one past its end may be forgotten."""
    from shared.db.base import transaction
    from shared.db.maintenance import find_maintenance
    from shared.domain.dates import format_moment

    with transaction() as session:
        maintenance = find_maintenance(session)
    if maintenance is None:
        return SwitchedOff("the service answers: award-travel maintenance on makes it say that it does not")
    text = f"on since {format_moment(maintenance.since)}: {maintenance.sentence}"
    if maintenance.until and maintenance.is_overdue:
        end = format_moment(maintenance.until)
        raise CommandError(f"{text} It was to end at {end}: award-travel maintenance off, or another --until")
    return text


def check_backup() -> str:
    from shared.db.base import transaction
    from shared.db.last_backup import find_last_backup
    from shared.settings import settings

    with transaction() as session:
        last = find_last_backup(session)
    if last is None and settings().backup_folder is None:
        return SwitchedOff("none was ever made: award-travel backup FILE, or BACKUP_FOLDER and a timer")
    hours = last.age.total_seconds() / 3600 if last else float("inf")
    if last is None or (hours > settings().backup_max_age_hours and settings().backup_folder is not None):
        when = f"the last good one is {hours:.0f} hours old" if last else "there is no good one yet"
        raise CommandError(f"{when}: run award-travel backup and see what it says")
    words = [f"{last.bytes:,} bytes", *["encrypted"] * last.encrypted, *["uploaded"] * last.uploaded]
    return f"the last good one is {hours:.0f} hours old: {', '.join(words)}"


def check_backup_program() -> str:
    """Whether `award-travel backup` could read the database, where backups are scheduled."""
    from deploy.backups.postgres_programs import Server, check_dump_program
    from shared.settings import settings

    if settings().backup_folder is None:
        return SwitchedOff("no BACKUP_FOLDER, so nothing is asked of pg_dump")
    with Server.from_environment().connect() as connection:
        return check_dump_program(connection)


def check_folders() -> str:
    """Looks at the folders the programs write to besides the database, without writing."""
    from shared.settings import settings

    s = settings()
    folders = {
        "OUTBOX_DIR": s.outbox_dir if s.mail_backend == "outbox" else None,
        "BACKUP_FOLDER": s.backup_folder,
        "METRICS_DIR": s.metrics_dir,
        "TMPDIR": Path(tempfile.gettempdir()),
    }
    texts = [_describe_folder(name, folder) for name, folder in folders.items() if folder is not None]
    return f"{', '.join(texts)} free"


def _describe_folder(name: str, folder: Path) -> str:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise CommandError(f"{name}: {folder} cannot be used ({error.strerror})") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{name}: this user may not write in {folder}: mend its owner or its mode")
    if free < LEAST_FREE_BYTES:
        raise CommandError(f"{name}: could not write in {folder}, whose disk is full: make room there")
    return f"{name} {free / 1e9:,.1f} GB"
