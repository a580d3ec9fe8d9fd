"""How long card statements of 20,000 lines take on each way in, and how soon a far too large file is refused."""

# ruff: noqa: F811 - fixtures are taken from other parts' tests

from functools import partial
from pathlib import Path

import anyio

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.thread_limiter import limiter
from tests.deploy.test_client import Say, alice, say  # noqa: F401 - fixtures
from tests.deploy.test_statement_files import IMPORT, write_huge_file
from tests.mcp_server.rest.conftest import World, people, running, world  # noqa: F401 - fixtures
from tests.mcp_server.rest.test_spending_upload import ann, announce_huge_upload, csrf, upload  # noqa: F401 - fixtures
from tests.mcp_server.tools.test_spending import twenty_thousand_lines
from tests.performance.stopwatch import cost_in_pages, longest_block, wall_seconds
from tests.support.people import People

IMPORT_PAGES = 1_200  # of the clock: 280 to 640 measured


def test_the_tool_imports_twenty_thousand_lines_in_little_time_without_holding_up_others(people: People) -> None:
    arguments = {"statement_text": twenty_thousand_lines()}
    blocks: list[float] = []

    def import_statement() -> None:
        limiter.cache_clear()
        call = partial(dispatch, "import_spending_statement", arguments, people.alice, "mcp")
        blocks.append(anyio.run(longest_block, call))

    assert cost_in_pages(import_statement, 3, wall_seconds) < IMPORT_PAGES
    assert min(blocks) < 0.25


def test_the_form_takes_twenty_thousand_lines_in_little_time(ann: World) -> None:
    content = twenty_thousand_lines().encode()
    assert cost_in_pages(lambda: upload(ann, content), 3, wall_seconds) < IMPORT_PAGES


def test_the_command_line_takes_twenty_thousand_lines_in_little_time(alice: Say, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(twenty_thousand_lines(), encoding="utf-8")
    assert cost_in_pages(lambda: alice(*IMPORT, f"@{path}"), 3, wall_seconds) < IMPORT_PAGES


def test_the_form_refuses_a_hundred_megabytes_at_once(ann: World) -> None:
    token = csrf(ann)
    assert wall_seconds(lambda: announce_huge_upload(ann, token)) < 5


def test_the_command_line_refuses_a_hundred_megabytes_at_once(alice: Say, tmp_path: Path) -> None:
    path = write_huge_file(tmp_path)
    assert wall_seconds(lambda: alice(*IMPORT, f"@{path}")) < 2
