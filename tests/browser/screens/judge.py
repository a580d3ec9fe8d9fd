"""The published schema of MCP Apps as a judge: whether one message of the bridge fits it."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mcp_types import CallToolRequestParams
from pydantic import ValidationError

FRAME = frozenset({"jsonrpc", "id"})  # the schema describes a message without its JSON-RPC frame


class Judge:
    """Judges requests and notifications by their method, and answers by the method they answer."""

    def __init__(self, schema: Path) -> None:
        parts = _open_dimensions(json.loads(schema.read_text(encoding="utf-8"))["$defs"])
        self.sent: dict[str, Draft202012Validator] = {}
        # The schema lacks tools/call: the SDK's type stands in for the request, a tool's result for the answer.
        self.answers = {"tools/call": Draft202012Validator(_params(parts["McpUiToolResultNotification"]))}
        for name, part in parts.items():
            method = part.get("properties", {}).get("method", {}).get("const")
            if method is not None:
                self.sent[method] = Draft202012Validator(part)
            if method is not None and name.endswith("Request"):
                answer = parts.get(name.removesuffix("Request") + "Result", {"type": "object"})
                self.answers[method] = Draft202012Validator(answer)

    def list_faults(self, message: dict[str, Any], answers: str | None) -> list[str]:
        if message.get("jsonrpc") != "2.0":
            return ["no JSON-RPC 2.0"]
        method = message.get("method")
        if method is None:
            return self._judge_answer(message, answers)
        if method == "tools/call":
            return _judge_call(message.get("params"))
        if method not in self.sent:
            return [f"the schema knows no method {method}"]
        return _describe(self.sent[method], {k: v for k, v in message.items() if k not in FRAME})

    def _judge_answer(self, message: dict[str, Any], answers: str | None) -> list[str]:
        if "error" in message:
            error = message["error"]
            fits = isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
            return [] if fits else ["an error needs code and message"]
        if answers not in self.answers:
            return [f"an answer to no request: {answers}"]
        return _describe(self.answers[answers], message.get("result"))


def _params(part: dict[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = part["properties"]["params"]
    return params


def _judge_call(params: Any) -> list[str]:
    try:
        CallToolRequestParams.model_validate(params)
    except ValidationError as error:
        return [str(error)]
    return []


def _open_dimensions(part: Any) -> Any:
    """Two closed objects in one allOf admit no containerDimensions with both a width and a height: they are opened."""
    if isinstance(part, list):
        return [_open_dimensions(piece) for piece in part]
    if not isinstance(part, dict):
        return part
    if "allOf" in part and "maxHeight" in json.dumps(part):
        return json.loads(json.dumps(part).replace('"additionalProperties": false', '"additionalProperties": true'))
    return {key: _open_dimensions(value) for key, value in part.items()}


def _describe(validator: Draft202012Validator, message: Any) -> list[str]:
    faults = validator.iter_errors(message)
    return [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}" for fault in faults]
