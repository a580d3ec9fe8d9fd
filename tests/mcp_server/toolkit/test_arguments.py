"""The argument check: what callers really send becomes keyword values, or clear faults in our own words."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import Field

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import (
    AnyName,
    Cabin,
    ClearableCount,
    ClearableCountry,
    ClearableDay,
    ClearableMoney,
    ClearableWindow,
    Currency,
    Day,
    HotelName,
    Month,
    Page,
    Pairs,
    PerPage,
    ProgramSlug,
    RowId,
    line,
)
from mcp_server.toolkit.registry import TOOLS, Arguments, _lenient_reader
from shared.errors import Invalid


def everything(
    call: Call,
    row: RowId,
    text: Annotated[str, Field(max_length=5)] = "abc",
    name: Annotated[str | None, line(8)] = None,
    on: Day | None = None,
    clearable: ClearableDay | None = None,
    cabin: Cabin | None = None,
    program: ProgramSlug | None = None,
    flag: bool = False,
    price: float | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
    names: Annotated[list[str] | None, Field(max_length=2)] = None,
    numbers: list[int] | None = None,
    clear: list[Literal["a", "b"]] | None = None,
    count: ClearableCount | None = None,
    fee: ClearableMoney | None = None,
    window: ClearableWindow | None = None,
    currency: Currency = "USD",
    country: ClearableCountry | None = None,
    loose: AnyName | None = None,
    freely: dict[str, Any] | None = None,
    shares: dict[str, int] | None = None,
    pairs: Annotated[dict[str, int], Pairs("name", "points", "integer")] | None = None,
    hotel: HotelName | None = None,
    month: Month | None = None,
) -> None:
    """A tool with a parameter of each kind."""


ARGUMENTS = Arguments(everything)


def accepted(**given: Any) -> dict[str, Any]:
    return ARGUMENTS.check({"row": 1, **given})


def fault(given: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(Invalid) as no:
        ARGUMENTS.check({"row": 1, **given})
    (only,) = no.value.facts["errors"]
    return dict(only)


def test_schema_is_closed_and_says_what_is_required() -> None:
    assert ARGUMENTS.schema["additionalProperties"] is False
    assert ARGUMENTS.schema["required"] == ["row"]


def test_schema_of_an_optional_parameter_has_no_null_and_no_union() -> None:
    properties = ARGUMENTS.schema["properties"]
    assert properties["on"] == {"type": "string", "format": "date"}
    assert properties["count"] == {"type": "integer", "minimum": 0}
    assert properties["names"] == {"type": "array", "items": {"type": "string"}, "maxItems": 2}
    assert not [n for n, p in properties.items() if "anyOf" in p or "title" in p]


def test_absent_arguments_take_their_defaults() -> None:
    made = accepted()
    assert (made["row"], made["text"], made["page"], made["per_page"], made["on"]) == (1, "abc", 1, 20, None)


def test_null_for_an_optional_argument_means_absent() -> None:
    assert accepted(text=None, flag=None, names=None, page=None) == accepted()


def test_null_for_a_required_argument_means_missing() -> None:
    expected = {"field": "row", "problem": "is required", "expected": "a whole number from 1"}
    assert fault({"row": None}) == expected
    with pytest.raises(Invalid) as no:
        ARGUMENTS.check({})
    assert no.value.facts["errors"] == [expected]


@pytest.mark.spec("s4.3.call_params")
@pytest.mark.parametrize(
    ("given", "problem", "expected"),
    [
        ({"row": True}, "is a boolean", "a whole number from 1"),
        ({"row": "x"}, "is not a plain number", "a whole number from 1"),
        ({"row": 1.5}, "is not of the expected kind", "a whole number from 1"),
        ({"row": 0}, "is too small", "a whole number from 1"),
        ({"row": 10**30}, "is too large", "a whole number from 1"),
        ({"row": "9" * 5000}, "is not a plain number", "a whole number from 1"),
        ({"page": 10**10}, "is too large", "a whole number from 1"),
        ({"per_page": 101}, "is too large", "a whole number from 1 to 100"),
        ({"text": 5}, "is not of the expected kind", "text, up to 5 characters"),
        ({"text": "abcdef"}, "is too long", "text, up to 5 characters"),
        ({"text": "a\0"}, "holds a character that cannot be stored", "text, up to 5 characters"),
        ({"text": "\ud800"}, "holds a character that cannot be stored", "text, up to 5 characters"),
        ({"name": "   "}, "is too short", "text, from 1 to 8 characters"),
        ({"on": "2026-02-30"}, "is not a day of the calendar", "a date YYYY-MM-DD that exists"),
        ({"on": "9999-12-31"}, "is too far ahead", "a date YYYY-MM-DD that exists"),
        ({"on": "20260230"}, "is not a date", "a date YYYY-MM-DD that exists"),
        ({"on": "2026-01-01\n"}, "is not a date", "a date YYYY-MM-DD that exists"),
        ({"on": "٢٠٢٦-٠١-٠١"}, "is not a date", "a date YYYY-MM-DD that exists"),
        ({"clearable": "x"}, "is not a date", "a date YYYY-MM-DD that exists"),
        (
            {"cabin": "Business"},
            "is not one of the values",
            "one of economy, premium_economy, business, first",
        ),
        ({"flag": "yes"}, "is not a boolean", "true or false"),
        ({"flag": 1}, "is not a boolean", "true or false"),
        ({"price": False}, "is a boolean", "a number"),
        ({"names": ["a", "b", "c"]}, "has too many entries", "a list (at most 2, each text)"),
        ({"names": "nothing"}, "is not of the expected kind", "a list (at most 2, each text)"),
        ({"numbers": [1, True]}, "holds a boolean", "a list (each a whole number)"),
        ({"count": "many"}, "is not a plain number", "a whole number from 0"),
        ({"count": "60,05"}, "is not a whole number", "a whole number from 0"),
        ({"row": "1e5"}, "is not a plain number", "a whole number from 1"),
        ({"row": "0.042"}, "is not a whole number", "a whole number from 1"),
        ({"price": "1e5"}, "is not a plain number", "a number"),
        ({"price": "nan"}, "is not a plain number", "a number"),
        ({"price": "€95"}, "is not a plain number", "a number"),
        ({"fee": "1.299"}, "can mean 1,299 or 1.299", "1299 or 1.30"),
        ({"fee": "95.5555"}, "has more than two decimals", "a number from 0"),
        ({"count": "95.5"}, "is not a whole number", "a whole number from 0"),
        ({"count": 0.004}, "is not a whole number", "a whole number from 0"),
        ({"count": -1}, "is too small", "a whole number from 0"),
        ({"count": True}, "is a boolean", "a whole number from 0"),
        ({"count": 10**30}, "is too large", "a whole number from 0"),
        ({"fee": float("inf")}, "is too large", "a number from 0"),
        ({"fee": float("nan")}, "is not a number", "a number from 0"),
        ({"fee": "-5"}, "is too small", "a number from 0"),
        ({"fee": []}, "is not a number", "a number from 0"),
        ({"window": 4}, "is not one of the values", "one of 1, 2, 3, 6, 12"),
        ({"window": True}, "is a boolean", "a whole number from 1 to 12"),
        ({"window": [1]}, "is not one of the values", "one of 1, 2, 3, 6, 12"),
        ({"currency": "EURO"}, "does not have the expected form", "three letters such as LHR or USD"),
        ({"country": "GBR"}, "does not have the expected form", "a two-letter country code, or an empty string"),
        ({"loose": "x" * 201}, "is too long", "text, up to 200 characters"),
        ({"hotel": "x" * 81}, "is too long", "text, up to 80 characters"),
        ({"freely": {"a": ["b\0"]}}, "holds a character that cannot be stored", "an object"),
        ({"freely": '{"a": "\\u0000"}'}, "holds a character that cannot be stored", "an object"),
        ({"freely": {"\udfff": 1}}, "holds a character that cannot be stored", "an object"),
        ({"row": "€" * 10_001}, "is too long", "a whole number from 1"),
        ({"clear": f"[[{'[],' * 20_000}0]]"}, "has too many entries", "a list (each one of a, b)"),
        ({"freely": '{"a":' * 900 + "1" + "}" * 900}, "is nested too deeply", "an object"),
    ],
)
def test_bad_argument_is_named_with_problem_and_expectation(given: dict[str, Any], problem: str, expected: str) -> None:
    assert fault(given) == {"field": next(iter(given)), "problem": problem, "expected": expected}


def test_what_another_tool_checks_may_be_of_any_length() -> None:
    """The arguments that the lean address hands on, among them statements of three megabytes."""
    given = {"text": "x" * 3_000_000}
    assert accepted(freely=given)["freely"] == given


def test_fault_inside_a_map_names_the_entry_and_what_its_values_are() -> None:
    assert fault({"shares": {"a": 1, "b": "no"}}) == {
        "field": "shares.b",
        "problem": "is not a plain number",
        "expected": "an object (each value a whole number)",
    }


@given(st.dictionaries(st.text("abc", max_size=3), st.integers(0, 10**9), max_size=5))
def test_a_list_of_pairs_is_the_map_it_stands_for(points: dict[str, int]) -> None:
    listed = [{"name": name, "points": count} for name, count in points.items()]
    assert accepted(pairs=listed)["pairs"] == accepted(pairs=points)["pairs"] == points


@pytest.mark.parametrize(
    ("listed", "at", "problem"),
    [
        ([{"name": "a", "points": 1}, {"name": "a", "points": 2}], "[1].name", "is not text, or comes twice"),
        ([{"name": "a"}], "[0]", "is not such a pair"),
        ([{"name": "a", "points": 1, "more": 2}], "[0]", "is not such a pair"),
        ([["a", 1]], "[0]", "is not such a pair"),
        ([{"name": 5, "points": 1}], "[0].name", "is not text, or comes twice"),
        ([{"name": "a", "points": "many"}], ".a", "is not of the expected kind"),
    ],
)
def test_what_is_no_list_of_pairs_is_named(listed: list[Any], at: str, problem: str) -> None:
    assert (told := fault({"pairs": listed}))["field"].startswith("pairs")
    assert told["problem"] == problem
    assert at in (told["field"].removeprefix("pairs"), ".a")


def test_fault_in_a_long_choice_that_is_like_none_names_no_nearest() -> None:
    for sent in ("qqqq", "Airpoints", "DBS Hong Kong", "TD Rewards", "miles"):
        assert fault({"program": sent})["expected"] == "one of 57 values, such as accor-live-limitless"


def test_month_that_does_not_exist_is_called_no_month() -> None:
    assert fault({"month": "2027-13"}) == {
        "field": "month",
        "problem": "is not a month of the calendar",
        "expected": "a month YYYY-MM",
    }


def test_fault_inside_a_list_names_the_entry() -> None:
    assert fault({"clear": ["a", "c"]}) == {
        "field": "clear[1]",
        "problem": "is not one of the values",
        "expected": "a list (each one of a, b)",
    }


@pytest.mark.parametrize(
    ("sent", "nearest"),
    [
        ("flying-blu", "flying-blue"),
        ("Delta", "delta-skymiles"),
        ("Virgin Red", "virgin-red"),
        ("Hilton", "hilton-honors"),
    ],
)
def test_fault_in_a_long_choice_names_the_nearest(sent: str, nearest: str) -> None:
    assert fault({"program": sent})["expected"] == f"one of 57 values; nearest: {nearest}"


@pytest.mark.parametrize("value", [1, None])
def test_unknown_argument_is_refused_even_when_it_is_null(value: Any) -> None:
    told = fault({"colour": value})
    assert (told["field"], told["problem"]) == ("colour", "is not a parameter of this tool")
    assert told["expected"].startswith("one of the parameters row, text, name")


def test_unknown_argument_is_repeated_short_and_printable() -> None:
    assert fault({"\a\n" + "x" * 500: 1})["field"] == "??" + "x" * 58
    assert fault({"\ud800": 1})["field"] == "arguments"


def test_all_faults_are_told_together_up_to_twenty() -> None:
    with pytest.raises(Invalid) as no:
        ARGUMENTS.check({"row": 0, "flag": "x"} | {f"more{n}": 1 for n in range(50)})
    told = no.value.facts["errors"]
    assert [t["field"] for t in told][:2] == ["row", "flag"]
    assert len(told) == 20


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"row": "7"}, 7),
        ({"row": 7.0}, 7),
        ({"name": "  Rome "}, "Rome"),
        ({"flag": "true"}, True),
        ({"names": '["a", "b"]'}, ["a", "b"]),
        ({"on": "2028-02-29"}, date(2028, 2, 29)),
        ({"clearable": ""}, ""),
        ({"currency": "eur"}, "EUR"),
        ({"country": "uk"}, "GB"),
        ({"country": "de"}, "DE"),
        ({"country": ""}, ""),
        ({"count": 60000.0}, 60000),
        ({"count": "60000"}, 60000),
        ({"count": ""}, ""),
        ({"fee": 95.5}, Decimal("95.50")),
        ({"count": "60.000"}, 60000),
        ({"numbers": ["42'000", 7]}, [42000, 7]),
        ({"shares": {"a": "42 000"}}, {"a": 42000}),
        ({"price": "1.250,50"}, 1250.5),
        ({"fee": 95.555}, Decimal("95.56")),
        ({"fee": "95,5"}, Decimal("95.50")),
        ({"fee": 0}, Decimal("0.00")),
        ({"window": "6"}, 6),
        ({"window": 12}, 12),
        ({"window": ""}, ""),
    ],
)
def test_what_hosts_really_send_is_understood(given: dict[str, Any], value: Any) -> None:
    (name,) = given
    made = accepted(**given)[name]
    assert made == value
    assert type(made) is type(value)


ODD = st.sampled_from(["", "\0", "\ud800", "1e999", "-0", "[", "[[]]", "{}", "null", "0x1", "１２", "2026-13-01"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from([*ARGUMENTS.schema["properties"], "other"]), JSON, max_size=6))
def test_anything_at_all_is_taken_or_refused_in_our_words(given: dict[str, Any]) -> None:
    try:
        said = str(ARGUMENTS.check(given) and "")
    except Invalid as no:
        said = str(no.facts) + no.message
    assert not [foreign for foreign in ("pydantic", "Input should", "http", "Error") if foreign in said]


BULK: list[dict[str, Any]] = [{f"name{n}": 1 for n in range(200_000)}, {"clear": [{"a": 1}] * 200_000}]
BULK += [{"clear": f"[{'[],' * 1_300_000}0]"}, {"clear": ["€" * 1_000_000]}]


def bulk_arguments() -> Arguments:
    def listing(call: Call, clear: list[Literal["a", "b"]] | None = None) -> None: ...

    return Arguments(listing)


def test_what_a_hostile_caller_sends_in_bulk_is_refused_with_few_words() -> None:
    arguments = bulk_arguments()
    for raw_arguments in BULK:
        with pytest.raises(Invalid) as refused:
            arguments.check(raw_arguments)
        assert 1 <= len(refused.value.facts["errors"]) <= 20


# --- short texts have one line


def list_text_schemas() -> list[tuple[str, dict[str, Any]]]:
    """Each text parameter of each tool that has neither a pattern nor a choice of values."""
    tools = [(tool.name, tool.arguments.schema["properties"]) for tool in TOOLS.values()]
    texts = [(f"{tool}.{name}", node.get("items", node)) for tool, nodes in tools for name, node in nodes.items()]
    judged = {"pattern", "enum", "format"}
    return [(name, node) for name, node in texts if node.get("type") == "string" and not node.keys() & judged]


@given(st.sampled_from(list_text_schemas()), st.text(min_size=1, max_size=20).filter(str.isprintable), st.data())
def test_a_short_text_of_any_tool_has_one_line(
    named: tuple[str, dict[str, Any]], text: str, data: st.DataObject
) -> None:
    name, node = named
    sign = data.draw(st.sampled_from("\r\n\t\x0b\x0c\x1b\x7f\x85\u2028\u2029\u202e\u2066"))
    typed = data.draw(st.sampled_from([f"{text}{sign}{text}", f"{text}{sign}", f"{sign}{sign}{text}"]))
    read = _lenient_reader(node).func(typed)  # type: ignore[call-arg]
    if node.get("maxLength", 0) >= 1000:
        assert read == typed, name
    else:
        assert read.split() == typed.replace(sign, " ").split(), name
        assert sign not in read, name


def test_a_value_with_a_pattern_is_judged_as_it_came() -> None:
    with pytest.raises(Invalid):
        TOOLS["create_route_monitor"].arguments.check({"origin": "JFK\n", "destination": "LHR"})
