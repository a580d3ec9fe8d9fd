"""One attempt at a task through the gate: the world it begins in, its scripted calls, and the judgement of its end."""

from itertools import product
from typing import Any

from mcp_server.toolkit.context import Caller
from tests.evals.tasks.end_state import Place, State, find_differences, find_values, find_wrong_words, take_state
from tests.evals.tasks.script import Step, Task, fill_in, list_unknown, pick
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_inbound_mail import arrive
from tests.shared.domain.confirmations.mails import mail
from tests.support.people import People


class Attempt:
    """The steps before are made at once; `told` gathers the messages of the calls that follow."""

    def __init__(self, task: Task, people: People, use: Use) -> None:
        self._task, self._people, self._use = task, people, use
        self.person = self._find_person(task.person)
        self.kept: dict[str, Any] = {}
        self.faults: list[str] = []
        self.told: list[str] = []
        for step in task.before:
            self._make(step)
        self.before: State = take_state()

    def _find_person(self, name: str) -> Caller:
        caller: Caller = getattr(self._people, name)
        return caller

    def _make(self, step: Step) -> str:
        caller, arguments = self._find_person(step.person or self._task.person), fill_in(step.arguments, self.kept)
        if step.tool == "mail":
            arrive(self._use, caller, mail(**arguments))
            return ""
        answer = self._use(caller, step.tool, **arguments)
        if answer["status"] != step.status:
            self.faults.append(f"{step.tool}: {answer['status']} instead of {step.status}: {answer['message']}")
            return str(answer["message"])
        self.kept |= {name: pick(answer, place) for name, place in step.keep.items()}
        return str(answer["message"])

    def follow_script(self) -> None:
        self.told += [self._make(step) for step in self._task.calls]

    def judge(self) -> list[str]:
        """Every fault of the end state and of what was told; none where the script is done."""
        words = find_wrong_words("\n".join(self.told), fill_in(list(self._task.says), self.kept), self._task.never)
        return self.faults + self._judge_rows() + words

    def judge_answer(self, answer: str) -> list[str]:
        """Every fault of the end state and of a model's last words.

        What must never be told is left out: it is about the messages of the scripted calls.
        """
        words = fill_in(list(self._task.tells or self._task.says), self.kept)
        return self.faults + self._judge_rows() + find_wrong_words(answer, words, ())

    def _judge_rows(self) -> list[str]:
        """A name that nothing was kept under stands for any one value, the same in each place."""
        after, stand = take_state(), {}
        for name, rows in self._task.stand.items():
            person, _, table = name.rpartition(".")
            account_id = self._find_person(person or self._task.person).account_id
            stand[Place(table, account_id)] = rows
        names = sorted(list_unknown([*stand.values()], self.kept))
        values = [find_values(after, stand, name) or [None] for name in names]
        faults = (
            find_differences(self.before, after, fill_in(stand, self.kept | dict(zip(names, choice, strict=True))))
            for choice in product(*values)
        )
        return min(faults, key=len)
