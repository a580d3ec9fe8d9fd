"""Options of the commands for those who run the service: accounts, backups, keys."""

import argparse
from pathlib import Path
from uuid import UUID

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
