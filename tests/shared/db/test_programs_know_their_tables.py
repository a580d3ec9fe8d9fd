"""Each program imports some of the models; what their foreign keys point at must be among them."""

import os
import subprocess
import sys

import pytest

PROGRAMS = ("auth_server.app", "mcp_server.app", "jobs.worker", "jobs.dispatcher")


@pytest.mark.slow  # each program is imported afresh
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_foreign_key_of_a_program_finds_its_table(program: str) -> None:
    code = f"import {program}; from shared.db.base import Base; print(len(Base.metadata.sorted_tables))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr[-1_000:]
    assert int(done.stdout) > 3
