"""What a person set for every call: arguments that are left out, and the airlines they avoid and prefer."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from shared.domain.plurals import pluralize

# Parameters of tools by name, and the profile setting that fills each when a call leaves it out.
SETTINGS = {
    "cabin": "default_cabin",
    "cabin_class": "default_cabin",
    "passengers": "default_passengers",
    "guests": "default_passengers",
    "origin": "home_airport",
    "home_airport": "home_airport",
    "departure": "home_airport",
    "currency": "currency",
    "cash_rate_currency": "currency",
    "spend_currency": "currency",
    "taxes_currency": "currency",
}
# Airlines named in the call count, whatever the profile says of others.
AIRLINE_PARAMETERS = ("airline", "airlines", "operating_airline", "partner_airline")
_WORDS: dict[str, Callable[[Any], str]] = {
    "default_cabin": lambda cabin: f"in {cabin.replace('_', ' ')}",
    "default_passengers": lambda number: f"for {number}",
    "home_airport": lambda code: f"from {code}",
    "currency": lambda code: f"in {code}",
}
Offer = TypeVar("Offer")


@dataclass
class AirlineTaste:
    """Airlines by code. `left_out` counts the offers of each that were left out of one answer."""

    preferred: frozenset[str] = frozenset()
    avoided: frozenset[str] = frozenset()
    left_out: Counter[str] = field(default_factory=Counter)

    def choose(self, offers: Iterable[Offer], airlines: Callable[[Offer], Iterable[str]] | None = None) -> list[Offer]:
        """Drops and counts offers of avoided airlines; puts preferred airlines first.

        A later sort keeps them first among equals.
        """
        list_airlines: Callable[[Any], Iterable[str]] = airlines or (lambda offer: (offer.airline,))
        chosen_offers = []
        for offer in offers:
            if code := next((code for code in list_airlines(offer) if code in self.avoided), None):
                self.left_out[code] += 1
            else:
                chosen_offers.append(offer)
        return sorted(chosen_offers, key=lambda offer: self.preferred.isdisjoint(list_airlines(offer)))


def describe_left_out(left_out: Mapping[str, int], names: Mapping[str, str]) -> str:
    """`4 offers of British Airways and 2 of United left out, as your profile says.`; empty where none was."""
    counts = [(count, names.get(code, code)) for code, count in sorted(left_out.items())]
    parts = [f"{pluralize(n, 'offer') if at == 0 else n} of {name}" for at, (n, name) in enumerate(counts)]
    return f" {' and '.join(parts)} left out, as your profile says." if parts else ""


def describe_settings(settings: Sequence[tuple[str, Any]]) -> str:
    """`In business for 2, as your profile says.`; empty without settings."""
    words = " ".join(dict.fromkeys(_WORDS[setting](value) for setting, value in settings))
    return f" {words[0].upper()}{words[1:]}, as your profile says." if words else ""
