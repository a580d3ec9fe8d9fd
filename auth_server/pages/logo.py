"""Uploaded logos: PNG or JPEG pictures within limits, re-encoded as our own file."""

from dataclasses import dataclass

from shared.documents import pictures
from shared.documents.picture_reader import NOT_A_PICTURE

MAX_BYTES = 512 * 1024
MAX_SIDE = 4000
# Nothing may follow the end of the picture: it would be lost, and might be what the person meant.
_ENDINGS = {"image/png": b"\0\0\0\0IEND\xae\x42\x60\x82", "image/jpeg": b"\xff\xd9"}
_TOO_LARGE = f"The picture is larger than {MAX_SIDE} by {MAX_SIDE} pixels."
_UNREADABLE = "The file is not a PNG or JPEG picture, or is damaged. SVG is not accepted."
_TOO_SLOW = "The picture cannot be used: {}. Save it as a PNG of at most 2000 by 2000 pixels and upload that."


class InvalidLogo(ValueError):
    """The text is for the person who sent it."""


@dataclass(frozen=True)
class Logo:
    """A small PNG made by us."""

    content: bytes
    width: int
    height: int


def read_logo(content: bytes) -> Logo:
    """PNG or JPEG, whole, and not larger than a page needs. Raises InvalidLogo."""
    if not content:
        raise InvalidLogo("Choose a file first.")
    if len(content) > MAX_BYTES:
        raise InvalidLogo(f"The file is larger than {MAX_BYTES // 1024} KiB.")
    try:
        picture = pictures.read(content)
    except pictures.TooManyPixels:
        raise InvalidLogo(_TOO_LARGE) from None
    except pictures.NoPicture as no:
        raise InvalidLogo(_UNREADABLE if str(no) == NOT_A_PICTURE else _TOO_SLOW.format(no)) from None
    if max(picture.width, picture.height) > MAX_SIDE:
        raise InvalidLogo(_TOO_LARGE)
    if not content.endswith(_ENDINGS[picture.media_type]):
        raise InvalidLogo(_UNREADABLE)
    return Logo(pictures.encode_png(picture), *picture.size)
