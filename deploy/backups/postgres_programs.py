"""PostgreSQL's programs, and how they reach the database of the service."""

import contextlib
import os
import re
import shutil
import subprocess
from typing import Any, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.database.direct_database import read_direct_url
from deploy.errors import CommandError
from deploy.local.server_binaries import find_postgres
from shared.db.pooling import NO_TIMEOUTS


class Server(NamedTuple):
    """One database as PostgreSQL's programs reach it; the password stays off their command lines."""

    url: str
    address: str
    environment: dict[str, str]

    @classmethod
    def from_url(cls, url: str) -> "Server":
        plain = url.replace("+psycopg", "", 1)
        parameters: dict[str, Any] = conninfo_to_dict(plain)
        password = parameters.pop("password", None)
        secret = {"PGPASSWORD": password} if password else {}
        return cls(plain, make_conninfo(**parameters), os.environ | {"PGOPTIONS": NO_TIMEOUTS} | secret)

    @classmethod
    def from_environment(cls) -> "Server":
        return cls.from_url(read_direct_url())

    def connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(self.url, autocommit=True, options=NO_TIMEOUTS)


def find_program(name: str) -> str:
    with contextlib.suppress(CommandError):
        if (program := find_postgres() / name).exists():
            return str(program)
    if installed := shutil.which(name):
        return installed
    raise CommandError(f"No {name} here: install PostgreSQL's client programs, or name their folder with AWARD_PG_BIN.")


def check_dump_program(connection: "psycopg.Connection[Any]") -> str:
    """Says which pg_dump reads which server. Raises CommandError without one, or if it is older than the server."""
    program = find_program("pg_dump")
    answer = subprocess.run([program, "--version"], capture_output=True, encoding="utf-8", check=False).stdout
    number, server = re.search(r"(\d+)", answer), connection.info.server_version // 10_000
    if number is None or int(number[1]) < server:
        raise CommandError(
            f"{program} is {answer.strip() or 'no program that runs'}, and the server is PostgreSQL {server}, which it"
            f" does not read: install PostgreSQL's client programs of version {server}, and name their folder with"
            " AWARD_PG_BIN."
        )
    return f"{answer.strip()} reads PostgreSQL {server}"


def quote_error(errors: bytes) -> str:
    """The first error a program wrote, with the detail that follows it, at most 400 characters."""
    lines = errors.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"]
    start = next((number for number, line in enumerate(lines) if "error" in line.lower()), 0)
    detail = [line for line in lines[start + 1 : start + 2] if line.startswith("DETAIL:")]
    return " ".join([lines[start], *detail])[:400]
