"""A travel advisor's proposal as a PDF in the colours of the brand."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.enums import Align, MethodReturnValue, XPos, YPos

from shared.documents.colours import INK, WHITE, Palette, Rgb, build_palette
from shared.documents.pictures import is_pale
from shared.documents.recommendation import Brand, ContactLine, FlightLine, Proposal
from shared.settings import settings

# Shipped typefaces: which faces show a text, and text without characters that none can show.

FOLDER = Path(__file__).parent / "font_files"
FAMILY = "NotoSans"
FACES = {"": "NotoSans-Regular.ttf", "B": "NotoSans-Bold.ttf"}
# Fallbacks for characters the family lacks: arrows, Arabic, Hebrew and Georgian; scripts of India; Thai; East Asia.
FALLBACKS = (
    "DejaVuSans",
    "NotoSansDevanagari-Regular",
    "NotoSansBengali-Regular",
    "NotoSansTamil-Regular",
    "NotoSansThai-Regular",
    "DroidSansFallback",
)
MAX_MARKS = 6  # combining marks per letter; no language uses more, and hundreds make the layout take seconds
_JOINERS = "\u200c\u200d"  # zero-width joiners, needed by Indic scripts and Persian
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_SHAPED = ("AL", "AN", "R", "NSM")  # bidirectional classes that need shaping


@cache
def _list_characters(name: str) -> frozenset[int]:
    """The characters a face can show."""
    with TTFont(FOLDER / f"{name}.ttf", lazy=True) as font:
        return frozenset(font.getBestCmap())


@lru_cache(maxsize=4096)
def _find_face(character: str) -> str | None:
    """The face that shows a character; None when no face does."""
    faces = (FAMILY + "-Regular", *FALLBACKS)
    return next((name for name in faces if ord(character) in _list_characters(name)), None)


def clean_text(text: str) -> str:
    """Text in NFC without control and direction characters; line breaks stay."""
    whole = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " "))
    characters = (c for c in whole if c == "\n" or c in _JOINERS or unicodedata.category(c) not in _UNSEEN)
    out: list[str] = []
    marks = MAX_MARKS  # a text must not begin with a mark
    for c in characters:
        marks = marks + 1 if c in _JOINERS or unicodedata.category(c) in ("Mn", "Me") else 0
        if marks <= MAX_MARKS:
            out.append(c)
    return "".join(out)


def list_fallbacks(texts: Iterable[str]) -> list[str]:
    """The faces beyond the family that these texts need."""
    needed = {_find_face(c) for c in set().union(*map(set, texts)) - {"\n", " ", *_JOINERS}}
    return [name for name in FALLBACKS if name in needed]


def needs_shaping(texts: Iterable[str]) -> bool:
    """Whether letters join, change places or run from right to left in any of the texts."""
    return any(
        unicodedata.bidirectional(c) in _SHAPED or unicodedata.category(c) in ("Mn", "Mc") or "\u0900" <= c <= "\u0eff"
        for c in set().union(*map(set, texts))
    )


def is_right_to_left(text: str) -> bool:
    """Whether a paragraph begins in a script written from right to left."""
    strong = (unicodedata.bidirectional(c) for c in text)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"


MARGIN, BAND, SLIM_BAND, FOOT = 18.0, 34.0, 12.0, 18.0
LOGO = (58.0, 20.0)
GREY: Rgb = (80, 92, 87)
RULE: Rgb = (227, 224, 214)
LINE = 1.42  # height of a line, in sizes of its letters
_MM = 25.4 / 72
WATERMARK = "SANDBOX - INVENTED DATA"
ADVICE = (
    "Award seats can go at any moment and points that were transferred do not come back. Look again that the seats are"
    " there, at this price, right before any points are moved."
)


@dataclass(frozen=True)
class BuiltPdf:
    content: bytes
    pages: int
    left_out: bool  # whether characters no typeface can show were left out


_PAD, _GAP = 5.0, 2.5  # within the card of a flight: to its border, and between what stands below each other
_LINE_AT = 5.0  # how far below the top of the two ends what lies between them is written


def build_pdf(proposal: Proposal, brand: Brand) -> BuiltPdf:
    left_out: list[bool] = []
    proposal, brand = _make_showable(proposal, left_out), _make_showable(brand, left_out)
    page = _PdfPage(proposal, brand)
    page.add_page()
    _draw_opening(page)
    if proposal.flights:
        _draw_heading(page, "Recommended flights")
        for flight in proposal.flights:
            _draw_flight(page, flight)
    if proposal.notes:
        _draw_notes(page)
    if proposal.flights:
        _draw_advice(page)
    if brand.contact:
        _draw_contact(page, brand.contact)
    if proposal.sources:
        _draw_heading(page, "Sources")
        for source in proposal.sources:
            page.write_block(source, 8, colour=GREY)
    return BuiltPdf(bytes(page.output() or b""), page.pages_count, any(left_out))


def _make_showable(thing: Any, left_out: list[bool]) -> Any:
    """A copy in which every text can be shown by the shipped typefaces."""
    if isinstance(thing, str):
        clean = clean_text(thing)
        text = "".join(c for c in clean if c in "\n " + _JOINERS or _find_face(c))
        left_out.append(text != clean)
        return text
    if isinstance(thing, tuple):
        return tuple(_make_showable(part, left_out) for part in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return replace(thing, **{f.name: _make_showable(getattr(thing, f.name), left_out) for f in fields(thing)})
    return thing


def _list_texts(thing: Any) -> Iterator[str]:
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from _list_texts(part)
    elif is_dataclass(thing):
        for f in fields(thing):
            yield from _list_texts(getattr(thing, f.name))


class _PdfPage(FPDF):
    """The document; fpdf2 calls `header` and `footer` on every page."""

    def __init__(self, proposal: Proposal, brand: Brand) -> None:
        super().__init__(format=brand.paper, unit="mm")
        self.proposal, self.brand = proposal, brand
        self.colours: Palette = build_palette(brand.accent)
        self.set_margins(MARGIN, SLIM_BAND + 8, MARGIN)
        self.c_margin = 0.0
        self.set_auto_page_break(True, FOOT + 4)
        for style, file in FACES.items():
            self.add_font(FAMILY, style, FOLDER / file)
        texts = list(_list_texts((proposal, brand)))
        more = list_fallbacks([*texts, "\u2192"])
        for name in more:
            self.add_font(name, "", FOLDER / f"{name}.ttf")
        self.set_fallback_fonts(more, exact_match=False)
        self.set_text_shaping(needs_shaping(texts))
        self.set_title(proposal.title)
        self.set_author(brand.name)
        self.set_creator(settings().service_name)
        self.set_lang("en")
        self.set_creation_date(proposal.made_at)

    def header(self) -> None:
        if self.proposal.sandbox:
            _draw_watermark(self)  # beneath what is written
        height = BAND if self.page_no() == 1 else SLIM_BAND
        self.set_fill_color(*self.colours.ground)
        self.rect(0, 0, self.w, height, style="F")
        if self.page_no() == 1:
            _draw_masthead(self)
            self.set_y(BAND + 10)
        else:
            self.set_xy(MARGIN, 3)
            words = _cut_to_width(self, f"{self.brand.name}  \u00b7  {self.proposal.title}", self.epw, 9)
            self.write_block(words, 9, colour=self.colours.on_ground)
            self.set_y(SLIM_BAND + 8)

    def footer(self) -> None:
        self.set_auto_page_break(False)
        self.set_draw_color(*RULE)
        self.line(MARGIN, self.h - FOOT, self.w - MARGIN, self.h - FOOT)
        self.set_y(1.5 - FOOT)
        line = _cut_to_width(self, f"{self.brand.name}  \u00b7  {_format_day(self.proposal.made_at)}", self.epw - 40, 8)
        self.write_block(line, 8, colour=GREY)
        # fpdf2 inserts the number of pages at the end, so the width is measured with a placeholder.
        self.set_xy(self.w - MARGIN - self.get_string_width(f"Page {self.page_no()} of 9"), 1.5 - FOOT)
        self.write_block(f"Page {self.page_no()} of {{nb}}", 8, colour=GREY)
        self.set_auto_page_break(True, FOOT + 4)

    def write_block(
        self,
        text: str,
        size: float,
        *,
        bold: bool = False,
        colour: Rgb = INK,
        width: float = 0,
        align: str = "L",
        link: str | None = None,
    ) -> None:
        """A paragraph from where the pen stands; the pen then stands below it, at the same left edge."""
        self.set_font(FAMILY, "B" if bold else "", size)
        self.set_text_color(*colour)
        side = Align.R if is_right_to_left(text) else Align[align]
        height = size * _MM * LINE
        wide = width or self.epw
        self.multi_cell(wide, height, text, align=side, new_x=XPos.LEFT, new_y=YPos.NEXT, link=link or "")

    def height_of(self, text: str, size: float, width: float, *, bold: bool = False) -> float:
        self.set_font(FAMILY, "B" if bold else "", size)
        height = self.multi_cell(width, size * _MM * LINE, text, dry_run=True, output=MethodReturnValue.HEIGHT)
        return float(height) if isinstance(height, (int, float)) else 0.0

    def room(self, height: float) -> bool:
        """Whether so much fits above the foot of this page."""
        return self.get_y() + height <= self.h - FOOT - 4


def _format_day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _cut_to_width(page: FPDF, text: str, width: float, size: float) -> str:
    """The text in one line, its end cut off where it is too long."""
    text = " ".join(text.split())
    page.set_font(FAMILY, "", size)
    if page.get_string_width(text) <= width:
        return text
    fits, over = 0, len(text)
    while over - fits > 1:
        middle = (fits + over) // 2
        fits, over = (middle, over) if page.get_string_width(text[:middle] + "...") <= width else (fits, middle)
    return text[:fits].rstrip() + "..."


def _draw_masthead(page: _PdfPage) -> None:
    """The band of the first page: the logo on a ground that shows it, the name and what the advisor says below."""
    x, brand = MARGIN, page.brand
    if brand.logo is not None:
        scale = min(LOGO[0] / brand.logo.width, LOGO[1] / brand.logo.height)
        width, height = brand.logo.width * scale, brand.logo.height * scale
        page.set_fill_color(*(INK if is_pale(brand.logo) else WHITE))
        page.rect(x, (BAND - height) / 2 - 2.5, width + 5, height + 5, style="F", round_corners=True, corner_radius=2)
        page.image(brand.logo, x + 2.5, (BAND - height) / 2, width, height, alt_text=brand.name)
        x += width + 12
    room = page.w - MARGIN - x
    size = next((s for s in (20, 16, 13) if _measure_width(page, brand.name, s) <= room), 11)
    tall = min(page.height_of(brand.name, size, room, bold=True), BAND - 8)
    page.set_xy(x, (BAND - tall - (5.5 if brand.tagline else 0)) / 2)
    colour = page.colours.on_ground
    page.write_block(brand.name, size, bold=True, colour=colour, width=room)
    if brand.tagline:
        page.set_x(x)
        page.write_block(_cut_to_width(page, brand.tagline, room - 3, 9.5), 9.5, colour=colour, width=room)


def _measure_width(page: _PdfPage, text: str, size: float) -> float:
    page.set_font(FAMILY, "B", size)
    return page.get_string_width(text) + 2


def _draw_watermark(page: _PdfPage) -> None:
    page.set_font(FAMILY, "B", 42)
    page.set_text_color(*GREY)
    wide = page.get_string_width(WATERMARK)
    with page.local_context(fill_opacity=0.12), page.rotation(52, page.w / 2, page.h / 2):
        page.text(page.w / 2 - wide / 2, page.h / 2 + 5, WATERMARK)


def _draw_opening(page: _PdfPage) -> None:
    proposal = page.proposal
    page.write_block(proposal.title, 22, bold=True)
    page.ln(1)
    client = f"Prepared for {proposal.client}  \u00b7  " if proposal.client else ""
    page.write_block(f"{client}{_format_day(proposal.made_at)}", 10, colour=GREY)
    if proposal.sandbox:
        page.ln(2)
        words = "Invented data for testing: these are not real flights, prices or seats."
        page.write_block(words, 9.5, bold=True, colour=(176, 32, 32))
    page.ln(4)
    for paragraph in proposal.summary.split("\n"):
        if paragraph.strip():
            page.write_block(paragraph.strip(), 10.5)
            page.ln(2)


def _draw_heading(page: _PdfPage, text: str) -> None:
    if not page.room(32):
        page.add_page()
    page.ln(5)
    page.write_block(text, 13, bold=True, colour=page.colours.writing)
    page.ln(1.5)


def _draw_flight(page: _PdfPage, flight: FlightLine) -> None:
    """A card: the day and who flies, the two ends with their times and the way between, who sells it; the price."""
    inner = page.epw - 2 * _PAD
    wide, price = inner * 0.64, inner * 0.32
    end, between = wide * 0.27, wide * 0.46
    colour = page.colours.writing
    columns = {
        "head": (0.0, wide, "L", [(flight.day, 10.0, True, colour), (flight.flown, 9.0, False, GREY)]),
        "from": (0.0, end, "L", [(flight.ends[0], 17.0, True, INK), (flight.times[0], 10.0, False, INK)]),
        "between": (end, between, "C", [(flight.flown_more, 8.0, False, GREY)]),
        "to": (wide - end, end, "R", [(flight.ends[1], 17.0, True, INK), (flight.times[1], 10.0, False, INK)]),
        "sold": (0.0, wide, "L", [(flight.program, 10.0, True, INK), (flight.program_more, 8.0, False, GREY)]),
        "price": (inner - price, price, "R", [(flight.price, 12.5, True, INK), (flight.price_more, 8.0, False, GREY)]),
    }
    tall = {
        name: sum(page.height_of(text, size, width, bold=bold) for text, size, bold, _ in lines if text)
        for name, (_, width, _, lines) in columns.items()
    }
    slip = max(tall["from"], tall["to"], tall["between"] + _LINE_AT)
    height = max(tall["head"] + slip + tall["sold"] + 2 * _GAP, tall["price"]) + 2 * _PAD
    if not page.room(height + 3):
        page.add_page()
    top = page.get_y()
    page.set_draw_color(*RULE)
    page.rect(MARGIN, top, page.epw, height, style="D", round_corners=True, corner_radius=3)
    rows = {"head": 0.0, "price": 0.0, "sold": tall["head"] + slip + 2 * _GAP}
    for name, (x, width, align, lines) in columns.items():
        y = rows.get(name, tall["head"] + _GAP) + (_LINE_AT if name == "between" else 0)
        page.set_xy(MARGIN + _PAD + x, top + _PAD + y)
        for text, size, bold, ink in lines:
            if text:
                page.write_block(text, size, bold=bold, colour=ink, width=width, align=align)
    if flight.ends[1]:
        y = top + _PAD + tall["head"] + _GAP + _LINE_AT - 1
        page.set_draw_color(*colour)
        page.set_dash_pattern(dash=0.7, gap=1.1)
        page.line(MARGIN + _PAD + end + 2, y, MARGIN + _PAD + end + between - 2, y)
        page.set_dash_pattern()
    page.set_xy(MARGIN, top + height + 3)


def _draw_notes(page: _PdfPage) -> None:
    _draw_heading(page, "What the points cost")
    for note in page.proposal.notes:
        if not page.room(18):
            page.add_page()
        page.write_block(note.heading, 10.5, bold=True)
        for line in note.lines:
            page.write_block(line, 9.5)
        page.ln(2.5)


def _draw_advice(page: _PdfPage) -> None:
    """The warning, on a ground of its own with a bar of the brand's colour."""
    inner = page.epw - 12
    tall = page.height_of("Before you transfer", 10, inner, bold=True) + page.height_of(ADVICE, 9.5, inner) + 8
    if not page.room(tall + 4):
        page.add_page()
    page.ln(4)
    top = page.get_y()
    page.set_fill_color(*page.colours.tint)
    page.rect(MARGIN, top, page.epw, tall, style="F")
    page.set_fill_color(*page.colours.writing)
    page.rect(MARGIN, top, 1.6, tall, style="F")
    page.set_xy(MARGIN + 7, top + 4)
    page.write_block("Before you transfer", 10, bold=True, colour=page.colours.writing, width=inner)
    page.set_x(MARGIN + 7)
    page.write_block(ADVICE, 9.5, width=inner)
    page.set_xy(MARGIN, top + tall)


def _draw_contact(page: _PdfPage, contact: Sequence[ContactLine]) -> None:
    """How to reach the advisor, one way a line, kept together."""
    if not page.room(16 + 6 * len(contact)):
        page.add_page()
    _draw_heading(page, "Your advisor")
    for line in contact:
        page.write_block(f"{line.label}: {line.text}" if line.label else line.text, 10, link=line.link)
