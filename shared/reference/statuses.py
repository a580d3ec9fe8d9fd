"""Elite tiers, earning schemes and status runs of a programme, built from the facts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from shared import clock
from shared.domain import status_tiers
from shared.domain.earning import EarningBand, FlownLeg, Method, Metric, Scheme
from shared.domain.offers import find_state
from shared.domain.status_runs import Run
from shared.domain.status_tiers import Ladder, StatusTier
from shared.errors import Ambiguity, Candidates
from shared.reference.reference import Reference
from shared.reference.rows.earning import StatusMatch
from shared.reference.rows.fact import build_from

# Programmes whose earning can be computed, in the order of the catalogue.
COUNTING_RULES: dict[str, tuple[Metric, Method]] = {
    "british-airways-club": ("tier_points", "revenue"),
    "flying-blue": ("xp", "fixed_by_distance"),
    "american-airlines-aadvantage": ("loyalty_points", "revenue"),
}
ANY_TIER = ""


def build_ladder(reference: Reference, program: str) -> Ladder:
    """The tiers a programme has today, from the lowest up; empty if none are known."""
    return _build_ladder(reference, program, clock.today())


@lru_cache(maxsize=128)
def _build_ladder(reference: Reference, program: str, on: date) -> Ladder:
    tiers = (r for r in reference.rows("elite_tiers.csv") if r.program == program and r.is_valid(on))
    rows = sorted(tiers, key=lambda r: r.rank)
    resets = any("deducted" in (r.period or "") for r in rows)
    return Ladder(program, tuple(map(_build_tier, rows)), resets)


def _build_tier(row: Any) -> StatusTier:
    ways = status_tiers.parse_ways(row.ways or ([f"{row.metric}:{row.threshold}"] if row.threshold else []))
    return build_from(
        StatusTier,
        row,
        name=row.tier,
        threshold=row.threshold if row.threshold or not row.rank else None,
        ways=ways,
        keep_ways=status_tiers.parse_ways(row.keep_ways) or ways,
    )


def list_metrics(reference: Reference, program: str) -> list[str]:
    """Every counter used by a programme's tiers, in tier order."""
    tiers = build_ladder(reference, program).tiers
    ways = (way for tier in tiers for way in (*tier.ways, *tier.keep_ways))
    return list(dict.fromkeys(requirement.metric for way in ways for requirement in way))


def match_tier(reference: Reference, program: str, text: str) -> str:
    """The tier a loose name means, or the text itself if no tiers are known. Raises Candidates with the tiers."""
    steps = build_ladder(reference, program)
    if not steps.tiers:
        return text.strip()
    tiers = status_tiers.match_tiers(steps, text)
    if len(tiers) == 1:
        return tiers[0]
    name = reference.programs[program].name
    sentence = f"{text} can mean {len(tiers)} tiers" if tiers else f"{text} is no tier"
    candidates = [{"tier": t} for t in tiers or steps.names]
    which = Ambiguity.of_names(f"tier of {name}", text, [step["tier"] for step in candidates])
    raise Candidates(f"{sentence} of {name}; call again with one of the tiers listed.", candidates, which)


def judge_match(
    reference: Reference, offer: StatusMatch, tiers_held: Mapping[str, str], on: date
) -> Literal["yes", "no", "unknown"]:
    """Whether a match offer takes one of the tiers held (programme -> tier); unknown if it may have ended.

    An offer that takes only tiers of airlines refuses those of hotels, whichever airlines it takes.
    """
    fits = {p: t for p, t in tiers_held.items() if offer.from_kind in (None, reference.programs[p].kind)}
    if tiers_held and not fits:
        return "no"
    answer = status_tiers.check_eligibility(offer.from_programs, offer.from_tiers, fits)
    return "unknown" if answer == "yes" and find_state(offer, on) == "past" else answer


@lru_cache(maxsize=8)
def build_scheme(reference: Reference, program: str) -> Scheme | None:
    """How a programme counts flights on its own airlines towards status; None if unknown."""
    if program not in COUNTING_RULES:
        return None
    metric, method = COUNTING_RULES[program]
    rules = [r for r in reference.rows("status_earning_rules.csv") if r.program == program]
    tiers = set(build_ladder(reference, program).names)
    revenue = [r for r in rules if r.rule == "revenue"]
    return Scheme(
        program=program,
        metric=metric,
        method=method,
        currency=reference.programs[program].home_currency,
        per_unit={r.key if r.key in tiers else ANY_TIER: Decimal(r.value) for r in revenue},
        base_tier=next((r.key for r in revenue if r.key == "Member"), ANY_TIER),
        extras={(r.key, r.cabin): int(r.value) for r in rules if r.rule == "bonus_per_segment"},
        bands=_build_bands(reference, program),
    )


def _build_bands(reference: Reference, program: str) -> tuple[EarningBand, ...]:
    cabins: dict[tuple[str, int | None, int | None], dict[str, int]] = defaultdict(dict)
    for row in reference.rows("elite_flying_blue_xp.csv"):
        if row.program == program:
            band_cabin = "premium" if row.cabin == "premium_economy" else row.cabin
            cabins[row.band, row.min_miles, row.max_miles][band_cabin] = row.xp_per_segment
    return tuple(EarningBand(*key, points) for key, points in cabins.items())


def list_scheme_facts(reference: Reference, program: str) -> list[Any]:
    """The rows behind a scheme, for their sources."""
    rules = [r for r in reference.rows("status_earning_rules.csv") if r.program == program]
    bands = [r for r in reference.rows("elite_flying_blue_xp.csv") if r.program == program]
    return bands or [r for r in rules if r.rule in ("revenue", "bonus_per_segment")]


def build_legs(reference: Reference, stops: Sequence[str]) -> list[FlownLeg]:
    """The flights of a routing. Raises NotFound."""
    ends = [reference.airport(stop) for stop in stops]
    return [
        FlownLeg(
            miles=reference.miles(start.code, end.code),
            domestic=start.country == end.country,
            european=start.continent == end.continent == "EU",
        )
        for start, end in pairwise(ends)
    ]


def list_runs(reference: Reference, program: str) -> list[Run]:
    """The known round trips on the programme's own airlines."""
    own = reference.programs[program].iata
    return [
        Run(r.slug, r.carrier, tuple(r.routing.split("-")), r.cabin)
        for r in reference.rows("status_run_routes.csv")
        if r.program == program and r.carrier in own
    ]
