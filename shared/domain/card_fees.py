"""An annual fee compared with what its card brought in a year: keep the card, change it, or close it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.party_prices import format_amount


@dataclass(frozen=True)
class FeeReview:
    """Amounts of the last twelve months in the currency of the fee. None: unknown.

    `cheaper`: cards of the same issuer and points with a smaller fee, the smallest first.
    """

    fee: Decimal
    currency: str
    credits_used: Decimal | None
    earned: Decimal | None
    cheaper: Sequence[str]

    @property
    def brought(self) -> Decimal | None:
        amounts = [amount for amount in (self.credits_used, self.earned) if amount is not None]
        return sum(amounts, Decimal(0)) if amounts else None

    def describe(self) -> str:
        """`In 12 months: credits of 140 USD marked used, points worth about 160 USD, 25 USD less than the fee.`"""
        if self.brought is None:
            figures = "What it brought is not known: no credit is marked used, no statement of it imported."
        else:
            parts = [
                "no credit marked used"
                if self.credits_used is None
                else f"credits of {format_amount(self.credits_used, self.currency)} marked used",
                "points not known without a statement"
                if self.earned is None
                else f"points worth about {format_amount(self.earned, self.currency)}",
            ]
            gap = self.brought - self.fee
            than = f"{format_amount(abs(gap), self.currency)} {'more' if gap >= 0 else 'less'} than the fee"
            extent = "" if None not in (self.credits_used, self.earned) else ", as far as known"
            figures = f"In 12 months: {', '.join(parts)}; {than}{extent}."
        change = f", ask to change it to {self.cheaper[0]}" if self.cheaper else ""
        return f"{figures} Keep it{change} or close it before."
