"""No case without the mark `slow` takes over its second: what the last functional run noted is run again, alone."""

import subprocess
import sys

import pytest

from tests.support.own_time import NOTED

TRIES = 3


def test_what_was_noted_as_slow_is_quick_when_it_runs_alone(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache
    noted = pytestconfig.cache.get(NOTED, [])
    again = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "--judge-own-time",
        "--tb=line",
        "-rf",
        "-p",
        "no:cacheprovider",
    ]
    report = ""
    for _ in range(TRIES if noted else 0):
        run = subprocess.run([*again, *noted], capture_output=True, text=True, cwd=pytestconfig.rootpath)
        if run.returncode == 0:
            return
        report = run.stdout[-4000:]
        noted = [name for name in noted if f"FAILED {name}" in run.stdout] or noted
    if report:
        pytest.fail(report, pytrace=False)
