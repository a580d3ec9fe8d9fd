"""The claim of an agent on the dashboard: what is shown first, what each choice does, and what the owner is told."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select, update

from auth_server.accounts import api_keys
from shared import clock
from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.oauth import ApiKey
from shared.db.security_events import SecurityEvent
from shared.db.trips import Trip
from shared.domain.dates import format_weekday
from shared.secrets import digest, mint
from tests.auth_server.in_process_browser import Browser, hidden
from tests.auth_server.mailbox import Mails, text
from tests.auth_server.test_agents import key_is
from tests.auth_server.test_dashboard import csrf, send


def register(browser: Browser, name: str = "Planner") -> dict[str, Any]:
    body: dict[str, Any] = browser.host.post("/api/v1/agent/register", json={"agent_name": name}).json()
    return body


def ask(browser: Browser, code: str) -> Any:
    return send(browser, "/dashboard/account", "/dashboard/claim", claim_code=code)


def confirm(browser: Browser, page: Any, **choice: str) -> Any:
    fields = {"csrf": hidden(page.text.split("/dashboard/claim/confirm")[1], "csrf")}
    return browser.post("/dashboard/claim/confirm", fields | {"claim_code": hidden(page.text, "claim_code")} | choice)


def list_events() -> list[tuple[str, str | None]]:
    with transaction() as session:
        rows = session.scalars(select(SecurityEvent).where(SecurityEvent.kind.startswith("agent"))).all()
        return [(row.kind, row.subject) for row in rows]


def test_the_code_alone_claims_nothing_and_shows_whose_it_is(ann: Browser, later: Any) -> None:
    agent = register(ann, "Free <b>Upgrade</b>")
    with transaction() as session:
        session.execute(update(ApiKey).values(last_used_at=clock.now()))
    later(timedelta(days=3))
    ann.sign_in()
    page = ask(ann, f" {agent['claim_code']} ")
    assert page.status_code == 200
    words = " ".join(page.text.split())
    assert "Free &lt;b&gt;Upgrade&lt;/b&gt;" in words
    assert words.count(format_weekday((clock.now() - timedelta(days=3)).date())) == 2  # registered, last used
    assert "see and change everything you keep here" in words
    assert 'value="end" checked' in words
    assert key_is(ann.host, agent["api_key"])["sub"] == agent["account_id"]
    assert list_events() == []


def test_what_the_agent_kept_is_counted(ann: Browser, bob: Browser) -> None:
    agent = register(ann)
    ann.sign_in()
    assert "<dd>nothing yet</dd>" in ask(ann, agent["claim_code"]).text
    with transaction() as session:
        owner = session.scalars(select(Account.id).where(Account.public_id == agent["account_id"])).one()
        other = session.scalars(select(Account.id).where(Account.public_id == bob.public_id)).one()
        session.add_all(Trip(account_id=id, name="A trip") for id in (owner, owner, other))
        session.add(PointsBalance(account_id=owner, program="ba", balance=5, as_of=clock.today()))
    assert "<dd>2 trips, 1 points balance</dd>" in ask(ann, agent["claim_code"]).text


@pytest.mark.parametrize("choice", [{}, {"key": "end"}, {"key": "nonsense"}])
def test_the_key_ends_unless_it_is_kept(
    ann: Browser, choice: dict[str, str], published_events: list[dict[str, Any]]
) -> None:
    agent = register(ann)
    with transaction() as session:
        owner = session.scalars(select(Account.id).where(Account.public_id == agent["account_id"])).one()
        session.add(Trip(account_id=owner, name="The agent's"))
    ann.sign_in()
    done = confirm(ann, ask(ann, agent["claim_code"]), **choice)
    assert done.headers["location"] == "/dashboard/account?done=claimed"
    assert key_is(ann.host, agent["api_key"]) == {"active": False}
    assert {"token": digest(agent["api_key"])} in published_events
    assert "its key has ended" in ann.get(done.headers["location"]).text
    with transaction() as session:
        person = session.scalars(select(Account)).one()
        assert (person.public_id, session.scalars(select(Trip)).one().account_id) == (ann.public_id, person.id)
    assert list_events() == [("agent_claimed", "Planner")]


def test_a_key_that_is_kept_acts_for_the_person_and_is_listed(ann: Browser) -> None:
    agent = register(ann)
    ann.sign_in()
    done = confirm(ann, ask(ann, agent["claim_code"]), key="keep")
    assert done.headers["location"] == "/dashboard/account?done=claimed_key"
    assert key_is(ann.host, agent["api_key"])["sub"] == ann.public_id
    assert "Planner" in ann.get("/dashboard/keys").text
    assert list_events() == [("agent_claimed_with_key", "Planner")]


WORDS = {"end": "its key has ended", "keep": "its key opens your whole account"}


@pytest.mark.parametrize("choice", WORDS)
def test_the_owner_gets_a_mail(ann: Browser, mails: Mails, choice: str) -> None:
    agent = register(ann)
    ann.sign_in()
    confirm(ann, ask(ann, agent["claim_code"]), key=choice)
    (mail,) = [mail for mail in mails() if "agent" in str(mail["subject"]).lower()]
    assert WORDS[choice] in " ".join(text(mail).split())


@pytest.mark.parametrize("page", ["/dashboard/claim", "/dashboard/claim/confirm"])
def test_a_wrong_or_used_code_is_refused_on_both_pages(ann: Browser, bob: Browser, page: str) -> None:
    agent = register(ann)
    ann.sign_in()
    bob.sign_in()
    question = ask(bob, register(ann, "Another")["claim_code"])
    confirm(ann, ask(ann, agent["claim_code"]))
    for code in (agent["claim_code"], agent["api_key"], mint("awt_cl_"), "x", ""):
        refused = ask(bob, code) if page == "/dashboard/claim" else confirm(bob, question, claim_code=code)
        assert refused.status_code == 422
        assert "fits no agent" in refused.text


def test_the_first_pages_token_does_not_confirm(ann: Browser) -> None:
    agent = register(ann)
    ann.sign_in()
    token = csrf(ann, "/dashboard/account", "/dashboard/claim")
    refused = ann.post("/dashboard/claim/confirm", {"csrf": token, "claim_code": agent["claim_code"], "key": "keep"})
    assert refused.status_code == 403
    assert key_is(ann.host, agent["api_key"])["sub"] == agent["account_id"]


def test_a_key_is_not_kept_beyond_the_most_an_account_holds(ann: Browser) -> None:
    agent = register(ann)
    ann.sign_in()
    with transaction() as session:
        owner = session.scalars(select(Account.id).where(Account.public_id == ann.public_id)).one()
        for number in range(api_keys.MAX_KEYS):
            api_keys.issue(session, owner, f"k{number}")
    page = ask(ann, agent["claim_code"])
    full = confirm(ann, page, key="keep")
    assert full.status_code == 422
    assert "at most 10 API keys" in full.text
    assert confirm(ann, full, key="end").status_code == 303
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ApiKey).where(ApiKey.revoked_at.is_(None))) == 10


def test_the_link_agents_hand_over_leads_through_sign_in_to_the_agent(ann: Browser) -> None:
    agent = register(ann, "Planner of trips")
    path = urlsplit(agent["claim_url"]).path
    assert path == f"/claim/{agent['claim_code']}"
    asked = ann.get(path)
    assert asked.status_code == 302
    assert asked.headers["location"] == f"/signin?return_to={path}"
    assert ann.sign_in(return_to=path).headers["location"] == path
    page = ann.get(path)
    assert page.status_code == 200
    assert "Planner of trips" in page.text
    assert page.headers["referrer-policy"] == "same-origin"  # the address holds the code
    assert list_events() == []
    done = confirm(ann, page, key="end")
    assert done.headers["location"] == "/dashboard/account?done=claimed"
    assert ann.get(path).status_code == 422  # it works once


@pytest.mark.parametrize("code", ["nothing", "awt_cl_" + "0" * 40, "%20", "a" * 300])
def test_a_link_with_a_code_that_fits_no_agent_says_so(ann: Browser, code: str) -> None:
    ann.sign_in()
    page = ann.get(f"/claim/{code}")
    assert page.status_code == 422
    assert "fits no agent" in page.text
