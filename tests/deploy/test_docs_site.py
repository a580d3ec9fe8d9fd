"""The documentation site: it builds strictly, its tables are those of the code, and it asks no other host."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.docs_site.sources import (
    DOCS,
    ROOT,
    lead_links,
    list_pages,
    write_areas,
    write_plans,
    write_settings,
    write_tool_pages,
)
from mcp_server.toolkit.registry import TOOLS
from shared.domain.plans import LIMITS, Plan
from shared.domain.watch_kinds import LIMITED_KINDS
from shared.settings import Settings

LOADS = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?([^\"' >]+)|<link\b[^>]*\bhref=[\"']?([^\"' >]+)")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "deploy.docs_site", str(folder)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_every_page_is_built_and_reached_from_the_list_of_pages(site: Path) -> None:
    places = [place for _, place in list_pages()] + [place for place, _ in write_tool_pages()]
    start = (site / "index.html").read_text(encoding="utf-8")
    links = set(re.findall(r"href=\"(?:\./)?([\w/-]+\.html)", start)) | {"index.html"}
    missing = [place for place in places if not (site / place).with_suffix(".html").exists()]
    assert missing == []
    assert (site.parent / "pages" / "operate.md").read_text(encoding="utf-8").count("](backups.md)") == 2
    assert not any("<!-- " in (site.parent / "pages" / place).read_text(encoding="utf-8") for place in places)
    assert [place for place in places if str(Path(place).with_suffix(".html")) not in links] == []


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    loaded = {a or b for page in pages for a, b in LOADS.findall(page.read_text(encoding="utf-8"))}
    assert any(address.endswith(".css") for address in loaded)
    assert any(address.endswith(".js") for address in loaded)
    assert [address for address in loaded if "//" in address] == []
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"(?:url\([\"']?|@import [\"']?)(?:https?:)?//[^)\"']+", styles) == []


def test_a_question_for_help_builds_nothing() -> None:
    words = [sys.executable, "-m", "deploy.docs_site", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, "usage:" in done.stdout, (ROOT / "--help").exists()) == (0, True, False)


@pytest.mark.parametrize("link", ["nowhere.md", "index.md#nowhere"])
def test_a_broken_link_ends_the_build(tmp_path: Path, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text(f"# Page\n\n[link]({link})\n", encoding="utf-8")
    configuration = (ROOT / "deploy" / "docs_site" / "zensical.toml").read_text(encoding="utf-8")
    (tmp_path / "zensical.toml").write_text(configuration.replace('"NAV"', '"index.md"'), encoding="utf-8")
    words = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(tmp_path / "zensical.toml")]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 1


def test_the_pages_of_tools_hold_each_tool_with_its_plan_its_arguments_and_a_call() -> None:
    pages = dict(write_tool_pages())
    assert sum(page.count("\n## ") for page in pages.values()) == len(TOOLS)
    for tool in TOOLS.values():
        part = pages[f"tools/{tool.area}.md"].partition(f"\n## {tool.name}\n")[2].partition("\n## ")[0]
        assert f"**{tool.tier.label}**" in part
        assert set(re.findall(r"^\| `(\w+)` \|", part, re.M)) == set(tool.arguments.schema["properties"])
        assert set(re.findall(r"^\| `(\w+)` \|.*\*\*required\*\*", part, re.M)) == set(tool.arguments.required)
        assert f'"name": "{tool.name}"' in part
        assert f"award-travel call {tool.name}" in part
        assert f"`{tool.name}`" in write_areas()


def test_the_tables_of_plans_and_settings_are_those_of_the_code() -> None:
    plans, settings = write_plans(), write_settings()
    assert plans.count("\n") == len(vars(LIMITS[Plan.FREE])) + len(LIMITED_KINDS) + 1
    assert f"| {LIMITS[Plan.ENTERPRISE].tool_calls_per_day:,} |" in plans
    names = re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \|", settings, re.M)
    assert sorted(name.lower() for name in names) == sorted(Settings.model_fields)
    assert "| `DATABASE_URL` | **required** |" in settings
    assert f"| `PREMIUM_PRICE` | `{Settings.model_fields['premium_price'].default}` |" in settings


def test_links_lead_to_pages_and_what_is_no_page_is_named_by_its_path(tmp_path: Path) -> None:
    places = dict(list_pages())
    text = "[a](../decisions/0017-who-is-trusted-with-what.md#x) [b](../local) [c](../env.example) [d](nowhere.md)"
    page = lead_links(text, DOCS / "security.md", places)
    assert page == (
        "[a](decisions/0017-who-is-trusted-with-what.md#x) b (`deploy/local`) [c](env.example) [d](nowhere.md)"
    )
