"""Every file of facts is read by something: a table that no one reads is removed or given a reader."""

import re
from pathlib import Path

from shared.reference import load
from shared.reference.rows import FILES

ROOT = Path(load.__file__).parents[2]
# These name every file to describe it; naming one there is not reading it.
DESCRIBE = re.compile(r"shared/reference/(rows/|keys|checks|overrides|homes|ages|tables)|/migrations/")
ROOMS = ("shared", "mcp_server", "jobs", "deploy", "auth_server")


def test_each_file_of_facts_is_read() -> None:
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py") if not DESCRIBE.search(path.as_posix()))
    code = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    assert [file for file in FILES if f'"{file}"' not in code] == []
