"""The watch a mail comes from: its name, its page, and the links that pause it."""

from collections.abc import Mapping
from typing import Any

from shared.outbox.links import pause_url, watch_url

Facts = Mapping[str, Any]
# Of each event the kind of its watch, and the fact that holds its number.
_WATCHES = {
    "route_monitor_match": ("route_monitor", "monitor_id"),
    "flight_alert_match": ("flight_alert", "alert_id"),
    "hotel_price_drop": ("hotel_booking", "booking_id"),
    "standing_order_done": ("standing_order", "order_id"),
    "standing_order_failed": ("standing_order", "order_id"),
}
PAUSE_WORDS = {
    "route_monitor": "Pause this watch",
    "flight_alert": "Pause this alert",
    "delay_alert": "Pause this alert",
    "hotel_booking": "Stop checking this price",
}


def describe_watch(event: str, facts: Facts, account: str) -> dict[str, Any]:
    """`name`, `page` and `pauses`, each with `words` and `address`; empty where an event comes from no watch."""
    watches = list_watches(event, facts)
    if not watches:
        return {}
    kind, number = watches[0]
    return {
        "name": f"{kind.replace('_', ' ')} {number}",
        "page": watch_url(kind, number),
        "pauses": [
            {"words": _word_pause(kind, number, len(watches)), "address": pause_url(account, kind, number)}
            for kind, number in watches
            if account and kind in PAUSE_WORDS
        ],
    }


def list_watches(event: str, facts: Facts) -> list[tuple[str, int]]:
    """Kind and number of each watch that a message comes from."""
    if event == "delay_alert":
        return [("delay_alert", number) for number, _ in facts["alerts"]]
    kind, name = _WATCHES.get(event, ("", ""))
    return [(kind, facts[name])] if kind else []


def _word_pause(kind: str, number: int, watches: int) -> str:
    return PAUSE_WORDS[kind] if watches == 1 else f"Pause {kind.replace('_', ' ')} {number}"
