"""The chain that a statement's text names, whatever the processor, the number of the store and the town around it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

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
_TICKET = re.compile(r"^(?:([a-z ]+?) ?\d{13}|([a-z]{8}) \d{4,13})\b")


def _fold_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_UNCHANGED))
    return _WORD.findall(_APOSTROPHES.sub("", "".join(c for c in plain if not unicodedata.combining(c))))


class ChainFinder:
    """Finds chains by the words a description begins with; the longest name wins."""

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
