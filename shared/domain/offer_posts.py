"""Posts about offers: programmes, kind, percentage and dates of a post, and whether a recent one says the same."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shared.domain import names
from shared.domain.parsing.dates import find_days_of_year
from shared.domain.parsing.text import fold

Verdict = Literal["duplicate", "new", "unsure"]
MAX_POST_CHARACTERS = 4_000  # the rest of a longer post is ignored
_MAX_NAME_WORDS = 7  # words
_DUPLICATE_SCORE, _UNSURE_SCORE = 0.75, 0.45

# The first match decides the kind, so specific patterns come before general ones.
_POINTS = r"(?:points?|miles|avios)"
_KINDS = {
    "status_match": r"status (?:match|challenge|fast.?track)|match (?:your|of) status|elite status (?:offer|for)",
    "welcome_bonus": r"(?:welcome|sign.?up|new.?card\w*|intro\w*) (?:bonus|offer)|new cardmember",
    "transfer_bonus": r"transfer\w*[^.]*\b(?:bonus|extra)|bonus[^.]*\btransfer"
    r"|\d+ ?% (?:more|extra|bonus)[^.]*\b(?:transfer|convert)\w*",
    "points_sale": rf"\b(?:buy|buying|purchase|purchasing|sells?|selling)\b[^.]*{_POINTS}"
    rf"|{_POINTS} (?:on )?sale|sale (?:of|on) {_POINTS}",
    "award_sale": r"(?:award|reward|redemption) (?:flight |seat )?(?:sale|discount|promo\w*)|promo (?:rewards?|awards?)"
    r"|% off (?:award|reward|redemption)|(?:award|reward)s? (?:flights? )?(?:at|from) \d+ ?% off",
    "earning_bonus": rf"(?:double|triple|quadruple|bonus|extra|\dx) {_POINTS}|earn (?:up to )?[\d,]+",
    "price_change": r"devaluation|new award chart|award chart change|price(?:s)? (?:rise|increase|go up)",
}
_FROM_TO = re.compile(r"\d ?%[^.]*\b(?:bonus|extra|more)\b[^.]*\b(?:to|into)\b")  # "40% bonus Amex to Flying Blue"
_PERCENT = re.compile(r"(\d{1,3}) ?(?:%|per ?cent\b)")


@dataclass(frozen=True)
class OfferPost:
    """The understood part of a post. Each programme is given with all its name can mean."""

    programs: tuple[frozenset[str], ...]
    kind: str | None
    percents: frozenset[int]
    days: frozenset[tuple[int, int]]  # month, day
    words: frozenset[str]


@dataclass(frozen=True)
class PostMatch:
    verdict: Verdict
    index: int | None
    confidence: float


def find_programs(text: str, meanings: Mapping[str, tuple[str, ...]]) -> list[frozenset[str]]:
    """The programmes named in a text, longest names first. A code of two letters counts in capitals only."""
    capitals = set(re.findall(r"\b[A-Z0-9]{2}\b", text))
    words = names.normalize_name(text[:MAX_POST_CHARACTERS]).split()
    mentions: list[frozenset[str]] = []
    at = 0
    while at < len(words):
        for size in range(min(_MAX_NAME_WORDS, len(words) - at), 0, -1):
            name = " ".join(words[at : at + size])
            if name in meanings and (len(name) > 2 or name.upper() in capitals):
                mentions.append(frozenset(meanings[name]))
                at += size
                break
        else:
            at += 1
    # Each once; a shared name adds nothing next to one of its programmes.
    exact = {m for m in mentions if len(m) == 1}
    return [m for m in dict.fromkeys(mentions) if len(m) == 1 or not any(e & m for e in exact)]


def read_post(text: str, programs: Sequence[frozenset[str]]) -> OfferPost:
    plain = " ".join(text[:MAX_POST_CHARACTERS].lower().split())
    kind = next((k for k, pattern in _KINDS.items() if re.search(pattern, plain)), None)
    if kind is None and len(programs) > 1 and _FROM_TO.search(plain):
        kind = "transfer_bonus"
    percents = frozenset(int(p) for p in _PERCENT.findall(plain))
    return OfferPost(
        tuple(programs),
        kind,
        percents,
        frozenset(find_days_of_year(fold(plain))),
        frozenset(names.normalize_name(plain).split()),
    )


def _covers_programs(some: OfferPost, other: OfferPost) -> bool:
    """Whether every programme of one is among the other's."""
    return all(any(s & o for o in other.programs) for s in some.programs)


def _compare_figures(a: frozenset[object], b: frozenset[object]) -> int:
    """1 if both share a figure, -1 if they differ, 0 if one has none."""
    if not a or not b:
        return 0
    return 1 if a & b else -1


def rate_likeness(new: OfferPost, old: OfferPost) -> float:
    """How certain it is that two posts are about the same offer: the same programmes, kind, percentage and last day."""
    # The share of words two posts have in common.
    alike = len(new.words & old.words) / len(new.words | old.words) if new.words | old.words else 0.0
    figures = _compare_figures(new.percents, old.percents), _compare_figures(new.days, old.days)
    if alike >= 0.9 and -1 not in figures and _covers_programs(new, old) and _covers_programs(old, new):
        return 0.99
    if not new.programs or not old.programs or new.kind is None or old.kind is None:
        return min(0.7, alike)  # without programmes and kind of both posts, words by themselves never decide
    if new.kind != old.kind or not (_covers_programs(new, old) or _covers_programs(old, new)):
        return 0.05 + 0.2 * alike
    same = 0.62 + 0.18 * figures[0] + 0.12 * figures[1] + 0.1 * alike
    return min(0.98, max(0.1, same - 0.1 * (-1 in figures)))


def judge_post(new: OfferPost, recent: Sequence[OfferPost]) -> PostMatch:
    """The recent post most like the new one; of equals the newest, which comes first."""
    scores = [rate_likeness(new, old) for old in recent]
    if not scores:
        return PostMatch("new", None, 1.0)
    best = max(scores)
    at = scores.index(best)
    if best >= _DUPLICATE_SCORE:
        return PostMatch("duplicate", at, round(best, 2))
    if best >= _UNSURE_SCORE:
        return PostMatch("unsure", at, round(best, 2))
    return PostMatch("new", None, round(1 - best, 2))
