"""Classification of a bill's lines: the kind of charge or credit, by the words of the reference data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.folio.text import is_part_cash

# Word lists of the reference data tested before the kinds.
DECIDING = ("payment", "not_payment", "adjustment", "tax", "not_tax", "room_tax")
FOOD = frozenset({"breakfast", "restaurant"})
PARKING = frozenset({"parking_self", "parking_valet"})
_TAXES = {"resort_fee": "resort_fee_tax", "parking_self": "parking_tax", "parking_valet": "parking_tax"}


@dataclass(frozen=True, slots=True)
class LineName:
    """`credit`: its words say that it reduces the bill."""

    kind: str
    subject: str | None = None
    credit: bool = False


@dataclass(frozen=True, slots=True)
class Namer:
    """Classifies lines by the word lists of the reference data, in their order."""

    kinds: Sequence[tuple[str, re.Pattern[str]]]
    words: Mapping[str, re.Pattern[str]]
    abroad: bool

    def kind(self, text: str) -> str | None:
        if is_part_cash(text):
            return "room"  # the part of a night paid with money
        for kind, words in self.kinds:
            if words.search(text):
                if kind == "local_tax":
                    return "city_tax_person" if self.abroad else "room_tax"
                return kind
        return None

    def name(self, text: str, amount: Decimal) -> LineName:
        if amount < 0:
            return self._credit(text)
        if self._is_payment(text):
            return LineName("payment", credit=True)
        if self.words["adjustment"].search(text) and self.kind(text) not in ("cancellation", "fnb_credit"):
            return LineName("adjustment", self._subject(text), credit=True)
        charge = self._charge(text)
        return LineName(charge.kind, charge.subject, credit=charge.kind in ("deposit", "fnb_credit"))

    def _is_payment(self, text: str) -> bool:
        if is_part_cash(text) or self.words["not_payment"].search(text):
            return False
        return self.words["payment"].search(text) is not None

    def _charge(self, text: str) -> LineName:
        if self.words["tax"].search(text) and not self.words["not_tax"].search(text):
            return self._tax(text)
        return LineName(self.kind(text) or "other")

    def _tax(self, text: str) -> LineName:
        """A tax belongs to what it names; one that names nothing belongs to the charge above it."""
        whole = self.kind(text)
        if whole in ("city_tax_person", "room_tax"):
            return LineName(whole, "room")
        subject = self.kind(self.words["tax"].sub(" ", text).strip())
        if subject and subject != "room":
            return LineName(_TAXES.get(subject, "tax"), subject)
        if subject == "room" or self.words["room_tax"].search(text):
            return LineName("room_tax", "room")
        return LineName("tax")

    def _subject(self, text: str) -> str | None:
        """The subject of an adjustment, from its other words."""
        charge = self._charge(self.words["adjustment"].sub(" ", text).strip())
        return None if charge.kind == "other" else charge.kind

    def _credit(self, text: str) -> LineName:
        kind = self.kind(text)
        if kind in ("fnb_credit", "deposit", "walk_compensation"):
            return LineName(kind)
        if self.words["payment"].search(text):
            besides = self.words["payment"].sub(" ", text)
            if not self.words["adjustment"].search(besides):
                return LineName("payment")
        return LineName("adjustment", self._subject(text))
