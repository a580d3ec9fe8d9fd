"""Transfer routes for results: steps with their sources, ratios by card, and warnings."""

from collections.abc import Sequence
from datetime import date

from mcp_server.toolkit import NO_DATA, Call, NoDataWord, Part
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import program_name
from mcp_server.views.cards import find_catalogue_slug
from shared.db.cards import list_open_slugs
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.transfers import POSTING, Edge, Network, TransferPath
from shared.errors import NotFound
from shared.reference.reference import Reference
from shared.reference.transfer_rates import describe_all_rates, describe_rates


class RunningBonus(Part):
    percent: int
    starts_on: date | None
    ends_on: date
    targeted: bool


class RatioByCard(Part):
    """A ratio and the cards that give it."""

    cards: list[str]
    ratio_from: float
    ratio_to: float


class Step(Verified):
    from_program: str
    to_program: str
    ratio_from: float
    ratio_to: float
    bonus_percent: int | None
    posting_time: str | NoDataWord
    increment: int | None
    minimum: int | None
    ratios_by_card: list[RatioByCard]


class TransferRoute(Part):
    steps: list[Step]
    hops: int
    effective_ratio: float
    source_points: int | None
    delivered_points: int | None
    leftover: int | None
    slowest_posting_time: str | NoDataWord
    bonus_ends_on: date | None
    warnings: list[str]


def read_routes(call: Call, cards: Sequence[str] | None = None) -> Network:
    """Today's routes at the ratios of the named cards, else of the saved ones."""
    if cards is not None:
        return call.reference.routes(call.today, [_find_card(call, name) for name in cards])
    return call.reference.routes(call.today, list_open_slugs(call.db, call.today))


def _find_card(call: Call, name: str) -> str:
    """Raises Candidates and NotFound."""
    slug = find_catalogue_slug(call, name, saves=False)
    if slug is None:
        raise NotFound("card", name, [])
    return slug


def list_rates(edge: Edge) -> list[RatioByCard]:
    return [
        RatioByCard(cards=list(r.cards), ratio_from=float(r.ratio_from), ratio_to=float(r.ratio_to)) for r in edge.rates
    ]


def posting_time(edge: Edge) -> str | NoDataWord:
    return edge.posting_text or (edge.posting if edge.posting != "unknown" else NO_DATA)


def _list_warnings(reference: Reference, path: TransferPath) -> list[str]:
    steps = {e: f"{program_name(reference, e.source)} to {program_name(reference, e.target)}" for e in path.edges}
    warnings = [words for e in path.edges if (words := describe_rates(reference, e))]
    if path.points_stranded:
        stranded = pluralize(path.points_stranded, "point")
        warnings.append(f"Left behind on the way, because transfers go in fixed blocks: {stranded}.")
    warnings += [
        f"{steps[e]} has a targeted bonus of {e.bonus.percent}%, not counted here: only members who were"
        " offered it get it."
        for e in path.edges
        if e.bonus and e.bonus.targeted
    ]
    if "unknown" in (e.posting for e in path.edges):
        warnings.append("How long a step takes is not known.")
    warnings += [f"{steps[e]} costs a fee: {e.fee}." for e in path.edges if e.fee]
    warnings += [
        f"{steps[e]} gives {e.step_bonus:,} extra for each {e.step:,} points sent at once."
        for e in path.edges
        if e.step
    ]
    if path.amounts and any(e.increment is None for e in path.edges):
        warnings.append("Minimum and block size of a step are not known: it may take a few points more.")
    elif path.amounts and any((e.block_source or "").startswith("general knowledge") for e in path.edges):
        warnings.append("Minimums and block sizes are general knowledge and not audited.")
    warnings += [f"{steps[e]} is capped: {e.cap}." for e in path.edges if e.cap]
    warnings += [f"{steps[e]}: low confidence." for e in path.edges if e.confidence == "low"]
    return warnings


def to_transfer_route(reference: Reference, path: TransferPath, needed: int | None) -> TransferRoute:
    """`needed` is the number of points wanted at the end, from which the leftover is counted."""
    return TransferRoute(
        steps=[
            Step(
                from_program=e.source,
                to_program=e.target,
                ratio_from=float(e.ratio_from),
                ratio_to=float(e.ratio_to),
                bonus_percent=e.bonus.percent if e.bonus and not e.bonus.targeted else None,
                posting_time=posting_time(e),
                increment=e.increment,
                minimum=e.minimum,
                ratios_by_card=list_rates(e),
                **describe_verified(e),
            )
            for e in path.edges
        ],
        hops=len(path.edges),
        effective_ratio=round(float(path.ratio), 6),
        source_points=path.source_points,
        delivered_points=path.points_delivered,
        leftover=path.points_delivered - needed if path.points_delivered is not None and needed else None,
        slowest_posting_time=path.slowest if path.slowest != "unknown" else NO_DATA,
        bonus_ends_on=path.bonus_ends_on,
        warnings=_list_warnings(reference, path),
    )


def describe_paths(reference: Reference, start: str, goal: str, paths: Sequence[TransferPath]) -> str:
    """The message of a search for paths, cheapest first; `start` and `goal` are names."""
    best, between = paths[0], [program_name(reference, e.target) for e in paths[0].edges[:-1]]
    route = f"{start} to {goal}" + (f" through {' and '.join(between)}" if between else "")
    cost = f"{float(best.ratio):g} for 1"
    if best.source_points:
        cost = f"send {pluralize(best.source_points, 'point')}, {best.points_delivered:,} arrive"
    others = len(paths) - 1
    more = f" {pluralize(others, 'dearer way')} in paths." if others else ""
    # A sentence for each bonus that is counted.
    sentences = [
        f"{route}: {cost}{' at once' if best.slowest == POSTING[0] else ''}.{more}",
        *_describe_faster(reference, paths),
        *describe_all_rates(reference, best.edges, names_route=len(best.edges) > 1),
        *[
            f"Counted with the bonus of {edge.bonus.percent}% to {program_name(reference, edge.target)}, "
            + (f"which ends on {format_day(edge.bonus.ends_on)}." if edge.bonus.ends_on else "offered to you.")
            for edge in best.edges
            if edge.bonus and not edge.bonus.targeted
        ],
        "Transfers cannot be undone: confirm the seats first.",
    ]
    return " ".join(sentences)


def _describe_faster(reference: Reference, paths: Sequence[TransferPath]) -> list[str]:
    """The cheapest instant path, if the cheapest of all is not: a seat can go while points are on their way."""
    if paths[0].slowest == POSTING[0]:
        return []
    instant = next((p for p in paths if p.slowest == POSTING[0]), None)
    if instant is None:
        return ["None of them is instant, so a seat may be gone in the meantime."]
    price = f"sends {pluralize(instant.source_points, 'point')}" if instant.source_points else "gives"
    price += "" if instant.source_points else f" {float(instant.ratio):g} for 1"
    through = [program_name(reference, e.target) for e in instant.edges[:-1]]
    return [f"The cheapest that is instant {price}{' through ' + ' and '.join(through) if through else ''}."]
