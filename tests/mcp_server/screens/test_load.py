"""The finished files of the screens: whole, small, loading nothing, and each drawn for some tool."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.screens import load
from mcp_server.screens.load import MAX_BYTES, Screen, load_screens
from mcp_server.toolkit.registry import TOOLS

each_screen = pytest.mark.parametrize("screen", load_screens().values(), ids=lambda screen: screen.name)


@each_screen
def test_a_screen_is_small_and_loads_nothing(screen: Screen) -> None:
    assert len(screen.html.encode()) < MAX_BYTES
    addresses = re.findall(r"\w+://[^\s\"'`]*", screen.html)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|<img|<iframe|<object|\bsrc=|\bhref=|@import|url\(", screen.html)


@each_screen
def test_a_screen_takes_text_as_text_only(screen: Screen) -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", screen.html
    )
    assert not re.search(
        r"\b(?:fetch|XMLHttpRequest|WebSocket|localStorage|sessionStorage|window\.open)\b", screen.html
    )


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(f"{tag} {name}", value or "") for name, value in attrs]


@each_screen
def test_a_screen_has_no_handler_in_its_markup(screen: Screen) -> None:
    """A host may allow the screen's script by its digest alone; handlers and addresses in attributes would not run."""
    elements = _Elements()
    elements.feed(screen.html)
    assert len(elements.attributes) > 10
    assert [name for name, _ in elements.attributes if name.split()[1].startswith("on")] == []
    assert [value for _, value in elements.attributes if "javascript:" in value.lower()] == []


@each_screen
def test_text_grows_with_the_hosts(screen: Screen) -> None:
    """WCAG 2.2, 1.4.4: a size of text in px would stay small where the host's text is twice as large."""
    assert re.findall(r"font(?:-size)?: [^;}]*\dpx", screen.html) == []
    assert re.findall(r"@container \([^)]*px\)", screen.html) == []


@each_screen
def test_a_screen_says_its_language_title_and_where_it_begins(screen: Screen) -> None:
    assert screen.html.startswith('<!doctype html>\n<html lang="en">')
    for part in ('name="viewport"', "<main>", 'id="note"', 'id="foot"', "startScreen({"):
        assert part in screen.html
    assert f'name: "{screen.name}"' in screen.html


def test_every_screen_is_named_by_a_tool_and_every_name_is_a_screen() -> None:
    assert {tool.screen for tool in TOOLS.values() if tool.screen} == set(load_screens())


@each_screen
def test_a_screen_names_the_tools_that_name_it(screen: Screen) -> None:
    names = re.search(r"tools: \[([^\]]*)\]", screen.html)
    assert names is not None
    assert set(re.findall(r'"(\w+)"', names[1])) == {t.name for t in TOOLS.values() if t.screen == screen.name}


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("<title>x</title>", "must hold once"),
        ("{parts}{parts}<title>x</title>", "must hold once"),
        ("{parts}", "needs a title"),
        ("{parts}<title>x</title>" + "é" * (MAX_BYTES // 2), "needs a title and less than"),
    ],
)
def test_a_faulty_file_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, html: str, fault: str) -> None:
    (tmp_path / "style.css").write_text("", encoding="utf-8")
    (tmp_path / "bridge.js").write_text("", encoding="utf-8")
    (tmp_path / "one.html").write_text(html.replace("{parts}", "\n".join(load.PARTS)), encoding="utf-8")
    monkeypatch.setattr(load, "FOLDER", tmp_path)
    load_screens.cache_clear()
    try:
        with pytest.raises(ValueError, match=fault):
            load_screens()
    finally:
        load_screens.cache_clear()
