"""Uploaded logos: PNG or JPEG pictures within limits, decoded once to be sure that they are whole."""

from dataclasses import dataclass

from shared.documents import pictures

MAX_BYTES = 512 * 1024
MAX_SIDE = 4000
# Nothing may follow the end of the picture: a file must not be a picture and something else.
_ENDINGS = {"image/png": b"\0\0\0\0IEND\xae\x42\x60\x82", "image/jpeg": b"\xff\xd9"}
_TOO_LARGE = f"The picture is larger than {MAX_SIDE} by {MAX_SIDE} pixels."
_UNREADABLE = "The file is not a PNG or JPEG picture, or is damaged. SVG is not accepted."


class InvalidLogo(ValueError):
    """The text is for the person who sent it."""


@dataclass(frozen=True)
class Logo:
    media_type: str
    width: int
    height: int


def read_logo(content: bytes) -> Logo:
    """PNG or JPEG, whole, and not larger than a page needs. Raises InvalidLogo."""
    if not content:
        raise InvalidLogo("Choose a file first.")
    if len(content) > MAX_BYTES:
        raise InvalidLogo(f"The file is larger than {MAX_BYTES // 1024} KiB.")
    try:
        logo = Logo(*pictures.identify(content))
        if max(logo.width, logo.height) > MAX_SIDE:
            raise InvalidLogo(_TOO_LARGE)
        pictures.decode(content)
    except pictures.TooManyPixels:
        raise InvalidLogo(_TOO_LARGE) from None
    except pictures.NoPicture:
        raise InvalidLogo(_UNREADABLE) from None
    if not content.endswith(_ENDINGS[logo.media_type]):
        raise InvalidLogo(_UNREADABLE)
    return logo
