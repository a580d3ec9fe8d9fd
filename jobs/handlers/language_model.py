"""A client for language models, over the wire of Anthropic's Messages or OpenAI's Chat Completions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio
import httpx
from pydantic_core import from_json, to_json

from shared.http import AsyncClient as Http
from shared.http import Refused, client, read_capped
from shared.settings import Settings, settings

MAX_ANSWER_BYTES = 1024 * 1024  # of one answer
BYTES_A_TOKEN = 4  # about, of text and JSON
MAX_WAIT_SECONDS = 5.0  # for a model that asks to be left alone for a moment
Conversation = list[dict[str, Any]]


class ModelFailed(Exception):
    """One reason of ours; `again` when a later attempt may go better."""

    def __init__(self, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.again = reason, again


@dataclass(frozen=True)
class ToolRequest:
    """A tool the model wants called; `arguments` is None when what it wrote is no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True)
class ToolOffer:
    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model answered: `message` goes back to it as it is; `pause` asks for that alone; `cut` was too long."""

    message: dict[str, Any]
    text: str
    calls: tuple[ToolRequest, ...]
    tokens: int
    pause: bool = False
    cut: bool = False


@dataclass(frozen=True)
class ModelApi:
    """How one kind of endpoint is spoken to."""

    path: str
    headers: Callable[[Settings], dict[str, str]]
    body: Callable[[Settings, str, Conversation, Sequence[ToolOffer], bool], dict[str, Any]]
    read: Callable[[dict[str, Any]], Turn]
    tool_results: Callable[[Sequence[tuple[ToolRequest, str]], str | None], Conversation]


def _anthropic_headers(s: Settings) -> dict[str, str]:
    return {"anthropic-version": s.standing_order_model_version}


def _anthropic_body(
    s: Settings, system: str, conversation: Conversation, tools: Sequence[ToolOffer], may_call: bool
) -> dict[str, Any]:
    return {
        "model": s.standing_order_model,
        "max_tokens": s.standing_order_answer_tokens,
        "system": system,
        "messages": conversation,
        "tools": [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in tools],
        "tool_choice": {"type": "auto" if may_call else "none"},
    }


def _anthropic_read(response: dict[str, Any]) -> Turn:
    content, end = response["content"], response["stop_reason"]
    if end == "refusal":
        raise ModelFailed("declined")
    if end == "model_context_window_exceeded":
        raise ModelFailed("too_long")
    requests = [b for b in content if b["type"] == "tool_use"] if end == "tool_use" else []
    calls = tuple(ToolRequest(str(b["id"]), str(b["name"]), _parse_object(b["input"])) for b in requests)
    text = "".join(str(b["text"]) for b in content if b["type"] == "text")
    usage = response.get("usage") or {}
    tokens = int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)
    return Turn(
        {"role": "assistant", "content": content}, text, calls, tokens, end == "pause_turn", end == "max_tokens"
    )


def _anthropic_results(answers: Sequence[tuple[ToolRequest, str]], note: str | None) -> Conversation:
    """All results of one turn in one message, first in its content."""
    blocks = [{"type": "tool_result", "tool_use_id": request.id, "content": text} for request, text in answers]
    return [{"role": "user", "content": [*blocks, *([{"type": "text", "text": note}] if note else [])]}]


def _openai_body(
    s: Settings, system: str, conversation: Conversation, tools: Sequence[ToolOffer], may_call: bool
) -> dict[str, Any]:
    functions = [{"name": t.name, "description": t.description, "parameters": t.schema} for t in tools]
    return {
        "model": s.standing_order_model,
        "max_completion_tokens": s.standing_order_answer_tokens,
        "messages": [{"role": "system", "content": system}, *conversation],
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": "auto" if may_call else "none",
    }


def _openai_read(response: dict[str, Any]) -> Turn:
    choice = response["choices"][0]
    message = choice["message"]
    if choice.get("finish_reason") == "content_filter" or message.get("refusal"):
        raise ModelFailed("declined")
    requests = [(c["id"], c["function"]) for c in message.get("tool_calls") or ()]
    calls = tuple(ToolRequest(str(id), str(f["name"]), _parse_object(f["arguments"])) for id, f in requests)
    usage = response.get("usage") or {}
    back = {"role": "assistant", "content": message.get("content")}
    back |= {"tool_calls": message["tool_calls"]} if requests else {}
    text, cut = str(message.get("content") or ""), choice.get("finish_reason") == "length"
    return Turn(back, text, () if cut else calls, int(usage.get("total_tokens") or 0), cut=cut)


def _openai_results(answers: Sequence[tuple[ToolRequest, str]], note: str | None) -> Conversation:
    messages: Conversation = [
        {"role": "tool", "tool_call_id": request.id, "content": text} for request, text in answers
    ]
    return messages + ([{"role": "user", "content": note}] if note else [])


def _parse_object(arguments: Any) -> dict[str, Any] | None:
    """Arguments come as an object or, in the other wire, as its text; models write broken JSON now and then."""
    if isinstance(arguments, str):
        try:
            arguments = from_json(arguments or "{}")
        except ValueError:
            return None
    return arguments if isinstance(arguments, dict) else None


MODEL_APIS = {
    "anthropic": ModelApi("/messages", _anthropic_headers, _anthropic_body, _anthropic_read, _anthropic_results),
    "openai": ModelApi("/chat/completions", lambda _: {}, _openai_body, _openai_read, _openai_results),
}


def model_api() -> ModelApi:
    return MODEL_APIS[settings().standing_order_model_kind]


def connect() -> Http:
    """The run itself ends a model that is too slow."""
    s = settings()
    key = s.standing_order_model_key.get_secret_value() if s.standing_order_model_key else ""
    credentials = {"Authorization": f"Bearer {key}"} if s.standing_order_model_auth == "bearer" else {"x-api-key": key}
    headers = model_api().headers(s) | (credentials if key else {})
    return client(s.standing_order_model_url, timeout=httpx.Timeout(60, connect=5), headers=headers)


async def ask(
    http: Http, system: str, conversation: Conversation, tools: Sequence[ToolOffer], *, may_call: bool
) -> Turn:
    """One answer; a model that is busy is asked a second time after a moment. Raises ModelFailed."""
    api = model_api()
    body = to_json(api.body(settings(), system, conversation, tools, may_call))
    try:
        answer = await _post(http, api.path, body)
    except _Busy as busy:
        await anyio.sleep(busy.seconds)
        try:
            answer = await _post(http, api.path, body)
        except _Busy as busy_again:
            raise ModelFailed(busy_again.reason, again=True) from None
    try:
        turn = api.read(from_json(answer))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise ModelFailed("nonsense", again=True) from None
    estimated = (len(body) + len(answer)) // BYTES_A_TOKEN
    return turn if turn.tokens else replace(turn, tokens=estimated)  # not every server counts


class _Busy(Exception):
    def __init__(self, reason: str, seconds: float = 1.0) -> None:
        super().__init__(reason)
        self.reason, self.seconds = reason, seconds


async def _post(http: Http, path: str, body: bytes) -> bytes:
    """The body of a good answer. What an error page says is not read: it is neither data nor ours to repeat."""
    try:
        async with http.stream("POST", path, content=body, headers={"Content-Type": "application/json"}) as response:
            if response.is_success:
                return await read_capped(response, MAX_ANSWER_BYTES)
            status, wait = response.status_code, response.headers.get("retry-after", "")
    except httpx.TimeoutException:
        raise ModelFailed("timeout", again=True) from None
    except httpx.HTTPError:
        raise _Busy("unreachable") from None
    except Refused:
        raise ModelFailed("nonsense") from None
    if status == 429 or status >= 500:
        reason, seconds = "rate_limited" if status == 429 else "unavailable", _seconds(wait)
        if seconds > MAX_WAIT_SECONDS:
            raise ModelFailed(reason, again=True)
        raise _Busy(reason, seconds)
    raise ModelFailed({400: "refused", 413: "too_long"}.get(status, "not_permitted"))


def _seconds(wait: str) -> float:
    try:
        seconds = float(wait or 1)
    except ValueError:
        return 1.0
    return max(0.0, seconds) if math.isfinite(seconds) else MAX_WAIT_SECONDS + 1
