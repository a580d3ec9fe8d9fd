"""What the profile adds to one call: missing arguments, and the airlines the person avoids or prefers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio.to_thread

from mcp_server.toolkit import Caller, Tool
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.toolkit.wording import list_airline_names
from shared.db.outages import run_again
from shared.db.profile import read_settings
from shared.domain.plans import FREE_CABINS, list_cabins
from shared.domain.preferences import AIRLINE_PARAMETERS, AirlineTaste, describe_left_out, describe_settings
from shared.reference.load import reference


@dataclass(frozen=True)
class KnownPerson:
    """`taken` are arguments by name, and `words` the settings among them that the answer names.

    `unpaid` is the usual cabin if the plan does not include it. `meant`: sentences about names of several programmes,
    taken for those the person holds points in.
    """

    taken: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[tuple[str, Any], ...] = ()
    taste: AirlineTaste = field(default_factory=AirlineTaste)
    unpaid: str = ""
    meant: tuple[str, ...] = ()

    def describe(self) -> str:
        """Sentences, after a space, about what came from the profile."""
        unpaid = f" Your usual cabin, {self.unpaid.replace('_', ' ')}, needs Premium." if self.unpaid else ""
        left_out = self.taste.left_out
        names = list_airline_names(reference(), left_out) if left_out else {}
        meant = "".join(f" {sentence}" for sentence in self.meant)
        return meant + describe_settings(self.words) + unpaid + describe_left_out(left_out, names)


async def read_person(tool: Tool, raw_arguments: Mapping[str, Any], caller: Caller) -> KnownPerson:
    """Reads it. On a page the person sees every choice, so an empty one is deliberate."""
    if caller.anonymous or not tool.knows_person:
        return KnownPerson()
    is_complete = all(raw_arguments.get(name) is not None for name in tool.arguments.settings)
    if is_complete and "cabin" not in tool.arguments.settings:
        return KnownPerson()  # it searches no flights, so no airline is avoided
    settings = await anyio.to_thread.run_sync(run_again, partial(read_settings, caller.account_id), limiter=limiter())
    taken = {} if caller.on_page else tool.arguments.fill(raw_arguments, settings)
    unpaid = ""
    if tool.meter == "search" and taken.get("cabin", FREE_CABINS[0]) not in list_cabins(caller.plan):
        unpaid = taken.pop("cabin")  # the call did not ask for it, so it is not refused
    names_airlines = any(raw_arguments.get(name) for name in AIRLINE_PARAMETERS)
    avoided = () if names_airlines else settings.get("avoided_airlines", ())
    taste = AirlineTaste(frozenset(settings.get("preferred_airlines", ())), frozenset(avoided))
    words = [(tool.arguments.settings[name], value) for name, value in taken.items()]
    kinds = {tool.arguments.schema["properties"].get(name, {}).get("type") for name in raw_arguments}
    if not tool.reads and "number" not in kinds:  # it stores no amount whose currency is worth a word
        words = [(setting, value) for setting, value in words if setting != "currency"]
    return KnownPerson(taken, tuple(words), taste, unpaid)
