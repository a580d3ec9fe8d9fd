"""Answers between processes: what is written is read as it was, and nothing runs because an answer says so."""

import json
import os
import re
import sys
from datetime import UTC
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.folio.model import Bill, FolioLine
from shared.domain.senders import Signatures
from shared.domain.spending.model import StatementLine, UnreadableStatement
from shared.processes.plain_answers import NotPlain, read_answer, write_answer

ONE = Decimal(1)
# Halves of surrogate pairs are in no text that was decoded.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts | st.binary(max_size=8)
plain |= st.decimals(allow_nan=False) | st.dates() | st.datetimes() | st.datetimes(timezones=st.just(UTC)) | st.times()
keys = st.none() | texts | st.integers() | st.dates() | st.tuples(texts, st.dates())
records = st.builds(Signatures, st.frozensets(texts, max_size=3), st.frozensets(texts, max_size=3), st.booleans())
values = st.recursive(
    plain | records,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=12,
)


def describe_kinds(value: Any) -> Any:
    """A value with the classes of all its parts: 1 and True are equal, and not the same."""
    if isinstance(value, dict):
        return [(describe_kinds(key), describe_kinds(entry)) for key, entry in value.items()]
    return (type(value), [describe_kinds(entry) for entry in value] if isinstance(value, (list, tuple)) else value)


@given(values)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    assert describe_kinds(read_answer(write_answer(value))) == describe_kinds(value)


def test_a_record_that_comes_twice_is_written_once() -> None:
    record = Signatures(frozenset({"ba.test"}))
    written = write_answer([record, (record, record)])
    assert written.count(b"ba.test") == 1
    first, (second, third) = read_answer(written)
    assert first is second is third


def test_records_of_other_kinds_are_read_as_they_were() -> None:
    line = StatementLine(*range(len(StatementLine._fields)))  # type: ignore[arg-type]
    back = read_answer(write_answer([line, re.compile("x+", re.I)]))
    assert (back, type(back[0])) == ([line, re.compile("x+", re.I)], StatementLine)
    one, two = FolioLine(None, "a", "a", ONE, "tax"), FolioLine(None, "b", "b", ONE, "tax")
    one.parent, two.parent = two, one  # each leads to the other
    first, second = read_answer(write_answer([one, two]))
    assert first.parent is second
    assert second.parent is first


def test_an_exception_that_is_a_record_can_be_raised_by_who_reads_it() -> None:
    read = read_answer(write_answer(UnreadableStatement("is empty", "a statement")))
    assert (type(read), read.problem, read.expected, read.field) == (
        UnreadableStatement,
        "is empty",
        "a statement",
        None,
    )


@pytest.mark.parametrize("value", [object(), print, {"a": os}, [Bill], 1j, range(3)])
def test_what_is_no_plain_value_is_not_written(value: Any) -> None:
    with pytest.raises(NotPlain):
        write_answer(value)


HOSTILE = [
    {"record": ["os:system", "true"]},
    {"record": ["subprocess:Popen", "true"]},
    {"record": ["shared.processes.plain_answers:_Reader"]},
    {"record": ["shared.settings:Settings"]},
    {"record": ["shared.domain.senders:Signatures"]},
    {"record": ["shared.domain.senders:re.compile", "x"]},
    {"record": ["shared.bounded.never_loaded:X"]},
    {"record": ["json:JSONDecoder"]},
    {"choice": ["signal:Signals", "SIGKILL"]},
    {"choice": ["shared.domain.senders:Signatures", "x"]},
    {"again": 0},
    {"again": "x"},
    {"dict": [[[], 1]]},
    {"dict": [1]},
    {"decimal": "x"},
    {"date": 5},
    {"bytes": 5},
    {"call": ["os:system"]},
    {"a": 1, "b": 2},
    {},
]


@pytest.mark.parametrize("node", HOSTILE, ids=map(str, HOSTILE))
def test_an_answer_that_is_none_runs_and_imports_nothing(node: Any) -> None:
    loaded = set(sys.modules)
    with pytest.raises(NotPlain):
        read_answer(json.dumps(node).encode())
    assert set(sys.modules) == loaded


@given(st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_bytes_that_are_no_answer_are_said_to_be_none(text: bytes) -> None:
    try:
        value = read_answer(text)
    except NotPlain:
        return
    assert type(value) is type(json.loads(text))  # a plain value
