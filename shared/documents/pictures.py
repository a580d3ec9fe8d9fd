"""Pictures from strangers: fetched and decoded within limits, only their pixels are kept."""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import httpx
from PIL import Image, ImageStat

from shared.http import Refused, get, is_public, public_client

MAX_BYTES = 1024 * 1024
MAX_PIXELS = 16_000_000
TIMEOUT_SECONDS = 3
MAX_SIZE = (900, 360)  # enough for print at the size of the page header
PALE_LIGHTNESS = 190  # of 255: the mean lightness of what is drawn
# What the decoder only warns of is an error here, in every thread.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)


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


@contextmanager
def _open(content: bytes) -> Iterator[Image.Image]:
    """A PNG or JPEG of which only the header was read. Raises NoPicture, also for faults while it is decoded."""
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            yield picture
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise TooManyPixels("it has more than 16 million pixels") from None
    except Exception:  # a decoder met bytes of a stranger: whatever it says, they are no picture
        raise NoPicture("it is not a PNG or JPEG picture") from None


def identify(content: bytes) -> tuple[str, int, int]:
    """Media type, width and height, from the header alone. Raises NoPicture."""
    with _open(content) as picture:
        return Image.MIME[str(picture.format)], picture.width, picture.height


def decode(content: bytes) -> Image.Image:
    """PNG or JPEG, really decoded and made small; only its pixels are kept. Raises NoPicture."""
    with _open(content) as picture:
        picture.draft("RGB", MAX_SIZE)
        decoded = picture.convert("RGBA")
    decoded.thumbnail(MAX_SIZE)
    bare = Image.new("RGBA", decoded.size)
    bare.paste(decoded)
    return bare


def is_pale(picture: Image.Image) -> bool:
    """Whether it is drawn in light colours on nothing, so that a white ground would hide it."""
    see_through = picture.getchannel("A")
    if see_through.getextrema()[0] == 255:
        return False
    statistics = ImageStat.Stat(picture.convert("L"), see_through.point(lambda alpha: 255 if alpha > 40 else 0))
    return bool(statistics.count[0]) and statistics.mean[0] > PALE_LIGHTNESS
