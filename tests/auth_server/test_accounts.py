"""Accounts: which addresses and passwords are taken, how hashes age, and what an account begins with."""

from email.utils import getaddresses

import pytest
from argon2 import PasswordHasher

from auth_server.accounts.accounts import check_password, create_account, find_account, normalize_email
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.errors import Invalid

GOOD = "correct horse battery"


def create(**changed: object) -> Account:
    fields = {"email": "ann@example.test", "password": GOOD, **changed}
    with transaction() as session:
        return create_account(session, **fields)  # type: ignore[arg-type]


@pytest.mark.spec("s1.4.four_plans_and_admin")
def test_an_account_has_a_random_subject_its_plan_and_its_flags(clean: None) -> None:
    ann = create(plan="pro", admin=True)
    bob = create(email="bob@example.test", confirmed=False)
    assert (ann.plan, ann.is_admin, ann.email_confirmed_at is None) == ("pro", True, False)
    assert (bob.plan, bob.is_admin, bob.email_confirmed_at) == ("free", False, None)
    assert ann.public_id != bob.public_id
    assert len(ann.public_id) == 36


def test_addresses_are_compared_in_one_form(clean: None) -> None:
    create(email="  Ann.Lee@Example.Test ")
    with transaction() as session:
        account = find_account(session, "ann.lee@EXAMPLE.test")
        assert account is not None
        assert account.email == "ann.lee@example.test"
        assert find_account(session, "someone@else.test") is None
        assert find_account(session, "no address") is None
    with pytest.raises(Invalid, match="already has an account"):
        create(email="ANN.LEE@example.test")


@pytest.mark.parametrize(
    "email",
    [
        "ann@corp.test,1",
        "root,ann@corp.test",
        "ann@corp.test(1)",
        "(1)ann@corp.test",
        "<ann@corp.test>",
        "ann;bob@corp.test",
        "all:ann@corp.test;",
        '"ann"@corp.test',
        "ann@[127.0.0.1]",
        "ann@corp..test",
        "ann@-corp.test",
        "ann@corp.test.",
        "a\u200bnn@corp.test",
        "ann@corp\u3002test",
    ],
)
def test_no_second_spelling_of_an_address_gets_round_the_count_of_mails_to_it(clean: None, email: str) -> None:
    with pytest.raises(Invalid, match="email"):
        create(email=email)


@pytest.mark.parametrize("email", ["o'brien+trips@mail.corp-1.test", "x@localhost", "1/2=3@xn--bcher-kva.test"])
def test_addresses_browsers_take_are_taken(clean: None, email: str) -> None:
    assert create(email=email).email == email
    assert [a for _, a in getaddresses([email])] == [email]


@pytest.mark.parametrize(
    "email", ["", "ann", "@example.test", "ann@", "a b@example.test", "a@b@c", "x" * 65 + "@y.test"]
)
def test_no_address_no_account(clean: None, email: str) -> None:
    with pytest.raises(Invalid, match="email"):
        create(email=email)
    with pytest.raises(Invalid):
        normalize_email("a@" + "b" * 260)


@pytest.mark.parametrize(
    ("password", "problem"), [("secret", "too short"), ("123456789", "too short"), ("x" * 300, "too long")]
)
def test_weak_passwords_are_refused_with_the_mend(clean: None, password: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem) as error:
        create(password=password)
    assert password not in error.value.message


def test_unknown_plans_are_refused(clean: None) -> None:
    with pytest.raises(Invalid, match="free, premium, pro, enterprise"):
        create(plan="gold")


def test_passwords_match_however_the_keyboard_spells_them(clean: None) -> None:
    ann = create(password="caf\u00e9 au lait \ufb01ne")
    assert check_password(ann, "cafe\u0301 au lait fine")
    assert not check_password(ann, "cafe au lait fine")
    assert not check_password(ann, "")
    assert not check_password(ann, "x" * 100_000)
    assert not check_password(None, GOOD)


def test_accounts_without_a_password_or_with_a_broken_hash_stay_closed() -> None:
    assert not check_password(Account(password_hash=None), "")
    assert not check_password(Account(password_hash="not a hash"), GOOD)


@pytest.mark.usefixtures("real_hashing")
def test_an_older_hash_is_renewed_at_sign_in() -> None:
    older = Account(password_hash=PasswordHasher(time_cost=1, memory_cost=8 * 1024, parallelism=1).hash(GOOD))
    assert check_password(older, GOOD)
    assert (older.password_hash or "").startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password(older, GOOD)
