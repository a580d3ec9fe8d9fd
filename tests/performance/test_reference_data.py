"""How long the reference data take to load, and to be checked by a command."""

import subprocess
import sys
import time

from shared.reference.load import load


def test_the_whole_set_loads_within_its_time() -> None:
    """A bound far above the 0.4 s it is built for, so that only a change of kind can break it."""
    assert load().seconds < 4


def test_the_files_are_checked_by_a_command_in_under_two_seconds() -> None:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "deploy.cli", "facts", "check"], capture_output=True, check=False)
    seconds = time.perf_counter() - started
    assert done.returncode == 0
    assert seconds < 2
