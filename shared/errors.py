"""Refusals: expected outcomes, worded for the caller, that tools and services raise and the edges render once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Status = Literal[
    "ok",
    "partial",
    "candidates",
    "confirmation_required",
    "paywall",
    "limit_reached",
    "connection_required",
    "not_found",
    "no_data",
    "backend_unavailable",
    "invalid",
    "internal_error",
    "admin_only",
]


class Refusal(Exception):
    """An outcome other than success: a stable status, one sentence of ours, and facts the caller can act on."""

    status: Status
    is_error = False  # rendered as a normal result, so that hosts show it to the model and not as a failure

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts


@dataclass(frozen=True)
class Fault:
    """One bad argument: which, what is wrong, what would be right."""

    field: str
    problem: str
    expected: str


class Invalid(Refusal):
    status: Status = "invalid"
    is_error = True

    def __init__(self, *faults: Fault) -> None:
        words = "; ".join(f"{f.field} {f.problem} (expected {f.expected})" for f in faults)
        super().__init__(
            f"Invalid: {words}.",
            errors=[{"field": f.field, "problem": f.problem, "expected": f.expected} for f in faults],
        )


class AdminOnly(Refusal):
    status: Status = "admin_only"
    is_error = True


class Paywall(Refusal):
    status: Status = "paywall"

    def __init__(
        self,
        message: str,
        *,
        required: str,
        current: str,
        feature: str,
        upgrade_url: str,
        free_alternative: str | None = None,
    ) -> None:
        super().__init__(
            message,
            required_tier=required,
            current_tier=current,
            feature=feature,
            upgrade_url=upgrade_url,
            free_alternative=free_alternative,
        )


class LimitReached(Refusal):
    status: Status = "limit_reached"

    def __init__(
        self,
        message: str,
        *,
        limit: str,
        current: int,
        cap: int,
        resets_at: datetime | None = None,
        upgrade_url: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            message,
            limit=limit,
            current=current,
            cap=cap,
            resets_at=resets_at,
            upgrade_url=upgrade_url,
            **more,
        )


class ConnectionRequired(Refusal):
    status: Status = "connection_required"

    def __init__(self, message: str, *, provider: str) -> None:
        super().__init__(message, provider=provider, connect_with="connect_integration")


class NotFound(Refusal):
    status: Status = "not_found"

    def __init__(self, what: str, id: object, nearest: Sequence[str] | None = None) -> None:
        hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
        super().__init__(
            f"No {what} {id!s} was found.{hint}",
            what=what,
            id=id,
            nearest=list(nearest) if nearest is not None else None,
        )


class Candidates(Refusal):
    """Several things fit a loose name; nothing was stored."""

    status: Status = "candidates"

    def __init__(self, message: str, candidates: Sequence[Any]) -> None:
        super().__init__(message, candidates=list(candidates), saved=False)


class ConfirmationRequired(Refusal):
    status: Status = "confirmation_required"


class NoData(Refusal):
    status: Status = "no_data"

    def __init__(self, message: str, missing: Sequence[str]) -> None:
        super().__init__(message, missing=list(missing))


@dataclass(frozen=True)
class Outage:
    """One backend that did not answer."""

    name: str
    reason: str
    since: datetime | None = None
    retry_after_seconds: int | None = None


class BackendUnavailable(Refusal):
    status: Status = "backend_unavailable"

    def __init__(self, message: str, outages: Sequence[Outage]) -> None:
        super().__init__(message, backends=list(outages))
