"""Channels page of the settings: ways besides mail are added, proved by a code, adjusted and removed."""

from collections.abc import Mapping
from typing import NamedTuple

from auth_server.accounts import message_channels
from auth_server.accounts.proof_codes import ProofRefused
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.settings import MAIL_KINDS
from auth_server.web.outcomes import FlowResult, Redirect, show_problem
from shared.db.message_channels import MessageChannel, find_channel, list_channels, open_address
from shared.domain.message_channels import MAX_URL_CHARACTERS, NAMES, read_address
from shared.domain.watch_kinds import WATCH_KINDS
from shared.http import Refused
from shared.outbox.channels.web_push import BROWSER_PAGE
from shared.outbox.phone_codes import DIGITS, LIFETIME
from shared.outbox.wording.briefs import PAGE

NEW, EDIT, DELETE, PROVE, CODE = (f"{PAGE}/{name}" for name in ("new", "edit", "delete", "prove", "code"))
MESSAGES = {
    "channel_code": "A code is on its way to the channel. Enter it below.",
    "channel_added": "The channel is proved. Choose what is sent there.",
    "channel_saved": "The channel is saved.",
    "channel_removed": "The channel is removed. Nothing more is sent there.",
    "channel_gone": "That channel is not among yours any longer.",
}
KINDS = {kind: words for kind, words in MAIL_KINDS.items() if kind != "product_news"} | {
    kind.mails: kind.mail_words for kind in WATCH_KINDS if not kind.has_mail_switch
}
ABOUT = {
    "web_push": "Notifications of the browser you read this with, also while no page is open.",
    "webhook": "A signed request to a program of yours, with the message as JSON.",
    "ntfy": "A notification on your phone or computer, by ntfy.sh or an ntfy server of yours.",
    "telegram": "A message of a bot of yours, in a chat with you or in a group.",
    "slack": "A message in a channel of your workspace, by an incoming webhook.",
    "discord": "A message in a channel of your server, by its webhook.",
    "pushover": "A notification on your phone by Pushover, from an application of yours there.",
}
HOURS_OF_DAY = 24
_GONE = show_problem(
    "There is no such channel", "It may have been removed in the meantime.", 404, links=((PAGE, "Channels"),)
)


class Field(NamedTuple):
    """One field of the form of a kind."""

    name: str
    label: str
    help: str
    is_required: bool = True
    max_characters: int = MAX_URL_CHARACTERS


FIELDS = {
    "webhook": (
        Field("url", "Address", "Such as https://example.com/hooks/travel. It must be reachable from the internet."),
    ),
    "telegram": (
        Field("bot", "Token of the bot", "From @BotFather, which makes bots. It is stored encrypted.", True, 100),
        Field(
            "chat",
            "Chat",
            "Its number, or the @name of a channel. Write to the bot first: it may only answer.",
            True,
            40,
        ),
    ),
    "slack": (Field("url", "Address of the webhook", "Slack makes one for each channel, under Incoming Webhooks."),),
    "discord": (Field("url", "Address of the webhook", "In the channel's settings, under Integrations."),),
    "pushover": (
        Field("user", "User key", "On your page at Pushover, at the top right.", True, 40),
        Field("token", "Token of the application", "You make an application at Pushover, which is free.", True, 40),
    ),
    "ntfy": (
        Field("topic", "Topic", "Choose a long one that no one guesses: who knows a topic can read it.", True, 64),
        Field("server", "Server", "Leave it empty for https://ntfy.sh.", False),
        Field("token", "Access token", "Only if the topic needs one. It is stored encrypted.", False, 128),
    ),
}


def show(
    member: Member, status: int = 200, faults: Mapping[str, str] | None = None, code_of: int | None = None
) -> FlowResult:
    """`faults` are sentences by field (code; page for all of it); `code_of` is the channel whose code was entered."""
    channels = list_channels(member.db, member.account.id)
    return member.show(
        "message_channels.html",
        status,
        proved=[channel for channel in channels if channel.proved_at is not None],
        pending=[_describe_pending(member, channel) for channel in channels if channel.proved_at is None],
        most=message_channels.MAX_CHANNELS,
        is_full=len(channels) >= message_channels.MAX_CHANNELS,
        kinds=[
            (NAMES[kind], ABOUT[kind], BROWSER_PAGE if kind == "web_push" else f"{NEW}?kind={kind}") for kind in NAMES
        ],
        names={kind: name for kind, (name, _) in KINDS.items()},
        bar=message_channels.explain_bar(member.account),
        faults={"page": "", "code": ""} | dict(faults or {}),
        code_of=code_of,
        code=member.data.form_value("code"),
        digits=DIGITS,
        minutes=int(LIFETIME.total_seconds()) // 60,
        messages=MESSAGES,
    )


def _describe_pending(member: Member, channel: MessageChannel) -> dict[str, object]:
    """Shows the signing key of a webhook until the channel is proved, not afterwards."""
    address = open_address(channel) or {}
    return {
        "channel": channel,
        "is_undelivered": message_channels.is_undelivered(member.db, channel),
        "secret": address.get("secret"),
    }


def show_new(member: Member) -> FlowResult:
    kind = member.data.query_value("kind") or ""
    return _show_new(member, kind, {}) if kind in FIELDS else redirect_back(PAGE, "")


def _show_new(
    member: Member, kind: str, values: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> FlowResult:
    return member.show(
        "message_channel_form.html",
        422 if faults else 200,
        kind=kind,
        kind_name=NAMES[kind],
        about=ABOUT[kind],
        fields=FIELDS[kind],
        values=values,
        faults=faults or {},
        bar=message_channels.explain_bar(member.account),
        digits=DIGITS,
    )


def add(member: Member) -> FlowResult:
    """Sends a code to the receiver entered."""
    kind = member.data.form_value("kind")
    if kind not in FIELDS:
        return redirect_back(PAGE, "")
    values = {field.name: member.data.form_value(field.name) for field in FIELDS[kind]}
    reading = read_address(kind, values)
    if reading.faults:
        return _show_new(member, kind, values, reading.faults)
    try:
        message_channels.add(member.uow, member.account, kind, reading.address)
    except Refused as refusal:
        return _show_new(member, kind, values, {"server" if kind == "ntfy" else "url": str(refusal)})
    except ProofRefused as refusal:
        return _show_new(member, kind, values, {"page": str(refusal)})
    return redirect_back(PAGE, "channel_code")


def _read_id(text: str) -> int:
    """Reads an id; 0 belongs to no channel."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _find_of_form(member: Member) -> MessageChannel | None:
    channel_id = _read_id(member.data.form_value("channel_id"))
    return find_channel(member.db, member.account.id, channel_id, lock=True)


def _find_of_query(member: Member) -> MessageChannel | None:
    return find_channel(member.db, member.account.id, _read_id(member.data.query_value("id") or ""))


def send_another_code(member: Member) -> FlowResult:
    channel = _find_of_form(member)
    if channel is None:
        return redirect_back(PAGE, "channel_gone")
    try:
        message_channels.send_another_code(member.uow, member.account, channel)
    except ProofRefused as refusal:
        return show(member, 422, {"page": str(refusal)})
    return redirect_back(PAGE, "channel_code")


def prove(member: Member) -> FlowResult:
    channel = _find_of_form(member)
    if channel is None:
        return redirect_back(PAGE, "channel_gone")
    code = member.data.form_value("code")
    try:
        message_channels.prove(member.uow, member.account, channel, code, member.data.user_agent)
    except ProofRefused as refusal:
        return show(member, 422, {"code": str(refusal)}, channel.id)
    return Redirect(f"{EDIT}?id={channel.id}&done=channel_added")


def show_edit(member: Member) -> FlowResult:
    channel = _find_of_query(member)
    if channel is None:
        return _GONE
    quiet = {"quiet_from": _format_hour(channel.quiet_from), "quiet_until": _format_hour(channel.quiet_until)}
    return _show_edit(member, channel, channel.wanted_kinds, quiet, {})


def _format_hour(hour: int | None) -> str:
    return "" if hour is None else f"{hour:02}:00"


def _show_edit(
    member: Member,
    channel: MessageChannel,
    wanted_kinds: list[str],
    quiet: Mapping[str, str],
    faults: Mapping[str, str],
) -> FlowResult:
    return member.show(
        "message_channel.html",
        422 if faults else 200,
        channel=channel,
        choices=[(kind, *words, kind in wanted_kinds) for kind, words in KINDS.items()],
        hours=[("", "None"), *((_format_hour(hour), _format_hour(hour)) for hour in range(HOURS_OF_DAY))],
        quiet=quiet,
        faults=faults,
        time_zone=member.zone or "UTC",
        messages=MESSAGES,
    )


def save(member: Member) -> FlowResult:
    channel = _find_of_form(member)
    if channel is None:
        return redirect_back(PAGE, "channel_gone")
    wanted_kinds = [kind for kind in KINDS if member.data.form_value(kind) == "on"]
    quiet = {name: member.data.form_value(name) for name in ("quiet_from", "quiet_until")}
    hours = {_format_hour(hour): hour for hour in range(HOURS_OF_DAY)}
    start, end = (hours.get(quiet[name]) for name in quiet)
    if (start is None) != (end is None) or (start is not None and start == end):
        fault = {"quiet_until": "Please choose two different hours, or None for both."}
        return _show_edit(member, channel, wanted_kinds, quiet, fault)
    message_channels.choose(channel, wanted_kinds, start, end)
    return redirect_back(PAGE, "channel_saved")


def ask_remove(member: Member) -> FlowResult:
    channel = _find_of_query(member)
    return member.show("message_channel_delete.html", channel=channel) if channel is not None else _GONE


def remove(member: Member) -> FlowResult:
    channel = _find_of_form(member)
    if channel is not None:
        message_channels.remove(member.uow, member.account, channel, member.data.user_agent)
    return redirect_back(PAGE, "channel_removed")


ROUTES = [
    get_for_member(PAGE, show),
    get_for_member(NEW, show_new),
    post_for_member(NEW, add),
    post_for_member(CODE, send_another_code),
    post_for_member(PROVE, prove),
    get_for_member(EDIT, show_edit),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_remove),
    post_for_member(DELETE, remove),
]
