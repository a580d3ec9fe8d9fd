"""What is wrong with the page that is open: our own audit, the rules of axe-core, and html-validate of its source."""

import json
import re
from pathlib import Path

from tests.browser.axe import list_violations
from tests.browser.html_validity import list_invalid_in
from tests.support.browser import Tab
from tests.support.requirements import axe, html_validator

WIDTHS = (320, 390, 680, 1280)
# What a person could not see, name or reach: as words, so that a failure says where.
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")


# Pages in which nothing was wrong. Where a link leads, a token of a form, and the port of the host, which each test has
# for itself, tell none apart.
_PASSED = set[str]()
_UNSEEN = re.compile(r'\b(?:href|src|action)="/[^"]*"|\bvalue="[\w-]{24,}"|(?<=127\.0\.0\.1:)\d+')


def list_faults(tab: Tab) -> list[str]:
    """What each judge says in the present window; axe and html-validate judge where this machine has them."""
    return [*audit(tab), *list_violations_here(tab), *(list_invalid_in(tab) if html_validator() else [])]


def look_everywhere(tab: Tab) -> list[str]:
    """What is wrong at each width, light and dark.

    axe judges at the first width alone, and in the dark by its rules of colour alone: the others hardly depend on the
    window. html-validate judges the source, which is the same in every window, once. What was looked at before, as a
    page that says that nothing is there, is not looked at again.
    """
    page = _UNSEEN.sub("", tab.run("location.hash + document.documentElement.outerHTML"))
    if page in _PASSED:
        return []
    found = list_invalid_in(tab) if html_validator() else []
    for number, width in enumerate(WIDTHS):
        for dark in (False, True):
            tab.look(width, dark=dark)
            seen = [*audit(tab), *(list_violations_here(tab, colour_alone=dark) if number == 0 else [])]
            found += [f"{tab.run('location.pathname')} at {width}{' dark' if dark else ''}: {fault}" for fault in seen]
    if not found:
        _PASSED.add(page)
    return found


def audit(tab: Tab) -> list[str]:
    found = tab.run(AUDIT)
    assert isinstance(found, str), "the audit did not run"
    return list(json.loads(found))


def list_violations_here(tab: Tab, *, colour_alone: bool = False) -> list[str]:
    return list_violations(tab, colour_alone=colour_alone) if axe() else []
