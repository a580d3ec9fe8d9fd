"""Pictures from strangers: bad addresses and bytes are refused with a reason, good ones become small and clean."""

import gzip
import io
import struct
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import httpx
import pytest
from PIL import Image, PngImagePlugin

from shared.documents import pictures
from shared.processes.bounded_process import Budget

URL = "https://brand.example/logo.png"


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 20), mode: str = "RGB", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size).save(out, kind, **more)
    return out.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG whose head promises more pixels than it holds."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (head, b"IDAT" + zlib.compress(b"\0" * 100), b"IEND")
    whole = (struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c)) for c in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(whole)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[httpx.Request], Any]], None]:
    """web(handler): what every address answers from now on."""

    def answering(handler: Callable[[httpx.Request], Any]) -> None:
        monkeypatch.setattr(
            pictures, "public_client", lambda **_: httpx.AsyncClient(transport=httpx.MockTransport(handler))
        )

    return answering


def why(url: str = URL) -> str:
    with pytest.raises(pictures.NoPicture) as no:
        anyio.run(pictures.fetch_picture, url)
    return str(no.value)


def test_a_picture_comes_as_the_address_sends_it(web: Any) -> None:
    web(lambda _: httpx.Response(200, content=b"bytes"))
    assert anyio.run(pictures.fetch_picture, URL) == b"bytes"


@pytest.mark.parametrize("url", ["http://brand.example/x.png", "ftp://x", "file:///etc/passwd", "logo.png", "//x/y"])
def test_only_https_is_asked(url: str) -> None:
    assert "https" in why(url)


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1:9/logo.png", "https://localhost:9/x.png", "https://[::1]:9/x", "https://", "https://x:y/"],
)
def test_addresses_inside_and_addresses_that_are_none_are_not_reached(url: str) -> None:
    assert why(url) == "its address could not be reached"


@pytest.mark.parametrize("status", [301, 302, 404, 500])
def test_redirects_and_error_pages_are_no_picture(web: Any, status: int) -> None:
    web(lambda _: httpx.Response(status, headers={"Location": "https://elsewhere.example/"}, content=picture()))
    assert "did not answer with a picture" in why()


def test_more_than_a_mebibyte_is_not_read(web: Any) -> None:
    web(lambda _: httpx.Response(200, content=b"x" * (pictures.MAX_BYTES + 1)))
    assert "1 MiB" in why()


def test_a_small_answer_that_unpacks_to_a_large_one_is_not_unpacked(web: Any) -> None:
    """Each layer multiplies by a thousand, so what was unpacked is counted while it comes, and one layer is all."""
    packed = gzip.compress(b"0" * (pictures.MAX_BYTES * 16))
    answers = {"gzip": packed, "gzip, gzip": gzip.compress(packed), "gzip,identity": b"", "br": b"x"}
    tracemalloc.start()
    refusals = {}
    for coding, content in answers.items():
        headers = {"Content-Encoding": coding}
        web(lambda _, h=headers, c=content: httpx.Response(200, headers=h, stream=httpx.ByteStream(c)))
        refusals[coding] = why()
    no_other = "its address could not be reached"
    assert refusals == dict.fromkeys(answers, no_other) | {"gzip": "it is larger than 1 MiB"}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < pictures.MAX_BYTES * 4
    web(lambda _: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip")))
    assert why() == no_other
    small = httpx.ByteStream(gzip.compress(b"bytes"))
    web(lambda _: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=small))
    assert anyio.run(pictures.fetch_picture, URL) == b"bytes"


@pytest.mark.parametrize("ended", [True, False], ids=["what follows the end", "blocks of nothing"])
def test_a_packed_answer_that_never_ends_is_left(web: Any, ended: bool) -> None:
    """A server may send for ever what unpacks to nothing: behind the end of the archive, or in empty blocks."""
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    head = packer.compress(b"bytes") + packer.flush(zlib.Z_FINISH if ended else zlib.Z_FULL_FLUSH)
    sent = 0

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal sent
            yield head
            while sent < pictures.MAX_BYTES * 8:
                sent += 65_536
                yield b"\x00\x00\x00\xff\xff" * 13_107

    web(lambda _: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=Endless()))
    if ended:
        assert anyio.run(pictures.fetch_picture, URL) == b"bytes"
    else:
        assert why() == "its address could not be reached"
    assert sent <= pictures.MAX_BYTES * 2


def test_a_server_that_keeps_silent_is_left(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(_: httpx.Request) -> httpx.Response:
        await anyio.sleep(60)
        raise AssertionError("unreachable")

    web(silent)
    monkeypatch.setattr(pictures, "TIMEOUT_SECONDS", 0.1)
    assert "three seconds" in why()


@pytest.mark.parametrize(
    ("kind", "mode"), [("PNG", "RGBA"), ("PNG", "P"), ("PNG", "L"), ("PNG", "I;16"), ("JPEG", "RGB"), ("JPEG", "CMYK")]
)
def test_png_and_jpeg_of_each_kind_become_pixels(kind: str, mode: str) -> None:
    assert pictures.to_image(pictures.read(picture(kind, mode=mode))).mode == "RGBA"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        picture("GIF"),
        picture("TIFF"),
        picture("BMP"),
        picture()[:-30],
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        b"\xff\xd8\xff" + b"\0" * 100,
        picture("JPEG", (400, 400))[:300],
    ],
)
def test_anything_else_is_no_picture(content: bytes) -> None:
    with pytest.raises(pictures.NoPicture, match="not a PNG or JPEG"):
        pictures.read(content)


@pytest.mark.parametrize("size", [(60_000, 60_000), (5_000, 4_000), (2**31 - 1, 2)])
def test_a_bomb_is_refused_by_its_head(size: tuple[int, int]) -> None:
    with pytest.raises(pictures.NoPicture, match="16 million"):
        pictures.read(bomb(*size))


@pytest.mark.parametrize("scans", [20, 21])
def test_a_jpeg_of_twenty_passes_is_read_and_one_of_more_is_not(scans: int) -> None:
    content = repeat_last_scan(scans)
    if scans == 20:
        assert pictures.read(content).size == (40, 20)
        return
    with pytest.raises(pictures.NoPicture, match="more than 20 passes"):
        pictures.read(content)


def repeat_last_scan(scans: int, size: tuple[int, int] = (40, 20)) -> bytes:
    """A progressive JPEG with so many scans: each touches all pixels again."""
    content = picture("JPEG", size, "L", progressive=True)
    last = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + last * (scans - content.count(b"\xff\xda")) + content[-2:]


def test_a_picture_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_BUDGET", Budget(processor_seconds=0, seconds=0.05, memory_bytes=1 << 30))
    with pytest.raises(pictures.NoPicture, match="took too long"):
        pictures.read(repeat_last_scan(20, (8000, 2000)))


def test_a_picture_that_needs_too_much_memory_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_BUDGET", Budget(processor_seconds=9, seconds=9, memory_bytes=32 << 20))
    with pytest.raises(pictures.NoPicture, match="too much memory"):
        pictures.read(picture(size=(4000, 4000), mode="RGBA"))


def test_a_photograph_with_its_preview_in_one_file_is_a_jpeg() -> None:
    preview = Image.new("RGB", (10, 5))
    assert pictures.read(picture("MPO", save_all=True, append_images=[preview])).media_type == "image/jpeg"


def test_what_else_a_picture_carries_stays_behind() -> None:
    more = PngImagePlugin.PngInfo()
    more.add_text("Comment", "taken at home")
    assert Image.open(io.BytesIO(pictures.encode_png(pictures.read(picture(pnginfo=more))))).info == {}


def test_a_large_picture_is_made_small() -> None:
    large = pictures.read(picture(size=(3000, 3000)))
    assert (large.width, large.height, large.size) == (3000, 3000, (360, 360))


@pytest.mark.parametrize(
    ("ground", "mark", "told"),
    [
        ("#00000000", "white", True),
        ("#00000000", "navy", False),
        ("#ffffffff", "white", False),
        ("#00000000", None, False),
    ],
)
def test_a_logo_of_light_marks_on_nothing_is_pale(ground: str, mark: str | None, told: bool) -> None:
    logo = Image.new("RGBA", (60, 20), ground)
    if mark:
        logo.paste(Image.new("RGBA", (20, 10), mark), (5, 5))
    assert pictures.is_pale(logo) is told
