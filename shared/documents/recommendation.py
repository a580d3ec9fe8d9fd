"""An advisor's document before it is laid out: its brand, and a proposal with its flights, notes and sources."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from PIL import Image

from shared.documents.colours import Rgb

Paper = Literal["A4", "Letter"]


@dataclass(frozen=True)
class ContactLine:
    """One way to reach the advisor, and what opens when it is clicked."""

    label: str
    text: str
    link: str | None = None


@dataclass(frozen=True)
class Brand:
    name: str
    tagline: str | None
    accent: Rgb
    logo: Image.Image | None
    contact: tuple[ContactLine, ...] = ()
    paper: Paper = "A4"


@dataclass(frozen=True)
class FlightLine:
    """One flight: its ends with their times, its day, who flies it, and what it costs; `_more` stands small beneath."""

    ends: tuple[str, str]  # one is empty where only the flight's numbers are known
    times: tuple[str, str]
    day: str
    flown: str
    flown_more: str
    program: str
    program_more: str
    price: str
    price_more: str


@dataclass(frozen=True)
class Footnote:
    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    title: str
    client: str | None
    made_at: datetime
    summary: str
    flights: tuple[FlightLine, ...]
    notes: tuple[Footnote, ...]
    sources: tuple[str, ...]
    sandbox: bool
