"""The page that makes a browser a channel: it sends a subscription, and a click on a first message proves it."""

from auth_server.accounts import message_channels
from auth_server.accounts.proof_codes import ProofRefused
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.web.outcomes import FlowResult
from auth_server.web.sessions import describe_browser
from shared.db.message_channels import MessageChannel, list_channels
from shared.db.push_keys import encode_point, get_push_key
from shared.domain.message_channels import read_address
from shared.http import Refused
from shared.outbox.channels.web_push import BROWSER_PAGE, encode
from shared.outbox.phone_codes import LIFETIME

KIND = "web_push"
MESSAGES = {"sent": "A message is on its way to this browser. Click it when it appears."}


def show(member: Member) -> FlowResult:
    return _show(member)


def _show(member: Member, fault: str = "") -> FlowResult:
    pending = _find_pending(member)
    return member.show(
        "message_channel_browser.html",
        422 if fault else 200,
        key=encode(encode_point(get_push_key(member.db).public_key())),
        pending=pending,
        is_undelivered=pending is not None and _is_lost(member, pending),
        bar=message_channels.explain_bar(member.account),
        minutes=int(LIFETIME.total_seconds()) // 60,
        fault=fault,
        messages=MESSAGES,
    )


def _is_lost(member: Member, channel: MessageChannel) -> bool:
    """Whether its push service refused the last message for certain, or has ended the subscription."""
    return channel.code_hash is None or message_channels.is_undelivered(member.db, channel)


def _find_pending(member: Member) -> MessageChannel | None:
    """The browser that was last sent a code."""
    channels = list_channels(member.db, member.account.id)
    unproved = [(c.code_sent_at, c.id, c) for c in channels if c.kind == KIND and c.proved_at is None]
    return max(unproved)[2] if unproved else None


def subscribe(member: Member) -> FlowResult:
    fields = {
        "subscription": member.data.form_value("subscription"),
        "browser": describe_browser(member.data.user_agent),
    }
    reading = read_address(KIND, fields)
    if reading.faults:
        return _show(member, reading.faults["subscription"])
    try:
        message_channels.add(member.uow, member.account, KIND, reading.address)
    except (Refused, ProofRefused) as refusal:
        return _show(member, str(refusal))
    return redirect_back(BROWSER_PAGE, "sent")


ROUTES = [get_for_member(BROWSER_PAGE, show), post_for_member(BROWSER_PAGE, subscribe)]
