"""Every number that a tool or a form takes, in every writing: stored as it is meant, or refused by name."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

import auth_server.pages
from auth_server.pages.forms import Input, ToolForm, build_input
from mcp_server.toolkit.example_arguments import example_arguments
from mcp_server.toolkit.registry import TOOLS
from mcp_server.tools.inbound_mail import apply_corrections
from shared.db.base import transaction
from shared.db.cards import Card
from shared.domain import clients
from shared.errors import Invalid
from shared.services.proposals.flight_rows import read_flights
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.support.number_writings import WRITINGS

NUMBERS = ("integer", "number")
Schema = dict[str, Any]


def list_parameters() -> Iterator[tuple[str, str, Schema]]:
    for tool in TOOLS.values():
        for name, schema in tool.arguments.schema["properties"].items():
            yield tool.name, name, schema


def list_forms() -> Iterator[ToolForm]:
    for module in pkgutil.walk_packages(auth_server.pages.__path__, "auth_server.pages."):
        yield from (v for v in vars(importlib.import_module(module.name)).values() if isinstance(v, ToolForm))


def check(tool: str, name: str, schema: Schema, sent: Any, value: int | Decimal | None, where: str) -> None:
    """Asserts that one argument is taken as `value`, or refused by its name."""
    is_refused = value is None or not schema.get("minimum", 0) <= value <= schema.get("maximum", 10**9)
    try:
        taken = TOOLS[tool].arguments.check(example_arguments(TOOLS[tool]) | {name: sent})[name]
    except Invalid as refusal:
        faults = {fault["field"].split(".")[0].split("[")[0]: fault["problem"] for fault in refusal.facts["errors"]}
        beyond = ("is too large", "is not one of the values")  # bounds that a schema does not state
        assert is_refused or faults[name] in beyond, f"{where}: {faults}"
        assert name in faults, where
        return
    got = taken[0] if isinstance(taken, list) else next(iter(taken.values())) if isinstance(taken, dict) else taken
    assert value is not None, f"{where} -> {got}"
    assert Decimal(str(got)) == value, f"{where} -> {got}"


@pytest.mark.parametrize(("text", "whole", "amount"), WRITINGS)
def test_every_number_of_every_tool(text: str, whole: int | None, amount: Decimal | None) -> None:
    count = 0
    for tool, name, schema in list_parameters():
        value = {"integer": whole, "number": amount}
        inner = schema.get("items") or schema.get("additionalProperties")
        if schema.get("type") in NUMBERS:
            check(tool, name, schema, text, value[schema["type"]], f"{tool} {name} {text!r}")
        elif isinstance(inner, dict) and inner.get("type") in NUMBERS:
            sent = [text] if "items" in schema else {"points": text}
            check(tool, name, inner, sent, value[inner["type"]], f"{tool} {name} {text!r}")
        else:
            continue
        count += 1
    assert count > 200


@pytest.mark.parametrize(("text", "whole", "amount"), WRITINGS)
def test_every_number_of_every_form(text: str, whole: int | None, amount: Decimal | None) -> None:
    count = 0
    for form in list_forms():
        for tool in {form.add, form.change}:
            schemas = TOOLS[tool].arguments.schema["properties"]
            for field in form.fields:
                schema = schemas.get(field.name, {})
                if schema.get("type") not in NUMBERS:
                    continue
                count += 1
                input: Input = build_input(field, schema, is_required=False, is_clearable=False)
                value = {"integer": whole, "number": amount}[schema["type"]]
                check(tool, field.name, schema, input.to_argument(text), value, f"{tool} {field.name} {text!r}")
    assert count > 25


def read_points_of_client(text: str) -> Any:
    balances, _ = clients.parse_balances({"flying-blue": text}, lambda name: name, may_remove=False)
    return balances["flying-blue"]


LOOSE = [  # within objects that no schema describes: the reader of one number, and whether it is a whole one
    (read_points_of_client, True),
    (lambda text: apply_corrections([{"type": "flight"}], {"points_spent": text})[0]["points_spent"], True),
    (lambda text: apply_corrections([{"type": "flight"}], {"taxes_paid": text})[0]["taxes_paid"], False),
    (lambda text: read_flights([{"airline": "BA", "points": text}], sandbox=True)[0].points, True),
    (lambda text: read_flights([{"airline": "BA", "taxes": text}], sandbox=True)[0].taxes, False),
]


@pytest.mark.parametrize(("text", "whole", "amount"), WRITINGS)
@pytest.mark.parametrize(("read", "is_whole"), LOOSE)
def test_numbers_of_loose_objects(
    read: Callable[[str], Any], is_whole: bool, text: str, whole: int | None, amount: Decimal | None
) -> None:
    value = whole if is_whole else amount
    if value is None:
        with pytest.raises(Invalid):
            read(text)
    else:
        assert Decimal(str(read(text))) == value


def test_a_page_stores_what_is_meant_and_asks_where_it_may_mean_two(world: World) -> None:
    sign_up(world, "ann@example.test")
    edit = "/dashboard/balances/edit"
    assert send_form(world, edit, edit, program="avianca-lifemiles", balance="42.000").status_code == 303
    assert 'value="42000"' in world.get(f"{edit}?program=avianca-lifemiles&member=").text
    card = "/dashboard/cards/edit"
    asked = send_form(world, card, card, card="Zorblatt Gold", annual_fee="1.299")
    assert asked.status_code == 422
    assert "This can mean 1,299 or 1.299. Expected: 1299 or 1.30." in asked.text
    assert 'value="1.299"' in asked.text
    assert send_form(world, card, card, card="Zorblatt Gold", annual_fee="1.299,00").status_code == 303
    with transaction() as session:
        (row,) = session.scalars(select(Card))
    assert row.annual_fee == 1299
