"""Attempts at tasks by a model, and how often it does them."""

from collections.abc import Iterable
from math import comb
from typing import NamedTuple

from tests.evals.tasks.attempt import Attempt
from tests.evals.tasks.hosts import ADDRESSES, Hosts
from tests.evals.tasks.script import Task, fill_in
from tests.evals.tasks.scripted_model import ScriptedModel
from tests.evals.tasks.talk import Bounds, Talk
from tests.support.people import everybody


class Result(NamedTuple):
    """One attempt; it is done where there are no faults."""

    faults: list[str]
    calls: list[str]  # the names of the tools in order, with the status where it was not ok
    steps: int
    tokens: int


def try_task(task: Task, hosts: Hosts, address: str, bounds: Bounds, scripted: ScriptedModel | None = None) -> Result:
    attempt = Attempt(task, everybody(), hosts.use)
    if scripted is not None:
        scripted.take(task, attempt.kept)
    talk = Talk(fill_in(task.request, attempt.kept), bounds)
    talk.hold(hosts.base + ADDRESSES[address], hosts.grant_token(attempt.person))
    faults = [talk.fault] if talk.fault else []
    return Result(faults + attempt.judge_answer(talk.answer), talk.calls, talk.steps, talk.tokens)


def estimate_reliability(trials: Iterable[list[Result]], k: int) -> float:
    """pass^k of tau-bench (arXiv 2406.12045, section 3): the chance that k attempts at a task are all done.

    Of n attempts at a task c were done: C(c, k) / C(n, k), and the mean over the tasks.
    """
    shares = [comb(sum(not r.faults for r in results), k) / comb(len(results), k) for results in trials]
    return sum(shares) / len(shares)
