"""Every kind of mail in a real browser, on a phone and in a wide window, light and dark: it fits and can be read."""

import json
from pathlib import Path

import pytest

from tests.browser.axe import list_violations
from tests.support.browser import Tab
from tests.support.mail_samples import build_mails
from tests.support.settings_and_clock import Configure

pytestmark = [pytest.mark.axe, pytest.mark.slow]  # starts a browser

NARROW = 320  # axe judges both shades here; its other rules hardly depend on the width
WINDOWS = [(NARROW, False), (NARROW, True), (640, False), (640, True)]
# What no rule of axe looks at: what sticks out of the window, and what the page asked other hosts for.
LOOK = """
JSON.stringify([
  document.documentElement.scrollWidth - document.documentElement.clientWidth,
  [...document.querySelectorAll("[role=main] *")]
    .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((e) => e.outerHTML.slice(0, 90)),
  performance.getEntriesByType("resource").map((e) => e.name),
  [...document.querySelectorAll("a")].filter((e) => {
    const box = e.getBoundingClientRect();
    return e.matches(".btn, .btn2, .bad") && box.height < 40;
  }).map((e) => e.innerText),
])
"""
FITS = [0, [], [], []]


def judge(tab: Tab, file: Path) -> list[str]:
    """What is wrong with a mail in each window."""
    tab.go(file.as_uri())
    tab.wait(f"location.href === {json.dumps(file.as_uri())} && document.title")
    faults = []
    for width, dark in WINDOWS:
        tab.look(width, dark=dark)
        look = json.loads(tab.run(LOOK))
        found = [
            *([str(look)] if look != FITS else []),
            *(list_violations(tab, colour_alone=dark) if width == NARROW else []),
        ]
        faults += [f"{file.stem} at {width}{' dark' if dark else ''}: {fault}" for fault in found]
    return faults


def test_every_mail_fits_and_can_be_read(tab: Tab, tmp_path: Path, configure: Configure) -> None:
    configure(WEB_URL="https://travel.example")
    faults = []
    for name, mail in build_mails().items():
        file = tmp_path / f"{name}.html"
        file.write_text(mail.html, encoding="utf-8")
        faults += judge(tab, file)
    assert faults == []


def test_what_is_wrong_with_a_mail_is_found(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "bad.html"
    file.write_text("<title>x</title><div role=main><p style='width:900px;color:silver;background:white'>Wide", "utf-8")
    faults = " ".join(judge(tab, file))
    for word in ("<p style", "color-contrast", "html-has-lang", "at 320 dark"):
        assert word in faults


def test_a_dark_window_shows_dark_mails(tab: Tab, tmp_path: Path, configure: Configure) -> None:
    configure(WEB_URL="https://travel.example")
    file = tmp_path / "mail.html"
    file.write_text(build_mails()["deadlines"].html, encoding="utf-8")
    tab.go(file.as_uri())
    tab.wait("document.title")
    grounds = []
    for dark in (False, True):
        tab.look(640, dark=dark)
        grounds.append(tab.run("getComputedStyle(document.querySelector('.sheet')).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 28, 26)"]
