"""The first page of operators: that all is well, or what waits for them and where."""

from collections.abc import Iterator
from datetime import timedelta

from auth_server.pages.member import Member
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import FACTS, JOBS, MAIL, PROVIDERS, get_for_operator
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.fact_items import count_items
from shared.db.provider_cards import list_cards
from shared.db.switched_off import list_switched_off
from shared.db.unfinished_work import UNSENT, list_messages, list_runs
from shared.domain.plurals import pluralize
from shared.provider_health import read_health

RECENT = timedelta(days=1)  # of failed work: it stays listed after it was done again
MOST_COUNTED = 100
_FACTS = ("reports", "differences", "findings")  # corrections are in force and wait for no one
Wait = tuple[int, str, str, str]  # how many, the words, why, and the page


def show_start(member: Member) -> FlowResult:
    return operator.show(member, "operate_start.html", waits=[wait for wait in _list_waits(member) if wait[0]])


def _list_waits(member: Member) -> Iterator[Wait]:
    since = clock.now() - RECENT
    runs = list_runs(member.db, ["failed"], None, MOST_COUNTED, offset=0)
    failed = sum((run.finished_at or run.due_at) >= since for run in runs)
    yield failed, f"{pluralize(failed, 'run')} failed", "in the last 24 hours", JOBS
    unsent = sum(row.created_at >= since for row in list_messages(member.db, UNSENT, None, MOST_COUNTED, offset=0))
    yield unsent, f"{pluralize(unsent, 'message')} did not go out", "in the last 24 hours", MAIL
    cards = [card for card in list_cards(member.db) if card.is_configured]
    health, off = read_health(card.health_name for card in cards), list_switched_off(member.db)
    for card in cards:
        state = "off" if card.name in off else health[card.health_name].state
        yield int(state != "live"), card.name, f"is {state}", PROVIDERS
    counts = count_items(member.db)
    facts = sum(counts[name] for name in _FACTS)
    yield facts, f"{pluralize(facts, 'fact')} to look at", "reported, differing or found by the audit", FACTS


ROUTES = [get_for_operator(operator.PATH, show_start)]
