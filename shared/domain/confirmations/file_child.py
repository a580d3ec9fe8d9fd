"""Child process that reads one attached file: the texts of a PDF, and the barcodes of its pictures or of a picture.

It is started as a separate program, imports nothing of this project, limits itself before it looks at the file, and
writes one JSON object: `texts` (pages as they are laid out, and as they are written), `barcodes`, `unpacked` (bytes of
its streams) and `reason`, which is null or why the file could not be read.
Usage: `file_child.py pdf|picture SECONDS BYTES < file`, with what it may take of the processor and unpack.
"""

import io
import json
import sys
from collections.abc import Iterator
from typing import Any

MEMORY_BYTES = 640 << 20  # of the whole process; the libraries map about 150 MB of it
MAX_PAGES = 20
MAX_CHARACTERS = 200_000  # of each text
MAX_PICTURES = 12  # of one PDF
MAX_PIXELS = 12_000_000  # of one picture; a photograph of a telephone has twelve million
MIN_SIDE = 40  # pixels; the smallest Aztec code of a boarding pass has 41 modules
MAX_BARCODES = 12
MAX_BARCODE_CHARACTERS = 2_000
_MATRIX_CODES = "Aztec,PDF417,QRCode,DataMatrix"


class FileUnread(Exception):
    """Why a file is not read, as a plain clause."""


def limit_resources(processor_seconds: int) -> None:
    import resource

    for limit, most in (
        (resource.RLIMIT_CPU, processor_seconds),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        resource.setrlimit(limit, (most, most))


class Unpacking:
    """Counts what streams unpack to, and refuses what is over the limit."""

    def __init__(self, most: int) -> None:
        self.most, self.total = most, 0

    def watch_pdfs(self) -> None:
        """Each stream may unpack to what is left. The library bounds each by itself, and not all of a file."""
        from pypdf import filters, overwrite_configuration
        from pypdf.errors import LimitReachedError

        unpack, kinds = filters.decode_stream_data, ("zlib", "lzw", "run_length", "jbig2", "brotli")

        def count(stream: Any) -> Any:
            most = max(1, self.most - self.total)
            overwrite_configuration(None, **{f"{kind}_maximum_output_length": most for kind in kinds})
            try:
                unpacked = unpack(stream)
            except LimitReachedError:
                self.total = self.most
                raise
            self.total += len(unpacked)
            return unpacked

        filters.decode_stream_data = count


def read_pdf(content: bytes) -> dict[str, Any]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise FileUnread("it is locked with a password")
    pages = [reader.pages[at] for at in range(min(len(reader.pages), MAX_PAGES))]
    laid_out = _join_pages(lambda page: page.extract_text(extraction_mode="layout"), pages)
    written = _join_pages(lambda page: page.extract_text(), pages)
    barcodes = list(dict.fromkeys(code for picture in _list_pictures(pages) for code in read_barcodes(picture)))
    if not (laid_out.strip() or written.strip() or barcodes):
        raise FileUnread("it holds pictures without text")
    return {"texts": [laid_out, written], "barcodes": barcodes[:MAX_BARCODES], "reason": None}


def _join_pages(extract: Any, pages: list[Any]) -> str:
    """The text of all pages, up to the limit; a damaged page is left out."""
    texts: list[str] = []
    for page in pages:
        if sum(map(len, texts)) >= MAX_CHARACTERS:
            break
        try:
            texts.append(extract(page))
        except Exception:  # noqa: S112 - of a stranger's page any error is possible, and the others remain
            continue
    return "\n\n".join(texts)[:MAX_CHARACTERS]


def _list_pictures(pages: list[Any]) -> Iterator[Any]:
    """The pictures on the pages, of a size a barcode can have."""
    count = 0
    for page in pages:
        for name in _list_picture_names(page):
            if count >= MAX_PICTURES:
                return
            count += 1
            try:
                picture = page.images[name].image
            except Exception:  # noqa: S112 - a damaged picture
                continue
            if picture is not None:
                yield picture


def _list_picture_names(page: Any) -> list[str]:
    """The names of the pictures of a page that are neither tiny nor huge, without decoding them."""
    names = []
    try:
        for name, entry in page["/Resources"]["/XObject"].items():
            stream = entry.get_object()
            width, height = int(stream.get("/Width", 0)), int(stream.get("/Height", 0))
            if stream.get("/Subtype") == "/Image" and min(width, height) >= MIN_SIDE and width * height <= MAX_PIXELS:
                names.append(name)
    except (KeyError, TypeError, ValueError, AttributeError):
        return names
    return names


def read_picture(content: bytes) -> dict[str, Any]:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
        if picture.width * picture.height > MAX_PIXELS:
            raise FileUnread("it has too many pixels")
        barcodes = read_barcodes(picture)
    if not barcodes:
        raise FileUnread("no barcode was found in it")
    return {"texts": [], "barcodes": barcodes, "reason": None}


def read_barcodes(picture: Any) -> list[str]:
    """The texts of the matrix codes in a picture, on white where it is transparent."""
    import zxingcpp
    from PIL import Image

    if picture.mode in ("RGBA", "LA", "P"):
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA"))
    framed = Image.new("L", (picture.width + 40, picture.height + 40), 255)  # codes are often cut without quiet zone
    framed.paste(picture.convert("L"), (20, 20))
    results = zxingcpp.read_barcodes(framed, formats=zxingcpp.barcode_formats_from_str(_MATRIX_CODES))
    return [r.text[:MAX_BARCODE_CHARACTERS] for r in results if r.text][:MAX_BARCODES]


def main() -> None:
    read = {"pdf": read_pdf, "picture": read_picture}[sys.argv[1]]
    content = sys.stdin.buffer.read()
    limit_resources(int(sys.argv[2]))
    unpacking = Unpacking(int(sys.argv[3]))
    try:
        if sys.argv[1] == "pdf":
            unpacking.watch_pdfs()
        result = read(content)
    except FileUnread as unread:
        is_full = unpacking.total >= unpacking.most
        reason = "it is too large once it is unpacked" if is_full else str(unread)
        result = {"texts": [], "barcodes": [], "reason": reason}
    except MemoryError:
        result = {"texts": [], "barcodes": [], "reason": "reading it takes too much memory"}
    except Exception:  # a stranger's file: whatever is wrong with it, it is not read, and that is said
        result = {"texts": [], "barcodes": [], "reason": "it is damaged"}
    sys.stdout.write(json.dumps(result | {"unpacked": unpacking.total}))


if __name__ == "__main__":
    main()
