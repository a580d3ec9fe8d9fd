"""Transfers between programmes: partners, paths, and the bonuses and sales that run today."""

from collections import defaultdict
from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import (
    Verified,
    describe_verified,
    find_last_check,
    find_newest_date,
)
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, NoDataWord, Part, Result
from mcp_server.toolkit.wording import list_program_names
from mcp_server.views.transfers import (
    RatioByCard,
    RunningBonus,
    TransferRoute,
    describe_paths,
    list_rates,
    posting_time,
    read_routes,
    to_transfer_route,
)
from shared.db.balances import load_balances
from shared.domain.bonus_patterns import PastBonus, describe_pattern
from shared.domain.dates import format_iso_day
from shared.domain.plurals import name_points, pluralize
from shared.domain.transfers import Edge, find_dead_ends, find_paths
from shared.errors import Fault, Invalid, NoData
from shared.reference.ages import find_page_day
from shared.reference.points_purchase import find_sale_price
from shared.reference.rows import PointsSale, TransferBonus
from shared.reference.transfer_rates import describe_all_rates, describe_rates, list_card_names

# Past transfer bonuses of each route as results show them: what was seen and when.


class SeenBonus(Part):
    percent: int
    starts_on: date | None
    ends_on: date


class BonusPattern(Part):
    from_program: str
    to_program: str
    pattern: str
    bonuses: list[SeenBonus]


def list_bonus_patterns(call: Call) -> list[BonusPattern]:
    """Routes that are open today and had at least two bonuses so far, the most frequent first."""
    routes = call.reference.routes(call.today)
    pairs = {(edge.source, edge.target) for edges in routes.values() for edge in edges}
    bonuses_by_pair: dict[tuple[str, str], list[PastBonus]] = defaultdict(list)
    for row in call.reference.rows("transfer_bonuses.csv"):
        pair = (row.from_program, row.to_program)
        if pair in pairs and (row.valid_from or row.valid_to) <= call.today:
            bonuses_by_pair[pair].append(PastBonus(row.bonus_percent, row.valid_from, row.valid_to))
    return [
        BonusPattern(
            from_program=source,
            to_program=target,
            pattern=text,
            bonuses=[SeenBonus(percent=b.percent, starts_on=b.starts_on, ends_on=b.ends_on) for b in bonuses],
        )
        for (source, target), bonuses in sorted(bonuses_by_pair.items(), key=lambda item: (-len(item[1]), item[0]))
        if (text := describe_pattern(bonuses))
    ]


MAX_PATHS = 8
MAX_RATES_IN_MESSAGE = 2
Cards = Annotated[
    list[Annotated[str, Field(max_length=120)]],
    Field(max_length=20, description="Cards held; absent: the saved."),
]
_CATEGORIES = {
    **dict.fromkeys(("transfer", "transfers", "transfer_bonuses", "bonus", "bonuses"), "transfer"),
    **dict.fromkeys(("points", "points_sales", "buy", "buy_points", "sale", "sales"), "points"),
    **dict.fromkeys(("", "all"), "all"),
}


class Partner(Verified):
    program: str
    name: str
    ratio_from: float
    ratio_to: float
    ratios_by_card: list[RatioByCard]
    increment: int | None
    minimum: int | None
    posting_time: str | NoDataWord
    fee: str | None
    bonus: RunningBonus | None
    region: str
    note: str | None


class DoubtfulRoute(Verified):
    """A route that sources disagree about; `note` says why. Nothing counts with it."""

    program: str
    name: str
    ratio_from: float
    ratio_to: float
    region: str
    note: str | None


class TransferPartners(Result):
    program: str
    partners: list[Partner]
    doubtful: list[DoubtfulRoute]


class TransferPaths(Result):
    """`dead_ends`: programmes the points can be sent to, from which they get no further to the target in so many steps.

    `names`: of every programme in the answer, by slug.
    """

    from_program: str
    target_program: str
    points_needed: int | None
    names: dict[str, str]
    dead_ends: list[str]
    paths: list[TransferRoute]
    shortest: TransferRoute | None
    total_found: int
    checked_on: date | None


class BonusOffer(Verified):
    from_program: str
    to_program: str
    bonus_percent: int
    effective_ratio: float
    ratio_note: str | None
    starts_on: date | None
    ends_on: date
    days_left: int
    targeted: bool
    best_in_24_months: bool | None
    last_seen_before: date | None


class SaleOffer(Verified):
    program: str
    bonus_percent: int | None
    discount_percent: Money | None
    cents_per_point: Money | None
    currency: str | None
    ends_on: date
    days_left: int


class OnSale(Result):
    transfer_bonuses: list[BonusOffer]
    points_sales: list[SaleOffer]
    past_patterns: list[BonusPattern]
    for_your_balances: list[str]
    checked_on: date | None


def _to_partner(call: Call, edge: Edge, program: str) -> Partner:
    bonus = edge.bonus
    return Partner(
        program=program,
        name=call.reference.programs[program].name,
        ratio_from=float(edge.ratio_from),
        ratio_to=float(edge.ratio_to),
        ratios_by_card=list_rates(edge),
        increment=edge.increment,
        minimum=edge.minimum,
        posting_time=posting_time(edge),
        fee=edge.fee,
        bonus=bonus
        and RunningBonus(
            percent=bonus.percent, starts_on=bonus.starts_on, ends_on=bonus.ends_on, targeted=bonus.targeted
        ),
        region=edge.region,
        note=edge.note,
        **describe_verified(edge),
    )


@tool(
    title="List transfer partners",
    phrases="Who can send points where? Airline and hotel transfer partners of my bank or card, UK or US",
    area="transfers",
    tier=Tier.FREE,
    effect=Effect.READS,
    condenses=True,
)
def list_transfer_partners(
    call: Call,
    program: str,
    direction: Literal["from", "to"] = "from",
    bonus_only: bool = False,
    cards: Cards | None = None,
) -> TransferPartners:
    """Lists transfer partners and ratios of bank points: Amex, Chase, Citi, Capital One or Bilt to airlines and hotels.

    For "Where can I send my Amex points?" direction to: banks and cards that feed it. Free.
    """
    resolved = call.find_program(program)
    routes = read_routes(call, cards)
    if direction == "from":
        pairs = [(e, e.target) for e in routes.get(resolved.slug, ())]
    else:
        pairs = [(e, e.source) for edges in routes.values() for e in edges if e.target == resolved.slug]
    way = "go to" if direction == "from" else "come from"
    running = [(e, other) for e, other in pairs if e.bonus]
    counts = f"{name_points(resolved.name)} {way} {pluralize(len(pairs), 'programme')} known here;"
    counts += f" {len(running) or 'none'} with a bonus today."
    doubtful = [] if bonus_only else _list_doubtful(call, resolved.slug, direction)
    if doubtful:
        counts += f" Not counted, because sources disagree: {', '.join(r.name for r in doubtful)}."
    shown_pairs = sorted(running if bonus_only else pairs, key=lambda p: p[1])
    return TransferPartners(
        message=" ".join([counts, *_describe_cards(call, [e for e, _ in shown_pairs])]),
        program=resolved.slug,
        partners=[_to_partner(call, e, other) for e, other in shown_pairs],
        doubtful=doubtful,
    )


def _list_doubtful(call: Call, slug: str, direction: str) -> list[DoubtfulRoute]:
    edges = call.reference.list_doubtful_routes(call.today)
    pairs = [(e, e.target if direction == "from" else e.source) for e in edges]
    return [
        DoubtfulRoute(
            program=other,
            name=call.reference.programs[other].name,
            ratio_from=float(e.ratio_from),
            ratio_to=float(e.ratio_to),
            region=e.region,
            note=e.note,
            **describe_verified(e),
        )
        for e, other in pairs
        if slug == (e.source if direction == "from" else e.target)
    ]


def _describe_cards(call: Call, edges: list[Edge]) -> list[str]:
    """Sentences for the routes whose ratio depends on the card; one for all of them where they are many."""
    by_card = [e for e in edges if e.rates]
    if len(by_card) <= MAX_RATES_IN_MESSAGE:
        return describe_all_rates(call.reference, by_card)
    cards = sorted({card for e in by_card for card in e.cards_held})
    counted = (
        f"that of {list_card_names(call.reference, cards, 'and')}, else the lowest"
        if cards
        else "the lowest, because no card is known that decides it"
    )
    return [f"For {len(by_card)} of them the ratio depends on the card (ratios_by_card); counted is {counted}."]


@tool(
    title="Find transfer routes",
    phrases="Can I somehow get points from this programme into that one? Any route, hops",
    area="transfers",
    tier=Tier.FREE,
    effect=Effect.READS,
    screen="transfer-paths",
    condenses=True,
)
def find_transfer_paths(
    call: Call,
    from_program: str,
    target_program: str,
    points_needed: Annotated[int | None, Field(ge=1, description="Points to arrive.")] = None,
    max_hops: Annotated[int, Field(ge=1, le=3)] = 3,
    cards: Cards | None = None,
) -> TransferPaths:
    """Finds how to transfer, move or convert points from one programme to another, direct or in hops.

    For "Can I get Chase points to Delta?" With bonuses, ratio, time and how many points to send so that enough
    arrive. Free.
    """
    start, goal = call.find_program(from_program), call.find_program(target_program)
    if start.slug == goal.slug:
        raise Invalid(Fault("target_program", "is the programme the points are in", "another programme"))
    network = read_routes(call, cards)
    paths = find_paths(network, start.slug, goal.slug, points_needed, max_hops)
    if not paths:
        in_doubt = any(r.program == goal.slug for r in _list_doubtful(call, start.slug, "from"))
        doubt = " Sources disagree whether there is a direct one, so it is not counted." if in_doubt else ""
        raise NoData(
            f"No way from {start.name} to {goal.name} in at most {pluralize(max_hops, 'step')} is known.{doubt}",
            missing=["transfer path"],
        )
    routes = [to_transfer_route(call.reference, p, points_needed) for p in paths[:MAX_PATHS]]
    dead_ends = find_dead_ends(network, start.slug, paths)
    return TransferPaths(
        from_program=start.slug,
        target_program=goal.slug,
        points_needed=points_needed,
        names=list_program_names(
            call.reference, [start.slug, *dead_ends, *(e.target for p in paths[:MAX_PATHS] for e in p.edges)]
        ),
        dead_ends=dead_ends,
        message=describe_paths(call.reference, start.name, goal.name, paths),
        paths=routes,
        shortest=to_transfer_route(call.reference, min(paths, key=lambda p: len(p.edges)), points_needed),
        total_found=len(paths),
        checked_on=find_last_check(edge for path in paths[:MAX_PATHS] for edge in path.edges),
    )


def _find_earlier_bonuses(row: TransferBonus, rows: list[TransferBonus]) -> tuple[bool | None, date | None]:
    """Whether it is the best bonus of 24 months, and when the one before it ended; None without earlier ones."""
    start = row.valid_from or row.valid_to
    since = start - timedelta(days=730)
    same = [r for r in rows if (r.from_program, r.to_program) == (row.from_program, row.to_program)]
    before = [r for r in same if since <= r.valid_to < start]
    if not before:
        return None, None
    return row.bonus_percent >= max(r.bonus_percent for r in before), max(r.valid_to for r in before)


def _to_bonus_offer(call: Call, row: TransferBonus, edge: Edge, rows: list[TransferBonus]) -> BonusOffer:
    best, before = _find_earlier_bonuses(row, rows)
    ratio = edge.ratio_to / edge.ratio_from * (100 + row.bonus_percent) / 100
    return BonusOffer(
        from_program=row.from_program,
        to_program=row.to_program,
        bonus_percent=row.bonus_percent,
        effective_ratio=round(float(ratio), 6),
        ratio_note=describe_rates(call.reference, edge),
        starts_on=row.valid_from,
        ends_on=row.valid_to,
        days_left=(row.valid_to - call.today).days,
        targeted=row.targeted,
        best_in_24_months=best,
        last_seen_before=before,
        **describe_verified(row),
    )


def _find_bonuses(call: Call) -> list[BonusOffer]:
    rows: list[TransferBonus] = list(call.reference.rows("transfer_bonuses.csv"))
    routes = read_routes(call)
    edges = {(e.source, e.target): e for edges_of in routes.values() for e in edges_of}
    running = [
        (row, edges[pair])
        for row in rows
        if (pair := (row.from_program, row.to_program)) in edges and row.is_valid(call.today)
    ]
    return sorted((_to_bonus_offer(call, r, e, rows) for r, e in running), key=lambda o: (o.ends_on, o.from_program))


def _find_sales(call: Call) -> list[SaleOffer]:
    rows: list[PointsSale] = [r for r in call.reference.rows("points_sales.csv") if r.is_valid(call.today)]
    return [_to_sale(call, r) for r in rows]


def _to_sale(call: Call, row: PointsSale) -> SaleOffer:
    cents, currency = find_sale_price(call.reference, row)
    return SaleOffer(
        program=row.program,
        bonus_percent=row.bonus_percent,
        discount_percent=row.discount_percent,
        cents_per_point=cents,
        currency=currency,
        ends_on=row.valid_to,
        days_left=(row.valid_to - call.today).days,
        **describe_verified(row),
    )


@tool(
    area="transfers",
    tier=Tier.FREE,
    effect=Effect.READS,
    title="Show bonuses and sales",
    phrases="Any current transfer or conversion bonus, 30% or so? Anything good to purchase at, did one end",
)
def whats_on_sale(
    call: Call,
    category: Annotated[
        str | None, Field(max_length=40, description="transfer (bonuses), points (sales) or all, the default.")
    ] = None,
) -> OnSale:
    """Lists bonuses and promotions on now: transfer bonuses and sales of points, and which suit the user.

    For "Any bonus on now?" When each ends and was checked. Free.
    """
    kind = _CATEGORIES.get((category or "").strip().lower().replace(" ", "_").replace("-", "_"))
    if kind is None:
        raise Invalid(Fault("category", "is not a category", "transfer, points or all"))
    bonuses = _find_bonuses(call) if kind != "points" else []
    sales = _find_sales(call) if kind != "transfer" else []
    held_programs = {row.program for row in load_balances(call.db).rows}
    on_sale = {o.from_program for o in bonuses} | {o.program for o in sales}
    rows = [*call.reference.rows("transfer_bonuses.csv"), *call.reference.rows("points_sales.csv")]
    message = (
        f"Running today: {pluralize(len(bonuses), 'transfer bonus', 'transfer bonuses')} and"
        f" {pluralize(len(sales), 'points sale')}."
    )
    if not bonuses and not sales:
        newest = find_newest_date(rows)
        until = f" The newest list of offers is of {format_iso_day(newest)}; newer ones may exist." if newest else ""
        message = f"Nothing known is running today.{until}"
    return OnSale(
        message=message,
        transfer_bonuses=bonuses,
        points_sales=sales,
        past_patterns=list_bonus_patterns(call) if kind != "points" else [],
        for_your_balances=sorted(held_programs & on_sale),
        checked_on=max((day for row in rows if (day := find_page_day(row))), default=None),
    )
