"""A model on loopback that follows the scripts of the tasks, in the wire format of Chat Completions.

It shows that the way to a model works, and what a model would use that makes no step too many. It chooses nothing by
itself, so its figures say nothing about the descriptions of the tools.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp_server.toolkit.registry import TOOLS
from tests.evals.tasks.script import Task, fill_in, pick
from tests.jobs.model_server import Body, ModelServer, calls, model_server, offered, read_data, told, words

KIND, NAME = "openai", "scripted"
CHARACTERS_OF_A_TOKEN = 4  # of JSON in English, roughly; tokenizers differ by a quarter


class ScriptedModel:
    """Answers each question with the next call of the task's script, and after the last with what must be told."""

    def __init__(self, server: ModelServer) -> None:
        self.address, server.script = server.address, [self._answer]
        self._kept: dict[str, Any] = {}
        self._task: Task | None = None

    def take(self, task: Task, kept: dict[str, Any]) -> None:
        """The task that is tried next, and the numbers that were kept when its world was made."""
        self._task, self._kept = task, dict(kept)

    def _answer(self, asked: Body) -> Body:
        assert self._task is not None
        answers, task = told(KIND, asked), self._task
        if answers:
            answer = read_data(answers[-1])
            self._kept |= {name: pick(answer, place) for name, place in task.calls[len(answers) - 1].keep.items()}
        if len(answers) < len(task.calls):
            step = task.calls[len(answers)]
            reply = calls(KIND, self._write_call(step.tool, fill_in(step.arguments, self._kept), asked))
        else:
            parts = fill_in(list(task.tells or task.says), self._kept)
            reply = words(KIND, ", ".join(str(part).split("|")[0] for part in parts))
        characters = len(json.dumps([asked["messages"], asked["tools"], reply["choices"]]))
        return reply | {"usage": {"total_tokens": characters // CHARACTERS_OF_A_TOKEN}}

    def _write_call(self, tool: str, arguments: dict[str, Any], asked: Body) -> tuple[str, dict[str, Any]]:
        """As itself where it is offered, else by name as the lean address runs it."""
        if tool in offered(KIND, asked):
            return tool, arguments
        return "call_read_tool" if TOOLS[tool].reads else "call_write_tool", {"name": tool, "arguments": arguments}


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    with model_server() as server:
        yield ScriptedModel(server)
