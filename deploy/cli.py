"""The command `award-travel`: its commands and options. A fault is one line with what to do, and a status."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from deploy.errors import CommandError, user_message
from deploy.local.home import default_home

FACTS = Path(__file__).parents[1] / "shared" / "reference" / "data"
FACTS_PAGE = Path(__file__).parent / "docs" / "FACTS.md"
FINDINGS = ("contradicted", "differs", "over", "override", "queue", "reported", "stale", "unread")
PLANS = ("free", "premium", "pro", "enterprise")
Parser = argparse.ArgumentParser


def _add_home(parser: Parser) -> None:
    parser.add_argument("--home", type=Path, metavar="DIR", help="where state lives (default: your data folder)")


def _add_password(parser: Parser, *, required: bool = False) -> None:
    parser.add_argument("--password-stdin", action="store_true", required=required, help="read the password from stdin")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: 0 to 65535")
    return int(text)


def _add_up(parser: Parser) -> None:
    parser.add_argument("--web-port", type=_port, metavar="N", help="port of the web pages (8000; 0 picks a free one)")
    parser.add_argument("--mcp-port", type=_port, metavar="N", help="port of the tools (8001; 0 picks a free one)")
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="JSON written when all is healthy")
    parser.add_argument("--no-demo", action="store_true", help="make no demo account")


def _add_user(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = commands.add_parser("add", help="make an account; without --password-stdin a password is made and printed")
    add.add_argument("email")
    _add_password(add)
    add.add_argument("--plan", choices=PLANS, default="free")
    add.add_argument("--admin", action="store_true", help="an administrator")
    plan = commands.add_parser("plan", help="change the plan of an account")
    plan.add_argument("email")
    plan.add_argument("plan", choices=PLANS)
    plan.add_argument("--api-calls", type=int, metavar="N", help="an agreed number of API calls a month")
    limit = commands.add_parser("limit", help="agree on a number of API calls a month with an account")
    limit.add_argument("email")
    limit.add_argument("calls", help="the number, or `plan` for what the plan gives")
    trial = commands.add_parser("trial", help="let an account try the mail inbox for some days; 0 ends it")
    trial.add_argument("email")
    trial.add_argument("days", type=int)
    admin = commands.add_parser("admin", help="make an account an administrator, or no longer")
    admin.add_argument("email")
    admin.add_argument("flag", choices=("on", "off"))
    list_ = commands.add_parser("list", help="list the accounts")
    for command in (add, plan, limit, trial, admin, list_):
        _add_home(command)


def _add_token(parser: Parser) -> None:
    parser.add_argument("email")
    _add_password(parser, required=True)


def _add_reset(parser: Parser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def _add_backup(parser: Parser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="where to write it; it must not exist")


def _add_restore(parser: Parser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that backup made")
    parser.add_argument("--replace", action="store_true", help="delete what the database holds now")
    parser.add_argument("--keys-lost", action="store_true", help="go on without the keys of the backup")


def _add_try(parser: Parser) -> None:
    parser.add_argument("--email", help="sign in as this account instead of in a browser")
    _add_password(parser)
    parser.add_argument("tool", nargs="?", default="list_programs", help="the tool to call (list_programs)")
    parser.add_argument("arguments", nargs="?", default="{}", help="its arguments as JSON")


def _add_login(parser: Parser) -> None:
    parser.add_argument("--url", required=True, help="the address of the service")
    parser.add_argument("--key", nargs="?", help="an API key; without a value it is asked for, or read from stdin")


def _add_tools(parser: Parser) -> None:
    parser.add_argument("text", nargs="?", default="", help="words to look for; a tool's name shows its arguments")


def _add_call(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("tool", help="the tool's name")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="--argument value", help="see call TOOL --help")


def _add_completion(parser: Parser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_fact(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    change = (
        ("set", "correct a row of a reference file, or add one"),
        ("remove", "take a row out"),
        ("undo", "take a correction back; the file's row answers again"),
    )
    for name, text in change:
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.add_argument("file", help="the file, for example transfer_bonuses.csv")
        command.add_argument(
            "cells", nargs="+", metavar="COLUMN=VALUE", help="cells; those that name the row are needed"
        )
        command.add_argument("--reason", required=True, help="why, for the trail")
        command.add_argument("--by", metavar="WHO", help="who, for the trail (your login name)")
        _add_home(command)
    list_ = commands.add_parser("list", help="list what is corrected, and the last changes")
    list_.add_argument("file", nargs="?", help="of this file only")
    _add_home(list_)
    text = "close an item of the audit that a watched source (D12) or a person (R5) opened"
    close = commands.add_parser("close", help=text, description=f"{text[0].upper()}{text[1:]}.")
    close.add_argument("item", help="its number as audit prints it, for example D12")
    close.add_argument("--reason", required=True, help="why, for the trail")
    close.add_argument("--by", metavar="WHO", help="who, for the trail (your login name)")
    _add_home(close)
    text = "print all corrections in force as a patch against the files, for git apply"
    _add_home(commands.add_parser("export", help=text, description=f"{text[0].upper()}{text[1:]}."))


def _add_facts(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = commands.add_parser("check", help="check files of facts; every fault with file and line")
    check.add_argument("folder", nargs="?", type=Path, default=FACTS, help="the folder (the facts of this program)")
    page = commands.add_parser("page", help="write the page with figures about each file")
    page.add_argument("--output", type=Path, metavar="FILE", default=FACTS_PAGE, help="where (deploy/docs/FACTS.md)")


def _add_audit(parser: Parser) -> None:
    parser.add_argument("--kind", choices=FINDINGS, help="of this kind only")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="print at most N (50; 0 prints all)")


class Command(NamedTuple):
    """One command. `run` is "module:function" below `deploy`, imported only when the command is used."""

    help: str
    add_arguments: Callable[[Parser], None]
    run: str
    takes_home: bool = True


def _add_nothing(_: Parser) -> None:
    """For commands without options of their own."""


COMMANDS = {
    "up": Command("start everything on this machine", _add_up, "local.supervisor:run_up"),
    "user": Command("make, change and list accounts", _add_user, "accounts:run_user", takes_home=False),
    "token": Command("print an access token", _add_token, "client.oauth_login:run_token"),
    "try": Command("connect as a client would, list the tools and call one", _add_try, "client.try_client:run_try"),
    "migrate": Command("bring the database's tables up to date", _add_nothing, "database:run_migrate"),
    "reset-sandbox": Command("delete what the sandbox invented", _add_reset, "database:run_reset_sandbox"),
    "backup": Command("write everything the database holds to a file", _add_backup, "local.backup:run_backup"),
    "restore": Command(
        "put a backup in the place of an empty database; the service must not run",
        _add_restore,
        "local.backup:run_restore",
    ),
    "doctor": Command("check every part", _add_nothing, "doctor:run_doctor"),
    "audit": Command(
        "list facts that are stale, contradicted or over; status 1 when there are any", _add_audit, "facts:run_audit"
    ),
    "fact": Command("correct facts without a release", _add_fact, "facts:run_fact", takes_home=False),
    "facts": Command("check and describe the files of facts", _add_facts, "fact_files:run_facts", takes_home=False),
    "login": Command(
        "keep the address of a service and an API key to it", _add_login, "client.commands:run_login", takes_home=False
    ),
    "tools": Command(
        "list the tools of the service logged in to", _add_tools, "client.commands:run_tools", takes_home=False
    ),
    "call": Command("call a tool of the service logged in to", _add_call, "client.commands:run_call", takes_home=False),
    "completion": Command(
        "print the completion script of a shell", _add_completion, "client.completion:run_completion", takes_home=False
    ),
}


class _Version(argparse.Action):
    """Asks for the version's constant only when it is wanted."""

    def __call__(self, parser: Parser, *_: object) -> None:
        from shared.settings import VERSION

        print(VERSION)
        parser.exit()


def build_parser() -> Parser:
    parser = Parser(prog="award-travel", description="Award Travel: run it, look after it, try it.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        text = command.help
        subparser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.add_arguments(subparser)
        if command.takes_home:
            _add_home(subparser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    """The exit status. Only here is a command's module imported, so that help and mistakes answer at once."""
    module, _, function = COMMANDS[arguments.command].run.partition(":")
    run: Callable[[argparse.Namespace], int | None] = getattr(import_module(f"deploy.{module}"), function)
    return run(arguments) or 0


def main(words: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if words is None else words)
    if words[:2] == ["complete", "--"]:  # asked by the scripts of `completion`, at every press of the key
        complete = import_module("deploy.client.completion").complete
        print("\n".join(complete(words[2:], build_parser())))
        return 0
    arguments = build_parser().parse_args(words)
    if sys.platform == "win32":
        print("award-travel runs on Linux and macOS; on Windows use WSL.", file=sys.stderr)
        return 1
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an old terminal shows ? for a letter it does not have
    arguments.home = (getattr(arguments, "home", None) or default_home()).absolute()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the pipe stopped reading, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except CommandError as fault:
        print(f"award-travel: {fault}", file=sys.stderr)
        return fault.code
    except Exception as fault:
        text = user_message(fault)
        if text is None:
            raise
        print(f"award-travel: {text}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
