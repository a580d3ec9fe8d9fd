"""Everyday names of the catalogue's cards: each leads to its card, and to no sister where the card is missing."""

import re

import pytest

from shared.domain.cards import match_card
from shared.reference.load import reference

CARDS = list(reference().cards.values())
SHORT = {"American Express": "Amex", "Bank of America": "BofA"}


def list_names(name: str, issuer: str) -> set[str]:
    """A name as people say it: without the country and the word card, short, and next to its bank."""
    plain = re.sub(r"\(.*?\)|\b(?:credit )?card\b", "", name, flags=re.I)
    short = plain.replace(issuer, SHORT.get(issuer, issuer))
    return {" ".join(text.split()) for text in (plain, short, f"{issuer} {plain.replace(issuer, '')}")}


@pytest.mark.parametrize("country", ["US", "GB", "CA", "AU"])
def test_a_card_is_found_by_each_of_its_names_or_asked_for_and_a_missing_one_by_none(country: str) -> None:
    wrong: list[tuple[str, str, str | None, str | None]] = []
    for card in (card for card in CARDS if card.country == country):
        rest = [other for other in CARDS if other is not card and other.country == country]
        for text in list_names(card.name, card.issuer):
            found, sister = match_card(text, CARDS, country).exact, match_card(text, rest, country).exact
            if found not in (None, card.slug) or sister:
                wrong.append((text, card.slug, found, sister))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "country", "slug"),
    [("virgin reward", "US", "uk-virgin-reward"), ("Venture", "CA", "us-capital-one-venture")],
)
def test_a_word_of_a_card_abroad_is_no_slip_of_one_at_home(text: str, country: str, slug: str) -> None:
    assert match_card(text, CARDS, country).candidates[0].slug == slug
