"""Transfers between programmes: partners, paths, and the bonuses and sales that run today."""

import re
from collections import defaultdict
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import at_most
from mcp_server.toolkit.provenance import (
    Verified,
    describe_verified,
    find_last_check,
    find_newest_date,
)
from mcp_server.toolkit.wording import list_program_names, program_name, tell_rows
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
from shared.domain.transfers import Bonus, Edge, Network, find_dead_ends, find_paths
from shared.errors import Fault, Invalid, NoData
from shared.reference.ages import find_page_day
from shared.reference.points_purchase import find_sale_price
from shared.reference.rows.transfers import PointsSale, TransferBonus
from shared.reference.transfer_rates import describe_all_rates, describe_rates, list_card_names

# Past transfer bonuses of each route for results: what was seen and when.


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
            bonuses=[SeenBonus.from_row(b) for b in bonuses],
        )
        for (source, target), bonuses in sorted(bonuses_by_pair.items(), key=lambda item: (-len(item[1]), item[0]))
        if (text := describe_pattern(bonuses))
    ]


MAX_PATHS = 8
MOST_BONUS = 200  # percent
MAX_RATES_IN_MESSAGE = 1
Cards = Annotated[
    list[Annotated[str, Field(max_length=120)]],
    Field(max_length=20, description="Cards held; absent: the saved."),
]
_CATEGORIES = {  # by the words that name one: "transfer_bonus", "points sales"
    **dict.fromkeys(("transfer", "transfers", "bonus", "bonuses"), "transfer"),
    **dict.fromkeys(("points", "miles", "buy", "sale", "sales"), "points"),
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
    """A route that is not sure, or whose ratio is not; `note` says why. Nothing counts with it."""

    program: str
    name: str
    ratio_from: float | None
    ratio_to: float | None
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
        bonus=bonus and RunningBonus.from_row(bonus),
        region=edge.region,
        note=edge.note,
        **describe_verified(edge),
    )


@tool("transfers", Tier.FREE, Effect.READS, "List transfer partners", condenses=True)
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
    resolved = call.find_own_bank(program)
    routes = read_routes(call, cards)
    if direction == "from":
        pairs = [(e, e.target) for e in routes.get(resolved.slug, ())]
    else:
        pairs = [(e, e.source) for edges in routes.values() for e in edges if e.target == resolved.slug]
    way = "go to" if direction == "from" else "come from"
    running = [(e, other) for e, other in pairs if e.bonus]
    worth = {slug: program.value_usd_cents or 0 for slug, program in call.reference.programs.items()}
    best = sorted(pairs, key=lambda p: (p[0].bonus is None, -worth.get(p[1], 0) * Decimal(float(p[0].yields)), p[1]))
    names = (f"{program_name(call.reference, p)} {float(e.ratio_from):g}:{float(e.ratio_to):g}" for e, p in best)
    partners = tell_rows(len(pairs), "programme known here", names, "programmes known here")
    counts = f"{name_points(resolved.name)} {way} {partners if pairs else 'no programme known here.'}"
    counts += f" {len(running) or 'None'} with a bonus today."
    doubtful = [] if bonus_only else _list_doubtful(call, resolved.slug, direction)
    if doubtful:
        counts += f" Not counted, because in doubt: {', '.join(r.name for r in doubtful)}."
    shown_pairs = sorted(running if bonus_only else pairs, key=lambda p: p[1])
    return TransferPartners(
        message=" ".join([counts, *_describe_cards(call, [e for e, _ in shown_pairs])]),
        program=resolved.slug,
        partners=[_to_partner(call, e, other) for e, other in shown_pairs],
        doubtful=doubtful,
    )


def _list_doubtful(call: Call, slug: str, direction: str) -> list[DoubtfulRoute]:
    rows = call.reference.list_doubtful_routes(call.today)
    pairs = [(r, r.to_program if direction == "from" else r.from_program) for r in rows]
    return [
        DoubtfulRoute(
            program=other,
            name=call.reference.programs[other].name,
            ratio_from=None if row.ratio_from is None else float(row.ratio_from),
            ratio_to=None if row.ratio_to is None else float(row.ratio_to),
            region=row.region,
            note=row.note,
            **describe_verified(row),
        )
        for row, other in pairs
        if slug == (row.from_program if direction == "from" else row.to_program)
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


@tool("transfers", Tier.FREE, Effect.READS, "Find transfer routes", screen="transfer-paths", condenses=True)
def find_transfer_paths(
    call: Call,
    from_program: str,
    target_program: str,
    points_needed: Annotated[int | None, Field(ge=1, description="Points to arrive.")] = None,
    max_hops: Annotated[int, Field(ge=1, le=3)] = 3,
    cards: Cards | None = None,
    bonus_percent: Annotated[int | None, Field(ge=1, description="Offered to the user."), at_most(MOST_BONUS)] = None,
) -> TransferPaths:
    """Finds how to transfer, move or convert points between programmes.

    For "Can I get Chase points to Delta?" With bonuses, ratio, time and points to send. Free.
    """
    start, goal = call.find_own_bank(from_program), call.find_program(target_program)
    if start.slug == goal.slug:
        raise Invalid(Fault("target_program", "is the programme the points are in", "another programme"))
    network = read_routes(call, cards)
    if bonus_percent is not None:
        network = _add_bonus(network, start.slug, goal.slug, bonus_percent)
    paths = find_paths(network, start.slug, goal.slug, points_needed, max_hops)
    is_direct = any(len(path.edges) == 1 for path in paths)
    in_doubt = not is_direct and any(r.program == goal.slug for r in _list_doubtful(call, start.slug, "from"))
    doubt = " A direct one is in doubt, so it is not counted." if in_doubt else ""
    if not paths:
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
        message=describe_paths(call.reference, start.name, goal.name, paths) + doubt,
        paths=routes,
        shortest=to_transfer_route(call.reference, min(paths, key=lambda p: len(p.edges)), points_needed),
        total_found=len(paths),
        checked_on=find_last_check(edge for path in paths[:MAX_PATHS] for edge in path.edges),
    )


def _add_bonus(network: Network, start: str, goal: str, percent: int) -> Network:
    """The routes with a bonus that the person was offered, in place of one that is known. Raises Invalid without a
    direct route."""
    edges = network.get(start, ())
    if not any(edge.target == goal for edge in edges):
        raise Invalid(Fault("bonus_percent", "is of a transfer that is not known here", "a direct transfer"))
    offered = Bonus(percent, None, None, targeted=False)
    return {**network, start: [replace(e, bonus=offered) if e.target == goal else e for e in edges]}


def _find_earlier_bonuses(row: TransferBonus, rows: list[TransferBonus]) -> tuple[bool | None, date | None]:
    """Whether it is the best bonus in 24 months, and when the previous one ended; None without earlier ones."""
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
    return BonusOffer.from_row(
        row,
        effective_ratio=round(float(ratio), 6),
        ratio_note=describe_rates(call.reference, edge),
        starts_on=row.valid_from,
        ends_on=row.valid_to,
        days_left=(row.valid_to - call.today).days,
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


def _to_sale(call: Call, row: PointsSale) -> SaleOffer:
    cents, currency = find_sale_price(call.reference, row)
    return SaleOffer.from_row(
        row,
        cents_per_point=cents,
        currency=currency,
        ends_on=row.valid_to,
        days_left=(row.valid_to - call.today).days,
        **describe_verified(row),
    )


@tool("transfers", Tier.FREE, Effect.READS, "Show bonuses and sales")
def whats_on_sale(
    call: Call,
    category: Annotated[
        str | None, Field(max_length=40, description="transfer (bonuses), points (sales) or all, the default.")
    ] = None,
) -> OnSale:
    """Lists bonuses and promotions on now: transfer bonuses and sales of points, and which suit the user.

    For "Any bonus on at the moment?" When each ends and was checked. Free.
    """
    named = {_CATEGORIES.get(word) for word in re.split(r"[ _-]+", (category or "").strip().lower())}
    kind = named.pop()
    if kind is None or named:
        raise Invalid(Fault("category", "is not a category", "transfer, points or all"))
    bonuses = _find_bonuses(call) if kind != "points" else []
    sales = []
    if kind != "transfer":
        sales = [_to_sale(call, r) for r in call.reference.rows("points_sales.csv") if r.is_valid(call.today)]
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
