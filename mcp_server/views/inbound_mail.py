"""Corrections of what was read from a mail: an object a caller sent goes in; checked fields, or faults, come out."""

from collections.abc import Mapping
from datetime import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from mcp_server.toolkit.parameters import Airport, Amount, Cabin, Currency, Day, Passengers
from shared.errors import Fault, Invalid

_MOST_BOOKINGS = 16


def _clock(value: Any) -> time:
    if isinstance(value, str) and len(value) == 5:
        try:
            return time.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("is not a time HH:MM")


_Time = Annotated[time, BeforeValidator(_clock)]
_Count = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
_Action = Literal["create", "cancel"]
_Kind = Literal["award", "cash"]


def _text(longest: int) -> Any:
    return Annotated[str, Field(min_length=1, max_length=longest, pattern=r"^[^\x00-\x1f]*$")]


_FLIGHT: dict[str, Any] = {
    "action": _Action,
    "airline": _text(80),
    "flight_number": _text(12),
    "origin": Airport,
    "destination": Airport,
    "departure_date": Day,
    "departure_time": _Time,
    "arrival_date": Day,
    "arrival_time": _Time,
    "cabin_class": Cabin,
    "kind": _Kind,
    "program": _text(80),
    "points_spent": _Count,
    "cash_paid": Amount,
    "taxes_paid": Amount,
    "taxes_currency": Currency,
    "passengers": Passengers,
    "confirmation_number": _text(40),
}
_HOTEL: dict[str, Any] = {
    "action": _Action,
    "hotel_id": _text(80),
    "check_in_date": Day,
    "check_out_date": Day,
    "kind": _Kind,
    "original_points": _Count,
    "cash_total": Amount,
    "cash_rate_currency": Currency,
    "room_type": _text(120),
    "free_cancellation_until": Day,
    "confirmation_number": _text(40),
}


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    optional: dict[str, Any] = {n: (t | None, None) for n, t in fields.items()}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **optional)


_MODELS = {"flight": _model("FlightFields", _FLIGHT), "hotel": _model("HotelFields", _HOTEL)}
_NAMES = {"flight": _FLIGHT, "hotel": _HOTEL}


def apply_corrections(parsed: list[dict[str, Any]], fields: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The parsed bookings with the corrections: plain fields go to every booking that has such a field, and
    `bookings` holds fields for each by its place. Raises Invalid."""
    if not fields:
        return parsed
    given = dict(fields)
    each, kind = given.pop("bookings", []), given.pop("type", None)
    _shape(each, kind)
    made = [dict(b) for b in parsed] or [{"action": "create"} for _ in range(max(1, len(each)))]
    made += [{"action": "create", "type": made[0].get("type")} for _ in range(len(each) - len(made))]
    more = [dict(e) for e in each] + [{}] * (len(made) - len(each))
    types = [m.pop("type", None) or kind or b.get("type") for m, b in zip(more, made, strict=True)]
    if any(t not in _MODELS for t in types):
        raise Invalid(Fault("fields", "does not say what was booked", "type: flight or hotel"))
    unknown = [n for n in given if not any(n in _NAMES[str(t)] for t in types)]
    if unknown:
        known = f"one of {', '.join(_NAMES[str(types[0])])}"
        raise Invalid(*(Fault("fields", f"has no {_shown(n)}", known) for n in unknown[:20]))
    return [
        b | {"type": t} | _checked(str(t), {n: v for n, v in given.items() if n in _NAMES[str(t)]} | m, at)
        for at, (b, t, m) in enumerate(zip(made, types, more, strict=True))
    ]


def _shape(each: Any, kind: Any) -> None:
    if not isinstance(each, list) or len(each) > _MOST_BOOKINGS or not all(isinstance(e, dict) for e in each):
        raise Invalid(Fault("fields.bookings", "is not a list of objects", f"at most {_MOST_BOOKINGS} objects"))
    if kind is not None and kind not in _MODELS:
        raise Invalid(Fault("fields.type", "is not one of the values", "flight or hotel"))


def _shown(name: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(name)[:40])


def _checked(kind: str, given: dict[str, Any], at: int) -> dict[str, Any]:
    """The fields of one booking as they are kept: JSON of checked values."""
    try:
        model = _MODELS[kind].model_validate(given)
    except ValidationError as error:
        faults = []
        for e in error.errors(include_url=False, include_input=False)[:10]:
            name = _shown(e["loc"][0])
            known = "of its proper form" if name in _NAMES[kind] else f"one of {', '.join(_NAMES[kind])}"
            faults.append(Fault(f"fields.bookings[{at}].{name}", "does not hold", known))
        raise Invalid(*faults) from None
    sent: dict[str, Any] = model.model_dump(exclude_none=True)
    return {n: _kept(v) for n, v in sent.items()}


def _kept(value: Any) -> Any:
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return value if isinstance(value, str | int) else float(value) if hasattr(value, "quantize") else value.isoformat()
