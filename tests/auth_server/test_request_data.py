"""Forms with a file: what arrives of the fields and the file, and what is refused."""

import asyncio
from typing import Any

import pytest
from authlib.oauth2 import OAuth2Error
from starlette.requests import Request

from auth_server.web.request_data import (
    MAX_BODY_BYTES,
    MAX_FIELDS,
    MAX_VALUE_CHARACTERS,
    RequestData,
    parse_pairs,
    read_upload,
)
from shared.asgi import BodyTooLarge

Part = tuple[str, bytes]
LIMIT = 2_000_000


def field(name: str, value: str) -> Part:
    return f'form-data; name="{name}"', value.encode()


def file(content: bytes, filename: str = "statement.csv") -> Part:
    return f'form-data; name="file"; filename="{filename}"', content


def upload(
    *parts: Part, content_type: str = "multipart/form-data; boundary=b", end: bytes = b"--b--\r\n"
) -> tuple[list[tuple[str, str]], bytes]:
    body = b"".join(
        b"--b\r\nContent-Disposition: " + disposition.encode() + b"\r\n\r\n" + value + b"\r\n"
        for disposition, value in parts
    )
    pieces = [body + end]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(), "more_body": False}

    headers = [(b"content-type", content_type.encode())]
    return asyncio.run(read_upload(Request({"type": "http", "headers": headers}, receive), LIMIT))


def test_fields_and_file_arrive_as_they_were_sent() -> None:
    content = bytes(range(256)) * 8
    pairs, received = upload(field("csrf", "abc"), file(content), field("currency", "EUR"))
    assert pairs == [("csrf", "abc"), ("currency", "EUR")]
    assert received == content


def test_a_field_in_any_script_arrives() -> None:
    assert upload(field("name", "Café Orléans"), field("city", "東京"), file(b"x"))[0] == [
        ("name", "Café Orléans"),
        ("city", "東京"),
    ]


def test_a_file_of_the_largest_size_arrives_whole() -> None:
    assert len(upload(file(b"x" * LIMIT))[1]) == LIMIT


def test_empty_fields_count_as_absent_and_so_does_no_file() -> None:
    assert upload(field("currency", ""), file(b"", filename="")) == ([], b"")


@pytest.mark.parametrize(
    "parts",
    [
        [field("csrf", "a"), field("csrf", "b")],
        [file(b"one"), file(b"two")],
        [field(f"f{n}", "x") for n in range(MAX_FIELDS + 1)],
        [field("long", "x" * (4 * MAX_VALUE_CHARACTERS + 1))],
        [field("long", "é" * (MAX_VALUE_CHARACTERS + 1))],
        [field("control", "a\x00b")],
        [field("n" * 65, "x")],
        [("form-data", b"no name")],
    ],
)
def test_repeated_too_many_too_long_or_nameless_parts_are_refused(parts: list[Part]) -> None:
    with pytest.raises(OAuth2Error):
        upload(*parts)


@pytest.mark.parametrize(
    "content_type", ["multipart/form-data", "application/x-www-form-urlencoded", "multipart/mixed; boundary=b", ""]
)
def test_another_media_type_or_no_boundary_is_refused(content_type: str) -> None:
    with pytest.raises(OAuth2Error):
        upload(field("csrf", "a"), content_type=content_type)


def test_a_body_that_is_no_multipart_is_refused() -> None:
    with pytest.raises(OAuth2Error):
        upload(end=b"--other\r\n\r\nx")


def test_more_than_file_and_fields_may_have_is_too_large() -> None:
    with pytest.raises(BodyTooLarge):
        upload(file(b"x" * (LIMIT + MAX_BODY_BYTES)))


def test_notes_have_lines_and_nothing_else_has() -> None:
    assert parse_pairs("notes=first%0D%0Asecond", text=True) == [("notes", "first\nsecond")]
    for raw in ("name=first%0D%0Asecond", "notes=%00"):
        with pytest.raises(OAuth2Error):
            parse_pairs(raw, text=True)


@pytest.mark.parametrize(
    ("text", "number"), [("17", 17), ("9" * 18, int("9" * 18)), ("9" * 19, None), ("x", None), ("", None), ("²", None)]
)
def test_a_number_of_a_path_is_one_that_a_row_can_have(text: str, number: int | None) -> None:
    data = RequestData("GET", f"/dashboard/trips/{text}", "127.0.0.1", path_values={"number": text})
    assert (data.path_number("number"), data.path_number("other")) == (number, None)
