"""The shop that a statement's text names, without the processor, store number and town around it.

A shop is known as a chain, or because the person said once what it is; of that a keyed hash of its name is kept.
"""

import hmac
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_MAX_WORDS = 6
_MIN_TICKET_LETTERS = 4
_UNCHANGED = str.maketrans({"ø": "o", "æ": "ae", "ł": "l", "ı": "i", "đ": "d"})  # letters that have no accent to drop
_APOSTROPHES = re.compile("['’`]")
_WORD = re.compile(r"[a-z0-9&+]+")
_PROCESSOR = re.compile(r"^[^*]{1,12}\*+")  # SQ *, PY *, SUMUP *: whom the money went through
_HOW_PAID = re.compile(
    r"^(?:(?:pos|debit|credit|card|visa|mastercard|contactless|purchase|achat|cb|compra|kauf)\b[ :-]*)+"
)
# An airline is billed as its name, cut after eight letters where it is long, and the number of a ticket.
SHOP_MARK_BYTES = 16
_BREAK = re.compile(r"""[\s*#/:,;|<>()\[\]{}"=]+""")
_NUMBER_AT_END = re.compile(r"(?<=\D)\d{3,}$")
_LONG_NUMBER = re.compile(r"\W*\d{5,}\W*")
_TICKET = re.compile(r"^(?:([a-z ]+?) ?\d{13}|([a-z]{8}) \d{4,13})\b")


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_UNCHANGED))
    return _APOSTROPHES.sub("", "".join(c for c in plain if not unicodedata.combining(c)))


def _fold_words(text: str) -> list[str]:
    return _WORD.findall(_fold(text))


def name_shop(description: str) -> str:
    """The shop's everyday name, in any script: text after a store, card or ticket number is cut.

    Empty where a line names none. The name of a name is itself.
    """
    paid_to = _PROCESSOR.sub("", _HOW_PAID.sub("", description.lower()))
    named: list[str] = []
    for word in _BREAK.split(paid_to or description.lower()):
        if not any(c.isalnum() for c in word) or (not named and _LONG_NUMBER.fullmatch(word)):
            continue
        if named and any(c.isdigit() for c in word):
            break
        named.append(_NUMBER_AT_END.sub("", word))
        if named[-1] != word or len(named) == _MAX_WORDS:
            break
    return " ".join(named) if any(c.isalpha() for word in named for c in word) else ""


def mark_shop(shop: str, key: str) -> bytes:
    """A keyed hash of the name; its blanks, accents and capitals say nothing."""
    name = "".join(c for c in _fold(shop) if c.isalnum())
    return hmac.digest(key.encode(), f"shop|{name}".encode(), "sha256")[:SHOP_MARK_BYTES]


@dataclass(frozen=True)
class TaughtShops:
    """What a person said of shops: categories by mark, under each key of the service that may have made it."""

    keys: tuple[str, ...] = ()
    categories: Mapping[bytes, str] = field(default_factory=dict)

    def learn(self, shops: Mapping[str, str]) -> "TaughtShops":
        """A copy with these too; an empty category deletes the shop."""
        categories = dict(self.categories)
        for shop, category in shops.items():
            for mark in self._mark(name_shop(shop)):
                categories.pop(mark, None)
            if category:
                categories[mark_shop(name_shop(shop), self.keys[0])] = category
        return TaughtShops(self.keys, categories)

    def find(self, description: str) -> str | None:
        """The category of the shop that the description starts with; the longest taught name wins."""
        if not self.categories:
            return None
        words = name_shop(description).split()
        names = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        marks = (mark for name in names for mark in self._mark(name))
        return next((self.categories[mark] for mark in marks if mark in self.categories), None)

    def _mark(self, shop: str) -> Iterator[bytes]:
        return (mark_shop(shop, key) for key in self.keys)


class ChainFinder:
    """Finds chains by the first words of a description; the longest name wins."""

    def __init__(self, chains: Iterable[tuple[str, str]]) -> None:
        self.categories: Mapping[str, str] = {"".join(_fold_words(name)): category for name, category in chains}
        self.airlines = [name for name, category in self.categories.items() if category == "airfare"]

    def find(self, description: str) -> str | None:
        """The category of the chain; None where none is named at the beginning."""
        paid_to = _HOW_PAID.sub("", description)
        texts = dict.fromkeys((description, paid_to, _PROCESSOR.sub("", paid_to)))
        return next((category for text in texts if (category := self._find_at_start(text))), None)

    def _find_at_start(self, text: str) -> str | None:
        words = _fold_words(text)[:_MAX_WORDS]
        for count in range(len(words), 0, -1):
            if category := self.categories.get("".join(words[:count])):
                return category
        ticket = _TICKET.match(" ".join(words))
        name = (ticket[1] or ticket[2]).replace(" ", "") if ticket else ""
        is_airline = len(name) >= _MIN_TICKET_LETTERS and any(airline.startswith(name) for airline in self.airlines)
        return "airfare" if is_airline else None
