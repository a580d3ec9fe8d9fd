"""JSON bodies with more values than any call needs, and those that only look as if."""

import pytest
from pydantic_core import to_json

from mcp_server.toolkit.json_bodies import MAX_VALUES, TooManyValues, parse_json
from tests.mcp_server.conftest import World
from tests.mcp_server.transport.test_streamable_http import raw
from tests.support.people import People

MUCH = 4_000_000  # bytes, just under what is read
TOO_MANY = [
    b"[" + b"[]," * (MUCH // 3) + b"0]",
    b"[" + b"1," * (MUCH // 2) + b"1]",
    b"{" + b",".join(b'"%x":0' % n for n in range(MUCH // 10)) + b"}",
    b"{" + b",".join(rb'"%x\\":0' % n for n in range(MUCH // 12)) + b"}",
    b'["' + b'","' * (MUCH // 3) + b'"]',
]


@pytest.mark.parametrize("body", TOO_MANY)
def test_more_values_than_any_call_needs_are_refused(body: bytes) -> None:
    with pytest.raises(TooManyValues):
        parse_json(body)


@pytest.mark.parametrize(
    "text", [",[{" * (MUCH // 3), '"' * (MUCH // 2), "\\" * (MUCH // 2), '\\",' * (MUCH // 5), '"a","b"\n' * 300_000]
)
def test_a_long_text_is_one_value_whatever_stands_in_it(text: str) -> None:
    value = {"text": text, "rows": list(range(MAX_VALUES - 10))}
    assert parse_json(to_json(value)) == value


@pytest.mark.parametrize("body", [b"{", b"[1,", b'{"a":NaN}', b'"' * 40_001, b"\\" * 100_001])
def test_what_is_not_json_is_said_to_be_so(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(body)


def test_a_message_of_too_many_values_is_told_so(world: World, people: People) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + TOO_MANY[0] + b"}"
    status, _, answer = raw(world, world.token(people.alice), body, {"Content-Type": "application/json"})
    assert (status, b"more than 20,000 values" in answer) == (413, True)
