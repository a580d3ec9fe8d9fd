"""The command line's words: accounts, tables and invented rows are seen to, faults are one line with the mend."""

import io
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from auth_server.accounts.accounts import check_password, create_account, find_account
from deploy.cli import main
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Notification
from shared.db.route_monitors import RouteMonitor
from shared.db.schema_version import revisions
from shared.db.security_events import SecurityEvent
from shared.db.sign_in_methods import AuthenticatorApp, RecoveryCode, has_second_factor
from shared.services.operations.data_mode import claim_data_mode
from tests.support.settings_and_clock import Configure

Say = Callable[..., tuple[int, str, str]]
PASSWORD = "correct horse battery staple"


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, clean: None) -> Say:
    """say("user", "list") -> (exit status, what was printed, what was said about a fault)."""

    def run(*words: str, given: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        status = main(words)
        return status, *capsys.readouterr()

    return run


def _add(say: Say, email: str = "ann@example.test", *options: str) -> tuple[int, str, str]:
    return say("user", "add", email, "--password-stdin", *options, given=PASSWORD + "\n")


def test_an_account_is_made_with_the_password_of_stdin(say: Say) -> None:
    status, said, _ = _add(say, "Ann@Example.test", "--plan", "pro", "--admin")
    with transaction() as session:
        account = find_account(session, "ann@example.test")
        assert account is not None
        assert check_password(account, PASSWORD)
        assert (account.plan, account.is_admin) == ("pro", True)
    assert status == 0
    assert said == "ann@example.test added on the pro plan, as an administrator.\n"


def test_without_a_given_password_one_is_made_and_printed_once(say: Say) -> None:
    _, said, _ = say("user", "add", "ann@example.test")
    password = said.splitlines()[1].removeprefix("Password: ")
    with transaction() as session:
        assert check_password(find_account(session, "ann@example.test"), password)


@pytest.mark.parametrize(
    ("words", "given", "complaint"),
    [
        (("user", "add", "ann@example.test"), "", "already has an account"),
        (("user", "add", "nobody"), "", "not an email address"),
        (("user", "add", "b@example.test", "--password-stdin"), "short\n", "too short"),
        (("user", "add", "b@example.test", "--password-stdin"), "", "No password came"),
        (("user", "plan", "b@example.test", "pro"), "", "award-travel user list"),
        (("user", "plan", "ann@example.test", "pro", "--api-calls", "-1"), "", "0 or more"),
        (("user", "limit", "b@example.test", "10"), "", "award-travel user list"),
        (("user", "limit", "ann@example.test", "many"), "", "or the word plan"),
        (("user", "limit", "ann@example.test", "-5"), "", "or the word plan"),
        (("user", "trial", "ann@example.test", "4000"), "", "0 to 3650 days"),
        (("user", "admin", "b@example.test", "on"), "", "award-travel user list"),
        (("try", "--email", "ann@example.test"), "", "go together"),
        (("try", "list_trips", "[]"), "", "one JSON object"),
        (("reset-sandbox",), "no\n", "Nothing was deleted"),
    ],
)
def test_a_fault_is_one_line_and_exit_status_one(say: Say, words: tuple[str, ...], given: str, complaint: str) -> None:
    _add(say)
    status, _, fault = say(*words, given=given)
    assert status == 1
    assert fault.startswith("award-travel: ")
    assert complaint in fault
    assert fault.count("\n") == 1


def test_a_plan_is_changed_and_the_account_told(say: Say) -> None:
    _add(say)
    status, said, _ = say("user", "plan", "ann@example.test", "enterprise", "--api-calls", "750")
    with transaction() as session:
        account = find_account(session, "ann@example.test")
        assert account is not None
        assert (account.plan, account.api_calls_per_month) == ("enterprise", 750)
        assert session.query(Notification).count() == 1
    assert (status, said) == (0, "ann@example.test: free -> enterprise, 750 API calls a month.\n")


def _ann() -> Account:
    with transaction() as session:
        account = find_account(session, "ann@example.test")
        assert account is not None
        return account


def test_a_number_of_calls_is_agreed_on_and_taken_back_without_touching_the_plan(say: Say) -> None:
    _add(say, "ann@example.test", "--plan", "enterprise")
    said = say("user", "limit", "ann@example.test", "750")[1]
    assert (said, _ann().plan) == ("ann@example.test: 750 API calls a month.\n", "enterprise")
    assert _ann().api_calls_per_month == 750
    said = say("user", "limit", "ann@example.test", "plan")[1]
    assert (said, _ann().api_calls_per_month) == (
        "ann@example.test: 500 API calls a month as the plan says.\n",
        None,
    )


def test_an_inbox_trial_begins_now_and_can_be_ended(say: Say) -> None:
    _add(say)
    said = say("user", "trial", "ann@example.test", "14")[1]
    ends = _ann().inbox_trial_ends_on
    assert ends is not None
    assert abs(ends - clock.now() - timedelta(days=14)) < timedelta(minutes=1)
    assert said == f"ann@example.test: inbox trial until {ends:%Y-%m-%d %H:%M} UTC.\n"
    assert say("user", "trial", "ann@example.test", "0")[1] == "ann@example.test: inbox trial ended.\n"
    ended = _ann().inbox_trial_ends_on
    assert ended is not None
    assert ended <= clock.now()  # and not None: it began once, and does not begin by itself again


def test_the_admin_flag_is_given_and_taken(say: Say) -> None:
    _add(say)
    assert say("user", "admin", "ann@example.test", "on")[1] == "ann@example.test is an administrator.\n"
    assert _ann().is_admin
    assert say("user", "admin", "ann@example.test", "off")[1] == "ann@example.test is no administrator.\n"
    assert not _ann().is_admin


def test_whoever_has_lost_every_second_factor_is_let_in_by_the_operator(say: Say) -> None:
    _add(say)
    account_id = _ann().id
    with transaction() as session:
        session.add(AuthenticatorApp(account_id=account_id, secret_sealed="x", last_time_step=0))
        session.add(RecoveryCode(account_id=account_id, code_hash="x"))
    assert "the password alone signs in again" in say("user", "second-factor", "ann@example.test", "off")[1]
    with transaction() as session:
        assert not has_second_factor(session, account_id)
        assert session.scalars(select(RecoveryCode)).all() == []
        assert session.scalars(select(SecurityEvent.kind)).all() == ["factor_removed"]


@pytest.mark.parametrize(
    "words",
    [("plan", "a", "pro"), ("limit", "a", "9"), ("limit", "a", "plan"), ("trial", "a", "3"), ("admin", "a", "on")],
)
def test_every_change_of_an_account_is_told_to_the_servers(
    say: Say, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, str]] = []
    monkeypatch.setattr("shared.outbox.plan_change.publish", lambda **event: told.append(event))
    _add(say)
    say("user", words[0], "ann@example.test", *words[2:])
    assert told == [{"account": _ann().public_id}]


def test_accounts_are_listed_with_plan_and_flag(say: Say) -> None:
    assert "No account yet" in say("user", "list")[1]
    _add(say)
    _add(say, "ada@example.test", "--admin")
    lines = say("user", "list")[1].splitlines()
    assert [line.split()[0] for line in lines] == ["ann@example.test", "ada@example.test"]
    assert "admin" in lines[1].split()


def test_invented_rows_are_counted_asked_about_and_deleted(say: Say) -> None:
    _add(say)
    say("user", "plan", "ann@example.test", "premium")  # its notice was written in sandbox mode
    asked, kept = say("reset-sandbox", given="no\n")[1], Notification
    with transaction() as session:
        assert session.query(kept).count() == 1
    done = say("reset-sandbox", "--yes")[1]
    with transaction() as session:
        assert (session.query(kept).count(), session.query(RouteMonitor).count()) == (0, 0)
        assert find_account(session, "ann@example.test") is not None
    assert "1 notifications" in asked
    assert done.startswith("Invented rows: 1 notifications\nDeleted; the next start may choose either data mode.")


def test_resetting_a_live_database_says_that_it_stays_live(say: Say, configure: Configure) -> None:
    configure(AWARD_BACKEND="live")
    with transaction() as session:
        claim_data_mode(session)
    _add(say)
    assert say("reset-sandbox", "--yes")[1] == (
        "Invented rows: none\nDeleted; the database stays in live mode, which its first start chose.\n"
    )


def test_migrate_needs_the_database_address_only(say: Say) -> None:
    assert say("migrate")[:2] == (0, f"The tables are at version {revisions()[-1]}.\n")


def test_help_answers_without_loading_the_product() -> None:
    code = "import sys; from deploy.cli import main\n"
    code += "try: main(['up', '--help'])\nexcept SystemExit: print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "'deploy.cli'" in loaded
    assert [name for name in ("sqlalchemy", "mcp", "pydantic", "redis") if f"'{name}'" in loaded] == []


@pytest.mark.parametrize("words", [["up", "--web-port", "70000"], ["user"], ["nonsense"], ["token", "a@example.test"]])
def test_wrong_words_are_explained(words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, *(["--home", str(tmp_path)] if words[0] == "token" else [])])
    assert ended.value.code == 2
    assert "usage: award-travel" in capsys.readouterr().err


def test_an_account_whose_address_nobody_confirmed_is_marked(say: Say) -> None:
    _add(say)
    with transaction() as session:
        create_account(session, "bob@example.test", PASSWORD).email_confirmed_at = None
    lines = say("user", "list")[1].splitlines()
    assert [line.endswith("not confirmed") for line in lines] == [False, True]
