"""`award-travel up`: starts the service, says how to use it, and watches it until the end."""

import argparse
import contextlib
import json
import os
import signal
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from deploy.errors import CommandError
from deploy.local.home import RUNNING, Home, write_private
from deploy.local.progress import StartProgress
from deploy.service_name import read_service_name

if TYPE_CHECKING:
    from deploy.local.stack import Stack


def _stop_on_signal() -> None:
    """The first SIGINT, SIGTERM or SIGHUP ends the command as Ctrl-C does; further ones do not disturb stopping."""

    def end(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def _write_ready_files(stack: "Stack", files: list[Path]) -> None:
    for file in files:
        write_private(file, json.dumps(stack.facts(), indent=2) + "\n")


def _watch(stack: "Stack", files: list[Path]) -> None:
    from deploy.local.processes import bound_log, revive

    looks = 0
    while True:
        time.sleep(0.1)
        looks += 1
        if looks % 100 == 0:
            for child in stack.children:
                bound_log(child.log)
        revived = [revive(child, stack.say) for child in stack.children]
        if any(revived):
            _write_ready_files(stack, files)


def _serve(arguments: argparse.Namespace, home: Home, files: list[Path], progress: StartProgress) -> None:
    """Serves until the process is asked to end. Prints its first line before loading the programs' modules."""
    with contextlib.ExitStack() as service:
        with progress.moving():
            from deploy.local.banner import print_banner
            from deploy.local.demo_account import ensure_demo_account
            from deploy.local.metrics import showing_metrics
            from deploy.local.supervisor import running

            stack = service.enter_context(running(home, arguments.web_port, arguments.mcp_port, progress.say))
        with_demo = not arguments.no_demo and stack.environment.get("APP_ENV") != "production"
        password = ensure_demo_account(home) if with_demo else None
        stack.metrics_url = service.enter_context(showing_metrics(stack))
        _write_ready_files(stack, files)
        print_banner(stack, password, with_demo=with_demo)
        _watch(stack, files)


def run_up(arguments: argparse.Namespace) -> None:
    """Starts the service and watches it until SIGINT or SIGTERM."""
    home, progress, ready_file = Home(arguments.home).prepare(), StartProgress(), arguments.ready_file
    files = [home.path / RUNNING, *([ready_file.absolute()] if ready_file else [])]
    if ready_file and not os.access(files[-1].parent, os.W_OK):
        raise CommandError(f"{ready_file} cannot be written: name a file in a folder that exists and is yours.")
    with home.alone() as free:
        if not free:
            raise CommandError(
                f"award-travel already runs on {home.path}: stop that one, or choose another with --home DIR."
            )
        progress.print(f"{read_service_name()} is starting; its data are in {home.path}.")
        _stop_on_signal()
        for file in files:
            file.unlink(missing_ok=True)  # of a service that was killed
        try:
            _serve(arguments, home, files, progress)
        except KeyboardInterrupt:
            progress.say("stopped")
        finally:
            for file in files:
                file.unlink(missing_ok=True)
