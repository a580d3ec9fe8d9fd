"""`award-travel providers`: the health of each provider, and switching one off and on for everyone."""

import argparse
from contextlib import suppress
from dataclasses import asdict, dataclass

from redis.exceptions import RedisError

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operators.operator_actions import write_trail
from deploy.terminal import print_rows
from shared.db.base import transaction
from shared.db.provider_cards import ProviderCard
from shared.db.switched_off import list_switched_off, switch_off, switch_on
from shared.limits import peek
from shared.provider_health import mirror_switches
from shared.providers import registry
from shared.services.search.sources import Backend, backends, list_provider_cards

DAY_SECONDS = 86_400


def run_providers(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)):
        if arguments.action != "list":
            _switch_provider(arguments)
            return
        quotas = {card.name: _read_quota(card) for card in list_provider_cards()}
        rows = [_Row(**(asdict(backend) | quotas[backend.name])) for backend in backends()]
        print_rows(rows, _describe, empty="There is no provider in this data mode.", as_json=arguments.json)


@dataclass(frozen=True)
class _Row(Backend):
    """`calls_today` and `calls_a_day` are None where calls of the operator's key are not limited."""

    concurrency: int = 0
    calls_today: int | None = None
    calls_a_day: int | None = None


def _read_quota(card: ProviderCard) -> dict[str, int | None]:
    concurrency = registry.providers()[card.name].concurrency
    if card.calls_a_day is None:
        return {"concurrency": concurrency}
    spent = peek(card.counter, card.calls_a_day, DAY_SECONDS).count
    return {"concurrency": concurrency, "calls_today": min(spent, card.calls_a_day), "calls_a_day": card.calls_a_day}


def _describe(row: _Row) -> str:
    state = "off" if row.is_switched_off else row.state.replace("_", " ")
    answer_text = f"answered {row.last_success_at:%Y-%m-%d %H:%M} UTC" if row.last_success_at else "not asked yet"
    spent = f"{row.calls_today:,} of {row.calls_a_day:,} calls today" if row.calls_a_day else ""
    return f"{row.name:<16} {state:<16} {answer_text:<30} {spent}"


def _switch_provider(arguments: argparse.Namespace) -> None:
    """Takes effect in every program at its next question. Cached answers are used until they are too old."""
    name, turns_off = arguments.provider, arguments.action == "off"
    if name not in registry.providers():
        raise CommandError(f"{name} is no provider: they are {', '.join(sorted(registry.providers()))}.")
    with transaction() as session:
        changed = switch_off(session, name, arguments.reason) if turns_off else switch_on(session, name)
        if not changed:
            raise CommandError(f"{name} is {'off' if turns_off else 'on'} already.")
        write_trail(session, arguments, f"providers {arguments.action}", f"provider:{name}")
        switches = list_switched_off(session)
    with suppress(RedisError, OSError):  # the dispatcher does it too
        mirror_switches(switches)
    print(f"{name} is {'off: no one asks it' if turns_off else 'on'}.")
