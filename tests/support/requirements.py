"""Parts a machine may lack (Node 22, Chromium): tests that need one are left out and counted, or refuse to be."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

NODE_MAJOR = 22
HERE = Path(__file__).parents[1] / "node" / "node_modules" / ".bin"
CLIENTS = ("oauth4webapi", "@modelcontextprotocol/sdk")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def _version(node: str) -> int:
    try:
        told = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8", timeout=20, check=False)
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", told.stdout)
    return int(found[1]) if found else 0


def _found(setting: str, *names: str) -> list[str]:
    places = [os.environ.get(setting), *(str(HERE / name) for name in names), *(shutil.which(n) for n in names)]
    return [place for place in places if place and Path(place).exists()]


@lru_cache(maxsize=1)
def node() -> dict[str, str] | None:
    """Node and the conformance program, as the settings the tests read; both, and the clients, are needed."""
    fit = [place for place in _found("AWARD_NODE", "node") if _version(place) >= NODE_MAJOR]
    programs = _found("AWARD_CONFORMANCE", "conformance")
    clients = all((HERE.parent / name).exists() for name in CLIENTS)
    return {"AWARD_NODE": fit[0], "AWARD_CONFORMANCE": programs[0]} if fit and programs and clients else None


@lru_cache(maxsize=1)
def chromium() -> dict[str, str] | None:
    found = _found("AWARD_CHROMIUM", *CHROMIUM)
    return {"AWARD_CHROMIUM": found[0]} if found else None


Find = Callable[[], dict[str, str] | None]
PARTS: dict[str, tuple[Find, str]] = {
    "node": (
        node,
        "npm install --prefix tests/node --no-save node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12"
        " @modelcontextprotocol/sdk@1.32 oauth4webapi@3.8",
    ),
    "browser": (chromium, "your system's package `chromium`, or AWARD_CHROMIUM naming one"),
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing: dict[str, int] = {}
    for part, (find, how) in PARTS.items():
        needing = [item for item in items if item.get_closest_marker(part)]
        if not needing:
            continue
        if settings := find():
            os.environ.update(settings)
            continue
        if os.environ.get("AWARD_REQUIRE_ALL"):
            raise pytest.UsageError(f"{len(needing)} tests need {part}, and AWARD_REQUIRE_ALL is set. Get it: {how}")
        items[:] = [item for item in items if item not in needing]
        config.hook.pytest_deselected(items=needing)
        missing[part] = len(needing)
    if hasattr(config, "workeroutput"):
        config.workeroutput["missing"] = missing
    else:
        config.stash[MISSING] = missing


MISSING = pytest.StashKey[dict[str, int]]()


class _FromWorkers:
    """With several workers it is they who collect: the controller takes the count from one of them."""

    @staticmethod
    def pytest_testnodedown(node: Any) -> None:
        if "missing" in getattr(node, "workeroutput", {}):
            node.config.stash[MISSING] = node.workeroutput["missing"]


def pytest_plugin_registered(plugin: Any, manager: Any) -> None:
    if manager.hasplugin("dsession") and not manager.hasplugin("award_parts"):
        manager.register(_FromWorkers(), "award_parts")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The very last line: what was left out, and how to get it."""
    lacking = config.stash.get(MISSING, {})
    if lacking and not hasattr(config, "workerinput"):
        said = "; ".join(f"{count} tests need {part}: {PARTS[part][1]}" for part, count in lacking.items())
        config.get_terminal_writer().line(f"Left out here: {said}", yellow=True)
