"""Elicitation (MCP specification): a question of a call as a form, and its answer, for clients that declare forms.

A client of 2026-07-28 gets the question as the result of its call and calls again with the answer. Between the two this
server keeps nothing but the id of the open question: the rest is in `requestState`, which the SDK seals with our keys
and binds to method, tool, arguments and the principal named here. One of an earlier revision is asked while its call
waits.
"""

import json
from collections.abc import Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateSecurity
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_server.calls.questions import Person, Question, QuestionSent, Reply
from mcp_server.toolkit.context import Caller
from mcp_server.transport.call_stream import CallStream
from mcp_server.transport.open_questions import close_question, open_question
from shared.errors import Choice
from shared.secrets import digest, sign
from shared.settings import settings

FIELD = "answer"  # of the form, and the question's key among the input requests
_STATE_SECONDS = 3600.0  # longer than a question is open, so that a late reply counts as not asked


def secure_states() -> RequestStateSecurity:
    """The seal of `requestState`, the same in every process of the service."""
    keys = [sign(material, "elicitation state") for material in settings().encryption_keys]
    return RequestStateSecurity(keys=keys, ttl=_STATE_SECONDS, bind_principal=_name_principal)


def _name_principal(ctx: ServerRequestContext[Any, Any]) -> str:
    """The owner of the call, its application and address."""
    assert ctx.request is not None
    caller, address = ctx.request.scope["caller"], ctx.request.scope["address"]
    return json.dumps([caller.public_id, caller.client_id, address.path])


def accepts_forms(capabilities: ClientCapabilities | None) -> bool:
    """An `elicitation` without modes, as before modes existed, means forms."""
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def build_form(question: Question, *, titled: bool = True) -> ElicitRequest:
    """The question as a form with one field. `titled`: choices in the style since 2025-11-25."""
    field = _build_choice(question.choices, titled=titled) if question.choices else {"type": "boolean"}
    title = "Your choice" if question.choices else "Yes, do it"
    schema = {"type": "object", "properties": {FIELD: {**field, "title": title}}, "required": [FIELD]}
    return ElicitRequest(params=ElicitRequestFormParams(message=question.message, requested_schema=schema))


def _build_choice(choices: Sequence[Choice], *, titled: bool) -> dict[str, Any]:
    if titled:
        return {"type": "string", "oneOf": [{"const": choice.value, "title": choice.title} for choice in choices]}
    names = [choice.title for choice in choices]
    return {"type": "string", "enum": [choice.value for choice in choices], "enumNames": names}


def read_reply(result: ElicitResult) -> Reply:
    return Reply(result.action, (result.content or {}).get(FIELD) if result.action == "accept" else None)


def find_person(params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any]) -> Person | None:
    """Anyone who can be asked during this call; None where the client declared no forms."""
    assert ctx.request is not None
    if stream := ctx.request.scope.get("call_stream"):
        return InPlace(stream)
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and accepts_forms(ctx.session.client_capabilities):
        return RoundTrips(params, ctx.request.scope["caller"])
    return None


class InPlace:
    """The person behind a client of an earlier revision, who is asked on the stream of the call."""

    def __init__(self, stream: CallStream) -> None:
        self._stream = stream

    async def ask(self, question: Question) -> Reply:
        """Raises ClientDisconnected when the client disconnects first."""
        form = build_form(question, titled=self._stream.titled).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        result = await self._stream.ask(form["method"], form["params"])
        try:
            return read_reply(ElicitResult.model_validate(result, by_name=False))
        except ValidationError:
            return Reply("cancel")


class RoundTrips:
    """The person behind a client of 2026-07-28, who is asked between two requests of the same call."""

    def __init__(self, params: CallToolRequestParams, caller: Caller) -> None:
        self._account_id = caller.account_id
        state = json.loads(params.request_state) if params.request_state else {}
        self._replies: dict[str, Any] = state.get("replies", {})  # to earlier questions of this call
        self._asked, self._question_id = state.get("asked"), state.get("id", "")
        response = (params.input_responses or {}).get(FIELD)
        self._response = response if isinstance(response, ElicitResult) else None

    async def ask(self, question: Question) -> Reply:
        """The reply in this request. Raises QuestionSent if it has none to this question."""
        # Questions are the same if text, choices and argument are: otherwise the person is asked again.
        name = digest(json.dumps([question.message, question.path, question.choices]))
        if name in self._replies:
            return Reply("accept", self._replies[name])
        if name != self._asked or self._response is None:
            return await self._send(question, name)
        if not await close_question(self._account_id, self._question_id):
            return Reply("cancel")
        reply = read_reply(self._response)
        if reply.action == "accept":
            self._replies[name] = reply.value
        return reply

    async def _send(self, question: Question, name: str) -> Reply:
        question_id = await open_question(self._account_id)
        if question_id is None:
            return Reply("cancel")
        state = json.dumps({"id": question_id, "asked": name, "replies": self._replies})
        raise QuestionSent(InputRequiredResult(input_requests={FIELD: build_form(question)}, request_state=state))
