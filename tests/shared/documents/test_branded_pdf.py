"""The advisor's document as a reader of PDFs finds it: texts of any script, long tables, colours, fonts and marks."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfReader

from shared.documents import branded_pdf as font_choice
from shared.documents import colours
from shared.documents.branded_pdf import ADVICE, WATERMARK, build_pdf
from shared.documents.recommendation import Brand, ContactLine, FlightLine, Footnote, Paper, Proposal

BRAND = Brand("Horizon Journeys", "Planned with care", (15, 76, 92), None)
FLIGHT = FlightLine(
    ("LHR", "JFK"),
    ("20:10", "23:05"),
    "Wed 12 May 2027",
    "Virgin Atlantic",
    "Business",
    "Flying Blue",
    "x",
    "50,000 points",
    "",
)
PLAIN = Proposal(
    title="Spring in New York",
    client="Ana Ivanović",
    made_at=datetime(2026, 11, 21, 8, tzinfo=UTC),
    summary="Dear Ana,\n\nhere is what I would book.",
    flights=(FLIGHT,),
    notes=(Footnote("Flying Blue: 50,000 miles", ("Worth about 650 USD.",)),),
    sources=("Seats and prices: sandbox.",),
    sandbox=False,
)


def read(proposal: Proposal = PLAIN, brand: Brand = BRAND) -> PdfReader:
    return PdfReader(io.BytesIO(build_pdf(proposal, brand).content), strict=True)


def words(reader: PdfReader, page: int | None = None) -> str:
    pages = reader.pages if page is None else [reader.pages[page]]
    return " ".join(" ".join(p.extract_text() for p in pages).split())


def fonts(reader: PdfReader) -> list[Any]:
    return [f.get_object() for page in reader.pages for f in page["/Resources"]["/Font"].values()]  # type: ignore[index]


def test_the_page_tells_everything_it_was_given() -> None:
    message = words(read())
    for text in ("Horizon Journeys", "Planned with care", "Spring in New York", "Prepared for Ana Ivanović"):
        assert text in message
    for text in ("21 November 2026", "LHR 20:10", "JFK 23:05", "Virgin Atlantic", "50,000 points"):
        assert text in message
    assert "Worth about 650 USD." in message
    assert "Seats and prices: sandbox." in message
    assert ADVICE in message
    assert "Page 1 of 1" in message


def test_the_file_says_what_it_is_and_names_no_tool_or_machine() -> None:
    about = read().metadata
    assert about is not None
    assert (about.title, about.author, about.creator) == ("Spring in New York", "Horizon Journeys", "Award Travel")
    assert about.creation_date == PLAIN.made_at


def test_every_typeface_is_embedded_in_parts() -> None:
    result = fonts(read())
    assert result
    for font in result:
        inner = font["/DescendantFonts"][0].get_object()
        assert "/FontFile2" in inner["/FontDescriptor"].get_object()
        assert "+" in font["/BaseFont"]
    assert len(build_pdf(PLAIN, BRAND).content) < 60_000


@pytest.mark.slow  # embeds typefaces of several megabytes
@pytest.mark.parametrize(
    ("name", "face"),
    [
        ("王小明", "DroidSansFallback"),
        ("김민준", "DroidSansFallback"),
        ("さくら", "DroidSansFallback"),
        ("สมชาย", "NotoSansThai"),
        ("प्रिया", "NotoSansDevanagari"),
        ("Γιώργος Ђорђе Nguyễn", "NotoSans"),
        ("גברת כהן", "DejaVuSans"),
        ("عائلة الأحمد", "DejaVuSans"),
        ("შოთა Արամ", "DejaVuSans"),
    ],
)
def test_names_in_many_scripts_have_a_typeface_that_shows_them(name: str, face: str) -> None:
    result = build_pdf(replace(PLAIN, client=name), BRAND)
    used = {str(font["/BaseFont"]) for font in fonts(PdfReader(io.BytesIO(result.content)))}
    assert not result.left_out
    assert any(face in font for font in used)


def test_what_no_typeface_shows_is_left_out_and_said_so() -> None:
    result = build_pdf(replace(PLAIN, summary="Off we go \U0001f6eb to Rome\x07\u202e"), BRAND)
    assert result.left_out
    assert "Off we go to Rome" in words(PdfReader(io.BytesIO(result.content)))


@pytest.mark.slow  # draws many pages
@pytest.mark.parametrize(
    "summary",
    [
        "x" * 8000,
        "العربية " * 1000,
        "עברית\n" * 900,
        "東京" * 4000,
        "a\n" * 4000,
        "\u0300" * 4000,
        "\u200d" * 8000,
        "שלום (BA117) 1,234.50 USD [x] " * 200,
        "soft\u00adhyphen " * 500,
        "{nb} **bold** __line__ [link](https://x.example) <b>",
        "\U000e0041\ufeff\ud83d",
    ],
)
def test_no_text_breaks_the_page(summary: str) -> None:
    result = build_pdf(replace(PLAIN, summary=summary[:8000]), BRAND)
    assert result.pages == len(PdfReader(io.BytesIO(result.content)).pages)


def test_many_flights_go_on_and_each_stands_on_one_page() -> None:
    reader = read(replace(PLAIN, flights=(FLIGHT,) * 50))
    assert len(reader.pages) > 2
    assert words(reader).count("LHR 20:10") == 50
    for number in range(len(reader.pages)):
        assert words(reader, number).count("Wed 12 May 2027") == words(reader, number).count("50,000 points")
    assert f"Page {len(reader.pages)} of {len(reader.pages)}" in words(reader, -1)


def test_a_flight_of_long_words_stays_within_its_columns_and_whole() -> None:
    word = "Q" * 60
    long = FlightLine((word, word), (word, word), *([word] * 7))
    reader = read(replace(PLAIN, flights=(long,) * 6))
    assert words(reader).replace(" ", "").count("Q") == 6 * 11 * 60


def test_every_page_in_sandbox_mode_bears_the_mark_and_no_other_page_does() -> None:
    marked, plain = (read(replace(PLAIN, flights=(FLIGHT,) * 40, sandbox=s)) for s in (True, False))
    assert all(WATERMARK in words(marked, n) for n in range(len(marked.pages)))
    assert "Invented data for testing" in words(marked, 0)
    assert WATERMARK not in words(plain)


def test_a_document_of_a_title_alone_is_a_page() -> None:
    bare = Proposal("Title", None, PLAIN.made_at, "", (), (), (), sandbox=False)
    message = words(read(bare, replace(BRAND, tagline=None)))
    assert "Title" in message
    assert "Before you transfer" not in message


@pytest.mark.parametrize(("paper", "size"), [("A4", (595, 842)), ("Letter", (612, 792))])
def test_a_document_of_either_paper_is_tagged_in_a_language_with_its_typefaces(
    paper: Paper, size: tuple[int, int]
) -> None:
    contact = (ContactLine("", "Jo Park"), ContactLine("Email", "jo@x.example", "mailto:jo@x.example"))
    brand = replace(BRAND, logo=Image.new("RGBA", (30, 10), "red"), contact=contact, paper=paper)
    reader = read(replace(PLAIN, flights=(FLIGHT,) * 30), brand)
    assert {(round(p.mediabox.width), round(p.mediabox.height)) for p in reader.pages} == {size}
    root: Any = reader.trailer["/Root"]
    assert (root["/Lang"], root["/MarkInfo"]["/Marked"]) == ("en", True)
    assert all("/FontFile2" in f["/DescendantFonts"][0]["/FontDescriptor"] for f in fonts(reader))
    assert "Your advisor Jo Park Email: jo@x.example" in words(reader)


def test_the_logo_is_in_the_document_once() -> None:
    reader = read(replace(PLAIN, flights=(FLIGHT,) * 40), replace(BRAND, logo=Image.new("RGBA", (300, 100), "red")))
    assert len(reader.pages[0].images) == 1
    assert [len(page.images) for page in list(reader.pages)[1:]] == [0] * (len(reader.pages) - 1)


@pytest.mark.parametrize("size", [(1, 1), (900, 1), (1, 360), (900, 360)])
def test_a_logo_of_any_shape_leaves_room_for_the_name(size: tuple[int, int]) -> None:
    message = words(
        read(brand=replace(BRAND, name="A name as long as eighty letters allow " * 2, logo=Image.new("RGBA", size)))
    )
    assert "A name as long as eighty letters allow" in message


@pytest.mark.parametrize("text", ["#0F4C5C", "fff", "#000000", "#FFFF00", "#808080", "#3ba", "ff00ff"])
def test_text_can_be_read_on_and_in_any_brand_colour(text: str) -> None:
    result = colours.build_palette(colours.parse_colour(text))
    assert colours.find_contrast(result.on_ground, result.ground) >= 4.5
    assert colours.find_contrast(result.writing, colours.WHITE) >= 4.5
    assert colours.find_contrast(result.writing, result.tint) >= 4


@pytest.mark.parametrize("text", ["", "#12", "red", "#12345g", "#1234567", "url(x)", "#123456;"])
def test_a_colour_is_hexadecimal(text: str) -> None:
    with pytest.raises(ValueError, match="hex colour"):
        colours.parse_colour(text)


def test_each_shipped_typeface_comes_with_its_licence() -> None:
    faces = sorted(p.stem for p in font_choice.FOLDER.glob("*.ttf"))
    message = " ".join(p.read_text(encoding="utf-8") for p in font_choice.FOLDER.glob("*-LICENSE.txt"))
    assert set(faces) == {f.removesuffix(".ttf") for f in font_choice.FACES.values()} | set(font_choice.FALLBACKS)
    assert all(face in message for face in faces)
