"""The facts for one account: the known programmes and its own."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from types import MappingProxyType

from shared.domain import names, transfers
from shared.domain.transfers import Edge
from shared.reference.exchange_rates import convert_amount
from shared.reference.reference import Reference
from shared.reference.rows.programmes import Program

KIND = CONFIDENCE = "own"
SOURCE = "entered by the user"
_PREFIX = "own-"
_CENT = Decimal("0.01")


@dataclass(frozen=True)
class OwnTransfer:
    """A transfer of the programme's points to another one, with its ratio."""

    program: str
    sent: int
    received: int


@dataclass(frozen=True)
class OwnFacts:
    """What the person says of their own programme."""

    slug: str
    name: str
    cents: Decimal | None
    currency: str | None
    transfers: Sequence[OwnTransfer]


def is_own(slug: str) -> bool:
    return slug.startswith(_PREFIX)


def build_slug(name: str) -> str:
    """The slug, the same for all spellings of a name; a digest for non-Latin names."""
    words = names.normalize_name(name).replace(" ", "-").replace("+", "-plus")
    return _PREFIX + (words.strip("-") or sha256(fold(name).encode()).hexdigest()[:12])


def fold(name: str) -> str:
    return " ".join(name.casefold().split())


def find_own(reference: Reference, slug: str) -> OwnFacts | None:
    return reference.own.get(slug) if isinstance(reference, OwnReference) else None


def to_usd_cents(cents: Decimal, currency: str) -> Decimal | None:
    """Hundredths of a currency as US cents; None without a rate."""
    worth = convert_amount(cents, currency, "USD")
    return None if worth is None else worth.quantize(_CENT)


class OwnReference(Reference):
    """The shared facts of `known`, plus an account's own. It lasts only for a call."""

    def __init__(self, known: Reference, own: Iterable[OwnFacts]) -> None:
        self.__dict__.update(known.__dict__)
        self.own: Mapping[str, OwnFacts] = {facts.slug: facts for facts in own}
        self._routes = {slug: [_build_edge(facts, t) for t in facts.transfers] for slug, facts in self.own.items()}
        programs = {**known.programs, **{slug: _build_program(facts) for slug, facts in self.own.items()}}
        self.programs: Mapping[str, Program] = MappingProxyType(programs)

    def find_programs(self, text: str) -> tuple[str, ...]:
        """Finds programmes; a person's own needs its whole name, other names mean the same for everyone."""
        called = next((facts.slug for facts in self.own.values() if fold(facts.name) == fold(text)), None)
        return (called,) if called else super().find_programs(text)

    def routes(self, on: date, cards: Collection[str] = ()) -> transfers.Network:
        return {**super().routes(on, cards), **self._routes}


def _build_program(facts: OwnFacts) -> Program:
    value = None if facts.cents is None else to_usd_cents(facts.cents, facts.currency or "USD")
    return Program(
        slug=facts.slug,
        name=facts.name,
        currency="points",
        kind=KIND,
        home_country="",
        home_currency=facts.currency or "",
        iata=(),
        value_usd_cents=value,
        value_tpg=None,
        value_upgraded_points=None,
        value_omaat=None,
        value_basis="the user's own",
        source_url=SOURCE,
        second_source_url=None,
        as_of=None,
        audited_on=None,
        confidence=CONFIDENCE,
        note=None,
    )


def _build_edge(facts: OwnFacts, transfer: OwnTransfer) -> Edge:
    """The route of an own programme; blocks, minimums and time are unknown."""
    return Edge(
        source=facts.slug,
        target=transfer.program,
        ratio_from=Fraction(transfer.sent),
        ratio_to=Fraction(transfer.received),
        increment=None,
        minimum=None,
        posting="unknown",
        posting_text=None,
        fee=None,
        cap=None,
        step=None,
        step_bonus=0,
        block_source=None,
        region="",
        bonus=None,
        source_url=SOURCE,
        second_source_url=None,
        as_of=None,
        audited_on=None,
        confidence=CONFIDENCE,
        note=None,
    )
