"""Parts a machine may lack (Node 22, Chromium, axe-core): tests that need one are left out and counted, or not."""

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
        told = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8", timeout=90, check=False)
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


@lru_cache(maxsize=1)
def axe() -> dict[str, str] | None:
    """The rules of axe-core, next to a browser to run them in."""
    rules = HERE.parent / "axe-core" / "axe.min.js"
    return {"AWARD_AXE": str(rules)} if rules.exists() and chromium() else None


@lru_cache(maxsize=1)
def html_validator() -> dict[str, str] | None:
    """html-validate, and Node to run it, next to a browser that opens the pages."""
    fit = node()
    return fit if fit and chromium() and (HERE.parent / "html-validate").exists() else None


@lru_cache(maxsize=1)
def screens() -> dict[str, str] | None:
    """The schema and the host's half of MCP Apps as published, next to a browser."""
    parts = ("@modelcontextprotocol/ext-apps", "@modelcontextprotocol/client", "@modelcontextprotocol/core", "zod")
    return chromium() if all((HERE.parent / part).exists() for part in parts) else None


@lru_cache(maxsize=1)
def systemd() -> dict[str, str] | None:
    return {} if shutil.which("systemd-analyze") else None


@lru_cache(maxsize=1)
def pgbouncer() -> dict[str, str] | None:
    return {} if shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") else None


@lru_cache(maxsize=1)
def promtool() -> dict[str, str] | None:
    return {} if shutil.which("promtool") else None


@lru_cache(maxsize=1)
def image() -> dict[str, str] | None:
    """What builds a container image without a daemon or a registry; to mount its root one has to be root."""
    programs = ("buildah", "mmdebstrap", "unshare")
    return {} if os.geteuid() == 0 and all(shutil.which(name) for name in programs) else None


INSTALL = (
    "npm install --prefix tests/node --no-save node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12"
    " @modelcontextprotocol/sdk@1.32 oauth4webapi@3.8 axe-core@4.14 @modelcontextprotocol/ext-apps@2.0"
    " @modelcontextprotocol/client@2 @modelcontextprotocol/core@2 zod@4 html-validate@11"
)
BROWSER = (
    "your system's package `chromium`, or AWARD_CHROMIUM naming one; `chromium-headless-shell` beside it is quicker"
)
Find = Callable[[], dict[str, str] | None]
PARTS: dict[str, tuple[Find, str]] = {
    "node": (node, INSTALL),
    "browser": (chromium, BROWSER),
    "axe": (axe, f"a browser, and {INSTALL}"),
    "html_validator": (html_validator, f"a browser, and {INSTALL}"),
    "systemd": (systemd, "systemd 250 or newer"),
    "pgbouncer": (pgbouncer, "your system's package `pgbouncer`"),
    "promtool": (promtool, "your system's package `prometheus`"),
    "image": (image, "Linux, root, and your system's packages `buildah` and `mmdebstrap`"),
    "screens": (screens, f"a browser, and {INSTALL}"),
}

# Parts of a whole machine, which no container is expected to hold: their tests are left out and counted anywhere.
OF_A_MACHINE = {"systemd", "pgbouncer", "promtool", "image"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing: dict[str, int] = {}
    for part, (find, how) in PARTS.items():
        needing = [item for item in items if item.get_closest_marker(part)]
        if not needing:
            continue
        if (settings := find()) is not None:
            os.environ.update(settings)
            continue
        if os.environ.get("AWARD_REQUIRE_ALL") and part not in OF_A_MACHINE:
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
