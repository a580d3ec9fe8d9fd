"""An uploaded picture: bytes go in; its kind and size come out, or the reason why it is no logo."""

import struct
import zlib
from dataclasses import dataclass

MAX_BYTES = 512 * 1024
MAX_SIDE = 4000
_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the JPEG markers that tell the size


class InvalidLogo(ValueError):
    """The text is for the person who sent it."""


@dataclass(frozen=True)
class Logo:
    media_type: str
    width: int
    height: int


def read(content: bytes) -> Logo:
    """PNG or JPEG, whole, and not larger than a page needs. Raises InvalidLogo."""
    if not content:
        raise InvalidLogo("Choose a file first.")
    if len(content) > MAX_BYTES:
        raise InvalidLogo(f"The file is larger than {MAX_BYTES // 1024} KiB.")
    try:
        found = _png(content) or _jpeg(content)
    except (struct.error, IndexError):
        found = None
    if found is None:
        raise InvalidLogo("The file is not a PNG or JPEG picture, or is damaged. SVG is not accepted.")
    if not (1 <= found.width <= MAX_SIDE and 1 <= found.height <= MAX_SIDE):
        raise InvalidLogo(f"The picture is larger than {MAX_SIDE} by {MAX_SIDE} pixels.")
    return found


def _png(content: bytes) -> Logo | None:
    """Every chunk's checksum holds, and nothing follows the last one."""
    if not content.startswith(_PNG):
        return None
    at, kind, size = len(_PNG), b"", None
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + length]
        (told,) = struct.unpack_from(">I", content, at + 8 + length)
        if told != zlib.crc32(kind + data):
            return None
        if kind == b"IHDR" and at == len(_PNG):
            size = struct.unpack_from(">II", data)
        at += 12 + length
    return Logo("image/png", *size) if size is not None and at == len(content) else None


def _jpeg(content: bytes) -> Logo | None:
    """Segments up to the frame header, which tells the size; the picture ends with its end marker."""
    if not (content.startswith(b"\xff\xd8\xff") and content.endswith(b"\xff\xd9")):
        return None
    at = 2
    while content[at] == 0xFF:
        marker, length = struct.unpack_from(">xBH", content, at)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return Logo("image/jpeg", width, height)
        if length < 2:
            return None
        at += 2 + length
    return None
