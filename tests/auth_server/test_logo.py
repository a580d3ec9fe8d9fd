"""Logos: which uploads are pictures, and what is said of the others."""

import io

import pytest
from PIL import Image

from auth_server.pages.logo import MAX_BYTES, MAX_SIDE, InvalidLogo, read_logo
from auth_server.web.static_files import TEMPLATES

ICON = (TEMPLATES / "icon.png").read_bytes()


def draw(width: int, height: int, kind: str = "JPEG", *, progressive: bool = False) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(content, kind, progressive=progressive)
    return content.getvalue()


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_becomes_a_png_of_ours(progressive: bool) -> None:
    logo = read_logo(draw(640, 200, progressive=progressive))
    with Image.open(io.BytesIO(logo.content)) as stored:
        assert (stored.format, stored.size, (logo.width, logo.height)) == ("PNG", (640, 200), (640, 200))
        assert stored.convert("RGB").getpixel((5, 5)) == pytest.approx((0, 128, 128), abs=6)


def test_a_large_png_is_stored_as_large_as_a_page_needs() -> None:
    logo = read_logo(ICON)
    assert (logo.width, logo.height) == (360, 360)
    assert logo.content != ICON


def test_a_jpeg_that_draws_its_pixels_thousands_of_times_is_refused_with_what_to_do() -> None:
    """About 170 seconds of a decoder, in half a mebibyte."""
    content = draw(4000, 4000, progressive=True)
    last = content[content.rindex(b"\xff\xda") : -2]
    bomb = content[:-2] + last * ((MAX_BYTES - len(content)) // len(last)) + content[-2:]
    with pytest.raises(InvalidLogo, match="drawn in more than 20 passes"):
        read_logo(bomb)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_picture_of_the_longest_side_is_accepted_and_a_longer_one_is_not(kind: str) -> None:
    assert read_logo(draw(MAX_SIDE, 10, kind)).width == 900
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
