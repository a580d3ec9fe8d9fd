"""The command `award-travel`: its commands and options. An error is one line with what to do, and a status."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from deploy.errors import CommandError, user_message
from deploy.local.home import default_home
from deploy.service_name import read_service_name

# Options of the commands for those who run the service: accounts, backups, keys.

RUN_STATUSES = ("failed", "pending", "running", "done", "skipped")
MESSAGE_STATUSES = ("failed", "uncertain", "pending", "claimed", "handing_over", "sent")
PLANS = ("free", "premium", "pro", "enterprise")
Parser = argparse.ArgumentParser


def add_home(parser: Parser) -> None:
    parser.add_argument("--home", type=Path, metavar="DIR", help="where state lives (default: your data folder)")


def add_password(parser: Parser) -> None:
    parser.add_argument("--password-stdin", action="store_true", help="read the password from stdin")


def add_user(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = commands.add_parser("add", help="make an account; without --password-stdin a password is made and printed")
    add.add_argument("email")
    add_password(add)
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
    factor = commands.add_parser("second-factor", help="remove passkeys, authenticator app and recovery codes")
    factor.add_argument("email", help="of someone who has lost them, and whom you know to be the owner")
    factor.add_argument("flag", choices=("off",))
    list_ = commands.add_parser("list", help="list the accounts, the oldest first, a page at a time")
    list_.add_argument("--page", type=int, default=1, metavar="N", help="which page (1)")
    list_.add_argument("--per-page", type=int, default=100, metavar="N", help="accounts of a page (100)")
    find = commands.add_parser("find", help="find accounts by a part of the address, or by the id the trail names")
    find.add_argument("text")
    for command in (list_, find):
        _add_json(command)
    for command in (add, plan, limit, trial, admin, factor, list_, find):
        add_home(command)
    for command in (add, plan, limit, trial, admin, factor):
        command.add_argument("--reason", help="why, for the trail")
    _add_user_access(commands)


def _add_user_access(commands: "argparse._SubParsersAction[Parser]") -> None:
    suspend = commands.add_parser("suspend", help="close every way into an account at once; nothing is deleted")
    restore = commands.add_parser("restore", help="open a suspended account again")
    access = commands.add_parser("access", help="list the browsers, applications and keys that may use an account")
    end = commands.add_parser("end-access", help="end every session, application and key of an account, or one of them")
    delete = commands.add_parser("delete", help="delete an account with everything it holds; the trail is kept")
    for command in (suspend, restore, access, end, delete):
        command.add_argument("email")
        add_home(command)
    _add_json(access)
    end.add_argument("item", nargs="?", help="one of them, as `user access` prints it, for example key:12")
    delete.add_argument("--yes", action="store_true", help="do it without asking")
    for command in (suspend, restore, end, delete):
        _add_reason(command)


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_reason(parser: Parser) -> None:
    parser.add_argument("--reason", required=True, help="why, for the trail, which keeps it; name no address in it")


def add_client(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    suspend = commands.add_parser("suspend", help="no token of this application opens anything")
    restore = commands.add_parser("restore", help="let a suspended application work again")
    for command in (suspend, restore):
        command.add_argument("client_id", help="as `user access` prints it in brackets")
        _add_reason(command)
        add_home(command)


def add_invite(parser: Parser) -> None:
    parser.add_argument("email")
    parser.add_argument("--days", type=int, default=7, metavar="N", help="how long the link works (7)")
    parser.add_argument("--reason", help="why, for the trail")


def add_trail(parser: Parser) -> None:
    parser.add_argument("target", nargs="?", help="an address, or the id of an account or application")
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="print at most N (100)")
    _add_json(parser)


def add_backup(parser: Parser) -> None:
    text = "where to write it; it must not exist (a file in BACKUP_FOLDER, whose older ones are then deleted)"
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help=text)


def add_restore(parser: Parser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that backup made")
    parser.add_argument("--replace", action="store_true", help="delete what the database holds now")
    parser.add_argument("--keys-lost", action="store_true", help="go on without the keys of the backup")
    parser.add_argument("--identity", type=Path, metavar="FILE", help="the age identity that opens an encrypted backup")
    parser.add_argument("--rehearse", action="store_true", help="restore into a database made for it, and drop it")
    parser.add_argument("--json", action="store_true", help="print the report of a rehearsal as JSON")


def add_maintenance(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    on = commands.add_parser("on", help="answer everybody but administrators that the service is under maintenance")
    on.add_argument("--message", metavar="TEXT", help="the sentence for people, instead of ours")
    on.add_argument("--until", metavar="WHEN", help="when it will end: 30m, 2h, or a moment of UTC (2027-01-31T22:30)")
    off = commands.add_parser("off", help="answer again, and go on with the jobs")
    status = commands.add_parser("status", help="whether it is on, since when and until when")
    _add_json(status)
    for command in (on, off):
        command.add_argument("--reason", help="why, for the trail")
    for command in (on, off, status):
        add_home(command)


def add_upgrade(parser: Parser) -> None:
    text = "say what the upgrade would do and what to do first (required: award-travel migrate does it)"
    parser.add_argument("--check", dest="reads_only", action="store_true", required=True, help=text)
    _add_json(parser)


def add_roll(parser: Parser) -> None:
    parser.add_argument("pid", type=int, metavar="PID", help="the process that was started: MainPID of its unit")
    parser.add_argument("--wait", action="store_true", help="until all workers are new; status 1 when the roll failed")


def add_keys(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    status = commands.add_parser("status", help="what hangs on each key, and the next step of a rotation")
    reseal = commands.add_parser("reseal", help="seal everything again with the first key")
    retire = commands.add_parser("retire", help="whether a key may be taken out; refused while anything hangs on it")
    retire.add_argument("key", metavar="ID", help="as keys status prints it")
    for command in (status, reseal):
        _add_json(command)
    for command in (reseal, retire):
        command.add_argument("--reason", help="why, for the trail")
    for command in (status, reseal, retire):
        add_home(command)


def add_jobs(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    list_ = commands.add_parser("list", help="list runs of jobs that failed, or of another status, the newest first")
    list_.add_argument("--status", action="append", choices=RUN_STATUSES, help="of this status (failed)")
    list_.add_argument("--kind", help="of this kind, such as route_monitor")
    retry = commands.add_parser("retry", help="run once more what a failed run was to do")
    retry.add_argument("id", type=int, metavar="ID", help="of the run, as jobs list prints it")
    _add_list_and_change(list_, retry)


def add_mail(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    list_ = commands.add_parser("list", help="list messages that failed or may not have arrived, the newest first")
    list_.add_argument("--status", action="append", choices=MESSAGE_STATUSES, help="of this status (failed, uncertain)")
    list_.add_argument("--account", metavar="EMAIL", help="of this account")
    resend = commands.add_parser("resend", help="write a message again that failed or may not have arrived")
    resend.add_argument("id", type=UUID, metavar="ID", help="of the message, as mail list prints it")
    _add_list_and_change(list_, resend)


def _add_list_and_change(list_: Parser, change: Parser) -> None:
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="print at most N (50)")
    _add_json(list_)
    change.add_argument("--reason", help="why, for the trail")
    for command in (list_, change):
        add_home(command)


def add_providers(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    list_ = commands.add_parser("list", help="how each provider fares")
    _add_json(list_)
    add_home(list_)
    for action, text in (("off", "ask a provider nothing any longer, for anybody"), ("on", "ask it again")):
        command = commands.add_parser(action, help=text)
        command.add_argument("provider", metavar="NAME", help="as providers list prints it")
        _add_reason(command)
        add_home(command)


# The page `award-travel --help`: commands by user, examples, and where to read more.

GUIDE = Path(__file__).parent / "docs" / "index.md"  # a part of the package, unlike README
GROUPS = {
    "For operators: the service": (
        *("up", "open", "doctor", "alive", "migrate", "upgrade", "roll", "maintenance", "reset-sandbox"),
        *("backup", "restore", "keys", "providers", "example"),
    ),
    "For operators: accounts": ("user", "client", "invite", "invites", "jobs", "mail", "trail"),
    "For operators: facts": ("audit", "fact", "facts"),
    "For users": ("login", "tools", "call", "sheet", "try", "token", "completion"),
}
EXAMPLES = {
    "award-travel up": "start everything",
    "award-travel open": "see it in the browser",
    "award-travel try": "connect as an assistant",
    "award-travel login --url http://127.0.0.1:8000 --key": "once, with your API key",
    "award-travel tools balance": "find tools by words",
    "award-travel call list_points_balances": "call one of them",
}


class GroupedHelpParser(argparse.ArgumentParser):
    """The parser of the whole command line; those of its commands keep the usual help."""

    def format_help(self) -> str:
        return "\n".join(_list_lines(self, colour=_has_colour()))


def _has_colour() -> bool:
    """Whether to use colour, by the usual variables; checked here because help loads no package."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _list_lines(parser: argparse.ArgumentParser, *, colour: bool) -> Iterator[str]:
    bold, plain = ("\x1b[1m", "\x1b[0m") if colour else ("", "")
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    texts = {choice.dest: choice.help or "" for action in actions for choice in action._choices_actions}
    yield f"{read_service_name()} answers questions about points and miles.\n\nUsage: {parser.usage}"
    for title, names in GROUPS.items():
        yield f"\n{bold}{title}{plain}"
        yield from (f"  {name:<15}{texts[name]}" for name in names)
    yield f"\n{bold}Examples{plain}"
    yield from (f"  {command:<52}  {text}" for command, text in EXAMPLES.items())
    yield f"\n{bold}More{plain}\n  award-travel COMMAND --help   the options of a command"
    yield "  award-travel --version        the version of this program"
    yield f"  {GUIDE.as_uri()}"
    yield ""


# `award-travel example KIND`: the files for production that the package carries, printed or written to a folder.

FOLDER = Path(__file__).parent
# What each word prints: files of this folder, in the order in which they are needed.
KINDS = {
    "env": ("env.example",),
    "caddy": ("Caddyfile",),
    "observability": ("observability/*",),
    "units": ("units/*",),
    "image": ("Containerfile", "requirements.txt"),
    "compose": ("compose.yaml",),
    "kubernetes": ("kubernetes/*",),
}


def add_example(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(KINDS), help="what for")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write the files into this folder instead")


def list_files(kind: str) -> list[Path]:
    return [file for pattern in KINDS[kind] for file in sorted(FOLDER.glob(pattern))]


def format_files(files: list[Path]) -> str:
    """One file unchanged; several with a comment before each, so that YAML among them stays YAML."""
    if len(files) == 1:
        return files[0].read_text(encoding="utf-8")
    return "".join(f"# --- {file.name}\n{file.read_text(encoding='utf-8').rstrip()}\n\n" for file in files)


def write_files(files: list[Path], folder: Path) -> None:
    """Writes files, but never overwrites one: an operator may have changed it."""
    folder.mkdir(parents=True, exist_ok=True)
    if existing := [file.name for file in files if (folder / file.name).exists()]:
        raise CommandError(f"{folder} already holds {', '.join(existing)}: name an empty folder.")
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
        print(folder / file.name)


def run_example(arguments: argparse.Namespace) -> None:
    files = list_files(arguments.kind)
    if arguments.output:
        write_files(files, arguments.output)
    else:
        sys.stdout.write(format_files(files))


FACTS = Path(__file__).parents[1] / "shared" / "reference" / "data"
FACTS_PAGE = Path(__file__).parent / "docs" / "FACTS.md"
FINDINGS = ("contradicted", "differs", "over", "override", "queue", "reported", "stale", "unread")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: 0 to 65535")
    return int(text)


def _add_up(parser: Parser) -> None:
    parser.add_argument("--web-port", type=_port, metavar="N", help="port of the web pages (8000; 0 picks a free one)")
    parser.add_argument("--mcp-port", type=_port, metavar="N", help="port of the tools (8001; 0 picks a free one)")
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="JSON written when all is healthy")
    parser.add_argument("--no-demo", action="store_true", help="make no demo account")


def _add_token(parser: Parser) -> None:
    parser.add_argument("email", nargs="?", help="of the account (the demo account of this home)")
    add_password(parser)

    def check(arguments: argparse.Namespace) -> None:
        if arguments.password_stdin != bool(arguments.email):
            parser.error("EMAIL and --password-stdin go together; without both the demo account signs in")

    parser.set_defaults(check=check)


def _add_try(parser: Parser) -> None:
    parser.add_argument("--email", help="sign in as this account instead of in a browser")
    add_password(parser)
    parser.add_argument("tool", nargs="?", default="list_programs", help="the tool to call (list_programs)")
    parser.add_argument("arguments", nargs="?", default="{}", help="its arguments as JSON")
    parser.add_argument("--json", action="store_true", help="print the answer alone, as JSON")


def _add_login(parser: Parser) -> None:
    parser.add_argument("--url", required=True, help="the address of the service")
    parser.add_argument("--key", nargs="?", help="an API key; without a value it is asked for, or read from stdin")


def _add_call(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("tool", help="the tool's name")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="--argument value", help="see call TOOL --help")


def _add_sheet(parser: Parser) -> None:
    names = ("balances", "cards", "flights", "stays", "statuses", "vouchers", "trips", "watches", "spending")
    parser.add_argument("name", choices=names)
    parser.add_argument("--add", metavar="FILE", help="add the rows of a CSV or Excel file, after a look at them")
    parser.add_argument("--yes", action="store_true", help="save without a question")


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
    text = "show each change a watched source proposes, and take or refuse it by one key"
    parser.add_argument("--decide", action="store_true", help=text)
    parser.add_argument("--by", metavar="WHO", help="who decides, for the trail (your login name)")


class Command(NamedTuple):
    """One command. `run` is "module:function" below `deploy`, imported only when the command is used."""

    help: str
    add_arguments: Callable[[Parser], None]
    run: str
    takes_home: bool = True


def _takes(*names: str, **settings: Any) -> Callable[[Parser], None]:
    """What adds the one argument of a command, next to --home."""

    def add(parser: Parser) -> None:
        parser.add_argument(*names, **settings)

    return add


def _add_nothing(_: Parser) -> None:
    """Adds nothing, for commands without options."""


COMMANDS = {
    "up": Command("start everything on this machine", _add_up, "local.up:run_up"),
    "open": Command(
        "open the page of the running service in a browser",
        _takes("page", nargs="?", default="", help="a page of it, such as dashboard or plans"),
        "open_page:run_open",
    ),
    "user": Command("make, change and list accounts", add_user, "operators.accounts:run_user", takes_home=False),
    "client": Command(
        "suspend and restore applications", add_client, "operators.operator_actions:run_client", takes_home=False
    ),
    "jobs": Command("list and repeat runs of jobs", add_jobs, "operators.unfinished_work:run_jobs", takes_home=False),
    "mail": Command(
        "list and resend messages to people", add_mail, "operators.unfinished_work:run_mail", takes_home=False
    ),
    "providers": Command(
        "list providers, switch one off or on", add_providers, "operators.providers:run_providers", takes_home=False
    ),
    "invite": Command("invite someone to make an account, by mail", add_invite, "operators.invitations:run_invite"),
    "invites": Command("list the invitations that are open", _add_nothing, "operators.invitations:run_invites"),
    "trail": Command(
        "show who did what to which account, why and when", add_trail, "operators.operator_actions:run_trail"
    ),
    "token": Command("print an access token", _add_token, "client.try_client:run_token"),
    "try": Command("connect as an assistant would, sign in and call a tool", _add_try, "client.try_client:run_try"),
    "migrate": Command("bring the database's tables up to date", _add_nothing, "database.commands:run_migrate"),
    "upgrade": Command(
        "say what an upgrade would do and what to do first", add_upgrade, "database.upgrades:run_upgrade"
    ),
    "roll": Command(
        "replace the processes of a server by newly installed ones",
        add_roll,
        "operators.roll:run_roll",
        takes_home=False,
    ),
    "maintenance": Command(
        "answer that the service is under maintenance, and pause jobs",
        add_maintenance,
        "operators.maintenance:run_maintenance",
        takes_home=False,
    ),
    "reset-sandbox": Command(
        "delete what the sandbox invented",
        _takes("--yes", action="store_true", help="do it without asking"),
        "database.commands:run_reset_sandbox",
    ),
    "backup": Command("write everything the service holds to a file", add_backup, "backups.command:run_backup"),
    "restore": Command(
        "put a backup into an empty database; the service must not run",
        add_restore,
        "backups.command:run_restore",
    ),
    "example": Command("print a file for production", add_example, "cli:run_example", takes_home=False),
    "keys": Command("rotate the keys that seal secrets", add_keys, "sealing.keys:run_keys", takes_home=False),
    "doctor": Command(
        "check every part",
        _takes("--json", action="store_true", help="print one JSON object, for programs"),
        "doctor.report:run_doctor",
    ),
    "alive": Command(
        "whether a program on this machine does its work, for probes",
        _takes("program", choices=("dispatcher", "worker", "inbox")),
        "doctor.alive:run_alive",
        takes_home=False,
    ),
    "audit": Command(
        "list facts that are old or in doubt; status 1 if any are", _add_audit, "reference.facts:run_audit"
    ),
    "fact": Command("correct facts without a release", _add_fact, "reference.facts:run_fact", takes_home=False),
    "facts": Command(
        "check and describe the files of facts", _add_facts, "reference.fact_files:run_facts", takes_home=False
    ),
    "login": Command(
        "keep the address of a service and an API key to it", _add_login, "client.commands:run_login", takes_home=False
    ),
    "tools": Command(
        "list the tools of the service logged in to",
        _takes("text", nargs="?", default="", help="words to look for; a tool's name shows its arguments"),
        "client.commands:run_tools",
        takes_home=False,
    ),
    "call": Command("call a tool of the service logged in to", _add_call, "client.commands:run_call", takes_home=False),
    "sheet": Command(
        "print what you keep as CSV, or add rows of a file", _add_sheet, "client.sheets:run_sheet", takes_home=False
    ),
    "completion": Command(
        "print the completion script of a shell",
        _takes("shell", choices=("bash", "zsh", "fish")),
        "client.completion:run_completion",
        takes_home=False,
    ),
}


class _Version(argparse.Action):
    """Loads the version's constant only when needed."""

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
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:  # set by the scripts of `completion`, at every key press
        import_module("deploy.client.completion").complete(parser)
    arguments = parser.parse_args(words or ["--help"])
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
