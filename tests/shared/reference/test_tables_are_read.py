"""Every file of facts is read by something: a table that nobody reads is removed or given a reader."""

import re
from pathlib import Path

import pytest

from shared.reference import load
from shared.reference.rows import FILES

ROOT = Path(load.__file__).parents[2]
# These name every file to describe it; naming one there is not reading it.
DESCRIBE = re.compile(r"shared/reference/(rows/|keys|checks|overrides|homes|ages|tables)|/migrations/")
ROOMS = ("shared", "mcp_server", "jobs", "deploy", "auth_server")


@pytest.fixture(scope="module")
def code() -> str:
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if not DESCRIBE.search(path.as_posix()))


@pytest.mark.parametrize("file", FILES)
def test_each_file_of_facts_is_read(code: str, file: str) -> None:
    assert f'"{file}"' in code
