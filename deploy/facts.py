"""Facts looked after from the command line: words of an operator go in, corrections with their trail and audits out."""

import argparse
import getpass
from collections import Counter
from collections.abc import Mapping

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from shared.domain.plurals import some


def _cells(words: list[str]) -> dict[str, str]:
    """`column=value` words; an empty value empties the cell."""
    wrong = [word for word in words if "=" not in word]
    if wrong:
        raise CommandError(f"{wrong[0]!r} is not of the form COLUMN=VALUE.")
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _shown(cells: Mapping[str, str] | None) -> str:
    return "nothing" if cells is None else ", ".join(f"{k}={v}" for k, v in cells.items() if v)


def _changes(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> str:
    """Each cell that differs, with what it was."""
    was, now = before or {}, after or {}
    names = [name for name in {**was, **now} if was.get(name, "") != now.get(name, "")]
    return "; ".join(f"{n}: {was.get(n, '') or '-'} -> {now.get(n, '') or '-'}" for n in names) or "nothing differs"


def run_fact(given: argparse.Namespace) -> None:
    with database(Home(given.home)):
        from shared.services.operations import facts

        try:
            if given.action == "list":
                _list(given.file)
                return
            _change(given)
        except facts.BadFact as fault:
            raise CommandError(str(fault)) from None
        facts.tell()


def _change(given: argparse.Namespace) -> None:
    from shared.db.base import transaction
    from shared.services.operations import facts

    who = given.by or getpass.getuser()
    with transaction() as session:
        wanted = (session, given.file, _cells(given.cells), who, given.reason)
        if given.action == "set":
            before, after = facts.set_fact(*wanted)
            said = f"{_changes(before, after)}\nnow: {_shown(after)}"
        elif given.action == "remove":
            said = f"taken out: {_shown(facts.remove_fact(*wanted))}"
        else:
            said = f"back to: {_shown(facts.undo_fact(*wanted))}"
    print(f"{given.file}\n{said}\nRunning servers answer with it within seconds.")


def _list(file: str | None) -> None:
    from shared.db.base import transaction
    from shared.db.overrides import trail
    from shared.services.operations import facts

    if file:
        facts.known(file)
    with transaction() as session:
        held = [o for o in facts.current(session) if file in (None, o.file)]
        changes = trail(session, file, 50)
    print(f"{some(len(held), 'correction')} in force, not yet in the files.")
    for o in held:
        print(f"  {o.file}  {'removed: ' if o.removed else ''}{_shown(o.cells)}")
        print(f"    since {o.entered_at:%Y-%m-%d %H:%M} by {o.entered_by}: {o.reason}")
    if changes:
        print("The last changes:")
    for c in changes:
        print(f"  {c.made_at:%Y-%m-%d %H:%M} {c.made_by} {c.action} {c.file} {c.key}: {c.reason}")
        print(f"    {_changes(c.before, c.after)}")


def run_audit(given: argparse.Namespace) -> None:
    """Prints what is to be looked at, the oldest first; ends with status 1 when there is anything."""
    with database(Home(given.home)):
        from shared.services.operations.audit import findings, since

        found = [f for f in findings() if given.kind in (None, f.kind)]
    shown = found if given.limit < 1 else found[: given.limit]
    for f in shown:
        print(f"{since(f):<10}  {f.kind:<12}  {f.file}  {f.key}\n{'':24}{f.text}")
    if len(found) > len(shown):
        print(f"and {len(found) - len(shown)} more: --limit 0 prints all.")
    if found:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(f.kind for f in found).items()))
        raise CommandError(f"{some(len(found), 'finding')}: {kinds}.")
    print("Nothing to look at.")
