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
from deploy.examples import add_example
from deploy.help_page import GroupedHelpParser
from deploy.local.home import default_home
from deploy.operator_arguments import (
    add_backup,
    add_client,
    add_home,
    add_invite,
    add_jobs,
    add_keys,
    add_mail,
    add_maintenance,
    add_password,
    add_providers,
    add_restore,
    add_trail,
    add_upgrade,
    add_user,
)

FACTS = Path(__file__).parents[1] / "shared" / "reference" / "data"
FACTS_PAGE = Path(__file__).parent / "docs" / "FACTS.md"
FINDINGS = ("contradicted", "differs", "over", "override", "queue", "reported", "stale", "unread")
Parser = argparse.ArgumentParser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: 0 to 65535")
    return int(text)


def _add_up(parser: Parser) -> None:
    parser.add_argument("--web-port", type=_port, metavar="N", help="port of the web pages (8000; 0 picks a free one)")
    parser.add_argument("--mcp-port", type=_port, metavar="N", help="port of the tools (8001; 0 picks a free one)")
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="JSON written when all is healthy")
    parser.add_argument("--no-demo", action="store_true", help="make no demo account")


def _add_open(parser: Parser) -> None:
    parser.add_argument("page", nargs="?", default="", help="a page of it, such as dashboard or plans")


def _add_token(parser: Parser) -> None:
    parser.add_argument("email", nargs="?", help="of the account (the demo account of this home)")
    add_password(parser)

    def check(arguments: argparse.Namespace) -> None:
        if arguments.password_stdin != bool(arguments.email):
            parser.error("EMAIL and --password-stdin go together; without both the demo account signs in")

    parser.set_defaults(check=check)


def _add_reset(parser: Parser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def _add_try(parser: Parser) -> None:
    parser.add_argument("--email", help="sign in as this account instead of in a browser")
    add_password(parser)
    parser.add_argument("tool", nargs="?", default="list_programs", help="the tool to call (list_programs)")
    parser.add_argument("arguments", nargs="?", default="{}", help="its arguments as JSON")
    parser.add_argument("--json", action="store_true", help="print the answer alone, as JSON")


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
        add_home(command)
    list_ = commands.add_parser("list", help="list what is corrected, and the last changes")
    list_.add_argument("file", nargs="?", help="of this file only")
    add_home(list_)
    text = "close an item of the audit that a watched source (D12) or a person (R5) opened"
    close = commands.add_parser("close", help=text, description=f"{text[0].upper()}{text[1:]}.")
    close.add_argument("item", help="its number as audit prints it, for example D12")
    close.add_argument("--reason", required=True, help="why, for the trail")
    close.add_argument("--by", metavar="WHO", help="who, for the trail (your login name)")
    add_home(close)
    text = "print all corrections in force as a patch against the files, for git apply"
    add_home(commands.add_parser("export", help=text, description=f"{text[0].upper()}{text[1:]}."))


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
    """For commands without their own options."""


def _add_doctor(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")


COMMANDS = {
    "up": Command("start everything on this machine", _add_up, "local.up:run_up"),
    "open": Command("open the page of the running service in a browser", _add_open, "open_page:run_open"),
    "user": Command("make, change and list accounts", add_user, "accounts:run_user", takes_home=False),
    "client": Command("suspend and restore applications", add_client, "operator_actions:run_client", takes_home=False),
    "jobs": Command("list and repeat runs of jobs", add_jobs, "unfinished_work:run_jobs", takes_home=False),
    "mail": Command("list and resend messages to people", add_mail, "unfinished_work:run_mail", takes_home=False),
    "providers": Command(
        "list providers, switch one off or on", add_providers, "providers:run_providers", takes_home=False
    ),
    "invite": Command("invite someone to make an account, by mail", add_invite, "invitations:run_invite"),
    "invites": Command("list the invitations that are open", _add_nothing, "invitations:run_invites"),
    "trail": Command("show who did what to which account, why and when", add_trail, "operator_actions:run_trail"),
    "token": Command("print an access token", _add_token, "client.oauth_login:run_token"),
    "try": Command("connect as an assistant would, sign in and call a tool", _add_try, "client.try_client:run_try"),
    "migrate": Command("bring the database's tables up to date", _add_nothing, "database:run_migrate"),
    "upgrade": Command("say what an upgrade would do and what to do first", add_upgrade, "upgrades:run_upgrade"),
    "maintenance": Command(
        "answer that the service is under maintenance, and pause jobs",
        add_maintenance,
        "maintenance:run_maintenance",
        takes_home=False,
    ),
    "reset-sandbox": Command("delete what the sandbox invented", _add_reset, "database:run_reset_sandbox"),
    "backup": Command("write everything the service holds to a file", add_backup, "backups.command:run_backup"),
    "restore": Command(
        "put a backup into an empty database; the service must not run",
        add_restore,
        "backups.command:run_restore",
    ),
    "example": Command("print a file for production", add_example, "examples:run_example", takes_home=False),
    "keys": Command("rotate the keys that seal secrets", add_keys, "keys:run_keys", takes_home=False),
    "doctor": Command("check every part", _add_doctor, "doctor.report:run_doctor"),
    "audit": Command("list facts that are old or in doubt; status 1 if any are", _add_audit, "facts:run_audit"),
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
    parser = GroupedHelpParser(prog="award-travel", usage="award-travel COMMAND [options]")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        text = command.help
        subparser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.add_arguments(subparser)
        if command.takes_home:
            add_home(subparser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    """The exit status. Only here is a command's module imported, so that help and mistakes answer at once."""
    if check := getattr(arguments, "check", None):
        check(arguments)
    import_module("deploy.package_clash").check_packages()
    module, _, function = COMMANDS[arguments.command].run.partition(":")
    run: Callable[[argparse.Namespace], int | None] = getattr(import_module(f"deploy.{module}"), function)
    return run(arguments) or 0


def main(words: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if words is None else words)
    if words[:2] == ["complete", "--"]:  # asked by the scripts of `completion`, at every press of the key
        complete = import_module("deploy.client.completion").complete
        print("\n".join(complete(words[2:], build_parser())))
        return 0
    arguments = build_parser().parse_args(words or ["--help"])
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
