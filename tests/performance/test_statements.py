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
from tests.performance.stopwatch import any_attempt_passes, longest_block, wall_seconds
from tests.support.people import People


def test_the_tool_imports_twenty_thousand_lines_in_under_three_seconds_without_holding_up_others(
    people: People,
) -> None:
    arguments = {"statement_text": twenty_thousand_lines()}

    def attempt() -> bool:
        limiter.cache_clear()
        blocks: list[float] = []
        call = partial(dispatch, "import_spending_statement", arguments, people.alice, "mcp")
        seconds = wall_seconds(lambda: blocks.append(anyio.run(longest_block, call)))
        return seconds < 3 and blocks[0] < 0.25

    assert any_attempt_passes(attempt)


def test_the_form_takes_twenty_thousand_lines_in_under_three_seconds(ann: World) -> None:
    content = twenty_thousand_lines().encode()
    assert any_attempt_passes(lambda: wall_seconds(lambda: upload(ann, content)) < 3)


def test_the_command_line_takes_twenty_thousand_lines_in_under_three_seconds(alice: Say, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(twenty_thousand_lines(), encoding="utf-8")
    assert any_attempt_passes(lambda: wall_seconds(lambda: alice(*IMPORT, f"@{path}")) < 3)


def test_the_form_refuses_a_hundred_megabytes_at_once(ann: World) -> None:
    token = csrf(ann)
    assert wall_seconds(lambda: announce_huge_upload(ann, token)) < 5


def test_the_command_line_refuses_a_hundred_megabytes_at_once(alice: Say, tmp_path: Path) -> None:
    path = write_huge_file(tmp_path)
    assert wall_seconds(lambda: alice(*IMPORT, f"@{path}")) < 2
