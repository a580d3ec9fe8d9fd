"""Points balances: what a person has in each programme, what it is worth and when it expires."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema
from sqlalchemy import delete

from mcp_server.toolkit import NO_DATA, Call, Effect, Money, Part, Result, Tier, TotalValue, tool
from mcp_server.toolkit.argument_faults import WrongValue
from mcp_server.toolkit.argument_schema import REPLACEABLE
from mcp_server.toolkit.parameters import (
    AnyName,
    AnyProgram,
    AnyProgramSlug,
    Country,
    Currency,
    Day,
    Member,
    limit_length,
)
from mcp_server.toolkit.wording import program_name, tell_rows
from shared.db.accounts import lock
from shared.db.balances import PointsBalance as Row
from shared.db.balances import load_balances, set_balance
from shared.db.household import find_member
from shared.domain import balances, time_zones
from shared.domain.dates import format_day
from shared.domain.household import add_member
from shared.domain.parsing.numbers import read_number
from shared.domain.valuations import VALUATION_CURRENCY, choose_value
from shared.errors import Fault, Invalid, NotFound
from shared.reference.load import reference
from shared.reference.own_programs import find_own, is_own, to_usd_cents
from shared.services.own_programs import find_program, forget_program, keep_program

MOST_CENTS = 100  # US cents of one point
CentsPerPoint = Annotated[
    Decimal,
    Field(ge=Decimal("0.01"), le=1_000_000),  # checked before rounding, which fails above 28 digits
    AfterValidator(lambda cents: round(cents, 2)),
    WithJsonSchema({"type": "number", "minimum": 0.01, "maximum": 1_000_000}),
]
AccountCountry = Annotated[Country, Field(description="Of the bank; default US.")]

MOST_TRANSFERS, MOST_SENT = 20, 1_000_000  # of one of a person's own programmes; points on one side of a ratio
_TRANSFER = re.compile(r"(?P<program>.*\S)[ =]+(?P<sent>[\d., ']+):(?P<received>[\d., ']+)", re.ASCII)
_DECIMAL = re.compile(r"\d{1,6}[.,]\d{1,2}", re.ASCII)


def _read_transfer(text: str) -> str:
    if not (match := _TRANSFER.fullmatch(text.strip())) or not all(_read_ratio(match)):
        raise WrongValue("is not such a transfer", "a programme, then points sent and received: Flying Blue 3:2")
    return text.strip()


def _read_ratio(match: re.Match[str]) -> tuple[int, int]:
    """Points sent and received; 0 for an invalid number. Raises UnreadNumber."""
    sides = [match[name].strip() for name in ("sent", "received")]
    # A bank may give 1 for 3.5; three decimals would be a thousands separator.
    numbers = [s.replace(",", ".") if _DECIMAL.fullmatch(s) else read_number(s, is_whole=True) or 0 for s in sides]
    parts = [Fraction(n) for n in numbers]
    scale = lcm(*(part.denominator for part in parts))
    points_sent, received = (int(part * scale) if part * scale <= MOST_SENT else 0 for part in parts)
    return points_sent, received


OwnTransfers = Annotated[
    list[Annotated[str, limit_length(120), AfterValidator(_read_transfer)]],
    Field(max_length=MOST_TRANSFERS, description="Each as Flying Blue 3:2."),
]


class Value(Part):
    amount: Money
    currency: str
    cents_per_point: Money
    basis: Literal["own", "published"]


class OwnTerms(Part):
    """What the person said of their own programme: a point in hundredths of the currency, where points can go."""

    cents_per_point: Money | None
    currency: str | None
    transfers: list[str]


class PointsBalance(Part):
    program: str
    name: str
    member: str | None
    kind: str
    balance: int
    currency_name: str
    expires_on: date | None
    days_left: int | None
    expiry_rule: str
    value: Value | None
    own: OwnTerms | None
    notes: str | None
    source: Literal["manual", "integration"]
    as_of: date
    updated_at: datetime


class Previous(Part):
    balance: int
    as_of: date


class UpdatedBalance(Result):
    balance: PointsBalance
    created: bool
    previous: Previous | None


class MemberTotal(Part):
    """What one person of the household holds; null is the account holder."""

    member: str | None
    programs: int
    value: Money
    currency: str


class HouseholdProgram(Part):
    """A programme that several members hold, and whether its points can be put together."""

    program: str
    name: str
    points: int
    pooling: str
    terms: str | None


class SupportedProgram(Part):
    program: str
    name: str
    kind: str
    countries: list[str]


class Balances(Result):
    balances: list[PointsBalance]
    total_value: TotalValue
    expiring_soon: list[str]
    by_member: list[MemberTotal]
    household: list[HouseholdProgram]
    supported_programs: list[SupportedProgram] | None


class RemovedBalance(Part):
    program: str
    balance: int


class DeletedBalance(Result):
    removed: RemovedBalance


def _to_balance(call: Call, row: Row) -> PointsBalance:
    program = call.reference.programs[row.program]
    cents, expiry = choose_value(row.own_cents, program.value_usd_cents), call.reference.expiry(row.program)
    is_published = row.own_cents is None and not is_own(row.program)
    value = None
    if cents is not None:
        value = Value(
            amount=balances.value_balance(row.balance, cents),
            currency=VALUATION_CURRENCY,
            cents_per_point=cents,
            basis="published" if is_published else "own",
        )
    return PointsBalance.from_row(
        row,
        name=program.name,
        member=row.member or None,
        kind=program.kind,
        currency_name=program.currency,
        days_left=balances.count_days_left(row.expires_on, call.own_day) if row.expires_on else None,
        expiry_rule=balances.quote_rule(expiry.rule, expiry.months) if expiry else NO_DATA,
        value=value,
        own=_find_terms(call, row.program),
        source="manual" if row.source == "manual" else "integration",
    )


def _find_terms(call: Call, program: str) -> OwnTerms | None:
    own = find_own(call.reference, program)
    if own is None:
        return None
    return OwnTerms(
        cents_per_point=own.cents,
        currency=own.currency,
        transfers=[f"{program_name(call.reference, t.program)} {t.sent}:{t.received}" for t in own.transfers],
    )


def _find_slug(call: Call, program: str, country: str | None, other: str | None) -> str:
    """The programme, by slug or any name. Raises Invalid, Candidates, NotFound."""
    is_outside = not call.reference.find_programs(program) and call.reference.find_outside_names(program)
    own_name = (other or "").strip() or (program if is_outside else "")
    if own_name:
        call.add_own_programs()
        return find_program(call.reference, own_name)
    if not program:
        raise Invalid(Fault("program", "is required", "a programme of the list, or a name in other_name"))
    if is_own(program):
        call.add_own_programs()
    program = call.reference.program(program).slug
    # Points of one country's programme are never those of another: they go to other partners at other ratios.
    slugs = call.reference.list_countries(program)
    if country is None or not slugs:
        return program
    if country not in slugs:
        name = call.reference.programs[program].name
        raise Invalid(Fault("country", f"has no own programme of {name} here", f"one of {', '.join(sorted(slugs))}"))
    return slugs[country]


def _convert_cents(cents: Decimal, currency: str) -> Decimal:
    """Converts hundredths of a currency to US cents. Raises Invalid for an implausible value, or without a rate."""
    value = to_usd_cents(cents, currency)
    if value is None:
        raise Invalid(Fault("value_currency", "has no exchange rate here", "a currency such as EUR, BRL or INR"))
    if not 0 < value <= MOST_CENTS:
        problem = "is too large" if value else "is too small"
        raise Invalid(Fault("cents_per_point", problem, f"up to {MOST_CENTS} US cents, at least one hundredth of one"))
    return value


def _keep_own(
    call: Call,
    slug: str,
    name: str,
    said: Mapping[str, Any],
    currency: str,
    transfers: Sequence[str] | None,
) -> None:
    """Saves the person's own terms of a programme. Raises Invalid, or NotFound for where its points go."""
    columns: dict[str, Any] = {}
    if "cents_per_point" in said:
        columns |= {"cents": said["cents_per_point"], "currency": said["cents_per_point"] and currency}
    if transfers is not None:
        read = [match for text in transfers if (match := _TRANSFER.fullmatch(text))]
        goals = [call.reference.program(match["program"].rstrip(" =")).slug for match in read]
        for at, goal in enumerate(goals):
            if is_own(goal) or goal in goals[:at]:
                problem = "is the user's own too" if is_own(goal) else "comes twice"
                raise Invalid(Fault(f"transfers[{at}]", problem, "each programme known here once"))
        ratios = [_read_ratio(match) for match in read]
        columns["transfers"] = [
            {"program": goal, "sent": points_sent, "received": received}
            for goal, (points_sent, received) in zip(goals, ratios, strict=True)
        ]
    known_program = call.reference.programs.get(slug)
    keep_program(call.db, call.reference, slug, known_program.name if known_program else name, columns)
    del call.reference  # cached before the programme or its value was there
    call.add_own_programs()


@tool("balances", Tier.FREE, Effect.CHANGES, "Save a points balance")
def update_points_balance(
    call: Call,
    program: Annotated[AnyProgram, REPLACEABLE],
    balance: Annotated[int, Field(ge=0, le=1_000_000_000)],
    expires_on: Day | None = None,
    as_of: Annotated[Day | None, Field(description="Absent: today.")] = None,
    notes: Annotated[str | None, Field(max_length=1000)] = None,
    clear: Annotated[
        list[Literal["expires_on", "notes", "cents_per_point"]] | None,
        Field(description="Names of optional fields to empty."),
    ] = None,
    country: AccountCountry | None = None,
    cents_per_point: Annotated[CentsPerPoint | None, Field(description="The user's own.")] = None,
    member: Member | None = None,
    other_name: Annotated[
        str | None, limit_length(80), Field(description="Instead of program: any other, by name.")
    ] = None,
    value_currency: Annotated[Currency | None, Field(description="Default USD.")] = None,
    transfers: OwnTransfers | None = None,
) -> UpdatedBalance:
    """Sets or updates the user's balance of points or miles in a programme, up or down, and when it expires.

    For "I now have 62,000 Avios; make my Amex 85k." Adds a new programme. Fields not sent stay. Free.
    """
    slug = _find_slug(call, program, country, other_name)
    optional = {"expires_on": expires_on, "notes": notes, "cents_per_point": cents_per_point}
    for name in clear or ():
        if optional[name] is not None:
            raise Invalid(Fault("clear", f"names {name}, which is sent as well", "fields that are not sent"))
    if as_of is not None and as_of > call.today + timedelta(days=1):
        raise Invalid(Fault("as_of", "is in the future", f"a day up to {call.today.isoformat()}"))
    if member:
        lock(call.db, call.account_id)  # concurrent calls that name a new member then spell the name alike
    values = {"balance": balance, "as_of": as_of or call.today, "source": "manual", "updated_at": call.now}
    money = value_currency or VALUATION_CURRENCY
    cents = None if cents_per_point is None else _convert_cents(cents_per_point, money)
    given_values = {name: value for name, value in optional.items() if value is not None or name in (clear or ())}
    if is_own(slug):
        _keep_own(call, slug, other_name or program, given_values, money, transfers)
    elif transfers is not None:
        raise Invalid(Fault("transfers", "are for a programme of the user's own", f"none: {slug} is known here"))
    elif "cents_per_point" in given_values:
        values["own_cents"] = cents
    values |= {name: value or None for name, value in given_values.items() if name != "cents_per_point"}
    row, before = set_balance(call.db, slug, find_member(call.db, member, Row.member), values)
    previous = before and Previous(balance=before[0], as_of=before[1])
    saved = _to_balance(call, row)
    message = f"{_name_balance(saved)}: {balance:,} {saved.currency_name} as of {format_day(saved.as_of)}."
    if is_own(slug):
        message += _describe_own(call, slug)
    if saved.expires_on and saved.expires_on < call.own_day:
        message += f" Their last day, {format_day(saved.expires_on)}, is past: send a later one, or clear it."
    return UpdatedBalance(message=message, balance=saved, created=before is None, previous=previous)


@tool("balances", Tier.FREE, Effect.READS, "List points balances")
def list_points_balances(
    call: Call,
    program: Annotated[AnyName | None, Field(description="Absent: all.")] = None,
    kind: Literal["airline", "hotel", "bank", "all"] = "all",
    include_supported: Annotated[bool, Field(description="Add the canonical slugs.")] = False,
) -> Balances:
    """Lists the user's points and miles: balance in each programme, total, worth, and whether it expires soon.

    For "How many Avios do I have?" expiring_soon: within 90 days. Free.
    """
    only = call.find_program(program).slug if program else None
    stored = load_balances(call.db)
    call.add_own_programs(row.program for row in stored.rows)
    call.own_day = time_zones.find_local_day(call.now, stored.zone or time_zones.UTC)
    rows = [_to_balance(call, row) for row in stored.rows]
    matches = [b for b in rows if kind in ("all", b.kind) and only in (None, b.program)]
    soon = [
        b.program for b in matches if b.expires_on and balances.is_ending_soon(b.balance, b.expires_on, call.own_day)
    ]
    household = _find_household(call, matches)
    return Balances(
        message=_describe_balances(matches, bool(rows)) + "".join(f" {_describe_pooling(p)}" for p in household[:3]),
        balances=matches,
        total_value=_sum_values(call, matches),
        expiring_soon=list(dict.fromkeys(soon)),
        by_member=_sum_members(call, matches),
        household=household,
        supported_programs=_list_supported(call) if include_supported else None,
    )


def _describe_own(call: Call, slug: str) -> str:
    """Describes what is saved of an unknown programme, so that a misread name is noticed at once."""
    goals = [program_name(call.reference, e.target) for e in call.reference.routes(call.today).get(slug, ())]
    routes = f" Its points go to {', '.join(goals)}." if goals else " Where its points can go was not said."
    return f" It has no data here, so it counts as a programme of the user's own.{routes}"


def _name_balance(balance: PointsBalance) -> str:
    """`World of Hyatt`, or `World of Hyatt of Anna`."""
    return add_member(balance.name, balance.member)


def _describe_balances(matches: Sequence[PointsBalance], has_others: bool) -> str:
    if not matches and has_others:
        return "No saved balance is of this programme or kind."
    if not matches:
        return "No points balances are saved yet."
    unvalued = [_name_balance(b) for b in matches if b.value is None]
    left_out = f" Without a known valuation, so not in the total: {', '.join(unvalued)}." if unvalued else ""
    largest = sorted(matches, key=lambda b: -(b.value.amount if b.value else 0))
    return tell_rows(len(matches), "balance", (f"{b.balance:,} of {_name_balance(b)}" for b in largest)) + left_out


def _sum_values(call: Call, matches: Iterable[PointsBalance]) -> TotalValue:
    """The sum, dated by the oldest valuation used."""
    valued = [b for b in matches if b.value is not None]
    published = [b for b in valued if b.value and b.value.basis == "published"]
    days = [day for b in published if (day := call.reference.programs[b.program].as_of)]
    amount = sum((b.value.amount for b in valued if b.value), Decimal(0))
    return TotalValue(amount=amount, currency=VALUATION_CURRENCY, valuation_as_of=min(days, default=None))


def _sum_members(call: Call, matches: Sequence[PointsBalance]) -> list[MemberTotal]:
    members = sorted({b.member or "" for b in matches})
    shares = {member: [b for b in matches if (b.member or "") == member] for member in members}
    return [
        MemberTotal(
            member=member or None,
            programs=len(share),
            value=_sum_values(call, share).amount,
            currency=VALUATION_CURRENCY,
        )
        for member, share in shares.items()
    ]


def _find_household(call: Call, matches: Sequence[PointsBalance]) -> list[HouseholdProgram]:
    """The programmes several members hold, with the programme's rule on pooling points."""
    by_program: dict[str, list[PointsBalance]] = {}
    for balance in matches:
        by_program.setdefault(balance.program, []).append(balance)
    return [
        HouseholdProgram(
            program=slug,
            name=rows[0].name,
            points=sum(b.balance for b in rows),
            pooling=rule.pooling if (rule := call.reference.pooling(slug)) else NO_DATA,
            terms=rule.terms if rule else None,
        )
        for slug, rows in by_program.items()
        if len(rows) > 1
    ]


def _describe_pooling(program: HouseholdProgram) -> str:
    together = f"{program.points:,} points of {program.name} in the household"
    if program.pooling == "yes":
        terms = f" ({program.terms})" if program.terms else ""
        return f"{together}, which lets members put them together{terms}."
    if program.pooling == "no":
        return f"{together}, which does not let members put them together."
    return f"{together}; whether they can be put together is not known here."


def _list_supported(call: Call) -> list[SupportedProgram]:
    return [
        SupportedProgram(
            program=p.slug, name=p.name, kind=p.kind, countries=sorted(call.reference.list_countries(p.slug))
        )
        for p in reference().programs.values()
    ]


@tool("balances", Tier.FREE, Effect.CHANGES, "Remove a points balance")
def delete_points_balance(
    call: Call,
    program: Annotated[AnyProgramSlug, Field(description="Slug, as list_points_balances gives it.")],
    country: AccountCountry | None = None,
    member: Member | None = None,
) -> DeletedBalance:
    """Deletes a programme and its points from the balances: account closed, empty or no longer collected.

    For "I don't have Delta miles anymore, remove them." Free.
    """
    slug = _find_slug(call, program, country, None)
    owner = find_member(call.db, member, Row.member)
    which = Row.program == slug, Row.member == owner
    balance = call.db.execute(delete(Row).where(*which).returning(Row.balance)).scalar_one_or_none()
    if balance is None:
        raise NotFound("points balance", slug)
    forget_program(call.db, slug)
    name = add_member(program_name(call.reference, slug), owner)
    message = f"The balance of {name}, {balance:,}, is removed."
    return DeletedBalance(message=message, removed=RemovedBalance(program=slug, balance=balance))
