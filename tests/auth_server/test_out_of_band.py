"""urn:ietf:wg:oauth:2.0:oob: for applications a person made by hand the code is shown on a page, and nowhere else."""

import re
from datetime import timedelta
from typing import Any

import pytest

from shared.db.base import transaction
from shared.db.oauth import Client
from shared.secrets import digest, mint
from tests.auth_server.in_process_browser import VERIFIER, Browser

OOB = "urn:ietf:wg:oauth:2.0:oob"


@pytest.fixture
def trial() -> tuple[str, str]:
    """A manually made application with this address alone: its id and its secret."""
    secret = mint("awt_cs_")
    row = {"client_id": "by-hand", "kind": "manual", "name": "Trial", "auth_method": "client_secret"}
    with transaction() as session:
        session.add(Client(**row, secret_hash=digest(secret), redirect_uris=[OOB]))
    return "by-hand", secret


def read_code(answer: Any) -> str:
    match = re.search(r">(awt_ac_[0-9A-Za-z]+)<", answer.text)
    assert match is not None, answer.text
    return match[1]


@pytest.mark.spec("s5.4.oob_redirect")
def test_the_code_is_shown_and_can_be_redeemed_once(ann: Browser, trial: tuple[str, str]) -> None:
    ann.sign_in()
    page = ann.authorize(trial[0], redirect_uri=OOB)
    assert "A code will be shown here" in page.text
    answer = ann.answer(page)
    assert answer.status_code == 200
    assert "location" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert "<script" not in answer.text
    code = read_code(answer)
    fields = {"redirect_uri": OOB, "client_secret": trial[1]}
    assert ann.redeem(trial[0], code, **fields).status_code == 200
    assert ann.redeem(trial[0], code, **fields).json()["error"] == "invalid_grant"


def test_a_person_has_five_minutes_to_copy_it(ann: Browser, trial: tuple[str, str], later: Any) -> None:
    ann.sign_in()
    first, second = (
        read_code(ann.answer(ann.authorize(trial[0], redirect_uri=OOB, prompt="consent"))) for _ in range(2)
    )
    fields = {"redirect_uri": OOB, "client_secret": trial[1]}
    later(timedelta(minutes=4, seconds=50))
    assert ann.redeem(trial[0], first, **fields).status_code == 200
    later(timedelta(seconds=20))
    assert ann.redeem(trial[0], second, **fields).json()["error"] == "invalid_grant"


def test_the_shown_code_is_worth_nothing_without_secret_verifier_and_address(
    ann: Browser, trial: tuple[str, str]
) -> None:
    ann.sign_in()
    good = {"redirect_uri": OOB, "client_secret": trial[1], "code_verifier": VERIFIER}
    for changed in ({"client_secret": None}, {"code_verifier": "w" * 64}, {"redirect_uri": "http://127.0.0.1/cb"}):
        code = read_code(ann.answer(ann.authorize(trial[0], redirect_uri=OOB, prompt="consent")))
        assert ann.redeem(trial[0], code, **good | changed).status_code in (400, 401)


def test_refusals_are_shown_too(ann: Browser, trial: tuple[str, str]) -> None:
    ann.sign_in()
    denied = ann.answer(ann.authorize(trial[0], redirect_uri=OOB), "deny")
    wrong = ann.authorize(trial[0], redirect_uri=OOB, code_challenge=None)
    for answer, error in ((denied, "access_denied"), (wrong, "invalid_request")):
        assert (answer.status_code, "location" in answer.headers) == (400, False)
        assert error in answer.text
        assert "awt_ac_" not in answer.text


@pytest.mark.parametrize("uri", [OOB, "urn:ietf:wg:oauth:2.0:oob:auto", OOB.upper(), f"{OOB}?x=1", "urn:x"])
def test_a_program_that_registers_itself_cannot_have_it(ann: Browser, uri: str) -> None:
    answer = ann.host.post("/oauth/register", json={"client_name": "x", "redirect_uris": [uri]})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
    page = ann.authorize(ann.register(), redirect_uri=uri)
    assert (page.status_code, "location" in page.headers) == (400, False)


def test_the_remembered_consent_is_for_this_way_alone(ann: Browser, trial: tuple[str, str]) -> None:
    from sqlalchemy import update

    ann.sign_in()
    ann.answer(ann.authorize(trial[0], redirect_uri=OOB))
    with transaction() as session:
        session.execute(update(Client).values(redirect_uris=[OOB, "http://127.0.0.1/cb"]))
    assert ann.authorize(trial[0], redirect_uri="http://127.0.0.1:9/cb").status_code == 200
