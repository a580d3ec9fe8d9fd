"""python -m tests.bench.line: 200 people ask one source at once from two processes; it answers in 3 s, 4 at a time.

Three crowds: all put the same question, all put different ones, and 20 people alongside 20 checks of watches. Printed
are the answers, when they came, what the others were told and when, and what the waiting cost Valkey and the processes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import anyio

from tests.bench.stage import ROOT

CROWD, PROCESSES, CAP, SLOW, BUDGET = 200, 2, 4, 3.0, 25.0
DAY = date(2027, 3, 9)
Answer = dict[str, Any]


def ask_as_one_process(number: int, kind: str) -> list[Answer]:
    """This process's part of the crowd; it says when it is ready, and is told when all begin."""
    from shared.providers import registry
    from shared.providers.ask import Ask
    from shared.providers.contract import SeatsQuestion
    from tests.support.fake_seats import source

    began: dict[str, float] = {}
    calls: list[str] = []
    answers: list[Answer] = []

    async def act(question: SeatsQuestion) -> tuple[()]:
        began[question.destination] = time.time() - start
        calls.append(question.destination)
        await anyio.sleep(SLOW)
        return ()

    card = source("slow", act, concurrency=CAP, terms="anyone")
    registry.providers = lambda: {"slow": card}  # type: ignore[assignment]
    print("ready", flush=True)
    start = float(sys.stdin.readline())

    async def ask(person: int, *, check: bool) -> None:
        name = "same" if kind == "same" else f"{'check' if check else 'person'}{person}"
        question = SeatsQuestion("LHR", name, DAY, DAY + timedelta(days=1))
        reading = await Ask(person, budget=BUDGET, background=check).one("slow", "award_seats", question)
        said = {"status": reading.status, "reason": reading.reason, "retry_after": reading.retry_after}
        answers.append(said | {"after": time.time() - start, "check": check, "began": began.get(name)})

    async def go() -> None:
        await anyio.sleep(max(0.0, start - time.time()))
        own = range(number, CROWD if kind != "mixed" else 40, PROCESSES)
        async with anyio.create_task_group() as tasks:
            for person in own:
                tasks.start_soon(lambda n=person: ask(n, check=kind == "mixed" and n % 4 < 2))

    anyio.run(go)
    return [answer | {"cpu": time.process_time(), "calls": len(calls)} for answer in answers]


def measure(kind: str) -> None:
    from shared.redis import connect

    connect().flushall()
    connect().config_resetstat()
    before = connect().info("cpu")
    line = [sys.executable, "-m", "tests.bench.line", "--kind", kind, "--number"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    askers = [subprocess.Popen([*line, str(n)], cwd=ROOT, **pipes) for n in range(PROCESSES)]
    for asker in askers:
        asker.stdout.readline()  # it has imported everything
    start = str(time.time() + 0.5)
    for asker in askers:
        asker.stdin.write(f"{start}\n")
        asker.stdin.flush()
    said = [json.loads(asker.communicate()[0]) for asker in askers]
    after, stats = connect().info("cpu"), connect().info("stats")
    spent = sum(after[name] - before[name] for name in ("used_cpu_sys", "used_cpu_user"))
    report(kind, said)
    print(f"  Valkey: {stats['total_commands_processed']} commands, {spent:.2f} s of its processor")


def report(kind: str, said: list[list[Answer]]) -> None:
    answers = [answer for part in said for answer in part]
    outcomes = Counter(f"{a['status']} {a['reason']}" for a in answers)
    calls = sum(part[0]["calls"] for part in said if part)
    cpu = sum(part[0]["cpu"] for part in said if part)
    print(f"{kind}: {dict(outcomes)}; {calls} calls to the source; {cpu:.1f} s of both processes' processors")
    for name, group in (
        ("answered", [a for a in answers if a["reason"] == "empty"]),
        ("others told", [a for a in answers if a["reason"] != "empty"]),
    ):
        if group:
            after, waits = sorted(a["after"] for a in group), [a["retry_after"] or 0 for a in group]
            middle = after[len(after) // 2]
            print(f"  {name}: {len(group)}, after {after[0]:.1f} to {after[-1]:.1f} s, half by {middle:.1f} s;")
            print(f"    retry_after {min(waits)} to {max(waits)}")
    checks, people = (
        [a["began"] for a in answers if a["check"] is c and a["began"] is not None] for c in (True, False)
    )
    if checks and people:
        print(f"  began: people until {max(people):.1f} s, checks from {min(checks):.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.line", description=__doc__)
    parser.add_argument("--kind", choices=("same", "different", "mixed"))
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.number is not None:
        print(json.dumps(ask_as_one_process(given.number, given.kind)))
        return
    from deploy.local.private_servers import Valkey
    from tests.conftest import SETTINGS

    with tempfile.TemporaryDirectory(prefix="award_line_") as folder:
        valkey = Valkey(Path(folder), durable=False).start()
        try:
            os.environ.update(SETTINGS, AWARD_BACKEND="live", REDIS_URL=valkey.url)
            os.environ.update(DATABASE_URL="postgresql://nobody@127.0.0.1:1/none", SEATS_AERO_API_KEY="key")
            for kind in (given.kind,) if given.kind else ("same", "different", "mixed"):
                measure(kind)
        finally:
            valkey.stop()


if __name__ == "__main__":
    main()
