"""One question to a language model: a talk in either wire's form goes in, what it said or wants to call comes out."""

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

MOST_BYTES = 1024 * 1024  # of one answer
BYTES_A_TOKEN = 4  # about, of text and JSON
LONGEST_WAIT = 5.0  # for a model that asks to be left alone for a moment
Talk = list[dict[str, Any]]


class ModelFailed(Exception):
    """One word of ours; `again` when a later attempt may go better."""

    def __init__(self, word: str, *, again: bool = False) -> None:
        super().__init__(word)
        self.word, self.again = word, again


@dataclass(frozen=True)
class Wanted:
    """A tool the model wants called; `arguments` is None when what it wrote is no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True)
class Offered:
    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model answered: `said` goes back to it as it is; `pause` asks for that alone; `cut` was too long."""

    said: dict[str, Any]
    text: str
    calls: tuple[Wanted, ...]
    tokens: int
    pause: bool = False
    cut: bool = False


@dataclass(frozen=True)
class ModelApi:
    """How one kind of endpoint is spoken to."""

    path: str
    headers: Callable[[Settings], dict[str, str]]
    body: Callable[[Settings, str, Talk, Sequence[Offered], bool], dict[str, Any]]
    read: Callable[[dict[str, Any]], Turn]
    told: Callable[[Sequence[tuple[Wanted, str]], str | None], Talk]


def _anthropic_headers(s: Settings) -> dict[str, str]:
    return {"anthropic-version": s.standing_order_model_version}


def _anthropic_body(s: Settings, system: str, talk: Talk, tools: Sequence[Offered], may_call: bool) -> dict[str, Any]:
    return {
        "model": s.standing_order_model,
        "max_tokens": s.standing_order_answer_tokens,
        "system": system,
        "messages": talk,
        "tools": [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in tools],
        "tool_choice": {"type": "auto" if may_call else "none"},
    }


def _anthropic_read(told: dict[str, Any]) -> Turn:
    content, end = told["content"], told["stop_reason"]
    if end == "refusal":
        raise ModelFailed("declined")
    if end == "model_context_window_exceeded":
        raise ModelFailed("too_long")
    wanted = [b for b in content if b["type"] == "tool_use"] if end == "tool_use" else []
    calls = tuple(Wanted(str(b["id"]), str(b["name"]), _object(b["input"])) for b in wanted)
    text = "".join(str(b["text"]) for b in content if b["type"] == "text")
    usage = told.get("usage") or {}
    tokens = int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)
    return Turn(
        {"role": "assistant", "content": content}, text, calls, tokens, end == "pause_turn", end == "max_tokens"
    )


def _anthropic_told(answers: Sequence[tuple[Wanted, str]], note: str | None) -> Talk:
    """All results of one turn in one message, first in its content."""
    blocks = [{"type": "tool_result", "tool_use_id": wanted.id, "content": text} for wanted, text in answers]
    return [{"role": "user", "content": [*blocks, *([{"type": "text", "text": note}] if note else [])]}]


def _openai_body(s: Settings, system: str, talk: Talk, tools: Sequence[Offered], may_call: bool) -> dict[str, Any]:
    functions = [{"name": t.name, "description": t.description, "parameters": t.schema} for t in tools]
    return {
        "model": s.standing_order_model,
        "max_completion_tokens": s.standing_order_answer_tokens,
        "messages": [{"role": "system", "content": system}, *talk],
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": "auto" if may_call else "none",
    }


def _openai_read(told: dict[str, Any]) -> Turn:
    choice = told["choices"][0]
    said = choice["message"]
    if choice.get("finish_reason") == "content_filter" or said.get("refusal"):
        raise ModelFailed("declined")
    asked = [(c["id"], c["function"]) for c in said.get("tool_calls") or ()]
    calls = tuple(Wanted(str(id), str(f["name"]), _object(f["arguments"])) for id, f in asked)
    usage = told.get("usage") or {}
    back = {"role": "assistant", "content": said.get("content")}
    back |= {"tool_calls": said["tool_calls"]} if asked else {}
    text, cut = str(said.get("content") or ""), choice.get("finish_reason") == "length"
    return Turn(back, text, () if cut else calls, int(usage.get("total_tokens") or 0), cut=cut)


def _openai_told(answers: Sequence[tuple[Wanted, str]], note: str | None) -> Talk:
    told: Talk = [{"role": "tool", "tool_call_id": wanted.id, "content": text} for wanted, text in answers]
    return told + ([{"role": "user", "content": note}] if note else [])


def _object(given: Any) -> dict[str, Any] | None:
    """Arguments come as an object or, in the other wire, as its text; models write broken JSON now and then."""
    if isinstance(given, str):
        try:
            given = from_json(given or "{}")
        except ValueError:
            return None
    return given if isinstance(given, dict) else None


WIRES = {
    "anthropic": ModelApi("/messages", _anthropic_headers, _anthropic_body, _anthropic_read, _anthropic_told),
    "openai": ModelApi("/chat/completions", lambda _: {}, _openai_body, _openai_read, _openai_told),
}


def wire() -> ModelApi:
    return WIRES[settings().standing_order_model_kind]


def connection() -> Http:
    """The run itself ends a model that is too slow."""
    s = settings()
    key = s.standing_order_model_key.get_secret_value() if s.standing_order_model_key else ""
    named = {"Authorization": f"Bearer {key}"} if s.standing_order_model_auth == "bearer" else {"x-api-key": key}
    headers = wire().headers(s) | (named if key else {})
    return client(s.standing_order_model_url, timeout=httpx.Timeout(60, connect=5), headers=headers)


async def ask(http: Http, system: str, talk: Talk, tools: Sequence[Offered], *, may_call: bool) -> Turn:
    """One answer; a model that is busy is asked a second time after a moment. Raises ModelFailed."""
    spoken = wire()
    body = to_json(spoken.body(settings(), system, talk, tools, may_call))
    try:
        answer = await _post(http, spoken.path, body)
    except _Busy as busy:
        await anyio.sleep(busy.seconds)
        try:
            answer = await _post(http, spoken.path, body)
        except _Busy as still:
            raise ModelFailed(still.word, again=True) from None
    try:
        turn = spoken.read(from_json(answer))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise ModelFailed("nonsense", again=True) from None
    estimated = (len(body) + len(answer)) // BYTES_A_TOKEN
    return turn if turn.tokens else replace(turn, tokens=estimated)  # not every server counts


class _Busy(Exception):
    def __init__(self, word: str, seconds: float = 1.0) -> None:
        super().__init__(word)
        self.word, self.seconds = word, seconds


async def _post(http: Http, path: str, body: bytes) -> bytes:
    """The body of a good answer. What an error page says is not read: it is neither data nor ours to repeat."""
    try:
        async with http.stream("POST", path, content=body, headers={"Content-Type": "application/json"}) as response:
            if response.is_success:
                return await read_capped(response, MOST_BYTES)
            status, wait = response.status_code, response.headers.get("retry-after", "")
    except httpx.TimeoutException:
        raise ModelFailed("timeout", again=True) from None
    except httpx.HTTPError:
        raise _Busy("unreachable") from None
    except Refused:
        raise ModelFailed("nonsense") from None
    if status == 429 or status >= 500:
        word, seconds = "rate_limited" if status == 429 else "unavailable", _seconds(wait)
        if seconds > LONGEST_WAIT:
            raise ModelFailed(word, again=True)
        raise _Busy(word, seconds)
    raise ModelFailed({400: "refused", 413: "too_long"}.get(status, "not_permitted"))


def _seconds(wait: str) -> float:
    try:
        seconds = float(wait or 1)
    except ValueError:
        return 1.0
    return max(0.0, seconds) if math.isfinite(seconds) else LONGEST_WAIT + 1
