"""Providers: their health, today's use of each quota, and switching one off and on for everyone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import PROVIDERS, Question, build_change_routes, get_for_operator
from auth_server.web.outcomes import FlowResult
from shared.db.provider_cards import ProviderCard, list_cards
from shared.db.switched_off import list_switched_off, switch_off, switch_on
from shared.limits import peek
from shared.provider_health import SWITCHED_OFF, Health, read_health
from shared.redis import call_redis, connect

OFF, ON = f"{PROVIDERS}/off", f"{PROVIDERS}/on"
DAY_SECONDS = 86_400
MESSAGES = {
    "off": "It is off: within a second no one asks it. Answers that are cached are still given until they are too old.",
    "on": "It is on: within a second it is asked again.",
    "unchanged": "Nothing was changed: it was so already.",
}


@dataclass(frozen=True)
class _Line:
    """One provider's line on the page."""

    name: str
    state: str
    last_success_at: datetime | None
    error: str | None  # one word of ours, never the provider's text
    failures: int  # in a row
    failing_since: datetime | None
    spent: int | None  # of today's quota, up to its limit
    remaining: int | None
    off_since: datetime | None


def show_providers(member: Member) -> FlowResult:
    cards, switches = list_cards(member.db), list_switched_off(member.db)
    is_away = call_redis(lambda: connect().ping()) is None
    lines = [] if is_away else _describe_providers(cards, switches)
    context = {"lines": lines, "is_away": is_away, "messages": MESSAGES}
    return operator.show(member, "operate_providers.html", **context)


def _describe_providers(cards: Sequence[ProviderCard], switches: Mapping[str, datetime]) -> list[_Line]:
    health = read_health(card.health_name for card in cards)
    return [_describe_provider(card, health[card.health_name], switches.get(card.name)) for card in cards]


def _describe_provider(card: ProviderCard, health: Health, off_since: datetime | None) -> _Line:
    state = health.state if card.is_configured else "not configured"
    error = None if health.reason == SWITCHED_OFF else health.reason
    spent, remaining = _read_quota(card) if card.is_configured else (None, None)
    failing = (health.failures, health.failing_since if health.failures else None)
    shown_state = "off" if off_since else state
    return _Line(card.name, shown_state, health.last_success_at, error, *failing, spent, remaining, off_since)


def _read_quota(card: ProviderCard) -> tuple[int | None, int | None]:
    if card.calls_a_day is None:
        return None, None
    spent = min(peek(card.counter, card.calls_a_day, DAY_SECONDS).count, card.calls_a_day)
    return spent, card.calls_a_day - spent


def _find_card(member: Member) -> ProviderCard | None:
    name = member.data.query_value("name") or member.read_field("name")
    return next((card for card in list_cards(member.db) if card.name == name), None)


def _ask(member: Member, path: str, card: ProviderCard, words: tuple[str, str, str], fault: str) -> FlowResult:
    question = Question(path, *words, (PROVIDERS, "Providers"), {"name": card.name})
    return operator.ask(member, question, fault)


def _ask_off(member: Member, card: ProviderCard, fault: str) -> FlowResult:
    text = (
        "No program asks it for anybody until it is switched on again, and watches that need it wait. "
        "Answers that are cached are still given until they are too old."
    )
    return _ask(member, OFF, card, (f"Switch {card.name} off?", text, "Switch it off"), fault)


def _ask_on(member: Member, card: ProviderCard, fault: str) -> FlowResult:
    text = "Every program asks it again, with the next question it gets."
    return _ask(member, ON, card, (f"Switch {card.name} on?", text, "Switch it on"), fault)


def _switch(name: str, act: Callable[[Member, ProviderCard, str], bool]) -> Callable[..., FlowResult]:
    """Switches it; the dispatcher tells all programs in its next round, twice a second."""

    def change(member: Member, card: ProviderCard, reason: str) -> FlowResult:
        if not act(member, card, reason):
            return redirect_back(PROVIDERS, "unchanged")
        operator.write_trail(member, f"providers {name}", f"provider:{card.name}", None, reason)
        return redirect_back(PROVIDERS, name)

    return change


_switch_off = _switch("off", lambda member, card, reason: switch_off(member.db, card.name, reason))
_switch_on = _switch("on", lambda member, card, _: switch_on(member.db, card.name))
ROUTES = [
    get_for_operator(PROVIDERS, show_providers),
    *build_change_routes(
        OFF, _find_card, _ask_off, _switch("off", lambda m, card, why: switch_off(m.db, card.name, why))
    ),
    *build_change_routes(ON, _find_card, _ask_on, _switch_on),
]
