"""Provenance of answers: freshness and coverage of a result, from the readings it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict

from shared import clock
from shared.errors import BackendUnavailable, ConnectionRequired, Outage
from shared.providers.contract import Reading

Mode = Literal["live", "cached", "sandbox"]
SANDBOX_NOTE = "Invented by the sandbox for testing; nothing of this can be booked."


class MixedModes(Exception):
    """Invented and real readings in one result: a bug, never an answer."""


# Results of tools embed these unchanged; unknown fields are refused in their published schemas.
PUBLISHED = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Failed:
    __pydantic_config__ = PUBLISHED

    name: str
    reason: str


@dataclass(frozen=True)
class Coverage:
    """Who was asked, who answered, who failed and who was left out, with the reasons."""

    __pydantic_config__ = PUBLISHED

    asked: tuple[str, ...]
    answered: tuple[str, ...]
    failed: tuple[Failed, ...]
    skipped: tuple[Failed, ...]


@dataclass(frozen=True)
class Freshness:
    """How old an answer is: our own age and the provider's shown apart. `live` only for a real live search."""

    __pydantic_config__ = PUBLISHED

    mode: Literal["live", "cached", "static", "sandbox", "none"]
    source: str
    fetched_at: datetime | None
    age_seconds: int | None
    provider_checked_at: datetime | None
    provider_age_seconds: int | None
    cached_until: datetime | None
    note: str | None


def age(moment: datetime) -> int:
    return max(0, int((clock.now() - moment).total_seconds()))


def mode_of(reading: Reading[Any]) -> Mode:
    """The mode of an answer; `live` only if the source looked it up when asked; a crawl is not live."""
    if reading.data_mode == "sandbox":
        return "sandbox"
    return "cached" if reading.cached or reading.provider_checked_at else "live"


def describe_unasked(mode: Literal["none", "static"], source: str, note: str) -> Freshness:
    """The freshness of an answer for which no source was asked, or none answered."""
    return Freshness(mode, source, None, None, None, None, None, note)


def freshness(readings: Sequence[Reading[Any]]) -> Freshness:
    """Freshness by the oldest answer: our own age and the provider's are separate."""
    if len({r.data_mode for r in readings}) > 1:
        raise MixedModes
    answers = [r for r in readings if r.has_answer]
    if not answers:
        return describe_unasked("none", "none", "No source answered.")
    modes = {mode_of(r) for r in answers}
    mode: Mode = next(m for m in ("sandbox", "cached", "live") if m in modes)
    fetched = min(r.taken_at for r in answers)
    checked_at = min((r.provider_checked_at for r in answers if r.provider_checked_at), default=None)
    return Freshness(
        mode=mode,
        source=", ".join(dict.fromkeys(r.source for r in answers)),
        fetched_at=fetched,
        age_seconds=age(fetched),
        provider_checked_at=checked_at,
        provider_age_seconds=age(checked_at) if checked_at else None,
        cached_until=min((r.good_until for r in answers if r.good_until), default=None),
        note=SANDBOX_NOTE if mode == "sandbox" else _note(answers),
    )


def _note(answers: Sequence[Reading[Any]]) -> str | None:
    if any(r.cached for r in answers):
        return "An earlier answer, kept for at most 4 hours."
    if any(r.provider_checked_at for r in answers):
        return "The source looks at intervals, not when asked; its own age is shown."
    return None


def coverage(readings: Sequence[Reading[Any]]) -> Coverage:
    """Coverage; a source counts as answered if all its questions were, and as skipped if it could not be asked.

    The reason told is the kind of failure; the log says what exactly went wrong.
    """
    names = list(dict.fromkeys(r.source for r in readings))
    bad = {r.source: r for r in readings if not r.has_answer}
    unasked = {n for n, r in bad.items() if r.status in ("not_configured", "connection_required")}
    return Coverage(
        asked=tuple(n for n in names if n not in unasked),
        answered=tuple(n for n in names if n not in bad),
        failed=tuple(Failed(n, r.status) for n, r in bad.items() if n not in unasked),
        skipped=tuple(Failed(n, bad[n].status) for n in names if n in unasked),
    )


def require_answer(readings: Sequence[Reading[Any]], verb: str, what: str, about: str = "seats") -> None:
    """Raises the fitting refusal if nothing answered: a failed search is not an empty one."""
    if any(r.has_answer for r in readings):
        return
    wanting = [r for r in readings if r.status == "connection_required"]
    failed = [r for r in readings if r.status != "connection_required"]
    if wanting and not [r for r in failed if r.status != "not_configured"]:
        name = wanting[0].source
        raise ConnectionRequired(f"{what} needs your own {name} account; connect it first.", provider=name)
    told_once = {(r.source, r.status): Outage(r.source, r.status, r.since or r.taken_at, r.retry_after) for r in failed}
    outages = [*told_once.values()] or [Outage(verb, "not_configured")]
    reasons = ", ".join(f"{o.name}: {o.reason}" for o in outages)
    raise BackendUnavailable(
        f"{what} could not be done ({reasons}). This says nothing about {about}; try later.", outages
    )
