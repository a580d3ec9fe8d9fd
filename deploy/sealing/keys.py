"""`award-travel keys`: what depends on each of SECRET_KEYS, sealing it again, and whether a key can be retired."""

import argparse
import json
from collections import Counter

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database, is_set_by_environment
from deploy.operators.operator_actions import write_trail
from deploy.sealing.sealed_values import UNSENT, count_by_key, seal_all_anew
from deploy.terminal import open_console, print_styled
from shared.db.base import transaction
from shared.domain.plurals import pluralize
from shared.secrets import key_id
from shared.settings import settings

ROTATION = """
To rotate, change SECRET_KEYS of every program, and restart all of them before the next step:
  1. OLD,NEW   every program can open what the new key will seal
  2. NEW,OLD   the new key seals; then award-travel keys reseal
  3. NEW       once award-travel keys retire ID lets the old one go
A new key in front at once is wrong: programs that do not have it yet cannot open what the others seal."""
NOT_LISTED = (
    "No list shows who still holds what follows from it: links to unsubscribe or to pause a watch in mails sent so"
    " far, ids of flights that an assistant remembers, and the marks by which a repeated card statement is known."
    " They end with the key; a month of keeping it second costs nothing."
)


def run_keys(arguments: argparse.Namespace) -> int:
    actions = {"status": _show_status, "reseal": _reseal, "retire": _retire}
    with database(Home(arguments.home)):
        return actions[arguments.action](arguments)


def _list_key_ids() -> list[str]:
    return [key_id(material) for material in settings().encryption_keys]


def _show_status(arguments: argparse.Namespace) -> int:
    """Returns 1 if something depends on a key that is not in the settings."""
    with transaction() as session:
        counts = count_by_key(session)
    ids = _list_key_ids()
    lost = sorted(set(counts) - set(ids))
    if arguments.json:
        keys = {name: dict(counts.get(name, {})) for name in [*ids, *lost]}
        print(json.dumps({"keys": keys, "first": ids[0], "missing": lost}))
        return 1 if lost else 0
    console = open_console()
    for number, name in enumerate(ids):
        print_styled(console, f"{name}  {'seals and opens' if number == 0 else 'opens'}: {_describe(counts.get(name))}")
    for name in lost:
        print_styled(console, f"{name}  not in SECRET_KEYS: {_describe(counts[name])}, which nothing opens")
    print_styled(console, _advise(ids, counts))
    return 1 if lost else 0


def _describe(counts: Counter[str] | None) -> str:
    return ", ".join(f"{noun} {number:,}" for noun, number in sorted((counts or {}).items())) or "nothing"


def _advise(ids: list[str], counts: dict[str, Counter[str]]) -> str:
    old = ids[1:]
    if not old:
        return ROTATION
    if loaded := [name for name in old if counts.get(name)]:
        return (
            f"\nOnce every program has {ids[0]} first: award-travel keys reseal takes everything from"
            f" {' and '.join(loaded)}."
        )
    return (
        f"\nNothing hangs on {' and '.join(old)}. After a reseal it may go: award-travel keys retire ID. Before one,"
        " as the new key, it comes to the front once every program has it."
    )


def _reseal(arguments: argparse.Namespace) -> int:
    """Returns 1 if a value stays on an old key, because it waits for a code or to be sent, or if no key opens one."""
    first, *others = _list_key_ids()
    sealed, unreadable = seal_all_anew()
    with transaction() as session:
        write_trail(session, arguments, "keys reseal", first, pluralize(sealed.total(), "value"))
        counts = count_by_key(session)
    rest = {name: counts[name] for name in others if name in counts}
    status = 1 if rest or unreadable else 0
    if arguments.json:
        print(json.dumps({"first": first, "sealed": sealed, "unreadable": unreadable, "rest": rest}))
        return status
    print(f"Sealed again with {first}: {_describe(sealed)}.")
    if unreadable:
        print(f"No key of SECRET_KEYS opens: {_describe(unreadable)}. Put the key they were sealed with back.")
    for name, values in rest.items():
        advice = "Run it again in ten minutes; what is being proved by a code waits that long."
        if set(values) == {UNSENT}:
            advice = "They go by themselves within minutes."
        print(f"Still on {name}: {_describe(values)}. {advice}")
    return status


def _retire(arguments: argparse.Namespace) -> int:
    """Refuses while anything depends on the key. The command cannot change every program's settings."""
    ids = _list_key_ids()
    if arguments.key not in ids:
        raise CommandError(f"{arguments.key} is no key of SECRET_KEYS: award-travel keys status lists them.")
    if arguments.key == ids[0]:
        raise CommandError(f"{arguments.key} is first, so it seals: put the new key in front of it first.")
    with transaction() as session:
        if counts := count_by_key(session).get(arguments.key):
            raise CommandError(f"{arguments.key} is needed by {_describe(counts)}: award-travel keys reseal first.")
        write_trail(session, arguments, "keys retire", arguments.key)
    where = "" if is_set_by_environment() else f" in {Home(arguments.home).path / 'secrets.json'}"
    print(f"Nothing stored hangs on {arguments.key}: take it out of SECRET_KEYS{where}.")
    print(NOT_LISTED)
    return 0
