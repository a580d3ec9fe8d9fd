"""Vouchers a person holds, the kinds there are, and the bookings they are applied to."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import delete

from mcp_server.toolkit import Added, Call, Effect, Paging, Part, Result, Tier, edits, tool
from mcp_server.toolkit.own_rows import Again, find_saved, get_own
from mcp_server.toolkit.parameters import AnyName, Day, Page, PerPage, RowId
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.vouchers import AppliedTo, Voucher, judge_booking, to_applied_to, to_voucher
from shared.db.bookings import FlightBooking, HotelBooking, find_legs
from shared.db.vouchers import Voucher as Held
from shared.db.vouchers import page_of_vouchers
from shared.domain import names, vouchers
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.errors import Ambiguity, Candidates, Choice, Fault, Invalid, NotFound
from shared.reference.rows.travel import VoucherType as Row

Reference = Annotated[str | None, Field(max_length=120, description="Its code.")]
Notes = Annotated[str | None, Field(max_length=4000)]
VoucherId = Annotated[RowId, Field(description="From list_my_vouchers.")]
MOST_MEANT = 10  # kinds named if several match
_PAID = {"award": "with points", "cash": "in cash"}
Kind = Literal["companion", "upgrade", "free_night", "credit", "lounge"]


class VoucherType(Verified):
    voucher_slug: str
    name: str
    program: str | None
    kind: Kind
    applies_to: list[str]
    booking_kind: Literal["award", "cash"] | None
    summary: str
    usual_validity_months: int | None
    validity_rule: str
    how_earned: str
    limits: str | None
    used_by: Literal["booking", "travel"] | None  # what must happen by its last day
    cabins: list[str]
    airlines: list[str]
    min_people: int | None
    max_people: int | None
    max_nights: int | None
    categories: list[str]
    max_points: int | None
    added_points: str | None
    # Of what one traveller pays in points, taken off the sum: on a booking for two or more, and for one.
    companion_share: float | None
    solo_share: float | None


class VoucherTypes(Result):
    voucher_types: list[VoucherType]
    paging: Paging


class OneVoucher(Result):
    voucher: Voucher


class AddedVoucher(OneVoucher, Added):
    pass


class ChangedVoucher(OneVoucher):
    changed: list[str]


class AppliedVoucher(OneVoucher):
    applied: bool
    replaced: AppliedTo | None  # its earlier booking, if another
    doubts: list[str]  # limits that could not be compared with the booking


class Vouchers(Result):
    vouchers: list[Voucher]
    paging: Paging


class RemovedVoucher(Part):
    voucher_id: int
    voucher_slug: str
    reference: str | None


class DeletedVoucher(Result):
    removed: RemovedVoucher
    detached_from: AppliedTo | None


def _to_type(row: Row) -> VoucherType:
    return VoucherType.from_row(
        row,
        voucher_slug=row.slug,
        summary=row.what_it_does,
        usual_validity_months=row.validity_months,
        **describe_verified(row),
    )


def _has_words(row: Row, words: list[str]) -> bool:
    text = names.normalize_name(f"{row.slug} {row.name} {row.program or ''} {row.what_it_does} {row.how_earned}")
    return all(w in text for w in words)


@tool("vouchers", Tier.FREE, Effect.READS, "List kinds of vouchers", condenses=True, static=True)
def list_voucher_types(
    call: Call,
    query: Annotated[str | None, Field(max_length=80)] = None,
    program: AnyName | None = None,
    booking_type: Literal["flight", "hotel"] | None = None,
    page: Page = 1,
    per_page: PerPage = 10,
) -> VoucherTypes:
    """Explains the kinds of vouchers: what a companion ticket, upgrade or free night is good for, and its rules.

    For "What can I do with a companion voucher, how does it work?" validity null: see validity_rule. Own ones:
    list_my_vouchers. Free.
    """
    slug = call.reference.program(program).slug if program else None
    words = names.normalize_name(query or "").split()
    matches = [
        r
        for r in call.reference.voucher_types.values()
        if slug in (None, r.program) and booking_type in (None, *r.applies_to) and _has_words(r, words)
    ]
    page_rows = matches[(page - 1) * per_page : page * per_page]
    paging = Paging.of(page, per_page, len(matches))
    kinds = tell_rows(len(matches), "kind of voucher", (row.name for row in matches), "kinds of voucher")
    if len(matches) == 1:
        kinds = f"{matches[0].name}: {matches[0].what_it_does}."
    return VoucherTypes(
        message=f"{kinds} The terms are those of each source.{paging.more}",
        voucher_types=[_to_type(r) for r in page_rows],
        paging=paging,
    )


def _resolve_kind(call: Call, text: str) -> Row:
    """A kind by its slug or its whole name. Raises Candidates if all words of `text` fit some kind, else NotFound."""
    kinds, words = call.reference.voucher_types, names.normalize_name(text).split()
    named = (row for row in kinds.values() if names.normalize_name(row.name).split() == words)
    if kind := kinds.get(text.strip().lower()) or next(named, None):
        return kind
    if meant := [row for row in kinds.values() if _has_words(row, words)][:MOST_MEANT]:
        message = f"{text.strip()} can mean {pluralize(len(meant), 'kind')} of voucher; call again with one of them."
        rows = [{"voucher_slug": row.slug, "name": row.name} for row in meant]
        choices = [Choice(row.slug, row.name) for row in meant]
        raise Candidates(message, rows, Ambiguity("voucher", text, choices))
    slugs = {names.normalize_name(row.slug): row.slug for row in kinds.values()}
    raise NotFound("voucher type", text, [slugs[name] for name in names.find_nearest(text, slugs)])


_get_own = partial(get_own, Held, "voucher")


@tool("vouchers", Tier.PAID, Effect.ADDS, "Add a voucher")
def add_voucher(
    call: Call,
    voucher_slug: Annotated[str, Field(max_length=80, description="From list_voucher_types.")],
    expires_on: Day | None = None,
    reference: Reference = None,
    notes: Notes = None,
    again: Again = None,
) -> AddedVoucher:
    """Adds a voucher the user received: a companion ticket, free night certificate or upgrade, and its expiry date.

    For "I got my companion voucher, keep it for me." voucher_slug comes from list_voucher_types. For one on a booking:
    apply_voucher_to_booking. Paid.
    """
    kind = _resolve_kind(call, voucher_slug)
    row = Held(voucher_slug=kind.slug, expires_on=expires_on, reference=reference or None, notes=notes or None)
    if saved := find_saved(call, row, "voucher", again=again):
        return AddedVoucher(message=saved.message, voucher=to_voucher(call, saved.row), already_saved=True)
    call.db.add(row)
    call.db.flush()
    undated = (
        f" No expiry date was given. The rule for such vouchers: {kind.validity_rule}." if expires_on is None else ""
    )
    part = to_voucher(call, row)
    over = " It has already expired." if part.state == "expired" else ""
    return AddedVoucher(
        message=f"{part.name} is saved as voucher {row.id}.{undated}{over}", voucher=part, already_saved=False
    )


@tool("vouchers", Tier.FREE, Effect.READS, "List my vouchers")
def list_my_vouchers(
    call: Call,
    voucher_id: RowId | None = None,
    state: Literal["held", "applied", "expired", "all"] = "all",
    expiring_within_days: Annotated[int | None, Field(ge=1, le=730)] = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Vouchers:
    """Lists the user's own vouchers: companion tickets, free night certificates and upgrades left, used, expiring.

    For "Do I still have a free night? When does my 2-for-1 run out?" First to expire first. Free.
    """
    if voucher_id is not None:
        rows, total = [_get_own(call.db, voucher_id)], 1
    else:
        rows, total = page_of_vouchers(
            call.db, call.own_day, state=state, within_days=expiring_within_days, page=page, per_page=per_page
        )
    vouchers = [to_voucher(call, row) for row in rows]
    ends = {v.voucher_id: f" until {format_day(v.expires_on)}" for v in vouchers if v.expires_on}
    names = (f"{v.name}{ends.get(v.voucher_id, '')}{'' if v.state == 'held' else f' ({v.state})'}" for v in vouchers)
    return Vouchers(
        message=tell_rows(total, "voucher", names),
        vouchers=vouchers,
        paging=Paging.of(page, per_page, total),
    )


@tool("vouchers", Tier.PAID, Effect.CHANGES, "Change a voucher")
@edits.clears(Held)
def update_voucher(
    call: Call,
    voucher_id: VoucherId,
    expires_on: Day | None = None,
    reference: Reference = None,
    notes: Notes = None,
    clear: list[str] | None = None,
) -> ChangedVoucher:
    """Updates a voucher or certificate: extended or valid longer, wrong expiry date, code, note.

    For "They extended my certificate to June, my code was wrong." Paid.
    """
    changes = edits.pick_columns(Held, locals())
    row = _get_own(call.db, voucher_id, locked=True)
    changed = edits.edit(row, call.now, changes, clear)
    call.db.flush()
    part = to_voucher(call, row)
    return ChangedVoucher(message=edits.describe_changes(part.name, part, changed), voucher=part, changed=changed)


@tool("vouchers", Tier.FREE, Effect.CHANGES, "Remove a voucher")
def delete_voucher(call: Call, voucher_id: VoucherId) -> DeletedVoucher:
    """Deletes a voucher, companion ticket or free night certificate that was used, expired or given to a friend.

    For "I already used my voucher." Detaches it from its booking. Free.
    """
    columns = (Held.voucher_slug, Held.reference, Held.flight_booking_id, Held.hotel_booking_id)
    deleted = call.db.execute(delete(Held).where(Held.id == voucher_id).returning(*columns)).one_or_none()
    if deleted is None:
        raise NotFound("voucher", voucher_id)
    where = to_applied_to(deleted.flight_booking_id, deleted.hotel_booking_id)
    kind = call.reference.voucher_types.get(deleted.voucher_slug)
    name = kind.name if kind else deleted.voucher_slug
    off = f" and taken off {_describe_booking(where)}" if where else ""
    return DeletedVoucher(
        message=f"Voucher {voucher_id} ({name}) is removed{off}.",
        removed=RemovedVoucher(voucher_id=voucher_id, voucher_slug=deleted.voucher_slug, reference=deleted.reference),
        detached_from=where,
    )


def _describe_booking(booking: AppliedTo) -> str:
    return f"{booking.booking_type} booking {booking.booking_id}"


def _lock_booking(call: Call, target: AppliedTo | None) -> FlightBooking | HotelBooking | None:
    """The booking, locked. Bookings are locked before vouchers, as in cancellations, so that calls cannot deadlock."""
    if target is None:
        return None
    if target.booking_type == "flight":
        return call.db.get(FlightBooking, target.booking_id, with_for_update={"read": True})
    return call.db.get(HotelBooking, target.booking_id, with_for_update={"read": True})


class _Clash(Invalid):
    """A booking that breaks limits of a voucher, in sentences."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__(*(Fault("booking_id", text.rstrip("."), "a booking it can pay") for text in sentences))
        self.message = " ".join(sentences)


def _check_use(call: Call, row: Held, booking: FlightBooking | HotelBooking, booking_type: str) -> Sequence[str]:
    """Returns what could not be compared. Raises Invalid if a limit is broken."""
    kind = call.reference.voucher_types.get(row.voucher_slug)
    faults = []
    if kind and booking_type not in kind.applies_to:
        problem = f"is {booking_type}, and this voucher is for: {' or '.join(kind.applies_to)}"
        faults.append(Fault("booking_type", problem, "a voucher for such bookings, see list_voucher_types"))
    elif kind and kind.booking_kind not in (None, booking.kind):
        problem = (
            f"is of a booking paid {_PAID[booking.kind]}, and this voucher is for one paid {_PAID[kind.booking_kind]}"
        )
        faults.append(Fault("booking_id", problem, f"a booking of kind {kind.booking_kind}"))
    if booking.cancelled_at is not None:
        faults.append(Fault("booking_id", "is of a booking that is cancelled", "a booking that stands"))
    if row.expires_on and vouchers.get_voucher_state(row.expires_on, False, call.own_day) == "expired":
        expected = "a voucher that has not; update_voucher corrects its last day"
        faults.append(Fault("voucher_id", f"ended on {row.expires_on}", expected))
    if faults:
        raise Invalid(*faults)
    if kind is None:
        return ()
    fit = judge_booking(call, row, kind, booking)
    if fit.clashes:
        raise _Clash(fit.clashes)
    return fit.doubts


@tool("vouchers", Tier.PAID, Effect.CHANGES, "Put a voucher on a booking")
def apply_voucher_to_booking(
    call: Call,
    voucher_id: VoucherId,
    booking_type: Literal["flight", "hotel"] | None = None,
    booking_id: Annotated[RowId | None, Field(description="Flight or stay; absent: detach.")] = None,
) -> AppliedVoucher:
    """Uses a voucher or companion ticket on a booked flight or hotel stay, or detaches it.

    For "Put my free night on the Paris hotel." Replaces an earlier use: confirm with the user first. Paid.
    """
    target = None
    if booking_id is not None:
        if booking_type is None:
            raise Invalid(Fault("booking_type", "is required with booking_id", "flight or hotel"))
        target = AppliedTo(booking_type=booking_type, booking_id=booking_id)
    booking = _lock_booking(call, target)
    row = _get_own(call.db, voucher_id, locked=True)
    before = to_applied_to(row.flight_booking_id, row.hotel_booking_id)
    doubts: Sequence[str] = ()
    if target is not None:
        if booking is None:
            raise NotFound(f"{target.booking_type} booking", target.booking_id)
        if target != before:
            doubts = _check_use(call, row, booking, target.booking_type)
        if isinstance(booking, FlightBooking) and row.flight_booking_id in [
            leg.id for leg in find_legs(call.db, booking)
        ]:
            target = before  # it is on all flights of one ticket
    row.flight_booking_id = target.booking_id if target and target.booking_type == "flight" else None
    row.hotel_booking_id = target.booking_id if target and target.booking_type == "hotel" else None
    if call.db.is_modified(row):
        row.updated_at = call.now
        call.db.flush()
    return AppliedVoucher(
        message=" ".join((_describe_use(row, before, target), *doubts)),
        voucher=to_voucher(call, row),
        applied=target is not None,
        replaced=before if before != target else None,
        doubts=list(doubts),
    )


def _describe_use(row: Held, before: AppliedTo | None, target: AppliedTo | None) -> str:
    if target is None:
        return (
            f"Voucher {row.id} is taken off {_describe_booking(before)}."
            if before
            else f"Voucher {row.id} is on no booking."
        )
    instead = f" instead of {_describe_booking(before)}" if before not in (None, target) and before else ""
    whole = ", with all flights of its booking" if target == before and target.booking_type == "flight" else ""
    return f"Voucher {row.id} is on {_describe_booking(target)}{instead}{whole}."
