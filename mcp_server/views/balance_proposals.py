"""A balance that a programme's statement names: shown as a proposal, and saved once the person agrees."""

from collections.abc import Mapping
from datetime import date
from typing import Any, get_args

from mcp_server.toolkit import TOOLS, Call, Part, Result
from mcp_server.toolkit.parameters import ProgramSlug
from mcp_server.toolkit.wording import program_name
from shared.db.balances import load_balances
from shared.db.members import HOLDER
from shared.domain.dates import format_day
from shared.errors import Fault, Invalid
from shared.reference.load import Reference

SAVES = "update_points_balance"


class BalanceProposal(Part):
    """What a statement says; null is open, and `programs` and `amounts` are what it can mean. `arguments`: for
    update_points_balance, with what the person says. `saved`: what is stored of it now."""

    program: str | None
    balance: int | None
    as_of: date | None
    programs: list[str]
    amounts: list[int]
    arguments: dict[str, Any]
    saved: int | None
    saved_as_of: date | None
    missing: list[str]


def to_proposal(call: Call, facts: Mapping[str, Any], fields: Mapping[str, Any] | None = None) -> BalanceProposal:
    """`fields`: the person's corrections. Raises Invalid for an unknown field."""
    corrections = dict(fields or {})
    unknown = corrections.keys() - TOOLS[SAVES].arguments.schema["properties"].keys() - {"type"}
    if unknown:
        names = ", ".join(sorted(str(name)[:40] for name in unknown)[:5])
        raise Invalid(
            Fault("fields", f"has no {names}", "program, country, member, balance, as_of, expires_on or notes")
        )
    corrections.pop("type", None)
    read = {name: facts[name] for name in ("program", "balance", "as_of", "expires_on") if facts.get(name) is not None}
    if "program" in read and "program" not in corrections:
        read |= name_account(call.reference, str(read.pop("program")))
    arguments = read | corrections
    missing = [name for name in ("program", "balance") if arguments.get(name) is None]
    slug = None if "program" in missing or corrections.get("program") else facts.get("program")
    member = str(corrections.get("member") or HOLDER).casefold()
    stored = [row for row in load_balances(call.db).rows if row.program == slug and row.member.casefold() == member]
    return BalanceProposal(
        program=slug or arguments.get("program"),
        balance=facts.get("balance"),
        as_of=facts.get("as_of"),
        programs=list(facts.get("programs") or ()),
        amounts=list(facts.get("amounts") or ()),
        arguments=arguments,
        saved=stored[0].balance if stored else None,
        saved_as_of=stored[0].as_of if stored else None,
        missing=missing,
    )


def name_account(facts: Reference, slug: str) -> dict[str, str]:
    """Programme and country: the Membership Rewards of all countries have one name in the tool."""
    if slug in get_args(ProgramSlug):
        return {"program": slug}
    return {"program": slug.rpartition("-")[0], "country": facts.programs[slug].home_country or ""}


def describe_proposal(call: Call, proposal: BalanceProposal) -> str:
    """`Aeroplan: 42,318 points on 5 Nov 2026; saved is 40,000 of 1 Oct 2026.`, or the open questions."""
    if proposal.missing:
        names = [program_name(call.reference, slug) for slug in proposal.programs]
        which = f"Which programme is it of{': ' + ', '.join(names) if names else ''}?"
        amount = f"Which is the balance: {' or '.join(f'{n:,}' for n in proposal.amounts)}?"
        return " ".join(q for name, q in (("program", which), ("balance", amount)) if name in proposal.missing)
    day = f" on {format_day(proposal.as_of)}" if proposal.as_of else ""
    saved = ""
    if proposal.saved is not None and proposal.saved_as_of:
        saved = f"; saved is {proposal.saved:,} of {format_day(proposal.saved_as_of)}"
    name = program_name(call.reference, proposal.program or "")
    end = proposal.arguments.get("expires_on")
    expiry = f", which expire on {format_day(date.fromisoformat(str(end)))}" if end else ""
    return f"{name}: {proposal.balance:,} points{day}{expiry}{saved}."


def save_proposal(call: Call, proposal: BalanceProposal) -> Result:
    """Saves it with the checks of the balances tool. Raises Invalid, also if a newer balance is saved."""
    tool = TOOLS[SAVES]
    try:
        arguments = tool.arguments.check(dict(proposal.arguments))
    except Invalid as no:
        faults = (Fault(f"fields.{f['field']}", f["problem"], f["expected"]) for f in no.facts["errors"])
        raise Invalid(*faults) from None
    if proposal.saved_as_of and arguments["as_of"] and proposal.saved_as_of > arguments["as_of"]:
        newer = f"is before the saved balance of {format_day(proposal.saved_as_of)}"
        raise Invalid(Fault("fields.as_of", newer, "a later day, or discard the letter"))
    result: Result = tool.function(call, **arguments)
    return result
