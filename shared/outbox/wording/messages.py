"""The words of every event: its notice, its mail, and its text for a phone."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context

from shared.domain.dates import format_moment, format_short_moment
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source
from shared.domain.time_zones import find_zone
from shared.domain.watch_kinds import FLIGHT_ALERT, KIND_OF_EVENT
from shared.outbox import links, phone_codes
from shared.outbox.wording import billing, deadlines, delay_alerts, security_events, weekly_overview
from shared.settings import settings

Facts = Mapping[str, Any]

# Sentences about what became of a forwarded mail.

MAX_BOOKINGS = 8  # bookings that are spelled out


def describe_mail(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Title and body. Nothing of the mail itself is repeated: it is a stranger's text."""
    if facts["state"] == "imported":
        if facts.get("changes"):
            # What is different now, a sentence for each booking.
            changes = facts["changes"]
            lines = list(changes[:MAX_BOOKINGS])
            if len(changes) > MAX_BOOKINGS:
                lines.append(f"And {len(changes) - MAX_BOOKINGS} more.")
            return f"{pluralize(len(changes), 'booking')} changed by a forwarded mail", "\n".join(lines)
        return _describe_import(facts["bookings"], facts["cancelled"], facts["known"])
    end = "Look at it in your forwarded mail, or ask your assistant for what waits there."
    if facts["state"] == "failed":
        return "A forwarded mail could not be read", f"It is kept for 30 days. {end}"
    if "balance" in facts["missing"] or "program" in facts["missing"] or facts.get("balance"):
        stated = f"It says {facts['balance']}." if facts.get("balance") else "Its programme or balance is not certain."
        return "A forwarded mail states a balance", f"{stated} Nothing was saved yet. {end}"
    if not facts["found"]:
        return _describe_nothing(facts["missing"], facts.get("reason", ""), end)
    return "A forwarded mail has to be looked at", f"Nothing was stored yet. {_describe_open(facts['missing'])}{end}"


def _describe_open(missing: Sequence[str]) -> str:
    """What is to be settled. The sender comes first, as it matters for the rest."""
    fields = ", ".join(name.replace("_", " ") for name in missing if name != "sender")
    sender = "It is not certain who sent it, so a person has to look at it. " if "sender" in missing else ""
    return sender + (f"To be settled: {fields}. " if fields else "")


# What a letter speaks of though no booking was read from it, by the name of its doubt.
_SPOKEN_OF = {"flights": "a flight", "stays": "a stay"}


def _describe_nothing(missing: Sequence[str], reason: str, end: str) -> tuple[str, str]:
    """A letter without a booking: one that speaks of a booking has to be looked at, and so has an unread file."""
    if subject := next((words for name, words in _SPOKEN_OF.items() if name in missing), None):
        text = f"It speaks of {subject}, but no booking could be read from it. It is kept for 30 days. {end}"
        return "A forwarded mail has to be looked at", text
    unread = " One of its attached files could not be read." if "attached_file_not_read" in missing else ""
    text = f"{reason or 'No flight or stay was found in it.'}{unread} It is kept for 30 days. {end}"
    return "A forwarded mail holds no booking", text


def _describe_import(bookings: Sequence[str], cancelled: bool, known_count: int) -> tuple[str, str]:
    lines = list(bookings[:MAX_BOOKINGS])
    if len(bookings) > MAX_BOOKINGS:
        lines.append(f"and {len(bookings) - MAX_BOOKINGS} more")
    if cancelled:
        return f"{pluralize(len(bookings), 'booking')} cancelled by a forwarded mail", "\n".join(lines)
    if known_count:
        lines.append(f"{known_count} of them known already.")
    return f"{pluralize(len(bookings), 'booking')} from a forwarded mail", "\n".join(lines)


SANDBOX_LINE = "SANDBOX - invented data for testing. Not real availability or prices."


@dataclass(frozen=True)
class Message:
    subject: str
    text: str
    html: str
    unsubscribe: str | None = None  # where mails of this kind are turned off
    blanks: tuple[str, ...] = ()  # of a template that takes the place of the text
    is_code: bool = False  # for a phone: a code that proves its number
    kind: str = ""  # that the message goes under where people choose
    link: str = ""  # the page about it


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
    environment.filters |= {"moment": _format_moment, "short_moment": _format_short_moment}
    environment.globals["part"] = environment.get_template("parts.html").module
    return environment


def load_templates() -> None:
    """All of them, for a process that forks: of a first mail, putting its nine together took 24 ms of 50."""
    for name in _templates().list_templates():
        _templates().get_template(name)


@pass_context
def _format_moment(context: Context, text: str) -> str:
    return format_moment(datetime.fromisoformat(text), context["zone"])


@pass_context
def _format_short_moment(context: Context, text: str) -> str:
    return format_short_moment(datetime.fromisoformat(text), context["zone"])


def _alert_unanswered(facts: Facts) -> Notice:
    why = {
        "connection_required": f"they need your own {name_source(facts['source'])} account, which is not connected;"
        " connect_integration does that",
        "not_configured": "this installation has no source of award seats; its operator can set one up",
    }[facts["outcome"]]
    text = f"Flight alerts are not being checked: {why}. They go on by themselves, and this is said once."
    return Notice(FLIGHT_ALERT.notice, "Flight alerts cannot be checked", text)


# Each way out: how one message of it is called at the beginning of a sentence, and within one.
_CALLED = {
    "email": ("An email", "mail"),
    "sms": ("A text message", "text message"),
    "whatsapp": ("A WhatsApp message", "WhatsApp message"),
}
_MESSAGE = ("A message", "message")


def _mail_uncertain(facts: Facts) -> Notice:
    one, called = _CALLED.get(facts.get("channel", "email"), _MESSAGE)
    return Notice(
        "account",
        f"{one} may not have arrived",
        f"The connection broke while the {called} '{facts['subject']}' was handed over, so it may or may not have"
        f" reached {facts['recipient']}. It is not sent again by itself"
        + ("; what it said stands in this inbox." if facts.get("noticed", True) else "."),
    )


def _mail_failed(facts: Facts) -> Notice:
    one, called = _CALLED.get(facts.get("channel", "email"), _MESSAGE)
    rest = (
        " What it said stands in this inbox."
        if facts.get("noticed", True)
        else " Ask for it again where you asked for it."
    )
    if facts.get("unwanted") and facts["channel"] not in _CALLED:
        rest += " It takes no messages, so nothing more is sent there until you prove it again on the settings page."
    elif facts.get("unwanted"):
        rest += " The number asked the carrier for no more messages"
        rest += ", so the alert no longer uses it." if facts.get("noticed", True) else "; an answer START allows them."
    text = f"The {called} '{facts['subject']}' could not be delivered to {facts['recipient']}."
    return Notice("account", f"{one} could not be delivered", text + rest)


def _plan_changed(facts: Facts) -> Notice:
    parts = [f"The plan of this account is now {facts['plan'].title()}."]
    for verb, those in (("Paused", facts["paused"]), ("Resumed", facts["resumed"])):
        parts += [f"{verb} {kind}: {', '.join(map(str, ids))}." for kind, ids in those.items()]
    if facts["paused"]:
        parts.append("Nothing was deleted; they go on when the plan covers them again.")
    return Notice("account", f"Plan changed to {facts['plan'].title()}", " ".join(parts))


def _security_event(facts: Facts) -> Notice:
    text = security_events.sentence(facts)
    if facts["kind"] not in security_events.BY_OPERATOR:
        text += " If it was not you, open the link in the mail about it."
    return Notice("account", security_events.title(facts), text)


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


# Of each event of a watch the module with its title and its body.
_WORDINGS = {event: import_module(f"shared.outbox.wording.{kind.wording}") for event, kind in KIND_OF_EVENT.items()}
_NOTICES: dict[str, Callable[[Facts], Notice]] = {
    "connection_broken": _connection_broken,
    "connection_ended": _connection_ended,
    "flight_alert_unanswered": _alert_unanswered,
    "deadlines": lambda facts: Notice("account", deadlines.title(facts), deadlines.body(facts)),
    "weekly_overview": lambda facts: Notice("account", weekly_overview.title(facts), weekly_overview.body(facts)),
    "inbox_mail": lambda facts: Notice("inbox", *describe_mail(facts)),
    "mail_uncertain": _mail_uncertain,
    "mail_failed": _mail_failed,
    "plan_changed": _plan_changed,
    "security_event": _security_event,
    "billing": lambda facts: Notice("account", billing.title(facts), billing.body(facts)),
}
# Only messages, with their subjects: they go to an address before anyone may read its inbox.
_ALONE = {
    "confirm_email": "Confirm your email address",
    "reset_password": "Choose a new password",
    "link_identity": "Allow another way to sign in",
    "invitation": "You are invited to {service}",
    "account_exists": "You already have an account",
    "confirm_forwarding": "Confirm an address to forward from",
    "confirm_new_address": "Confirm your new email address",
    "address_confirmed": "This is the address of your account now",
    "address_taken": "This address has an account already",
    "reference_audit": "Facts to look after",
    "phone_code": "The code for your phone number",
    "channel_code": "The code for this channel",
}
# Someone waits for these in order to sign in or to go on, or should know at once: they go before all others.
AT_ONCE = frozenset({*_ALONE, "security_event"}) - {"reference_audit"}
_OF_THE_ACCOUNT = {*_ALONE, "security_event", "deadlines", "billing"}  # nothing in these is ever invented
# Mails a person can turn off, by the kind they go under on the settings page and in the link of the mail itself.
MAIL_KINDS = {event: kind.mails for event, kind in KIND_OF_EVENT.items()} | {
    "deadlines": "deadlines",
    "weekly_overview": "weekly_overview",
}


def notice(event: str, facts: Facts) -> Notice:
    if (kind := KIND_OF_EVENT.get(event)) is None:
        return _NOTICES[event](facts)
    words = _WORDINGS[event]
    return Notice(kind.notice, words.title(facts), words.body(facts))


def is_noticed(event: str) -> bool:
    """Whether it also goes to the inbox."""
    return event not in _ALONE


def subject(event: str, facts: Facts, *, sandbox: bool) -> str:
    """Invented data says so here already; the account itself is never invented."""
    title = _ALONE[event].format(service=settings().service_name) if event in _ALONE else notice(event, facts).title
    return f"[SANDBOX] {title}" if sandbox and _can_be_invented(event, facts) else title


def _can_be_invented(event: str, facts: Facts) -> bool:
    """Of the overview only what watches found."""
    return bool(facts.get("finds")) if event == "weekly_overview" else event not in _OF_THE_ACCOUNT


def short(event: str, facts: Facts, *, sandbox: bool) -> Message:
    """The same for a phone: one text, and what fills the blanks of a template in its place."""
    if event == "phone_code":
        code = phone_codes.derive_code(facts)
        return Message(_ALONE[event], phone_codes.text(facts), "", blanks=(code,), is_code=True)
    mark = "SANDBOX: " if sandbox else ""
    airport, delay, why = delay_alerts.blanks(facts)
    return Message(
        subject=subject(event, facts, sandbox=sandbox),
        text=mark + delay_alerts.text(facts),
        html="",
        blanks=(airport, delay, mark + why),
    )


def message(event: str, facts: Facts, *, sandbox: bool, account: str = "", time_zone: str | None = None) -> Message:
    """The mail of an event, written while it is handed over: only now do links get their secret.

    Invented data says so in the subject and in the first line of the body. `account` is the public id of who the mail
    is for; with it a mail of a kind that can be turned off says where. Moments are in `time_zone`, an IANA name.
    """
    stop = links.unsubscribe_url(account, MAIL_KINDS[event]) if account and event in MAIL_KINDS else None
    variables = {
        **facts,
        "title": subject(event, facts, sandbox=False),
        "zone": (find_zone(time_zone) if time_zone else None) or UTC,
        "site": settings().web_url,
        "service_name": settings().service_name,
        "settings_page": f"{settings().web_url}{links.SETTINGS_PAGE}",
        "watch": links.describe_watch(event, facts, account),
        "unsubscribe": stop,
        "sandbox_line": SANDBOX_LINE if sandbox and _can_be_invented(event, facts) else None,
    } | _list_words(event, facts)
    # Parts that have nothing to say leave no gaps.
    return Message(
        subject=subject(event, facts, sandbox=sandbox),
        text=re.sub(r"\n{3,}", "\n\n", _templates().get_template(f"{event}.txt").render(variables)).strip() + "\n",
        html=_templates().get_template(f"{event}.html").render(variables),
        unsubscribe=stop,
    )


def _list_words(event: str, facts: Facts) -> dict[str, Any]:
    """The functions and sentences that templates use besides the facts."""
    words: dict[str, Any] = {
        "words": _WORDINGS.get(event),
        "facts": facts,
        "source_name": name_source,
        "ends": deadlines,
        "week": weekly_overview,
    }
    if event == "billing":
        words["payment_sentence"] = billing.body(facts)
    if event == "security_event":
        words["event_sentence"] = security_events.sentence(facts)
        words["by_operator"] = facts["kind"] in security_events.BY_OPERATOR
        words["confirm_link"] = links.address(facts["confirm"]) if "confirm" in facts else None
    return words | ({"link": links.address(facts)} if "nonce" in facts else {})
