"""Which rules apply to a stay and to a single line."""

from shared.domain.folio.model import Bill, FolioLine, FolioStay, Rule
from shared.domain.folio.stay import find_stay_type_on

BY_LINE = ("charged", "conversion")  # these checks use the stay type of each line, not of the whole stay


def find_tier(rule: Rule, stay: FolioStay) -> str | None:
    """The guest's tier; a Guest of Honor has the benefits of the Globalist who gave the stay."""
    return "globalist" if stay.guest_of_honor and rule.chain == "hyatt" else stay.tier


def applies_to_stay(rule: Rule, stay: FolioStay, bill: Bill) -> bool:
    """Chain, tier, country, words and hotel fit; the stay type is tested line by line."""
    if rule.chain not in ("any", stay.chain) or (rule.tiers and find_tier(rule, stay) not in rule.tiers):
        return False
    if rule.country and stay.in_us is not (rule.country == "US"):
        return False
    if (rule.whole_stay or rule.check not in BY_LINE) and _classify_stay(rule, stay) not in rule.stay_types:
        return False
    return _has_words(rule, bill)


def _classify_stay(rule: Rule, stay: FolioStay) -> str:
    """The type of the whole stay: a mixed one counts as paid, for rules about stays without any paid night."""
    return "cash" if stay.mixed and rule.whole_stay else stay.stay_type


def is_sure(rule: Rule, bill: Bill) -> bool:
    """Whether the bill itself states the rule's conditions."""
    return rule.sure_text is None or rule.sure_text.search(_join_words(bill)) is not None


def _join_words(bill: Bill) -> str:
    return "\n".join((bill.header, *(x.folded for x in bill.lines)))


def _has_words(rule: Rule, bill: Bill) -> bool:
    words = _join_words(bill)
    if rule.only_text and not rule.only_text.search(words):
        return False
    if rule.only_hotel and not rule.only_hotel.search(bill.hotel):
        return False
    if rule.unless_text and rule.unless_text.search(words):
        return False
    return not (rule.unless_hotel and rule.unless_hotel.search(bill.hotel))


def applies_to_line(rule: Rule, line: FolioLine, stay: FolioStay) -> bool:
    """Whether the rule applies to a line, on one of its nights."""
    if line.kind not in rule.line_kinds or (rule.unless_line and rule.unless_line.search(line.folded)):
        return False
    return rule.whole_stay or find_stay_type_on(stay, line.day) in rule.stay_types
