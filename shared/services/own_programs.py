"""Programmes of an account's own: stored in rows, and added to the facts when its points are counted."""

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.balances import PointsBalance
from shared.db.own_programs import MOST_PROGRAMS, OwnProgram, find_or_add, list_own_programs
from shared.domain import names
from shared.errors import Ambiguity, Candidates, Choice, Fault, Invalid
from shared.reference.own_programs import OwnFacts, OwnReference, OwnTransfer, build_slug, is_own
from shared.reference.reference import Reference


def add_own_programs(
    session: Session, reference: Reference, held: Iterable[str] | None = None, account_id: int | None = None
) -> Reference:
    """The facts plus the own programmes of this session's account, or of this one.

    `held`: the programmes whose points it has, so that nothing is read if none of them is its own.
    """
    if isinstance(reference, OwnReference) or (held is not None and not any(map(is_own, held))):
        return reference
    rows = list_own_programs(session, account_id)
    facts = (
        OwnFacts(row.slug, row.name, row.cents, row.currency, [OwnTransfer(**t) for t in row.transfers]) for row in rows
    )
    return OwnReference(reference, facts) if rows else reference


def find_program(reference: Reference, name: str) -> str:
    """The programme of a name, to save points in: a known one, else one of the person's own.

    Raises Candidates where several can be meant, and Invalid where one differs only by a typing slip.
    """
    matches = reference.find_programs(name)
    if not matches:
        outside = reference.find_outside_names(name)
        close = () if outside else find_slips(reference, name)
        if not close:
            return build_slug(outside[0] if len(outside) == 1 else name)
        matches = close
        if len(matches) == 1:
            only = reference.programs[matches[0]].name
            raise Invalid(Fault("other_name", f"is almost {only}", f"{only}, or a name that is less like it"))
    if len(matches) > 1:
        choices = [Choice(slug, reference.programs[slug].name) for slug in matches]
        raise Candidates(
            f"{name} can mean {len(matches)} programmes; call again with one of them.",
            [{"program": c.value, "name": c.title} for c in choices],
            Ambiguity("programme", name, choices),
        )
    return matches[0]


def find_slips(reference: Reference, name: str) -> tuple[str, ...]:
    """The programmes whose name differs from this one by a letter or two in a word."""
    words = names.normalize_name(name).split()
    return tuple(
        p.slug
        for p in reference.programs.values()
        if len(own := names.normalize_name(p.name).split()) == len(words) and names.has_slips_only(words, own)
    )


def keep_program(session: Session, reference: Reference, slug: str, name: str, values: Mapping[str, Any]) -> None:
    """Stores a programme of one's own, or these columns of it. Raises Invalid if an account has too many."""
    outside = reference.find_outside_names(name)
    row = find_or_add(session, slug, outside[0] if len(outside) == 1 else " ".join(name.split()))
    if row is None:
        problem = f"is one more than {MOST_PROGRAMS} of one's own"
        raise Invalid(Fault("other_name", problem, "remove one that is no longer needed"))
    for column, value in values.items():
        setattr(row, column, value)
    session.flush()


def forget_program(session: Session, slug: str) -> None:
    """Removes a programme of one's own once no one in the household has points in it."""
    rows = sa.select(PointsBalance.id).where(PointsBalance.program == slug)
    if is_own(slug) and session.scalar(rows.limit(1)) is None:
        session.execute(sa.delete(OwnProgram).where(OwnProgram.slug == slug))
