"""`award-travel doctor`: one line for each part of the service, with what to do where something is wrong."""

import argparse
import json

from deploy.doctor import files, outside_services, programs, stores
from deploy.doctor.results import Check, SwitchedOff
from deploy.errors import user_message
from deploy.local.home import Home
from deploy.local.service import database, is_set_by_environment
from deploy.terminal import open_console, print_row, print_styled
from shared.domain.plurals import pluralize

STYLES = {"ok": "green", "off": "dim", "FAULT": "bold red"}


def _run_check(check: Check) -> tuple[str, str]:
    """Its word, one of STYLES, and its text."""
    try:
        text = check()
        return "off" if isinstance(text, SwitchedOff) else "ok", text
    except Exception as fault:  # each line stands alone: what one part breaks with does not hide the others
        return "FAULT", user_message(fault) or f"{type(fault).__name__}: {fault}"


def report_check(name: str, check: Check) -> str:
    """Prints the line and returns its word."""
    word, text = _run_check(check)
    print_row(open_console(), (f"{name:<17}", ""), (f"{word:<7}", STYLES[word]), text)
    return word


def report_json(checks: dict[str, Check]) -> dict[str, str]:
    """Prints one object for programs and returns the words."""
    results = {name: _run_check(check) for name, check in checks.items()}
    words = {name: word for name, (word, _) in results.items()}
    rows = [{"name": name, "state": word.lower(), "text": text} for name, (word, text) in results.items()]
    print(json.dumps({"ok": "FAULT" not in words.values(), "summary": summarize(words)[0], "checks": rows}))
    return words


def summarize(words: dict[str, str]) -> tuple[str, str]:
    """The last line and its style."""
    faults = [name for name, word in words.items() if word == "FAULT"]
    if faults:
        return f"{pluralize(len(faults), 'fault')} in {len(words)} parts: {', '.join(faults)}.", STYLES["FAULT"]
    off = list(words.values()).count("off")
    return f"All is well: {len(words)} parts checked{f', {off} of them off' if off else ''}.", STYLES["ok"]


def list_checks(*, served: bool) -> dict[str, Check]:
    return {
        "database": stores.check_database,
        "partitions": lambda: stores.check_partitions(served=served),
        "queue": stores.check_queue,
        "auth server": programs.check_auth_server,
        "internal address": programs.check_internal_address,
        "tools server": programs.check_tools_server,
        "workers": lambda: programs.check_workers(served=served),
        "waiting work": lambda: programs.check_waiting_work(served=served),
        "mail listener": programs.check_mail_listener,
        "outgoing mail": outside_services.check_outgoing_mail,
        "reference data": files.check_reference,
        "watched files": files.check_source_watch,
        "clock": stores.check_clock,
        "data mode": stores.check_data_mode,
        "connections": outside_services.check_connections,
        "sources": outside_services.check_sources,
        "language model": outside_services.check_language_model,
        "sign-in": outside_services.check_sign_in,
        "folders": stores.check_folders,
        "backup": stores.check_backup,
        "maintenance": stores.check_maintenance,
        "wheels": files.check_wheels,
    }


def check_settings() -> str:
    from shared.settings import settings

    settings()
    return "complete"


def run_doctor(arguments: argparse.Namespace) -> int:
    """Checks every part; 1 when one has a fault. Settings that are no whole are the one fault there is to see."""
    home = Home(arguments.home)
    served = is_set_by_environment() or home.running() is not None
    with database(home):
        has_settings = _run_check(check_settings)[0] == "ok"
        checks = list_checks(served=served) if has_settings else {"settings": check_settings}
        words = report_json(checks) if arguments.json else {n: report_check(n, check) for n, check in checks.items()}
    if not arguments.json:
        print_styled(open_console(), "\n", summarize(words))
    return 1 if "FAULT" in words.values() else 0
