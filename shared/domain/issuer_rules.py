"""Rules of issuers on who gets a card or its bonus, compared with the cards a person keeps.

The rules are told, not known: most stand in no terms. A comparison says what was counted, never what an issuer decides.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, Protocol, get_args

from shared.domain.dates import add_months, format_day
from shared.domain.plurals import pluralize

# opened_any: cards of all issuers opened in the time; opened_issuer: those of this one; open_issuer: open ones of it;
# bonus_card: a bonus of the same card; bonus_family: of one of the cards named; had_card: any of those named was held;
# held_issuer: a card of the issuer was open in the time.
Kind = Literal["opened_any", "opened_issuer", "open_issuer", "bonus_card", "bonus_family", "had_card", "held_issuer"]
KINDS: tuple[str, ...] = get_args(Kind)
COUNTING = ("opened_any", "opened_issuer", "open_issuer")
Applies = Literal["yes", "no", "unknown"]


class IssuerRule(Protocol):
    @property
    def issuer(self) -> str: ...
    @property
    def country(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def cards(self) -> tuple[str, ...]: ...
    @property
    def blockers(self) -> tuple[str, ...]: ...
    @property
    def personal_only(self) -> bool: ...
    @property
    def limit(self) -> int | None: ...
    @property
    def months(self) -> int | None: ...
    @property
    def days(self) -> int | None: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class OwnCard:
    """A card a person has or had. Of one outside the catalogue issuer and segment are unknown."""

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
    """`count` cards were counted since `since`; of `undated` more it is not known."""

    applies: Applies
    count: int
    since: date | None
    undated: int = 0


def find_start(rule: IssuerRule, today: date) -> date | None:
    """The first day a rule looks back to; None: it looks at all time."""
    if rule.days is not None:
        return today - timedelta(days=rule.days)
    return None if rule.months is None else add_months(today, -rule.months)


def check_rule(rule: IssuerRule, slug: str, own: Collection[OwnCard], today: date) -> RuleCheck:
    """Compares a rule with the cards kept, for the card that is to be opened."""
    since = find_start(rule, today)
    if rule.kind in COUNTING:
        return _count_cards(rule, own, since, today)
    if rule.kind == "held_issuer":
        recent = [c for c in _select_issuer(rule, own) if c.closed_on is None or since is None or c.closed_on >= since]
        return RuleCheck("yes" if recent else "no", len(recent), since)
    slugs = (slug,) if rule.kind == "bonus_card" else rule.blockers or rule.cards
    cards = [c for c in own if c.slug in slugs]
    if rule.kind == "had_card":
        return RuleCheck("yes" if cards else "no", len(cards), since)
    return _check_bonuses(cards, since)


def _select_issuer(rule: IssuerRule, own: Iterable[OwnCard]) -> list[OwnCard]:
    return [
        c
        for c in own
        if (c.issuer, c.country) == (rule.issuer, rule.country) and not (rule.personal_only and c.segment == "business")
    ]


def _count_cards(rule: IssuerRule, own: Collection[OwnCard], since: date | None, today: date) -> RuleCheck:
    limit = rule.limit or 1
    if rule.kind == "opened_any":
        cards = [c for c in own if not (rule.personal_only and c.segment == "business")]
    else:
        cards = _select_issuer(rule, own)
    if rule.kind == "open_issuer":
        count = sum(c.is_open(today) for c in cards)
        return RuleCheck("yes" if count >= limit else "no", count, None)
    count = sum(c.opened_on is not None and (since is None or c.opened_on >= since) for c in cards)
    undated = sum(c.opened_on is None for c in cards)
    applies: Applies = "yes" if count >= limit else "unknown" if count + undated >= limit else "no"
    return RuleCheck(applies, count, since, undated)


def _check_bonuses(cards: Collection[OwnCard], since: date | None) -> RuleCheck:
    """A bonus that was paid counts by its day; a card held without that mark may have had one."""
    paid = [c for c in cards if c.bonus_earned]
    dated = [c for c in paid if since is None or (c.bonus_earned_on is not None and c.bonus_earned_on >= since)]
    if dated:
        return RuleCheck("yes", len(dated), since)
    open_ends = [c for c in cards if not c.bonus_earned or c.bonus_earned_on is None]
    return RuleCheck("unknown" if open_ends else "no", 0, since, len(open_ends))


def describe_check(rule: IssuerRule, check: RuleCheck) -> str:
    """`You opened 5 cards since 22 Nov 2024. Chase usually declines ..., as told.`"""
    since = f" since {format_day(check.since)}" if check.since else ""
    words = {
        "opened_any": f"You opened {pluralize(check.count, 'card')}{since}",
        "opened_issuer": f"You opened {pluralize(check.count, 'card')} of {rule.issuer}{since}",
        "open_issuer": f"You hold {pluralize(check.count, 'card')} of {rule.issuer}",
        "held_issuer": f"You had {pluralize(check.count, 'card')} of {rule.issuer}{since}",
        "had_card": f"You have or had {pluralize(check.count, 'such card')}",
        "bonus_card": f"Its bonus is marked as paid to you{since}",
        "bonus_family": f"Such a bonus is marked as paid to you{since}",
    }
    if check.applies == "yes":
        return f"{words[rule.kind]}: {rule.text}."
    if check.applies == "unknown":
        missing = f"{pluralize(check.undated, 'card')} kept here without the day that decides"
        return f"{rule.text}. Not checked: {missing}."
    return f"{rule.text}."
