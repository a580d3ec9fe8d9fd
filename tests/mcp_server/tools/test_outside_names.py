"""Names of programmes and banks without data, sent to every tool that takes such a name: none is taken for another."""

import json
import re

import pytest
from sqlalchemy import select

from mcp_server.toolkit.registry import TOOLS
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.reference.load import reference
from shared.reference.own_programs import build_slug
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.support.people import People

_NAMES = re.compile(r"program|bank|issuer|loyalty")
TAKING = [
    (tool, name)
    for tool in sorted(TOOLS)
    for name, schema in TOOLS[tool].arguments.schema["properties"].items()
    if _NAMES.search(name) and schema.get("type") in ("string", "array")
]


def test_the_walk_meets_the_tools_that_take_a_name() -> None:
    assert len(TAKING) > 30


@pytest.mark.parametrize("text", ["Airpoints", "DBS Hong Kong", "TD Rewards"])
def test_no_tool_takes_an_outside_name_for_a_programme(people: People, use: Use, text: str) -> None:
    for tool, name in TAKING:
        is_list = TOOLS[tool].arguments.schema["properties"][name]["type"] == "array"
        answer = use(people.alice, tool, **sample_arguments(TOOLS[tool], **{name: [text] if is_list else text}))
        if (tool, name) == ("update_points_balance", "program"):  # kept by its name, as the person's own
            assert answer["message"].startswith(f"{text}: "), answer["message"]
            assert "counts as a programme of the user's own" in answer["message"]
            continue
        assert answer["status"] in ("not_found", "invalid"), (tool, name, answer["message"])
        told = json.dumps([answer["message"], answer.get("nearest"), answer.get("errors")])
        assert "nearest: " not in told.lower() or answer.get("what") != "programme", (tool, name, told)
    with transaction() as db:
        assert [row.program for row in db.scalars(select(PointsBalance))] == [build_slug(text)]


def test_a_client_keeps_outside_names_as_they_are(people: People, use: Use) -> None:
    names = ["Airpoints", *(row.name for row in reference().rows("outside_names.csv")[::40])]
    answer = use(people.paula, "create_client_portfolio", client_name="Ana", balances=dict.fromkeys(names, 1_000))
    assert sorted(answer["portfolio"]["balances"]) == sorted(names)
