"""What every client here is asked to do, and how a script talks to the test that started it, line by line."""

import json
import sys
from datetime import date, timedelta
from typing import Any
from urllib.request import urlopen

DAY = (date.today() + timedelta(days=60)).isoformat()
FLIGHT = {"airline": "BA", "origin": "LHR", "destination": "JFK", "date": DAY}
# By what is tried: the tool, its arguments, and the status it is to answer.
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "fact": ("list_transfer_partners", {"program": "amex-membership-rewards"}, "ok"),
    "write": ("update_points_balance", {"program": "flying-blue", "balance": 1000}, "ok"),
    "invalid": ("search_availability", {"origin": "LHR"}, "invalid"),
    "candidates": ("add_card", {"card": "platinum"}, "candidates"),
    "search": ("search_availability", FLIGHT, "ok"),
}
# A client that checks arguments itself, by the schema, never sends the invalid one.
LOCAL = "refused by the client"


def read_status(text: str) -> str:
    """The status of an answer: its last line is the data, as in the one text a model is shown."""
    return str(json.loads(text.strip().splitlines()[-1])["status"])


def _ask(line: str) -> str:
    _say(line)
    return sys.stdin.readline().strip()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def visit(address: str) -> str:
    """Where the browser of a person ends who opens this address, signs in and allows it."""
    return _ask(f"visit {address}")


def visit_to_the_end(address: str) -> None:
    """The same, and the client's own callback server hears of it."""
    urlopen(visit(address), timeout=60).read()


def restart() -> None:
    """The tool server is ended, and a new one answers at its address."""
    _ask("restart")


def tell(**results: Any) -> None:
    _say(f"result {json.dumps(results)}")
