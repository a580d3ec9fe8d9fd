"""The HTML of a page as its server sent it, judged by the rules of html-validate for elements and attributes."""

import atexit
import json
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import IO

from tests.support.browser import Tab
from tests.support.requirements import html_validator

PROGRAM = Path(__file__).parents[1] / "node" / "html_validate.mjs"


@lru_cache(maxsize=1)
def start_validator() -> tuple[IO[str], IO[str]]:
    """One process for all pages: it takes a line with a page and answers with a line of what is wrong."""
    command = [(html_validator() or {})["AWARD_NODE"], str(PROGRAM)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdin is not None
    assert process.stdout is not None
    atexit.register(process.terminate)
    return process.stdin, process.stdout


def list_invalid(html: str) -> list[str]:
    pages, verdicts = start_validator()
    pages.write(json.dumps(html) + "\n")
    pages.flush()
    verdict = verdicts.readline()
    assert verdict, "html-validate ended"
    return list(json.loads(verdict))


def list_invalid_in(tab: Tab) -> list[str]:
    html = tab.source()
    return list_invalid(html) if html else []
