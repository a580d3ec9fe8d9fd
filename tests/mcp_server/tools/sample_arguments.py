"""Plausible arguments for any tool, made from its schema."""

import re
from datetime import timedelta
from typing import Any

from mcp_server.toolkit.registry import Tool
from shared import clock


# Only names whose type and bounds do not give a plausible value by themselves.
def arguments_by_name() -> dict[str, Any]:
    return {
        "airline": "BA",
        "airport": "LHR",
        "country": "GB",
        "departure": "LHR",
        "card": "Zorblatt Credit Union",
        "destination": "JFK",
        "flight_number": "BA117",
        "from_program": "chase-ultimate-rewards",
        "goal_program": "flying-blue",
        "check_in_date": (clock.today() + timedelta(days=38)).isoformat(),
        "home_airport": "LHR",
        "hotel_id": "conrad-tokyo",
        "month": f"{clock.today() + timedelta(days=40):%Y-%m}",
        "message_id": "00000000-0000-4000-8000-000000000000",  # no one's
        "origin": "LHR",
        "program": "flying-blue",
        "standing_order_id": 424242,  # no one's
        "target_program": "flying-blue",
        "target_tier": "Gold",
        "tier": "Gold",
        "timezone": "Europe/Paris",
        "trip_id": 424242,  # no one's
        "visited_on": clock.today().isoformat(),
        "voucher_id": 424242,
        "voucher_slug": "hilton-free-night-reward",
    }


def _value(name: str, schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if name in arguments_by_name():
        return arguments_by_name()[name]
    day = (clock.today() + timedelta(days=40)).isoformat()
    if schema.get("format") == "date":
        return day
    if "pattern" in schema and r"\d{4}-\d{2}" in schema["pattern"]:
        return day if re.fullmatch(schema["pattern"], day) else day[:7]
    kind = schema.get("type")
    plain = {"integer": schema.get("minimum", 1), "number": 1, "boolean": True, "array": [], "object": {}}
    return plain.get(kind, "Something") if isinstance(kind, str) else 1


# Tools that want one of several optional arguments, or know one programme only.
def arguments_by_tool() -> dict[str, dict[str, Any]]:
    return {
        "admin_get_user": {"id": 1},
        "affordable_destinations": {"program": "avios"},
        "get_hotel_availability": {"month": (clock.today() + timedelta(days=40)).isoformat()[:7]},
        "get_hotel_price_history": {"booking_id": 424242},  # no one's
        "mark_notifications_read": {"all": True},
    }


# What a tool wants for something new, next to what its schema requires.
ALWAYS: dict[str, dict[str, Any]] = {
    "get_award_trip_details": {"trip_id": "awd_nobodys"},
    "apply_voucher_to_booking": {"booking_type": "flight"},
    "import_spending_statement": {
        "rows": [{"date": "2026-02-03", "description": "Tesco", "amount": 23.87}],
        "currency": "GBP",
    },
    "generate_branded_pdf": {"summary": "Something"},
    "save_itinerary_item": {"title": "Something"},
}


def sample_arguments(tool: Tool, **chosen: Any) -> dict[str, Any]:
    """The required arguments, with those chosen."""
    schema = tool.arguments.schema["properties"]
    needed = {name: _value(name, schema[name]) for name in tool.arguments.required}
    return needed | ALWAYS.get(tool.name, {}) | (chosen or arguments_by_tool().get(tool.name, {}))
