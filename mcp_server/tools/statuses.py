"""Elite statuses a person holds or aims at, and offers to match them."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema
from sqlalchemy import delete, select

from mcp_server.toolkit import Call, Effect, Money, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Amount, AnyName, Day, Member, Page, Pairs, PerPage
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.statuses import LoyaltyStatus, to_loyalty_status
from shared.db.accounts import lock
from shared.db.household import find_member
from shared.db.members import HOLDER
from shared.db.statuses import LoyaltyStatus as Row
from shared.domain.dates import format_day
from shared.domain.offers import State, find_state
from shared.errors import Fault, Invalid, NotFound
from shared.reference import statuses
from shared.reference.ages import find_page_day, is_outdated
from shared.reference.rows.earning import StatusMatch as Offer
from shared.reference.rows.programmes import Program

Kind = Literal["airline", "hotel", "all"]
# If absent, the stored value stays, which for a new record is false.
OtherProgress = Annotated[dict[str, Amount], Pairs("name", "amount", "number")]
Lifetime = Annotated[bool, WithJsonSchema({"type": "boolean", "default": False})]


class SetStatus(Result):
    loyalty_status: LoyaltyStatus
    created: bool
    known_tiers: list[str]


class Statuses(Result):
    statuses: list[LoyaltyStatus]


class RemovedStatus(Part):
    program: str
    tier: str


class DeletedStatus(Result):
    removed: RemovedStatus


class StatusMatch(Verified):
    offer_id: str
    target_program: str
    from_programs: list[str]
    from_tiers: list[str]
    to_tier: str
    kind: Literal["match", "challenge"]
    fee: Money | None
    currency: str
    requirement: str | None
    days_allowed: int | None
    valid_months: int | None
    once_per: str
    apply_url: str
    eligible: Literal["yes", "no", "unknown"]
    state: State  # past: ended, or not seen for 60 days
    remark: str | None


class StatusMatches(Result):
    offers: list[StatusMatch]
    paging: Paging
    audited_on: date | None


def _check_changes(call: Call, changes: Mapping[str, Any], clear: list[str]) -> None:
    for name in clear:
        if changes[name] is not None:
            raise Invalid(Fault("clear", f"names {name}, which is sent as well", "fields that are not sent"))
    if (ends := changes["valid_until"]) and ends < call.own_day:
        raise Invalid(Fault("valid_until", "is in the past", f"a day from {call.own_day.isoformat()}"))
    if (day := changes["progress_as_of"]) and day > call.own_day:
        raise Invalid(Fault("progress_as_of", "is in the future", f"a day up to {call.own_day.isoformat()}"))


def _choose_empty(field: str) -> dict[str, float] | None:
    return {} if field == "other_progress" else None


def _store_changes(call: Call, row: Row, changes: Mapping[str, Any], clear: list[str]) -> None:
    for field, value in changes.items():
        if value is not None:
            setattr(row, field, value or _choose_empty(field))
    for field in clear:
        setattr(row, field, _choose_empty(field))
    if changes["progress"] is not None:  # zero is a value
        row.progress = changes["progress"]
    if changes["progress"] is not None or changes["other_progress"]:
        row.progress_as_of = changes["progress_as_of"] or call.own_day
    if row.progress is None and not row.other_progress:
        if changes["progress_as_of"] is not None:
            raise Invalid(Fault("progress_as_of", "is given without progress", "progress as well"))
        row.progress_as_of = None
    _check_target(call, row)
    call.db.flush()


def _read_counters(call: Call, program: Program, sent: Mapping[str, Decimal] | None) -> dict[str, float] | None:
    """The counters by the names the programme's tiers have for them. Raises Invalid."""
    if sent is None:
        return None
    metrics = statuses.list_metrics(call.reference, program.slug)
    counters = {name.strip().lower().replace(" ", "_"): float(amount) for name, amount in sent.items()}
    if unknown := sorted(set(counters) - set(metrics)):
        expected = f"counters of {program.name}: {', '.join(metrics)}" if metrics else "no counters of this programme"
        raise Invalid(Fault("other_progress", f"names {', '.join(unknown)[:80]}", expected))
    return counters


def _check_target(call: Call, row: Row) -> None:
    ladder = statuses.build_ladder(call.reference, row.program)
    tier_held, target = ladder.tier(row.tier), ladder.tier(row.target_tier)
    if tier_held and target and target.rank < tier_held.rank:
        raise Invalid(Fault("target_tier", f"is below {tier_held.name}", f"{tier_held.name} or a tier above it"))


def _take_tier(call: Call, row: Row, tier: str) -> str | None:
    """Sets the tier held; ends and returns a target that it reaches."""
    ladder = statuses.build_ladder(call.reference, row.program)
    tier_held, target = ladder.tier(tier), ladder.tier(row.target_tier)
    rises, row.tier = row.tier != tier, tier
    if not (rises and tier_held and target and target.rank <= tier_held.rank):
        return None
    row.target_tier = None
    return target.name


@tool("status", Tier.FREE, Effect.CHANGES, "Save a loyalty status")
def set_loyalty_status(
    call: Call,
    program: Annotated[str, Field(max_length=80)],
    tier: Annotated[str, Field(max_length=60)],
    valid_until: Day | None = None,
    lifetime: Lifetime | None = None,
    target_tier: Annotated[str | None, Field(max_length=60)] = None,
    progress: Annotated[Amount | None, Field(description="Earned so far this year.")] = None,
    progress_as_of: Day | None = None,
    other_progress: OtherProgress | None = None,
    notes: Annotated[str | None, Field(max_length=2000)] = None,
    clear: list[Literal["valid_until", "target_tier", "progress", "other_progress", "notes"]] | None = None,
    member: Member | None = None,
) -> SetStatus:
    """Saves the elite status the user got, renewed or was matched to, as Gold or Diamond, and until when.

    For "I just made Platinum, save it." Also the tier aimed for and progress. An unknown tier returns the programme's
    tiers. Free.
    """
    if not tier.strip():
        raise Invalid(Fault("tier", "is empty", "the name of a tier"))
    resolved = call.reference.program(program)
    if resolved.kind == "bank":
        raise Invalid(Fault("program", "is a bank's and has no elite status", "an airline or hotel programme"))
    tier_held = statuses.match_tier(call.reference, resolved.slug, tier)
    changes = {
        "valid_until": valid_until,
        "target_tier": statuses.match_tier(call.reference, resolved.slug, target_tier) if target_tier else None,
        "progress": progress,
        "progress_as_of": progress_as_of,
        "other_progress": _read_counters(call, resolved, other_progress),
        "notes": notes,
    }
    _check_changes(call, changes, list(clear or ()))
    lock(call.db, call.account_id)
    row, created = _find_or_add(call, resolved.slug, tier_held, member)
    reached = _take_tier(call, row, tier_held)
    row.source, row.updated_at = "manual", call.now
    row.lifetime = row.lifetime if lifetime is None else lifetime
    _store_changes(call, row, changes, list(clear or ()))
    return SetStatus(
        message=_describe_saved_status(call, resolved, row, None if target_tier else reached),
        loyalty_status=to_loyalty_status(call, row, call.own_day),
        created=created,
        known_tiers=statuses.build_ladder(call.reference, resolved.slug).names,
    )


def _find_or_add(call: Call, slug: str, tier: str, member: str | None) -> tuple[Row, bool]:
    """The row of the member's status, and whether it is new."""
    whose = find_member(call.db, member, Row.member)
    row = call.db.scalars(select(Row).where(Row.program == slug, Row.member == whose)).one_or_none()
    if row is not None:
        return row, False
    row = Row(program=slug, member=whose, tier=tier, lifetime=False)
    call.db.add(row)
    return row, True


def _describe_saved_status(call: Call, program: Program, row: Row, reached: str | None) -> str:
    until = f" until {format_day(row.valid_until)}" if row.valid_until else ""
    length = " for life" if row.lifetime else until
    known_tiers = statuses.build_ladder(call.reference, program.slug).names
    unknown = (
        "" if known_tiers else " The tiers of this programme are not known here, so the name is kept as you wrote it."
    )
    ended = f" Your target {reached} is reached and no longer set." if reached else ""
    whose = f" of {row.member}" if row.member else ""
    return f"Saved: {row.tier}{whose} in {program.name}{length}.{unknown}{ended}"


@tool("status", Tier.FREE, Effect.READS, "List loyalty statuses")
def list_loyalty_statuses(call: Call, program: AnyName | None = None, kind: Kind = "all") -> Statuses:
    """Lists the elite status or tier the user holds with airlines and hotels, lifetime or until which date.

    For "Am I still Gold with anyone? What status do I have?" To the next tier: get_status_progress. Free.
    """
    slug = call.reference.program(program).slug if program else None
    stored = call.db.scalars(select(Row).order_by(Row.program, Row.member)).all()
    today = call.own_day if any(r.valid_until for r in stored) else call.today
    rows = [to_loyalty_status(call, r, today) for r in stored]
    matches = [s for s in rows if kind in ("all", s.kind) and slug in (None, s.program)]
    ended = [f"{s.name} {s.tier}" for s in matches if s.days_left is not None and s.days_left < 0]
    others = " of this programme or kind" if rows else ""
    words = f"No elite status{others} is recorded here."
    if matches:
        words = tell_rows(len(matches), "status", map(_name_status, matches), "statuses")
    return Statuses(message=words + (f" Expired: {', '.join(ended)}." if ended else ""), statuses=matches)


def _name_status(status: LoyaltyStatus) -> str:
    """`Gold in Flying Blue until 31 Mar 2027`."""
    name = f"{status.tier} in {status.name}"
    if status.lifetime:
        return f"{name} for life"
    return f"{name} until {format_day(status.valid_until)}" if status.valid_until else name


@tool("status", Tier.FREE, Effect.CHANGES, "Remove a loyalty status")
def delete_loyalty_status(
    call: Call, program: Annotated[str, Field(max_length=80)], member: Member | None = None
) -> DeletedStatus:
    """Removes an elite status or tier the user lost, let lapse or quit tracking.

    For "I am not Gold anymore, take it off." Free.
    """
    resolved = call.reference.program(program)
    slug = resolved.slug
    which = Row.program == slug, Row.member == find_member(call.db, member, Row.member)
    tier = call.db.execute(delete(Row).where(*which).returning(Row.tier)).scalar_one_or_none()
    if tier is None:
        raise NotFound("loyalty status", program)
    removed = RemovedStatus(program=slug, tier=tier)
    return DeletedStatus(message=f"{tier} in {resolved.name} is no longer tracked.", removed=removed)


def _find_tiers_held(call: Call, source_program: str | None, source_tier: str | None) -> dict[str, str]:
    """Programme -> tier: the named tier, else all unexpired tracked statuses."""
    lasts = (Row.valid_until.is_(None)) | (Row.valid_until >= call.own_day)
    rows = call.db.scalars(select(Row).where(Row.member == HOLDER, lasts))
    mine = {r.program: r.tier for r in rows}
    if source_program is None:
        return mine
    slug = call.reference.program(source_program).slug
    if source_tier:
        return {slug: statuses.match_tier(call.reference, slug, source_tier)}
    return {slug: mine[slug]} if slug in mine else {}


def _to_offer(call: Call, row: Offer, tiers_held: Mapping[str, str]) -> StatusMatch:
    return StatusMatch.from_row(
        row,
        target_program=row.to_program,
        kind="challenge" if row.kind == "challenge" else "match",
        eligible=statuses.judge_match(call.reference, row, tiers_held, call.today),
        state=find_state(row, call.today),
        **describe_verified(row),
    )


def _may_take(row: Offer, source: Program) -> bool:
    """Whether an offer takes tiers of a programme, or it is not known which it takes."""
    if row.from_programs:
        return source.slug in row.from_programs or "*" in row.from_programs
    return row.from_kind in (None, source.kind)


@tool("status", Tier.FREE, Effect.READS, "Find status matches", condenses=True)
def get_status_matches(
    call: Call,
    target_program: AnyName | None = None,
    source_program: AnyName | None = None,
    source_tier: Annotated[str | None, Field(max_length=60)] = None,
    kind: Kind = "all",
    eligible_only: bool = False,
    page: Page = 1,
    per_page: PerPage = 10,
) -> StatusMatches:
    """Finds airlines and hotels that match or challenge the elite status the user holds elsewhere, as Gold or Platinum.

    For "I'm Hilton Diamond, who would match me?" None listed: some may exist. Other ways: recommend_status_path. Free.
    """
    if source_tier and source_program is None:
        raise Invalid(Fault("source_program", "is required with source_tier", "the programme the tier is of"))
    target = call.reference.program(target_program).slug if target_program else None
    source = call.reference.program(source_program).slug if source_program else None
    tiers_held = _find_tiers_held(call, source, source_tier)
    programs = call.reference.programs
    rows: list[Offer] = [
        r
        for r in call.reference.rows("status_matches.csv")
        if target in (None, r.to_program)
        and (source is None or _may_take(r, programs[source]))
        and kind in ("all", programs[r.to_program].kind)
        and (r.known_from is None or r.known_from <= call.today)
    ]
    matches = [r for r in rows if r.is_valid(call.today) and not is_outdated("status_matches.csv", r, call.today)]
    offers = [o for o in (_to_offer(call, r, tiers_held) for r in matches) if o.eligible == "yes" or not eligible_only]
    audited = max((day for r in rows if (day := find_page_day(r))), default=None)
    none = "" if offers else " None is known here, though some may exist."
    if matches and not offers:  # all were left out by eligible_only
        none = f" Whether your status counts is not said by those known here, {len(matches)} in all: ask there."
    past = sum(o.state == "past" for o in offers)
    number = (
        "None of them was" if past == len(offers) else "1 of them was not" if past == 1 else f"{past} of them were not"
    )
    old = f" {number} seen in the last 60 days, so {'it' if past == 1 else 'these'} may have ended." if past else ""
    if gone := len(rows) - len(matches):
        old += f" {gone} more ended or were last seen over a year ago: left out."
    paging = Paging.of(page, per_page, len(offers))
    names = (
        f"{programs[o.target_program].name} {o.to_tier} ({o.kind}{', open to you' if o.eligible == 'yes' else ''})"
        for o in offers
    )
    return StatusMatches(
        message=f"{tell_rows(len(offers), 'offer', names)}{none}{old}{paging.more}",
        offers=offers[(page - 1) * per_page : page * per_page],
        paging=paging,
        audited_on=audited,
    )
