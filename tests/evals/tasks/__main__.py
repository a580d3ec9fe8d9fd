"""python -m tests.evals.tasks --model [NAME]: a language model tries the tasks; who did what, and how often."""

import argparse
import os
from contextlib import ExitStack
from difflib import get_close_matches

from shared.settings import settings
from tests.evals.tasks.hosts import ADDRESSES, Hosts, run_databases, run_hosts
from tests.evals.tasks.results import Result, estimate_reliability, try_task
from tests.evals.tasks.script import Task, load_tasks
from tests.evals.tasks.scripted_model import NAME, ScriptedModel, scripted_model
from tests.evals.tasks.talk import Bounds

MODEL = "STANDING_ORDER_MODEL"


def parse_options(words: list[str] | None = None) -> tuple[argparse.Namespace, list[Task]]:
    """The options, and the tasks to be tried."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.evals.tasks",
        description=f"The model is that of the standing orders: {MODEL} and the settings next to it, or --base-url. "
        "Databases and servers of its own are started; it calls no one but the model.",
    )
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--model", nargs="?", const="", help=f"instead of the one {MODEL} names")
    who.add_argument("--scripted", action="store_true", help="no model: the scripts of the tasks, over the same wire")
    base_url = os.environ.get("OPENAI_BASE_URL") if not os.environ.get(f"{MODEL}_URL") else None
    parser.add_argument(
        "--base-url",
        default=base_url,
        metavar="URL",
        help="of an address that speaks like OpenAI's Chat Completions, such as http://127.0.0.1:11434/v1; a key is"
        f" read from OPENAI_API_KEY or {MODEL}_KEY. Without it OPENAI_BASE_URL counts, where {MODEL}_URL is not set",
    )
    parser.add_argument("--task", action="append", metavar="NAME", help="only this one; may be given several times")
    parser.add_argument("--address", choices=sorted(ADDRESSES), default="all", help="whose tools the model is given")
    parser.add_argument(
        "--repeat", type=int, default=1, metavar="N", help="attempts at each task, for pass^1 to pass^N"
    )
    parser.add_argument("--floor", type=float, default=0.0, help="exit 1 where pass^1 is below this share of 1")
    for name, bound in Bounds()._asdict().items():
        parser.add_argument(f"--{name}", type=type(bound), default=bound, help=f"of one attempt; {bound:,g}")
    options = parser.parse_args(words)
    if not (options.scripted or options.model or os.environ.get(MODEL)):
        parser.error(f"no model is known: name one, or set {MODEL}.")
    if min(options.repeat, options.steps, options.seconds, options.tokens) <= 0:
        parser.error("--repeat, --steps, --seconds and --tokens are above 0.")
    tasks = {task.name: task for task in load_tasks()}
    for name in set(options.task or ()) - tasks.keys():
        near = get_close_matches(name, tasks, 3) or sorted(tasks)
        parser.error(f"there is no task {name}; there is {', '.join(near)}.")
    return options, [tasks[name] for name in options.task or tasks]


def _print_results(task: Task, results: list[Result]) -> None:
    done = sum(not result.faults for result in results)
    share = f"{done}/{len(results)}" if len(results) > 1 else "yes" if done else "no"
    steps, tokens = (sum(counts) / len(results) for counts in zip(*((r.steps, r.tokens) for r in results), strict=True))
    print(f"{task.name:<44}{share:>6}{steps:>8.3g}{tokens:>12,.0f}", flush=True)
    for result in results:
        for fault in result.faults:
            print(f"    {fault}")
        if result.faults:
            print(f"    called {', '.join(result.calls) or 'nothing'}", flush=True)


def choose_model(options: argparse.Namespace, url: str | None) -> None:
    """Writes the model into the environment, from which the standing orders read theirs. `url`: in OpenAI's format."""
    os.environ[MODEL] = NAME if options.scripted else options.model or os.environ[MODEL]
    if url:
        key = os.environ.get(f"{MODEL}_KEY") or os.environ.get("OPENAI_API_KEY", "")
        named = {"": os.environ[MODEL], "_URL": url, "_KIND": "openai", "_AUTH": "bearer", "_KEY": key}
        os.environ.update({f"{MODEL}{ending}": value for ending, value in named.items()})
    settings.cache_clear()


def run_tasks(
    options: argparse.Namespace, tasks: list[Task], hosts: Hosts, scripted: ScriptedModel | None = None
) -> int:
    """Prints a line for each task as it ends, and the figures of all; the exit status."""
    bounds = Bounds(options.steps, options.seconds, options.tokens)
    print(f"{settings().standing_order_model} at {ADDRESSES[options.address]}\n")
    print(f"{'task':<44}{'done':>6}{'steps':>8}{'tokens':>12}")
    trials: list[list[Result]] = []
    for task in tasks:
        results = []
        for _ in range(options.repeat):
            hosts.begin_anew()
            results.append(try_task(task, hosts, options.address, bounds, scripted))
        _print_results(task, results)
        trials.append(results)
    shares = [estimate_reliability(trials, k) for k in range(1, options.repeat + 1)]
    print(f"\n{len(tasks)} tasks: {', '.join(f'pass^{k} {share:.3f}' for k, share in enumerate(shares, 1))}")
    steps, tokens = (sum(counts) for counts in zip(*((r.steps, r.tokens) for rs in trials for r in rs), strict=True))
    print(f"{steps} steps and {tokens:,} tokens in {sum(map(len, trials))} attempts")
    return 1 if shares[0] < options.floor else 0


def main() -> int:
    options, tasks = parse_options()
    with ExitStack() as stack:
        scripted = stack.enter_context(scripted_model()) if options.scripted else None
        choose_model(options, scripted.address if scripted else options.base_url)
        stack.enter_context(run_databases())
        return run_tasks(options, tasks, stack.enter_context(run_hosts()), scripted)


if __name__ == "__main__":
    raise SystemExit(main())
