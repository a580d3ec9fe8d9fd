"""The words of every event: its notice, its mail, and its text for a phone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from shared.domain.dates import format_iso_moment, format_iso_weekday
from shared.outbox import links
from shared.outbox.wording import award_seats, deadlines, delay_alerts, hotel_prices, inbound_mail, standing_orders
from shared.outbox.wording.source_names import describe_source
from shared.settings import settings

Facts = Mapping[str, Any]
SANDBOX_LINE = "SANDBOX - invented data for testing. Not real availability or prices."


@dataclass(frozen=True)
class Message:
    subject: str
    text: str
    html: str
    unsubscribe: str | None = None  # where mails of this kind are turned off
    blanks: tuple[str, ...] = ()  # of a template that takes the place of the text


@dataclass(frozen=True)
class Notice:
    """An entry of the inbox; `kind` is one of those list_notifications filters by."""

    kind: str
    title: str
    body: str


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("shared.outbox"),
        autoescape=select_autoescape(("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"weekday": format_iso_weekday, "moment": format_iso_moment}
    return environment


def _seats_found(facts: Facts) -> Notice:
    kind = "route_monitor" if "monitor_id" in facts else "flight_alert"
    return Notice(kind, award_seats.title(facts), award_seats.body(facts))


def _alert_unanswered(facts: Facts) -> Notice:
    why = {
        "connection_required": f"they need your own {describe_source(facts['source'])} account, which is not connected;"
        " connect_integration does that",
        "not_configured": "this installation has no source of award seats; its operator can set one up",
    }[facts["outcome"]]
    text = f"Flight alerts are not being checked: {why}. They go on by themselves, and this is said once."
    return Notice("flight_alert", "Flight alerts cannot be checked", text)


# Each way out: how one message of it is called at the beginning of a sentence, and within one.
_CALLED = {
    "email": ("An email", "mail"),
    "sms": ("A text message", "text message"),
    "whatsapp": ("A WhatsApp message", "WhatsApp message"),
}


def _mail_uncertain(facts: Facts) -> Notice:
    one, called = _CALLED[facts.get("channel", "email")]
    return Notice(
        "account",
        f"{one} may not have arrived",
        f"The connection broke while the {called} '{facts['subject']}' was handed over, so it may or may not have"
        f" reached {facts['recipient']}. It is not sent again by itself"
        + ("; what it said stands in this inbox." if facts.get("noticed", True) else "."),
    )


def _mail_failed(facts: Facts) -> Notice:
    one, called = _CALLED[facts.get("channel", "email")]
    rest = (
        " What it said stands in this inbox."
        if facts.get("noticed", True)
        else " Ask for it again where you asked for it."
    )
    if facts.get("unwanted"):
        rest += " The number asked the carrier for no more messages, so the alert no longer uses it."
    text = f"The {called} '{facts['subject']}' could not be delivered to {facts['recipient']}."
    return Notice("account", f"{one} could not be delivered", text + rest)


def _plan_changed(facts: Facts) -> Notice:
    parts = [f"The plan of this account is now {facts['plan'].title()}."]
    for verb, those in (("Paused", facts["paused"]), ("Resumed", facts["resumed"])):
        parts += [f"{verb} {kind}: {', '.join(map(str, ids))}." for kind, ids in those.items()]
    if facts["paused"]:
        parts.append("Nothing was deleted; they go on when the plan covers them again.")
    return Notice("account", f"Plan changed to {facts['plan'].title()}", " ".join(parts))


def _password_changed(_facts: Facts) -> Notice:
    text = "All browsers signed in before were signed out. If it was not you, choose a new password now."
    return Notice("account", "Your password was changed", text)


def _connection_broken(facts: Facts) -> Notice:
    text = (
        f"{facts['title']} no longer accepts the connection of this account, so nothing is asked or copied there."
        f" Connect it again with connect_integration {facts['provider']}."
    )
    return Notice("account", f"{facts['title']} has to be connected again", text)


def _connection_ended(facts: Facts) -> Notice:
    text = f"{facts['title']} is disconnected and its tokens are deleted."
    if facts["watches"]:
        text += f" Without it nothing is found for {', '.join(facts['watches'])}; they were kept."
    return Notice("account", f"{facts['title']} is disconnected", f"{text} {facts['after']}".strip())


_NOTICES: dict[str, Callable[[Facts], Notice]] = {
    "hotel_price_drop": lambda facts: Notice("hotel_price_drop", hotel_prices.title(facts), hotel_prices.body(facts)),
    "connection_broken": _connection_broken,
    "connection_ended": _connection_ended,
    "route_monitor_match": _seats_found,
    "flight_alert_match": _seats_found,
    "flight_alert_unanswered": _alert_unanswered,
    "delay_alert": lambda facts: Notice("delay_alert", delay_alerts.title(facts), delay_alerts.body(facts)),
    "standing_order_done": lambda facts: Notice("standing_order", *standing_orders.describe_result(facts)),
    "standing_order_failed": lambda facts: Notice("standing_order", *standing_orders.describe_failure(facts)),
    "deadlines": lambda facts: Notice("account", deadlines.title(facts), deadlines.body(facts)),
    "weekly_overview": lambda facts: Notice("account", deadlines.overview_title(facts), deadlines.body(facts)),
    "inbox_mail": lambda facts: Notice("inbox", *inbound_mail.describe_mail(facts)),
    "mail_uncertain": _mail_uncertain,
    "mail_failed": _mail_failed,
    "plan_changed": _plan_changed,
    "password_changed": _password_changed,
}
# Mails alone, with their subjects: they go to an address before anyone may read its inbox.
_ALONE = {
    "confirm_email": "Confirm your email address",
    "reset_password": "Choose a new password",
    "account_exists": "You already have an account",
    "reference_audit": "Facts to look after",
}
_OF_THE_ACCOUNT = {*_ALONE, "password_changed", "deadlines", "weekly_overview"}  # nothing in these is ever invented
# Mails a person can turn off, by the kind they go under on the settings page and in the link of the mail itself.
MAIL_KINDS = {
    "hotel_price_drop": "hotel_price_drops",
    "route_monitor_match": "route_monitors",
    "flight_alert_match": "flight_alerts",
    "delay_alert": "delay_alerts",
    "standing_order_done": "standing_orders",
    "standing_order_failed": "standing_orders",
    "deadlines": "deadlines",
    "weekly_overview": "weekly_overview",
}


def notice(event: str, facts: Facts) -> Notice:
    return _NOTICES[event](facts)


def is_noticed(event: str) -> bool:
    """Whether the inbox says it too."""
    return event not in _ALONE


def subject(event: str, facts: Facts, *, sandbox: bool) -> str:
    """Invented data says so here already; the account itself is never invented."""
    title = _ALONE[event] if event in _ALONE else notice(event, facts).title
    return f"[SANDBOX] {title}" if sandbox and event not in _OF_THE_ACCOUNT else title


def short(event: str, facts: Facts, *, sandbox: bool) -> Message:
    """The same for a phone: one text, and what fills the blanks of a template in its place."""
    mark = "SANDBOX: " if sandbox else ""
    airport, delay, why = delay_alerts.blanks(facts)
    return Message(
        subject=subject(event, facts, sandbox=sandbox),
        text=mark + delay_alerts.text(facts),
        html="",
        blanks=(airport, delay, mark + why),
    )


def message(event: str, facts: Facts, *, sandbox: bool, account: str = "") -> Message:
    """The mail of an event, worded while it is handed over: only now do links get their secret.

    Invented data says so in the subject and in the first line of the body. `account` is the public id of whom the mail
    is for; with it a mail of a kind that can be turned off says where.
    """
    title = subject(event, facts, sandbox=False)
    stop = links.unsubscribe_url(account, MAIL_KINDS[event]) if account and event in MAIL_KINDS else None
    variables = {
        **facts,
        "title": title,
        "seats": award_seats,
        "seat_facts": facts,
        "site": settings().web_url,
        "unsubscribe": stop,
    }
    variables |= {"line": delay_alerts.line, "about": delay_alerts.about, "pause": delay_alerts.describe_pause}
    variables |= {"room": hotel_prices.describe_room, "drop": facts, "source_name": describe_source}
    variables |= {"ends": deadlines, "ends_facts": facts}
    variables |= {"as_html": standing_orders.as_html, "as_text": standing_orders.as_text}
    variables["why"] = standing_orders.explain_error
    variables["sandbox_line"] = SANDBOX_LINE if sandbox and event not in _OF_THE_ACCOUNT else None
    if event in links.PAGES:
        variables["link"] = links.address(facts)
    return Message(
        subject=subject(event, facts, sandbox=sandbox),
        text=_templates().get_template(f"{event}.txt").render(variables),
        html=_templates().get_template(f"{event}.html").render(variables),
        unsubscribe=stop,
    )
