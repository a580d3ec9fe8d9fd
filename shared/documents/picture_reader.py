"""Reader of a PNG or JPEG of a stranger, for a separate process: what the picture is, and its pixels, made small."""

import io
import warnings
from dataclasses import dataclass

from PIL import Image

MAX_PIXELS = 16_000_000
# A progressive JPEG has about ten scans. Each touches every pixel in 31 bytes: 15,000 of them fit into half a mebibyte
# and take minutes, 20 of 16 million pixels half a second. Fill bytes may stand before a marker, never within it (ITU-T
# T.81 B.1.1.2).
MAX_SCANS = 20
MAX_SIZE = (900, 360)  # enough for print at the size of the page header
_START_OF_SCAN = b"\xff\xda"
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
NOT_A_PICTURE = "it is not a PNG or JPEG picture"
TOO_MANY_PIXELS = "it has more than 16 million pixels"
TOO_MANY_SCANS = f"it is drawn in more than {MAX_SCANS} passes"
# What the decoder only warns of is an error here.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)


@dataclass(frozen=True)
class ReadPicture:
    """Media type, width and height as it came; `pixels` are RGBA, of `size`, at most MAX_SIZE."""

    media_type: str
    width: int
    height: int
    size: tuple[int, int]
    pixels: bytes


def read_picture(content: bytes) -> ReadPicture | str:
    """The picture, or why it is none. It may take long, so it is not for a process that serves others."""
    is_png = content.startswith(_PNG_SIGNATURE)
    if not is_png and content.count(_START_OF_SCAN) > MAX_SCANS:
        return TOO_MANY_SCANS
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            width, height = picture.size
            picture.draft("RGB", MAX_SIZE)
            decoded = picture.convert("RGBA")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return TOO_MANY_PIXELS
    except MemoryError:
        raise
    except Exception:  # a decoder met bytes of a stranger: whatever it says, they are no picture
        return NOT_A_PICTURE
    decoded.thumbnail(MAX_SIZE)
    return ReadPicture("image/png" if is_png else "image/jpeg", width, height, decoded.size, decoded.tobytes())
