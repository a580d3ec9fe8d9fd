"""Rules of issuers on who gets a card or its bonus, compared with a person's cards.

The rules are hearsay: most are in no terms. A comparison says what was counted, never what an issuer decides.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal, get_args

from shared.domain.dates import add_months, format_day
from shared.domain.plurals import pluralize

# opened_any: cards of all issuers opened in the period; opened_issuer: those of this one; open_issuer: open ones of it;
# opened_card: the same card was opened in the time, held_card: it was open, bonus_card: its bonus was paid;
# open_card: one of the cards named is open; had_card: it was ever held; bonus_family: its bonus was paid;
# held_issuer: a card of the issuer was open in the time. Blockers take the place of the same card or of those named.
Kind = Literal[
    "opened_any",
    "opened_issuer",
    "opened_card",
    "open_issuer",
    "open_card",
    "bonus_card",
    "bonus_family",
    "had_card",
    "held_card",
    "held_issuer",
]
KINDS: tuple[str, ...] = get_args(Kind)
COUNTING = ("opened_any", "opened_issuer", "open_issuer")
_LIMITED = (*COUNTING, "opened_card", "open_card")  # one such card is too many without another limit
_OF_THE_SAME_CARD = ("bonus_card", "held_card", "opened_card")
Applies = Literal["yes", "no", "unknown"]
Refused = Literal["card", "bonus"]


@dataclass(frozen=True)
class IssuerRule:
    """`cards`: those it is about, `*` all cards of the issuer in the country."""

    issuer: str
    country: str
    kind: str
    cards: tuple[str, ...]
    blockers: tuple[str, ...]  # the cards that prevent it, where they are not those of `cards`
    personal_only: bool
    limit: int | None
    months: int | None
    days: int | None
    text: str


@dataclass(frozen=True)
class OwnCard:
    """A card a person has or had. Outside the catalogue, issuer and segment are unknown."""

    slug: str | None
    issuer: str | None
    country: str | None
    segment: str | None
    opened_on: date | None
    closed_on: date | None
    bonus_earned: bool
    bonus_earned_on: date | None

    def is_open(self, today: date) -> bool:
        return self.closed_on is None or self.closed_on > today


@dataclass(frozen=True)
class RuleCheck:
    """`count` cards were counted since `since`; for `undated` more it is unknown.

    `leaves`: the days on which counted cards stop counting, in order; cards without such a day are left out.
    `free_on`: the first day on which the rule allows the card or its bonus; None: allowed today, or no day is known.
    """

    applies: Applies
    count: int
    since: date | None
    undated: int = 0
    leaves: tuple[date, ...] = ()
    free_on: date | None = None


@dataclass(frozen=True)
class Eligibility:
    """What the reported rules refuse a person, and the first day on which none of them does.

    `free_on` None with something refused: no such day is known, as with once-in-a-lifetime bonuses.
    """

    refused: Refused | None
    free_on: date | None


ALLOWED = Eligibility(None, None)


def judge(checks: Iterable[tuple[IssuerRule, RuleCheck]]) -> Eligibility:
    """Sums up the rules that apply. Those with a limit of cards refuse the card, the others its bonus."""
    applying = [(rule, check) for rule, check in checks if check.applies == "yes"]
    if not applying:
        return ALLOWED
    days = [check.free_on for _, check in applying if check.free_on is not None]
    refuses_card = any(rule.limit is not None for rule, _ in applying)
    return Eligibility("card" if refuses_card else "bonus", max(days) if len(days) == len(applying) else None)


def find_start(rule: IssuerRule, today: date) -> date | None:
    """The first day a rule looks back to; None: at all time."""
    if rule.days is not None:
        return today - timedelta(days=rule.days)
    return None if rule.months is None else add_months(today, -rule.months)


def _find_day_out(rule: IssuerRule, day: date) -> date | None:
    """The first day on which the rule no longer reaches back to this day; None: it always does."""
    if rule.days is not None:
        return day + timedelta(days=rule.days + 1)
    if rule.months is None:
        return None
    out = add_months(day, rule.months)
    while add_months(out, -rule.months) <= day:  # months differ in length
        out += timedelta(days=1)
    return out


def check_rule(rule: IssuerRule, slug: str, own: Collection[OwnCard], today: date) -> RuleCheck:
    """Compares a rule with the person's cards, for the card to open."""
    check = _count(rule, slug, own, find_start(rule, today), today)
    limit = (rule.limit or 1) if rule.kind in _LIMITED else 1
    beyond = check.count - limit  # this many must go to get back to the limit
    if check.applies != "yes" or beyond >= len(check.leaves):
        return check
    return replace(check, free_on=check.leaves[beyond])


def _count(rule: IssuerRule, slug: str, own: Collection[OwnCard], since: date | None, today: date) -> RuleCheck:
    cards = _select_cards(rule, slug, own)
    if rule.kind in ("opened_any", "opened_issuer", "opened_card"):
        return _count_opened(rule, cards, since)
    if rule.kind in ("open_issuer", "open_card"):
        cards = [c for c in cards if c.is_open(today)]
        ends = sorted(c.closed_on for c in cards if c.closed_on is not None)
        return RuleCheck("yes" if len(cards) >= (rule.limit or 1) else "no", len(cards), None, leaves=tuple(ends))
    if rule.kind in ("held_card", "held_issuer"):
        recent = [c for c in cards if c.closed_on is None or since is None or c.closed_on >= since]
        ends = _sort_leaves(rule, [c.closed_on for c in recent])
        return RuleCheck("yes" if recent else "no", len(recent), since, leaves=tuple(ends))
    if rule.kind == "had_card":
        return RuleCheck("yes" if cards else "no", len(cards), since)
    return _check_bonuses(rule, cards, since)


def _select_cards(rule: IssuerRule, slug: str, own: Iterable[OwnCard]) -> list[OwnCard]:
    """The cards that a rule counts."""
    if rule.kind == "opened_any":
        at_home = [c for c in own if c.country in (None, rule.country)]  # credit bureaus do not know cards from abroad
        return [c for c in at_home if not (rule.personal_only and c.segment == "business")]
    if rule.kind in ("opened_issuer", "open_issuer", "held_issuer"):
        of_issuer = [c for c in own if (c.issuer, c.country) == (rule.issuer, rule.country)]
        return [c for c in of_issuer if not (rule.personal_only and c.segment == "business")]
    slugs = rule.blockers or ((slug,) if rule.kind in _OF_THE_SAME_CARD else rule.cards)
    return [c for c in own if c.slug in slugs]


def _sort_leaves(rule: IssuerRule, days: Iterable[date | None]) -> list[date]:
    return sorted(out for day in days if day is not None and (out := _find_day_out(rule, day)) is not None)


def _count_opened(rule: IssuerRule, cards: Sequence[OwnCard], since: date | None) -> RuleCheck:
    limit = rule.limit or 1
    days = [c.opened_on for c in cards if c.opened_on is not None and (since is None or c.opened_on >= since)]
    undated = sum(c.opened_on is None for c in cards)
    applies: Applies = "yes" if len(days) >= limit else "unknown" if len(days) + undated >= limit else "no"
    return RuleCheck(applies, len(days), since, undated, tuple(_sort_leaves(rule, days)))


def _check_bonuses(rule: IssuerRule, cards: Collection[OwnCard], since: date | None) -> RuleCheck:
    """Counts paid bonuses by their day; a card without that mark may have had one."""
    paid = [c for c in cards if c.bonus_earned]
    dated = [c for c in paid if since is None or (c.bonus_earned_on is not None and c.bonus_earned_on >= since)]
    if dated:
        leaves = _sort_leaves(rule, [c.bonus_earned_on for c in dated])
        return RuleCheck("yes", len(dated), since, leaves=tuple(leaves))
    open_ends = [c for c in cards if not c.bonus_earned or c.bonus_earned_on is None]
    return RuleCheck("unknown" if open_ends else "no", 0, since, len(open_ends))


def describe_check(rule: IssuerRule, check: RuleCheck) -> str:
    """`You opened 5 cards since 22 Nov 2024: Chase usually declines ... Possible from 3 Mar 2027.`"""
    since = f" since {format_day(check.since)}" if check.since else ""
    words = {
        "opened_any": f"You opened {pluralize(check.count, 'card')}{since}",
        "opened_issuer": f"You opened {pluralize(check.count, 'card')} of {rule.issuer}{since}",
        "opened_card": f"You opened {pluralize(check.count, 'such card')}{since}",
        "open_issuer": f"You hold {pluralize(check.count, 'card')} of {rule.issuer}",
        "open_card": f"You hold {pluralize(check.count, 'such card')}",
        "held_card": f"You had {pluralize(check.count, 'such card')}{since}",
        "held_issuer": f"You had {pluralize(check.count, 'card')} of {rule.issuer}{since}",
        "had_card": f"You have or had {pluralize(check.count, 'such card')}",
        "bonus_card": f"Its bonus is marked as paid to you{since}",
        "bonus_family": f"Such a bonus is marked as paid to you{since}",
    }
    if check.applies == "yes":
        day = f" Possible from {format_day(check.free_on)}." if check.free_on else ""
        return f"{words[rule.kind]}: {rule.text}.{day}"
    if check.applies == "unknown":
        missing = f"{pluralize(check.undated, 'card')} kept here without the day that decides"
        return f"{rule.text}. Not checked: {missing}."
    return f"{rule.text}."


def describe_refusal(eligibility: Eligibility) -> str:
    """`Not yet: its bonus is refused until 3 Mar 2027.`; empty if nothing is refused."""
    what = {"card": "you would likely be declined", "bonus": "no welcome bonus would be paid"}
    if eligibility.refused is None:
        return ""
    if eligibility.free_on is None:
        return f"Not for you as told: {what[eligibility.refused]}, and no day is known from which that changes."
    return f"Not before {format_day(eligibility.free_on)} as told: until then {what[eligibility.refused]}."
