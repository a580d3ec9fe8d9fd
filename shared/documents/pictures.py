"""Pictures from strangers: fetched and decoded within limits, only their pixels are kept."""

import io
from collections.abc import Callable

import anyio
import httpx
from PIL import Image, ImageStat

from shared.documents.picture_reader import TOO_MANY_PIXELS, ReadPicture, read_picture
from shared.http import Refused, get, is_public, public_client
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded

MAX_BYTES = 1024 * 1024
TIMEOUT_SECONDS = 3
PALE_LIGHTNESS = 190  # of 255: the mean lightness of what is drawn
# Sixteen million pixels in eight bits of four channels take 64 MB, and twice that while they are converted.
_BUDGET = Budget(processor_seconds=3, seconds=5, memory_bytes=384 << 20)


class NoPicture(Exception):
    """The text gives the reason in our own words."""


class TooManyPixels(NoPicture):
    """Decoding it would take too much memory."""


async def fetch_picture(url: str, allow: Callable[[str], bool] = is_public) -> bytes:
    """What a public https address answers, at most 1 MiB within three seconds. Raises NoPicture."""
    if not url.lower().startswith("https://"):
        raise NoPicture("its address does not begin with https://")
    try:
        with anyio.fail_after(TIMEOUT_SECONDS):
            async with public_client(timeout=httpx.Timeout(TIMEOUT_SECONDS), allow=allow) as client:
                return await get(client, url, limit=MAX_BYTES, headers={"Accept": "image/png, image/jpeg"})
    except Refused:
        raise NoPicture("it is larger than 1 MiB") from None
    except (TimeoutError, httpx.TimeoutException):
        raise NoPicture("its address did not answer within three seconds") from None
    except httpx.HTTPStatusError:
        raise NoPicture("its address did not answer with a picture") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, UnicodeError):
        raise NoPicture("its address could not be reached") from None


def read(content: bytes) -> ReadPicture:
    """PNG or JPEG, decoded in a process of its own and made small. Blocks for seconds at most. Raises NoPicture."""
    try:
        picture = read_bounded(_BUDGET, read_picture, content)
    except ReaderEnded as ended:
        raise NoPicture(str(ended)) from None
    if picture == TOO_MANY_PIXELS:
        raise TooManyPixels(picture)
    if isinstance(picture, str):
        raise NoPicture(picture)
    return picture


def to_image(picture: ReadPicture) -> Image.Image:
    return Image.frombytes("RGBA", picture.size, picture.pixels)


def encode_png(picture: ReadPicture) -> bytes:
    """A file of ours with the same pixels, and nothing else of what came."""
    content = io.BytesIO()
    to_image(picture).save(content, "PNG", optimize=True)
    return content.getvalue()


def is_pale(picture: Image.Image) -> bool:
    """Whether it is drawn in light colours on nothing, so that a white ground would hide it."""
    see_through = picture.getchannel("A")
    if see_through.getextrema()[0] == 255:
        return False
    statistics = ImageStat.Stat(picture.convert("L"), see_through.point(lambda alpha: 255 if alpha > 40 else 0))
    return bool(statistics.count[0]) and statistics.mean[0] > PALE_LIGHTNESS
