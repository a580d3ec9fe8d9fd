"""Bounds of time, apart from the functional tests: `pytest -m performance -n 0` on a machine that does nothing else."""

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """A run that leaves them out does not import them either, which each of its workers would do."""
    return True if "not performance" in config.option.markexpr else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/performance/" in item.path.as_posix():
            item.add_marker(pytest.mark.performance)
