"""The command `award-travel`: words go in, one command runs; a fault is one line with its mend, and an exit status."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

PLANS = ("free", "premium", "pro", "enterprise")
Parser = argparse.ArgumentParser


def _home(parser: Parser) -> None:
    parser.add_argument("--home", type=Path, metavar="DIR", help="where state lives (default: your data folder)")


def _password(parser: Parser, *, required: bool = False) -> None:
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
    _password(add)
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
    listed = commands.add_parser("list", help="list the accounts")
    for command in (add, plan, limit, trial, admin, listed):
        _home(command)


def _add_token(parser: Parser) -> None:
    parser.add_argument("email")
    _password(parser, required=True)


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
    _password(parser)
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
        _home(command)
    listed = commands.add_parser("list", help="list what is corrected, and the last changes")
    listed.add_argument("file", nargs="?", help="of this file only")
    _home(listed)


def _add_audit(parser: Parser) -> None:
    parser.add_argument(
        "--kind", choices=("contradicted", "over", "override", "queue", "stale"), help="of this kind only"
    )
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="print at most N (50; 0 prints all)")


COMMANDS = {
    "up": ("start everything on this machine", _add_up),
    "user": ("make, change and list accounts", _add_user),
    "token": ("print an access token", _add_token),
    "try": ("connect as a client would, list the tools and call one", _add_try),
    "migrate": ("bring the database's tables up to date", lambda _: None),
    "reset-sandbox": ("delete what the sandbox invented", _add_reset),
    "backup": ("write everything the database holds to a file", _add_backup),
    "restore": ("put a backup in the place of an empty database; the service must not run", _add_restore),
    "doctor": ("check every part", lambda _: None),
    "audit": ("list facts that are stale, contradicted or over; status 1 when there are any", _add_audit),
    "fact": ("correct facts without a release", _add_fact),
    "login": ("keep the address of a service and an API key to it", _add_login),
    "tools": ("list the tools of the service logged in to", _add_tools),
    "call": ("call a tool of the service logged in to", _add_call),
    "completion": ("print the completion script of a shell", _add_completion),
}
_ROOMS = {
    "login": "client.commands",
    "tools": "client.commands",
    "call": "client.commands",
    "fact": "facts",
    "audit": "facts",
    "backup": "local.backup",
    "restore": "local.backup",
}
ON_NO_HOME = {"user", "fact", "login", "tools", "call", "completion"}


class _Version(argparse.Action):
    """Asks for the version's constant only when it is wanted."""

    def __call__(self, parser: Parser, *_: object) -> None:
        from shared.settings import VERSION

        print(VERSION)
        parser.exit()


def parser() -> Parser:
    made = Parser(prog="award-travel", description="Award Travel: run it, look after it, try it.")
    made.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, add) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        add(command)
        if name not in ON_NO_HOME:
            _home(command)
    return made


def _run(given: argparse.Namespace) -> int:
    """Imports only what the command needs, so that help and mistakes answer at once."""
    if given.command == "up":
        from deploy.local.supervisor import up

        up(given.home, given.web_port, given.mcp_port, given.ready_file, demo=not given.no_demo)
        return 0
    if given.command == "doctor":
        from deploy.doctor import doctor

        return doctor(given.home)
    if given.command == "completion":
        from deploy.client.completion import script

        print(script(given.shell))
        return 0
    room = import_module(f"deploy.{_ROOMS.get(given.command, 'commands')}")
    run = getattr(room, f"run_{given.command.replace('-', '_')}")
    run(given)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if words is None else words)
    if words[:2] == ["complete", "--"]:  # asked by the scripts of `completion`, at every press of the key
        from deploy.client.completion import complete

        print("\n".join(complete(words[2:], parser())))
        return 0
    given = parser().parse_args(words)
    if sys.platform == "win32":
        print("award-travel runs on Linux and macOS; on Windows use WSL.", file=sys.stderr)
        return 1
    from deploy.errors import CommandError, user_message
    from deploy.local.home import default_home

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an old terminal shows ? for a letter it has not
    given.home = (getattr(given, "home", None) or default_home()).absolute()
    try:
        return _run(given)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever reads what is printed has seen enough
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
