"""Refusals: expected outcomes, written for the caller, that tools and services raise and the edges render once.

Over REST they are problem documents (RFC 9457); PROBLEMS says what each kind is called there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

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
    "temporarily_unavailable",
    "busy",
    "admin_only",
]


class Refusal(Exception):
    """An outcome other than success: a stable status, one sentence, and facts the caller can act on."""

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

    def __init__(self, what: str, id: object, nearest: Sequence[str] | None = None, remark: str = "") -> None:
        hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
        name = str(id).strip() or "of an empty name"
        super().__init__(
            " ".join(filter(None, (f"No {what} {name} was found.", remark))) + hint,
            what=what,
            id=id,
            nearest=list(nearest) if nearest is not None else None,
        )


class NotCovered(NotFound):
    """The name of something that exists but is unknown here: no known name is near it."""

    def __init__(self, what: str, id: object, names: Sequence[str]) -> None:
        super().__init__(what, id, [])
        sentence = f"{' and '.join(names)} {describe_uncovered(names)}"
        self.message = f"{sentence}, so no other {what} was taken for {str(id).strip()}."


def describe_uncovered(names: Sequence[str]) -> str:
    return "is known here, but has no data" if len(names) == 1 else "are known here, but have no data"


class Choice(NamedTuple):
    """One meaning of a loose name: the value to send, and its name for people."""

    value: str
    title: str


@dataclass(frozen=True)
class Ambiguity:
    """A loose name and all it can mean, so that an edge can ask the person which."""

    what: str  # "programme", "airport"
    text: str
    choices: Sequence[Choice]

    @classmethod
    def of_names(cls, what: str, text: str, names: Sequence[str]) -> "Ambiguity":
        """Choices whose value is also their name."""
        return cls(what, text, [Choice(name, name) for name in names])


class Candidates(Refusal):
    """Several things fit a loose name; nothing was stored."""

    status: Status = "candidates"

    def __init__(self, message: str, candidates: Sequence[Any], ambiguity: Ambiguity) -> None:
        super().__init__(message, candidates=list(candidates), saved=False)
        self.ambiguity = ambiguity


class ConfirmationRequired(Refusal):
    """Nothing was changed: the same call with `confirm` true does it. `question` is put to the person."""

    status: Status = "confirmation_required"

    def __init__(self, message: str, question: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.question = question


class NoData(Refusal):
    status: Status = "no_data"

    def __init__(self, message: str, missing: Sequence[str], **facts: Any) -> None:
        super().__init__(message, missing=list(missing), **facts)


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


class TemporarilyUnavailable(Refusal):
    """The database is down. `saved` is None if it went down during a write: no one knows."""

    status: Status = "temporarily_unavailable"
    is_error = True

    def __init__(self, message: str, *, retry_after: int, saved: bool | None) -> None:
        super().__init__(message, retry_after=retry_after, saved=saved)


class Busy(Refusal):
    """Other work, perhaps of the same account, did not finish in time; this call was not started."""

    status: Status = "busy"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, retry_after=retry_after)


class Problem(NamedTuple):
    """One kind of failure over REST: its HTTP status, its name, and what a program should do about it."""

    status: int
    title: str
    meaning: str


PROBLEMS = {
    "unreadable": Problem(400, "Unreadable request", "The body is not one JSON object, or a query parameter is wrong."),
    "unauthorized": Problem(401, "API key missing or not accepted", "Send a key this service issued, in one header."),
    "paywall": Problem(402, "Not part of the plan", "The tool needs a higher plan; upgrade_url says how to change it."),
    "admin_only": Problem(403, "Administrators only", "Only an administrator's account may do this."),
    "registration_closed": Problem(403, "No registration", "The operator lets no program make its own account."),
    "not_found": Problem(404, "Nothing of that name", "what and id say what was sought; nearest what comes close."),
    "unknown_tool": Problem(404, "No such tool", "See the list of tools for the names; nearest names similar ones."),
    "no_such_page": Problem(404, "Nothing is here", "The address is not one this service knows."),
    "method_not_allowed": Problem(405, "Method not allowed", "The header Allow names the methods."),
    "too_slow": Problem(408, "The body did not arrive in time", "Send it again."),
    "connection_required": Problem(409, "A connection is missing", "Connect the named provider, then call again."),
    "limit_reached": Problem(429, "Limit reached", "limit, current and cap say which. 429 ends at resets_at."),
    "too_large": Problem(413, "Request too large", "Send less."),
    "unsupported_media_type": Problem(415, "JSON only", "Send Content-Type: application/json, not compressed."),
    "invalid": Problem(422, "Invalid arguments", "errors names each argument, what is wrong and what would be right."),
    "too_many_requests": Problem(429, "Too many requests", "Wait as long as Retry-After says."),
    "internal_error": Problem(500, "Something went wrong here", "It is logged. Quote call_id to the operator."),
    "backend_unavailable": Problem(503, "A source of data does not answer", "backends names it. Try again later."),
    "busy": Problem(503, "Busy", "Too much is being read or drawn at present. Wait as long as Retry-After says."),
    "temporarily_unavailable": Problem(503, "Temporarily unavailable", "A part of this service is down. Try again."),
}


def problem(site: str, word: str, detail: str, *, status: int | None = None, **facts: Any) -> dict[str, Any]:
    """A problem document of a kind of PROBLEMS; `site` is the web host, which explains each kind on a page."""
    kind = PROBLEMS[word]
    about = {"type": f"{site}/problems#{word}", "title": kind.title, "status": status or kind.status, "detail": detail}
    return about | {"outcome": word} | facts
