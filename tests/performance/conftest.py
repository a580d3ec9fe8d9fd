"""Bounds of time, apart from the functional tests: `pytest -m performance -n 0` on a machine that does nothing else."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/performance/" in item.path.as_posix():
            item.add_marker(pytest.mark.performance)
