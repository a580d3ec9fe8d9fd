"""Briefs: a message in a title, a few sentences and a link, for the channels that people set up for themselves."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.outbox.links import describe_watch
from shared.outbox.phone_codes import LIFETIME, derive_code
from shared.outbox.wording.messages import MAIL_KINDS, SANDBOX_LINE, Message, notice, subject
from shared.settings import settings

CODE_EVENT = "channel_code"
PAGE = "/dashboard/settings/channels"
MAX_CHARACTERS = 3500
# Left out of the notice: what it says of the mail, which may have another reader than this message.
_NO_MAIL = {"mailed": False, "mailed_for": []}


def word_brief(event: str, facts: Mapping[str, Any], *, sandbox: bool) -> Message:
    """Writes it during the hand-over. Raises KeyGone for a code whose key is gone."""
    if event == CODE_EVENT:
        return _word_code(event, facts)
    text = notice(event, {**facts, **_NO_MAIL}).body
    if subject(event, facts, sandbox=sandbox) != subject(event, facts, sandbox=False):
        text = f"{SANDBOX_LINE}\n{text}"
    return Message(
        subject=subject(event, facts, sandbox=sandbox),
        text=text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 2].rstrip()} …",
        html="",
        kind=MAIL_KINDS[event],
        link=describe_watch(event, facts, "").get("page") or f"{settings().web_url}/dashboard",
    )


def _word_code(event: str, facts: Mapping[str, Any]) -> Message:
    minutes = LIFETIME // timedelta(minutes=1)
    code = derive_code(facts)
    text = (
        f"{code} is your {settings().service_name} code for this channel. It works for {minutes} minutes."
        " If you did not ask for it, do not give it to anybody."
    )
    title = subject(event, facts, sandbox=False)
    link = f"{settings().web_url}{PAGE}"
    return Message(title, text, "", blanks=(code,), kind=event, link=link, is_code=True)
