"""Corrections a caller sends for bookings read from a mail: checked field by field and merged into them."""

from collections.abc import Mapping
from datetime import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from mcp_server.toolkit.parameters import Airport, Amount, Cabin, Country, Currency, Day, Passengers
from shared.errors import Fault, Invalid

_MAX_BOOKINGS = 16


def _parse_time(value: Any) -> time:
    if isinstance(value, str) and len(value) == 5:
        try:
            return time.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("is not a time HH:MM")


_Time = Annotated[time, BeforeValidator(_parse_time)]
_Count = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
_Action = Literal["create", "change", "cancel"]
_Kind = Literal["award", "cash"]


def _text_type(longest: int) -> Any:
    return Annotated[str, Field(min_length=1, max_length=longest, pattern=r"^[^\x00-\x1f]*$")]


_FLIGHT: dict[str, Any] = {
    "action": _Action,
    "airline": _text_type(80),
    "flight_number": _text_type(12),
    "origin": Airport,
    "destination": Airport,
    "departure_date": Day,
    "departure_time": _Time,
    "arrival_date": Day,
    "arrival_time": _Time,
    "cabin_class": Cabin,
    "kind": _Kind,
    "program": _text_type(80),
    "points_spent": _Count,
    "cash_paid": Amount,
    "taxes_paid": Amount,
    "taxes_currency": Currency,
    "passengers": Passengers,
    "confirmation_number": _text_type(40),
}
_HOTEL: dict[str, Any] = {
    "action": _Action,
    "hotel_id": _text_type(80),
    "hotel_name": _text_type(120),
    "city": _text_type(80),
    "country": Country,
    "check_in_date": Day,
    "check_out_date": Day,
    "kind": _Kind,
    "original_points": _Count,
    "cash_total": Amount,
    "cash_rate_currency": Currency,
    "room_type": _text_type(120),
    "free_cancellation_until": Day,
    "confirmation_number": _text_type(40),
}


_PLACE = ("origin", "destination", "departure_date", "flight_number")
_TIMES = ("departure_time", "arrival_date", "arrival_time")


def _build_model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    optional: dict[str, Any] = {n: (t | None, None) for n, t in fields.items()}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **optional)


_MODELS = {"flight": _build_model("FlightFields", _FLIGHT), "hotel": _build_model("HotelFields", _HOTEL)}
_NAMES = {"flight": _FLIGHT, "hotel": _HOTEL}


def apply_corrections(parsed: list[dict[str, Any]], fields: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The parsed bookings with the corrections: plain fields go to every booking that has such a field, and
    `bookings` holds fields for each by its place. Raises Invalid."""
    if not fields:
        return parsed
    corrections = dict(fields)
    by_booking, kind = corrections.pop("bookings", []), corrections.pop("type", None)
    _check_shape(by_booking, kind)
    bookings = [dict(b) for b in parsed] or [{"action": "create"} for _ in range(max(1, len(by_booking)))]
    bookings += [{"action": "create", "type": bookings[0].get("type")} for _ in range(len(by_booking) - len(bookings))]
    own_fields = [dict(e) for e in by_booking] + [{}] * (len(bookings) - len(by_booking))
    types = [m.pop("type", None) or kind or b.get("type") for m, b in zip(own_fields, bookings, strict=True)]
    if any(t not in _MODELS for t in types):
        raise Invalid(Fault("fields", "does not say what was booked", "type: flight or hotel"))
    unknown_names = [n for n in corrections if not any(n in _NAMES[str(t)] for t in types)]
    if unknown_names:
        expected = f"one of {', '.join(_NAMES[str(types[0])])}"
        raise Invalid(*(Fault("fields", f"has no {_printable(n)}", expected) for n in unknown_names[:20]))
    return [
        _merge(
            b | {"type": t},
            _validate_booking(str(t), {n: v for n, v in corrections.items() if n in _NAMES[str(t)]} | m, at),
        )
        for at, (b, t, m) in enumerate(zip(bookings, types, own_fields, strict=True))
    ]


def _merge(booking: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The booking with its corrections. What was paid tells the kind where neither says it."""
    if any(n in fields and fields[n] != booking.get(n) for n in _PLACE):
        booking = {n: v for n, v in booking.items() if n not in _TIMES}  # perhaps those of another leg
    merged = booking | fields
    if not merged.get("kind") and any(merged.get(n) is not None for n in ("points_spent", "original_points")):
        merged["kind"] = "award"
    elif not merged.get("kind") and any(merged.get(n) is not None for n in ("cash_paid", "cash_total")):
        merged["kind"] = "cash"
    return merged


def _check_shape(each: Any, kind: Any) -> None:
    if not isinstance(each, list) or len(each) > _MAX_BOOKINGS or not all(isinstance(e, dict) for e in each):
        raise Invalid(Fault("fields.bookings", "is not a list of objects", f"at most {_MAX_BOOKINGS} objects"))
    if kind is not None and kind not in _MODELS:
        raise Invalid(Fault("fields.type", "is not one of the values", "flight or hotel"))


def _printable(name: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(name)[:40])


def _validate_booking(kind: str, fields: dict[str, Any], at: int) -> dict[str, Any]:
    """The fields of one booking as JSON values. Raises Invalid."""
    try:
        model = _MODELS[kind].model_validate(fields)
    except ValidationError as error:
        faults = []
        for e in error.errors(include_url=False, include_input=False)[:10]:
            name = _printable(e["loc"][0])
            expected = "of its proper form" if name in _NAMES[kind] else f"one of {', '.join(_NAMES[kind])}"
            faults.append(Fault(f"fields.bookings[{at}].{name}", "does not hold", expected))
        raise Invalid(*faults) from None
    values: dict[str, Any] = model.model_dump(exclude_none=True)
    return {n: _to_json(v) for n, v in values.items()}


def _to_json(value: Any) -> Any:
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return value if isinstance(value, str | int) else float(value) if hasattr(value, "quantize") else value.isoformat()
