"""`award-travel fact` and `audit`: corrections of reference facts with their trail, and the list of facts to check."""

import argparse
import getpass
import io
import sys
from collections import Counter
from collections.abc import Callable, Mapping

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operators.operator_actions import write_trail
from shared.db.base import transaction
from shared.db.fact_items import find_item
from shared.db.overrides import newest_changes
from shared.domain.plurals import pluralize
from shared.reference.load import FOLDER
from shared.reference.override_patch import build_patch
from shared.services.operations import audit, fact_proposals, facts


def _describe_row(cells: Mapping[str, str] | None) -> str:
    return "nothing" if cells is None else ", ".join(f"{k}={v}" for k, v in cells.items() if v)


def _describe_changes(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> str:
    """Each cell that differs, with what it was."""
    was, now = before or {}, after or {}
    names = [name for name in {**was, **now} if was.get(name, "") != now.get(name, "")]
    return "; ".join(f"{n}: {was.get(n, '') or '-'} -> {now.get(n, '') or '-'}" for n in names) or "nothing differs"


def run_fact(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)):
        try:
            _ACTIONS.get(arguments.action, _change)(arguments)
        except facts.BadFact as fault:
            raise CommandError(str(fault)) from None


def _export(_arguments: argparse.Namespace) -> None:
    """Prints the patch to the output, and on standard error what it leaves out."""
    with transaction() as session:
        patch = build_patch(FOLDER, facts.list_corrections(session))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")  # like the files, whatever the terminal's encoding
    sys.stdout.write(patch.text)
    for text in patch.left_out:
        print(f"left out: {text}", file=sys.stderr)
    if not patch.text:
        print("No correction in force differs from the files.", file=sys.stderr)


def _close(arguments: argparse.Namespace) -> None:
    who = arguments.by or getpass.getuser()
    with transaction() as session:
        item = find_item(session, arguments.item)
        if item is None or not audit.close_item(session, arguments.item, who, arguments.reason):
            raise CommandError(f"There is no open item {arguments.item}; audit prints their numbers.")
        write_trail(session, arguments, "fact close", f"fact:{item.name}", f"{item.file}, {item.key}")
    print(f"{arguments.item} is closed.")


def _change(arguments: argparse.Namespace) -> None:
    who = arguments.by or getpass.getuser()
    with transaction() as session:
        # `column=value` words; an empty value empties the cell.
        wrong = [word for word in arguments.cells if "=" not in word]
        if wrong:
            raise CommandError(f"{wrong[0]!r} is not of the form COLUMN=VALUE.")
        cells = {name: value for name, _, value in (word.partition("=") for word in arguments.cells)}
        change = (session, arguments.file, cells, who, arguments.reason)
        if arguments.action == "set":
            before, after = facts.set_fact(*change)
            text = f"{_describe_changes(before, after)}\nnow: {_describe_row(after)}"
        elif arguments.action == "remove":
            text = f"taken out: {_describe_row(facts.remove_fact(*change))}"
        else:
            text = f"back to: {_describe_row(facts.undo_fact(*change))}"
    facts.announce_change()
    print(f"{arguments.file}\n{text}\nRunning servers answer with it within seconds.")


def _list(arguments: argparse.Namespace) -> None:
    file = arguments.file
    if file:
        facts.require_file(file)
    with transaction() as session:
        corrections = [o for o in facts.list_corrections(session) if file in (None, o.file)]
        changes = newest_changes(session, file, 50)
    print(f"{pluralize(len(corrections), 'correction')} in force, not yet in the files.")
    for o in corrections:
        print(f"  {o.file}  {'removed: ' if o.removed else ''}{_describe_row(o.cells)}")
        print(f"    since {o.entered_at:%Y-%m-%d %H:%M} by {o.entered_by}: {o.reason}")
    if changes:
        print("The last changes:")
    for c in changes:
        print(f"  {c.made_at:%Y-%m-%d %H:%M} {c.made_by} {c.action} {c.file} {c.key}: {c.reason}")
        print(f"    {_describe_changes(c.before, c.after)}")


_ACTIONS: dict[str, Callable[[argparse.Namespace], None]] = {"list": _list, "export": _export, "close": _close}


def run_audit(arguments: argparse.Namespace) -> None:
    """Prints what to check, the oldest first; ends with status 1 if there is anything."""
    if arguments.decide:
        decide(arguments)
        return
    with database(Home(arguments.home)):
        items = [f for f in audit.run_audit() if arguments.kind in (None, f.kind)]
    printed = items if arguments.limit < 1 else items[: arguments.limit]
    for f in printed:
        print(f"{audit.describe_since(f):<10}  {f.kind:<12}  {f.file}  {f.key}\n{'':24}{f.text}")
    if len(items) > len(printed):
        print(f"and {len(items) - len(printed)} more: --limit 0 prints all.")
    if items:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(f.kind for f in items).items()))
        raise CommandError(f"{pluralize(len(items), 'finding')}: {kinds}.")
    print("Nothing to look at.")


def decide(arguments: argparse.Namespace) -> None:
    """Shows each change that a watched source proposes: a accepts it, r refuses it, q quits, any other key skips it."""
    who = arguments.by or getpass.getuser()
    counts: Counter[str] = Counter()
    with database(Home(arguments.home)):
        with transaction() as session:
            proposals = list(fact_proposals.list_proposals(session))
        for proposal in proposals:
            after = dict(proposal.before) | dict(proposal.cells)
            print(f"{proposal.name}  {proposal.file}\n  {_describe_changes(proposal.before, after)}")
            print("  a takes it, r refuses it, q ends, any other key leaves it: ", end="", flush=True)
            key = sys.stdin.readline()[:1].lower()
            if key == "q":
                break
            counts[_decide_one(proposal, key, who)] += 1
    if counts["taken"]:
        facts.announce_change()
    decided = ", ".join(f"{count} {word}" for word, count in counts.items()) or "none decided"
    print(f"{pluralize(len(proposals), 'proposal')}: {decided}. `fact export` writes what was taken as a patch.")


def _decide_one(proposal: fact_proposals.RowProposal, key: str, who: str) -> str:
    try:
        with transaction() as session:
            if key == "a":
                fact_proposals.take(session, proposal, who)
            elif key == "r":
                audit.close_item(session, proposal.name, who, "refused")
    except facts.BadFact as fault:
        print(f"  {fault}")
        return "left"
    return {"a": "taken", "r": "refused"}.get(key, "left")
