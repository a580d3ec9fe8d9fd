"""An advisor's brand as sent: untrusted, so each field is checked before it is put in a document."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlsplit

from shared.documents import colours
from shared.documents.recommendation import ContactLine, Paper
from shared.errors import Fault, Invalid
from shared.settings import settings

DEFAULT_ACCENT = "#14424f"
FIELD_LENGTHS = {
    "name": 80,
    "tagline": 160,
    "logo_url": 2000,
    "accent_color": 7,
    "contact": 80,
    "phone": 40,
    "email": 160,
    "web": 200,
    "paper": 6,
}
_MAX_FAULTS = 5  # in one answer
_PAPERS: tuple[Paper, ...] = get_args(Paper)
# Unicode CLDR, supplemental measurement data: the territories whose paper is US Letter; A4 everywhere else.
_LETTER_COUNTRIES = frozenset(["BZ", "CA", "CL", "CO", "CR", "GT", "MX", "NI", "PA", "PH", "PR", "SV", "US", "VE"])
_EMAIL = re.compile(r"[^\s@<>\"?&%]+@[^\s@<>\"?&%]+\.[^\s@<>\"?&%.]+")
_PHONE = re.compile(r"\+?[\d ().\-/]{4,}")
_WEB = re.compile(r"[\w-]+(\.[\w-]+)+(/[^\s\"<>]*)?")


@dataclass(frozen=True)
class BrandSettings:
    """advisor_brand, checked. `paper` is None if not chosen."""

    name: str
    tagline: str | None
    logo_url: str | None
    accent: colours.Rgb
    contact: tuple[ContactLine, ...]
    paper: Paper | None


def choose_paper(country: str | None) -> Paper:
    """The usual paper of a country; A4 if unknown."""
    return "Letter" if country in _LETTER_COUNTRIES else "A4"


def parse_brand(raw_brand: Mapping[str, Any]) -> BrandSettings:
    """Parses it; raises Invalid naming each bad field, such as advisor_brand.email."""
    faults = [fault for name, value in raw_brand.items() if (fault := _find_fault(name, value))]
    texts = {name: " ".join(value.split()) for name, value in raw_brand.items() if isinstance(value, str)}
    links = {name: _find_link(name, texts[name]) for name in ("phone", "email", "web") if texts.get(name)}
    faults += [Fault(f"advisor_brand.{n}", f"is no {_KINDS[n][0]}", _KINDS[n][1]) for n in links if links[n] is None]
    accent = texts.get("accent_color") or DEFAULT_ACCENT
    try:
        colour = colours.parse_colour(accent)
    except ValueError:
        faults.append(Fault("advisor_brand.accent_color", "is not a hex colour", "a hex colour such as #14424f"))
    paper = next((p for p in _PAPERS if p.casefold() == texts.get("paper", "").casefold()), None)
    if texts.get("paper") and paper is None:
        faults.append(Fault("advisor_brand.paper", "is no size of paper known here", "A4 or Letter"))
    if faults:
        raise Invalid(*faults[:_MAX_FAULTS])
    contact = [ContactLine("", texts["contact"])] if texts.get("contact") else []
    contact += [ContactLine(name.capitalize(), texts[name], link) for name, link in links.items()]
    return BrandSettings(
        texts.get("name") or settings().service_name,
        texts.get("tagline") or None,
        texts.get("logo_url") or None,
        colour,
        tuple(contact),
        paper,
    )


_KINDS = {
    "phone": ("telephone number", "digits such as +44 20 7946 0000"),
    "email": ("mail address", "an address such as name@example.com"),
    "web": ("web address", "an address such as www.example.com"),
}


def _find_fault(name: str, value: Any) -> Fault | None:
    if name not in FIELD_LENGTHS:
        key = "".join(c if c.isprintable() else "?" for c in name[:60])
        return Fault(f"advisor_brand.{key}", "is not a field of a brand", f"one of {', '.join(FIELD_LENGTHS)}")
    most = FIELD_LENGTHS[name]
    if value is not None and not (isinstance(value, str) and len(value) <= most):
        return Fault(f"advisor_brand.{name}", "is not text, or is too long", f"text up to {most} letters")
    return None


def _find_link(name: str, text: str) -> str | None:
    """The target of a click; None if the text is no link."""
    if name == "email":
        return f"mailto:{text}" if _EMAIL.fullmatch(text) else None
    if name == "phone":
        digits = re.sub(r"[^\d+]", "", text)
        return f"tel:{digits}" if _PHONE.fullmatch(text) and len(digits) >= 4 else None
    address = text if urlsplit(text).scheme in ("http", "https") else f"https://{text}"
    return address if _WEB.fullmatch(address.partition("://")[2]) else None
