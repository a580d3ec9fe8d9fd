"""Rules for new passwords: what is refused, in which words, at every place where a password is chosen."""

import pytest

from auth_server.accounts.accounts import check_password_rules, create_account, validate_password
from shared.db.base import transaction
from shared.errors import Invalid
from tests.auth_server.in_process_browser import PASSWORD, Browser
from tests.auth_server.mailbox import Mails, link
from tests.auth_server.test_account import change
from tests.auth_server.test_password_reset import recover, reset
from tests.auth_server.test_signup import sign_up

ADDRESS = "ann.lee+trips@mail.example"
COMMON = ["password123", "Password123", "iloveyou123", "liverpool123", "football123", "1q2w3e4r5t"]


def find_reason(password: str, address: str = ADDRESS) -> str:
    with pytest.raises(Invalid) as error:
        check_password_rules(password, address)
    return str(error.value.facts["errors"][0]["problem"])


@pytest.mark.parametrize("password", COMMON)
def test_common_passwords_are_refused_in_any_case_of_letters(password: str) -> None:
    assert find_reason(password) == "is among the most common"


@pytest.mark.parametrize(
    "password", ["aaaaaaaaaa", "\u00e9" * 12, "abcabcabcabc", "12121212121", "wordwordwordwo", " " * 10]
)
def test_one_piece_again_and_again_is_no_password(password: str) -> None:
    assert find_reason(password) == "repeats one short piece"


@pytest.mark.parametrize(
    "password",
    [
        "1234567890",
        "0987654321",
        "78901234567",
        "abcdefghijk",
        "ZYXWVUTSRQP",
        "qwertyuiop",
        "poiuytrewq",
        "asdfghjklz",
        "\u0430\u0431\u0432\u0433\u0434\u0435\u0436\u0437\u0438\u0439",
    ],
)
def test_a_plain_sequence_is_no_password(password: str) -> None:
    assert find_reason(password) == "is a plain sequence"


@pytest.mark.parametrize(
    "password",
    ["ann.lee+trips@mail.example", "Ann.Lee and summer", "my annlee 2026", "x-ann-lee-trips-x", "ANN.LEE1985!"],
)
def test_the_address_and_its_name_are_no_password(password: str) -> None:
    assert find_reason(password) == "contains your email address"


@pytest.mark.parametrize("password", ["Award Travel 2026", "my-award-travel", "AWARDTRAVEL!!"])
def test_the_name_of_the_service_is_no_password(password: str) -> None:
    assert find_reason(password) == "contains the name of this service"


@pytest.mark.parametrize(
    "password",
    [
        PASSWORD,
        "four quiet river lamps",
        "travel with an award",
        "ann went to the sea",
        "\u0442\u0438\u0445\u0430\u044f \u0440\u0435\u043a\u0430 \u043b\u0430\u043c\u043f\u0430",
        "x9$Lq!w2Rz",
        "a" * 9 + "bcd efg",
    ],
)
def test_good_passwords_are_taken_and_short_names_do_not_count(password: str) -> None:
    check_password_rules(password, "ann@mail.example")


def test_a_common_password_is_said_at_the_field_of_every_form(ann: Browser, stranger: Browser, mails: Mails) -> None:
    words = "This password is among the most common: a few words of your own, because common passwords are tried first."
    signed_up = sign_up(stranger, "new@example.test", "password123")
    assert (signed_up.status_code, words in signed_up.text) == (422, True)
    assert 'value="new@example.test"' in signed_up.text
    recover(stranger, ann.email)
    answer = reset(stranger, link(mails()[0]), "password123")
    assert (answer.status_code, words in answer.text) == (422, True)
    ann.sign_in()
    answer = change(ann, password="password123")
    assert (answer.status_code, words in answer.text) == (422, True)
    assert ann.sign_in().status_code == 303


def test_both_faults_of_a_sign_up_are_said_at_once(stranger: Browser) -> None:
    answer = sign_up(stranger, "no address", "aaaaaaaaaa")
    assert "This is not an email address" in answer.text
    assert "This password repeats one short piece" in answer.text
    assert 'value="no address"' in answer.text


def test_the_command_line_has_the_same_rules(clean: None) -> None:
    with transaction() as session, pytest.raises(Invalid, match="among the most common"):
        create_account(session, "ann@example.test", "password123")
    with transaction() as session, pytest.raises(Invalid, match="contains your email address"):
        create_account(session, "annlee@example.test", "annlee in summer")


@pytest.mark.parametrize("password", ["ab" * 128, "aB3$" * 64, "\U0001f600" * 256, "0" * 256])
def test_long_passwords_are_judged_too(password: str) -> None:
    with pytest.raises(Invalid):
        validate_password(password, ADDRESS)
