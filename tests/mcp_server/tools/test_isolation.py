"""Two accounts on every tool: the id of another account's record reads like one that never existed."""

import json
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import CompoundSelect, Text, bindparam, cast, literal, select, text, union_all

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS, Tier, Tool
from shared.db.base import AccountOwned, Base, engine, transaction
from shared.db.card_credits import CardCreditUse
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - the walk below sees every table
from shared.db.own_programs import OwnProgram
from shared.db.profile import Profile
from shared.db.secret_links import SecretLink
from shared.db.spending import SpendingTotal, TaughtShop
from shared.db.usage import ToolCall, UsageCounter
from shared.db.worth_days import WorthDay
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.owned_rows import POINTS, SECRET, rows_of_every_kind, store_rows
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.support.people import People

# Parameters (or those of one tool) that end in _id or _ids and name no record of an account, each with the reason.
NO_RECORDS: dict[str, str] = {
    "hotel_id": "a hotel of the facts",
    "flight_id": "signed for one account, see test_sightings",
    "get_award_trip_details.trip_id": "signed for one account, see test_award_trips",
    "add_flight_booking.trip_id": "made up by the caller",
    "list_flight_bookings.trip_id": "made up by the caller",
    "update_flight_booking.trip_id": "made up by the caller",
}


# Not among the rows here: what signs people in and carries mail, and what its own tests try.
ELSEWHERE = {"Account", "ApiKey", "Consent", "Delivery", "Family", "OneTimeLink"}
ELSEWHERE |= {"AuthenticatorApp", "Passkey", "PendingSignIn", "RecoveryCode", "SecurityEvent"}
ELSEWHERE |= {"AddressChange", "ForwardingAddress", "KnownBrowser", "LinkedIdentity", "PendingLink", "PhoneNumber"}
ELSEWHERE |= {"AdvisorLogo", "Connection", "DeadlineWatch", "MailedSeat", "StandingOrderRun", "ToldDeadline"}
ELSEWHERE |= {"BillingCustomer", "MessageChannel"}


def _unnamed(statement: int, card: int) -> list[Any]:
    """What she keeps that no parameter names."""
    secret = {"purpose": "calendar", "nonce": SECRET, "key": SECRET, "token_hash": SECRET}
    return [
        Profile(preferred_airlines=[SECRET], country="GB"),
        WorthDay(day=date(2026, 1, 1), usd=POINTS),
        SecretLink(**secret),
        CardCreditUse(card_id=card, credit=SECRET, cycle_start=date(2026, 1, 1), amount=POINTS),
        SpendingTotal(statement_id=statement, month=date(2026, 1, 1), category="dining", amount=POINTS, transactions=1),
        TaughtShop(mark=SECRET.encode(), category="dining"),
        OwnProgram(slug=SECRET, name=SECRET),
    ]


@pytest.fixture
def hers(people: People) -> dict[str, Any]:
    """Parameter name -> what names Alice's record there."""
    rows = rows_of_every_kind()
    with transaction(people.alice.account_id) as session:
        store_rows(session, rows)
        session.add_all(_unnamed(rows["spending_statement"].id, rows["card_id"].id))
        ids = {name: getattr(row, "program" if name == "program" else "id") for name, row in rows.items()}
    return {n: [str(i)] if n.endswith("_ids") else str(i) if isinstance(i, UUID) else i for n, i in ids.items()}


def _owned() -> Iterator[Any]:
    for mapper in Base.registry.mappers:
        owned = issubclass(mapper.class_, AccountOwned) and not mapper.polymorphic_abstract
        if owned and mapper.class_ not in (ToolCall, UsageCounter):
            yield mapper.class_


@cache  # to write it takes longer than to run it
def _select_everything() -> CompoundSelect[str, str]:
    return union_all(
        *(
            select(literal(model.__tablename__), cast(model.__table__.table_valued(), Text)).where(
                model.account_id == bindparam("owner")
            )
            for model in _owned()
        )
    )


def everything_of(caller: Caller) -> list[tuple[str, str]]:
    """Each row that the account keeps, as text next to the name of its table: one statement for all tables."""
    with engine().begin() as connection:
        connection.execute(text("set local bytea_output = 'escape'"))  # words in bytes can be read
        rows = connection.execute(_select_everything(), {"owner": caller.account_id})
        return sorted((table, row) for table, row in rows)


def record_parameters(tool: Tool) -> list[str]:
    named = [p for p in tool.arguments.schema["properties"] if re.search(r"_ids?$", p)]
    return [p for p in named if p not in NO_RECORDS and f"{tool.name}.{p}" not in NO_RECORDS]


def _stranger(people: People, name: str) -> Caller:
    """Someone else whose plan has the tool."""
    return people.paula if TOOLS[name].tier is Tier.PRO else people.charlie


PAIRS = [(t.name, p) for t in TOOLS.values() for p in record_parameters(t)]


def _arguments(name: str, parameter: str, value: Any) -> dict[str, Any]:
    return sample_arguments(TOOLS[name], **{parameter: value})


def _never(given: Any) -> Any:
    """An id of the same kind that no one has."""
    if isinstance(given, list):
        return [_never(given[0])]
    if isinstance(given, str) and not given.isdigit():
        return "00000000-0000-4000-8000-000000000000"
    return type(given)(10**9)


def test_every_kind_of_record_an_account_keeps_is_among_hers() -> None:
    kept = {type(row) for row in [*rows_of_every_kind().values(), *_unnamed(0, 0)]}
    assert {m.__name__ for m in _owned() if m not in kept} <= ELSEWHERE


def test_every_parameter_that_names_a_record_is_tried() -> None:
    assert {p for _, p in PAIRS} <= set(rows_of_every_kind()), "make a row for the new parameter in owned_rows.py"


@pytest.mark.parametrize(("name", "parameter"), PAIRS)
def test_stranger_naming_another_accounts_record_meets_what_never_was(
    people: People, hers: dict[str, Any], use: Use, queries: list[str], name: str, parameter: str
) -> None:
    """The same answer by the same statements: not even the time a call takes tells that there is such a record."""
    who, before = _stranger(people, name), everything_of(people.alice)
    use(who, "list_trips")  # the first call of a day reads how many there were
    told, sent = [], []
    for value in (hers[parameter], _never(hers[parameter])):
        queries.clear()
        made = use(who, name, **_arguments(name, parameter, value))
        sent.append(list(queries))
        id = re.escape(str(value[0] if isinstance(value, list) else value))
        told.append(re.sub(rf"\b{id}\b", "ID", json.dumps(made)))
        if not parameter.endswith("_ids"):
            assert made["status"] == "not_found"
    assert SECRET not in told[0]
    assert everything_of(people.alice) == before
    assert told[0] == told[1]
    assert sent[0] == sent[1]


@pytest.mark.parametrize("name", sorted(n for n, t in TOOLS.items() if t.tier is not Tier.ADMIN))
def test_no_tool_shows_or_changes_what_another_account_keeps(
    people: People, hers: dict[str, Any], use: Use, name: str
) -> None:
    before = everything_of(people.alice)
    arguments = sample_arguments(TOOLS[name])
    if "program" in TOOLS[name].arguments.schema["properties"]:
        arguments["program"] = hers["program"]
    made = json.dumps(use(_stranger(people, name), name, **arguments))
    assert SECRET not in made
    assert str(POINTS) not in made
    assert everything_of(people.alice) == before
