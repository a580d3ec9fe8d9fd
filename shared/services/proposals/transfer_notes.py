"""Sentences on how a client gets the points for a flight: their worth, transfers, and costly ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from shared.documents.recommendation import Footnote
from shared.domain import transfer_options
from shared.domain.balances import value_balance
from shared.domain.dates import format_day, format_iso_day
from shared.domain.funding import Funds, find_payment
from shared.domain.party_prices import describe_party
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Purse, Way
from shared.domain.transfers import CardRate, Edge
from shared.domain.valuations import value_in_cents
from shared.errors import Refusal
from shared.reference.load import Reference
from shared.reference.rows.programmes import Program
from shared.reference.transfer_rates import list_card_names
from shared.services.proposals.flight_rows import FlightRow

MAX_NOTES = 8
MAX_PARTNERS = 6
DEAR_RATIO = Decimal("0.5")  # points received for one sent
DEAR_FROM = Decimal("1.25")  # points sent are worth this many times those that arrive: valuations differ by less
SHARED_BALANCES = Footnote(
    "All from the same balances",
    ("Each programme is worked out on its own. The same points can be spent only once.",),
)
_SPEEDS = {"instant": "arrives at once", "hours": "takes hours", "days": "takes days"}


@dataclass(frozen=True)
class ProposalClient:
    name: str
    balances: Mapping[str, int]


def find_program(text: str | None, reference: Reference) -> Program | None:
    """Finds the programme; None where the name is unknown here, or means several."""
    try:
        return reference.program(text) if text else None
    except Refusal:
        return None


def build_notes(
    rows: Sequence[FlightRow], client: ProposalClient | None, reference: Reference, today: date
) -> list[Footnote]:
    """Builds notes on each programme of the flights at its lowest price: the worth of the points and how to get them.

    The points are those of the party, if the rows say how many travel.
    """
    lowest: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.points and (program := find_program(row.program, reference)):
            price = (row.points, row.passengers)
            lowest[program.slug] = min(lowest.get(program.slug, price), price)
    notes = []
    for slug, (each, passengers) in list(lowest.items())[:MAX_NOTES]:
        program, points = reference.programs[slug], each * passengers
        lines = [_describe_worth(program, points)] if program.value_usd_cents is not None else []
        lines += (
            _describe_funding(program, points, client, reference, today)
            if client
            else _list_partners(program, reference, today)
        )
        party = f" for {describe_party(passengers)}" if passengers > 1 else " per person"
        notes.append(Footnote(f"{program.name}: {points:,} {program.currency}{party}", tuple(lines)))
    if client and len(notes) > 1:
        notes.append(SHARED_BALANCES)
    return notes


def _describe_worth(program: Program, points: int) -> str:
    amount = value_balance(points, program.value_usd_cents or Decimal(0))
    dated = f" of {format_iso_day(program.as_of)}" if program.as_of else ""
    return f"Worth about {amount:,.0f} USD by published valuations{dated}, an estimate."


def _describe_funding(
    program: Program, points: int, client: ProposalClient, reference: Reference, today: date
) -> list[str]:
    """How this client reaches the points: by the fastest transfers that cover them, else the gap."""
    programs = reference.programs
    purses = [Purse(s, n, programs[s].value_usd_cents) for s, n in client.balances.items() if s in programs]
    ways = transfer_options.find_ways(reference.routes(today), purses, program.slug, points)
    if not ways:
        return [f"None of the balances known to us can become points of {program.name}."]
    if payments := find_payment({program.slug: points}, Funds(reference.routes(today), purses)):
        words = [_describe_way(w, program, reference) for w in payments[program.slug]]
        return words if len(words) == 1 else ["From several balances together:", *words]
    missing = transfer_options.find_shortfall(ways, points)
    return [
        f"{pluralize(missing, 'point')} stay missing even when every balance that can be transferred is.",
        _list_counting_balances(ways, programs),
    ]


def _list_counting_balances(ways: Sequence[Way], programs: Mapping[str, Program]) -> str:
    names = dict.fromkeys(programs[w.purse.program].name for w in ways)
    return f"Balances that count towards it: {', '.join(names)}."


def _describe_way(way: Way, goal: Program, reference: Reference) -> str:
    programs = reference.programs
    source = programs[way.purse.program]
    if way.path is None:
        balance = pluralize(way.purse.points, "point")
        return f"{way.points_sent:,} of the {balance} already with {goal.name}; no transfer is needed."
    edges = way.path.edges
    through = f" by way of {', '.join(programs[e.target].name for e in edges[:-1])}" if edges[1:] else ""
    amounts = f"{way.points_sent:,} {source.currency} become {way.points_delivered:,} {goal.currency}{through}."
    steps = [_describe_step(edge, programs) for edge in edges]
    cards = [_describe_rates(edge, reference) for edge in dict.fromkeys(edges) if edge.rates]
    return " ".join([amounts, *steps, *cards, *_warn_if_dear(way, goal)])


def _describe_step(edge: Edge, programs: Mapping[str, Program]) -> str:
    """`Marriott Bonvoy: 3 points give 1 mile; takes up to 5 days.`"""
    source, target = programs[edge.source], programs[edge.target]
    words = [f"{source.name}: {_describe_ratio(edge, source, target)}", _describe_time(edge)]
    if edge.step:
        words.insert(1, f"{edge.step_bonus:,} more for each {edge.step:,} sent at once")
    if edge.bonus and not edge.bonus.targeted:
        until = f" that ends on {format_day(edge.bonus.ends_on)}" if edge.bonus.ends_on else ""
        words.append(f"{edge.bonus.percent}% more as a bonus{until}")
    if edge.fee:
        words.append(f"costs a fee: {edge.fee}")
    return "; ".join(words) + "."


def _describe_ratio(rate: CardRate | Edge, source: Program, target: Program) -> str:
    """`1 point gives 1 mile`, `3 points give 1 mile`."""
    cost, gain = float(rate.ratio_from), float(rate.ratio_to)
    verb = "gives" if cost == 1 else "give"
    return f"{cost:g} {_name_unit(source, cost)} {verb} {gain:g} {_name_unit(target, gain)}"


def _name_unit(program: Program, count: float) -> str:
    """`mile`, `points` or `Avios`, the programme's unit."""
    last = program.currency.split()[-1].lower()
    if last == "avios":
        return "Avios"
    unit = "mile" if last.endswith("miles") else "point"
    return unit if count == 1 else f"{unit}s"


def _describe_time(edge: Edge) -> str:
    """`takes about 2-3 days`, `arrives in most cases within a week`."""
    text = edge.posting_text or ""
    if edge.posting == "instant":
        return f"{_SPEEDS['instant']} once the accounts are linked" if "linked" in text else _SPEEDS["instant"]
    if not text:
        return _SPEEDS.get(edge.posting, "how long it takes is not known")
    if text[0].isdigit():
        return f"takes about {text}"
    return f"takes {text}" if text.startswith(("up to", "minutes", "two", "six")) else f"arrives {text}"


def _describe_rates(edge: Edge, reference: Reference) -> str:
    """The ratios of a route by card, and the one used."""
    source, target = reference.programs[edge.source], reference.programs[edge.target]
    rates = ", ".join(
        f"{_describe_ratio(rate, source, target)} with"
        f" {list_card_names(reference, rate.cards) if rate.cards else 'other cards'}"
        for rate in edge.rates
    )
    return f"The card decides: {rates}. The lowest is counted here."


def _is_dear(sent: Decimal | None, arrives: Decimal | None, received: Decimal) -> bool:
    """Whether a transfer takes two points or more for one and loses much of their known worth.

    `sent` and `arrives` are worth in cents; `received` are points that arrive for one that is sent. Worth alone does
    not decide: bank points are valued by their best use, which makes every plain transfer of one for one look dear.
    """
    lossy = received <= DEAR_RATIO
    return lossy and sent is not None and arrives is not None and sent >= arrives * DEAR_FROM


def _warn_if_dear(way: Way, goal: Program) -> list[str]:
    cost, arrives = way.cost, value_in_cents(way.points_delivered, goal.value_usd_cents)
    if not _is_dear(cost, arrives, Decimal(way.points_delivered) / way.points_sent):
        return []
    worth = [f"{cents / 100:,.0f} USD" for cents in (cost, arrives) if cents is not None]
    return [
        f"This way is dear: the points sent are worth about {worth[0]} by published valuations,"
        f" those that arrive about {worth[1]}."
    ]


def _list_partners(program: Program, reference: Reference, today: date) -> list[str]:
    """Bank currencies that become points of the programme, the most generous first; costly ones are left out."""
    programs = reference.programs
    into = [
        e
        for source, edges in reference.routes(today).items()
        if programs[source].kind == "bank"
        for e in edges
        if e.target == program.slug and not _is_dear_edge(e, programs)
    ]
    if not into:
        return []
    best = sorted(into, key=lambda e: (-e.yields, e.source))
    by_ratio: dict[str, list[str]] = {}
    for edge in best[:MAX_PARTNERS]:
        by_ratio.setdefault(_list_ratios(edge, programs), []).append(programs[edge.source].name)
    sentences = [f"from {_join_names(names)}, where {ratio}" for ratio, names in by_ratio.items()]
    more = f"; and from {len(best) - MAX_PARTNERS} more" if len(best) > MAX_PARTNERS else ""
    return [f"Points can be transferred in {'; '.join(sentences)}{more}."]


def _is_dear_edge(edge: Edge, programs: Mapping[str, Program]) -> bool:
    received = Decimal(edge.yields.numerator) / edge.yields.denominator
    arrives = programs[edge.target].value_usd_cents
    return _is_dear(programs[edge.source].value_usd_cents, None if arrives is None else arrives * received, received)


def _list_ratios(edge: Edge, programs: Mapping[str, Program]) -> str:
    source, target = programs[edge.source], programs[edge.target]
    ratios = " or ".join(_describe_ratio(rate, source, target) for rate in edge.rates or (edge.rate,))
    return f"{ratios}, by card" if edge.rates else ratios


def _join_names(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
