"""Logos: which uploads are pictures, and what is said of the others."""

import io

import pytest
from PIL import Image

from auth_server.pages.logo import MAX_BYTES, MAX_SIDE, InvalidLogo, Logo, read_logo
from auth_server.web.rendering import TEMPLATES

ICON = (TEMPLATES / "icon.png").read_bytes()


def draw(width: int, height: int, kind: str = "JPEG", *, progressive: bool = False) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(content, kind, progressive=progressive)
    return content.getvalue()


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_tells_its_size(progressive: bool) -> None:
    assert read_logo(draw(640, 200, progressive=progressive)) == Logo("image/jpeg", 640, 200)


def test_a_png_tells_its_size() -> None:
    assert read_logo(ICON) == Logo("image/png", 512, 512)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_picture_of_the_longest_side_is_accepted_and_a_longer_one_is_not(kind: str) -> None:
    assert read_logo(draw(MAX_SIDE, 10, kind)).width == MAX_SIDE
    for size in ((MAX_SIDE + 1, 10), (10, MAX_SIDE + 1), (MAX_SIDE + 500, MAX_SIDE + 500)):
        with pytest.raises(InvalidLogo, match="4000 by 4000"):
            read_logo(draw(*size, kind))


@pytest.mark.parametrize(
    "content",
    [
        draw(640, 200)[:-2],
        draw(640, 200)[:-2] + b"<script></script>",
        b"\xff\xd8\xff" + b"\xff\xd9",
        b"\xff\xd8\xff\xe0\x00\x00\xff\xd9",
        b"\xff\xd8\xff\xe0\x7f\xff\xff\xd9",
        ICON[:-20],
        ICON[: len(ICON) // 2] + ICON[-12:],
        ICON + b"<script>",
        ICON.replace(b"IHDR", b"IHDX"),
        b"\x89PNG\r\n\x1a\n" + b"\0\0\0\0IEND\xae\x42\x60\x82",
        draw(16, 16, "GIF"),
        b"<svg/>",
    ],
)
def test_a_picture_that_is_not_whole_or_of_another_kind_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidLogo, match="not a PNG or JPEG picture, or is damaged"):
        read_logo(content)


def test_a_file_over_the_limit_and_no_file_are_refused() -> None:
    with pytest.raises(InvalidLogo, match="512 KiB"):
        read_logo(ICON + b"x" * MAX_BYTES)
    with pytest.raises(InvalidLogo, match="Choose a file"):
        read_logo(b"")
