"""The rules of axe-core on the page that is open: WCAG 2.0 to 2.2 up to AA, and what axe calls good practice."""

import json
from functools import lru_cache
from pathlib import Path

from tests.support.browser import Tab
from tests.support.requirements import axe

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]  # the others find the same in the light and in the dark
# axe reads every style sheet once more for one rule, which it counts as an experiment and leaves out here.
_RUN_AXE = """
axe.run(document, {{
  runOnly: {chosen}, preload: {{assets: ["media"]}}, resultTypes: ["violations"]
}}).then((found) => JSON.stringify(
  found.violations.flatMap(({{id, tags, nodes}}) => nodes.map(({{html}}) =>
    `axe ${{tags.includes("best-practice") ? "good practice" : "WCAG"}} ${{id}}: ${{html.slice(0, 120)}}`))))
"""


@lru_cache(maxsize=1)
def read_axe() -> str:
    return Path((axe() or {})["AWARD_AXE"]).read_text(encoding="utf-8")


def write_question(*, colour_alone: bool) -> str:
    """The script that runs axe, whose promise gives the answer as JSON."""
    return _RUN_AXE.format(chosen=json.dumps(RULES_OF_COLOUR if colour_alone else TAGS))


def list_violations(tab: Tab, *, colour_alone: bool = False) -> list[str]:
    """One line for each element a rule refuses."""
    if not tab.run("'axe' in window"):
        tab.run(read_axe())
    found = tab.run_promise(write_question(colour_alone=colour_alone))
    assert isinstance(found, str), "axe did not run"
    return list(json.loads(found))
