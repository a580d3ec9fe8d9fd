"""The consent page: what it says, what binds it, what is remembered, and what a browser is told to enforce."""

from datetime import timedelta
from html import escape
from typing import Any

import pytest
from sqlalchemy import select

from shared.db.base import transaction
from shared.db.oauth import AuthorizationCode, Consent
from tests.auth_server.in_process_browser import BASE, CALLBACK, Browser, back, hidden, query


def codes() -> int:
    with transaction() as session:
        return len(session.scalars(select(AuthorizationCode)).all())


@pytest.fixture
def consent_page(ann: Browser) -> Any:
    """The question, as shown to the signed-in person."""
    ann.sign_in()
    return ann.authorize(ann.register())


def test_the_page_names_application_destination_and_person(ann: Browser) -> None:
    ann.sign_in()
    page = ann.authorize(
        ann.register("https://claude.ai/cb", client_name="Claude"), redirect_uri="https://claude.ai/cb"
    )
    assert page.status_code == 200
    for part in ("Claude", "<strong>claude.ai</strong>", ann.email, 'value="allow"', 'value="deny"'):
        assert part in page.text
    assert "any program there" not in page.text


@pytest.mark.parametrize("csrf", ["", "x", "\u00e9\u4e16", "0" * 64])
def test_an_answer_without_its_token_is_refused(ann: Browser, consent_page: Any, csrf: str) -> None:
    assert ann.answer(consent_page, csrf=csrf).status_code == 403
    assert codes() == 0


def test_another_persons_token_is_refused(ann: Browser, bob: Browser, consent_page: Any) -> None:
    bob.sign_in()
    theirs = bob.get("/oauth/authorize?" + hidden(consent_page.text, "query"))
    assert ann.answer(consent_page, csrf=hidden(theirs.text, "csrf")).status_code == 403
    assert codes() == 0


def test_parameters_changed_after_display_are_refused(ann: Browser, consent_page: Any) -> None:
    changed = hidden(consent_page.text, "query").replace("18250", "18251")
    assert ann.answer(consent_page, query=changed).status_code == 403
    assert ann.answer(consent_page, query="").status_code == 403
    assert codes() == 0


def test_a_signed_out_browser_cannot_answer(ann: Browser, consent_page: Any) -> None:
    ann.cookie = None
    assert ann.answer(consent_page).status_code == 403


def test_the_answer_cannot_be_given_by_get(ann: Browser) -> None:
    assert ann.get("/oauth/consent?action=allow").status_code == 405


@pytest.mark.parametrize("action", ["", "maybe", "ALLOW"])
def test_something_must_be_chosen(ann: Browser, consent_page: Any, action: str) -> None:
    assert ann.answer(consent_page, action).status_code == 400
    assert codes() == 0


def test_an_answer_from_another_site_is_refused(ann: Browser, consent_page: Any) -> None:
    fields = {"csrf": hidden(consent_page.text, "csrf"), "query": hidden(consent_page.text, "query"), "action": "allow"}
    answer = ann.post("/oauth/consent", fields, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert codes() == 0


def test_denying_sends_access_denied_and_remembers_nothing(ann: Browser, consent_page: Any) -> None:
    answer = ann.answer(consent_page, "deny")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(CALLBACK + "?")
    params = back(answer)
    assert (params["error"], params["state"], params["iss"]) == ("access_denied", "st&te= 1", BASE)
    with transaction() as session:
        assert session.scalars(select(Consent)).all() == []
    assert codes() == 0


@pytest.mark.spec("s5.5.consent_remembered")
def test_consent_is_remembered_for_the_same_client(ann: Browser) -> None:
    client_id = ann.register()
    ann.code(client_id)
    again = ann.authorize(client_id)
    assert again.status_code == 302
    assert "code" in back(again)
    assert again.headers["cache-control"] == "no-store"
    assert again.headers["referrer-policy"] == "no-referrer"


def test_consent_counts_for_one_person_and_one_client(ann: Browser, bob: Browser) -> None:
    first, second = ann.register(), ann.register(client_name="Another")
    ann.code(first)
    assert ann.authorize(second).status_code == 200
    bob.sign_in()
    assert bob.authorize(first).status_code == 200


def test_the_question_comes_again_on_prompt_and_when_the_host_changes(ann: Browser) -> None:
    client_id = ann.register(CALLBACK, "https://claude.ai/cb")
    ann.code(client_id)
    assert ann.authorize(client_id, prompt="consent").status_code == 200
    elsewhere = ann.authorize(client_id, redirect_uri="https://claude.ai/cb")
    assert elsewhere.status_code == 200
    ann.answer(elsewhere)
    assert ann.authorize(client_id, redirect_uri="https://claude.ai/cb").status_code == 302


@pytest.mark.parametrize("changed", [{"prompt": "login"}, {"max_age": "0"}, {"prompt": "login", "max_age": "0"}])
def test_a_fresh_sign_in_is_asked_for_once_even_right_after_another(
    ann: Browser, changed: dict[str, str], later: Any
) -> None:
    client_id = ann.register()
    ann.code(client_id)
    later(timedelta(milliseconds=1))
    away = ann.authorize(client_id, **changed)
    assert away.headers["location"].startswith("/signin?")
    page = ann.get(away.headers["location"]).text
    assert "continue as you are" not in page  # it would lead back here
    assert f'value="{ann.email}"' in page
    return_to = hidden(page, "return_to")
    assert ann.get(return_to).headers["location"].startswith("/signin?")
    later(timedelta(milliseconds=1))
    onward = ann.sign_in(return_to=return_to).headers["location"]
    assert "continue as you are" in ann.get(away.headers["location"]).text
    assert "code" in back(ann.get(onward))
    later(timedelta(milliseconds=1))
    assert ann.authorize(client_id, **changed).headers["location"].startswith("/signin?")


def test_max_age_is_counted_from_the_last_sign_in(ann: Browser, later: Any) -> None:
    client_id = ann.register()
    ann.code(client_id)
    later(timedelta(minutes=5))
    assert ann.authorize(client_id, max_age="60").headers["location"].startswith("/signin?")
    assert back(ann.authorize(client_id, max_age="60", prompt="none"))["error"] == "login_required"
    assert "code" in back(ann.authorize(client_id, max_age="3600"))
    assert "code" in back(ann.authorize(client_id, max_age="9" * 4000))


@pytest.mark.parametrize("mark", ["1999999999.000000-" + "0" * 64, "0000000000.000000-" + "a" * 64, "x"])
def test_a_forged_moment_of_first_sight_is_worth_nothing(ann: Browser, mark: str) -> None:
    client_id = ann.register()
    ann.code(client_id)
    forged = ann.authorize(client_id, prompt="login", first_seen=mark)
    assert forged.headers["location"].startswith("/signin?")


def test_a_moment_of_first_sight_is_believed_for_a_quarter_of_an_hour(ann: Browser, later: Any) -> None:
    client_id = ann.register()
    ann.code(client_id)
    away = ann.authorize(client_id, prompt="login").headers["location"]
    return_to = hidden(ann.get(away).text, "return_to")
    later(timedelta(minutes=16))
    ann.sign_in()
    assert ann.get(return_to).headers["location"].startswith("/signin?")
    assert ann.get(return_to.replace("state=", "state=x")).headers["location"].startswith("/signin?")


def test_select_account_names_the_account_and_offers_another(ann: Browser) -> None:
    client_id = ann.register()
    ann.code(client_id)
    page = ann.authorize(client_id, prompt="select_account")
    assert page.status_code == 200
    assert ann.email in page.text
    assert "use another account" in page.text


def test_a_revoked_authorization_is_asked_for_again(ann: Browser) -> None:
    tokens = ann.tokens()
    assert ann.authorize(tokens["client_id"]).status_code == 302
    ann.host.post("/oauth/revoke", data={"client_id": tokens["client_id"], "token": tokens["refresh_token"]})
    assert ann.authorize(tokens["client_id"]).status_code == 200
    assert back(ann.authorize(tokens["client_id"], prompt="none"))["error"] == "consent_required"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\"'><img src=x>", "{{ 7*7 }}", "a & b"])
def test_names_and_parameters_are_escaped(ann: Browser, name: str) -> None:
    ann.sign_in()
    page = ann.authorize(ann.register(client_name=name), state="\"><script>alert(2)</script>'").text
    assert "<script" not in page
    assert "<img" not in page
    assert escape(name) in page.replace("&#39;", "&#x27;").replace("&#34;", "&quot;")


PAGES = ["/", "/signin", "/dashboard", "/nowhere", "/oauth/authorize"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_cannot_be_framed_and_run_no_script(ann: Browser, path: str) -> None:
    ann.sign_in()
    answer = ann.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert ("form-action" not in policy) == (path == "/signin")
    assert "<script" not in answer.text


def test_the_consent_page_leaves_the_way_to_the_application_open(consent_page: Any) -> None:
    assert "form-action" not in consent_page.headers["content-security-policy"]
    assert consent_page.headers["referrer-policy"] == "same-origin"
    assert consent_page.headers["cache-control"] == "no-store"


def test_pages_have_labels_headings_and_a_language(ann: Browser, consent_page: Any) -> None:
    for page in (ann.get("/").text, ann.get("/signin").text, ann.get("/dashboard").text, consent_page.text):
        assert page.count("<h1") == 1
        assert '<html lang="en">' in page
        assert 'name="viewport"' in page
        for field in ("email", "password"):
            assert f'id="{field}"' not in page or f'for="{field}"' in page


def test_a_client_removed_between_question_and_answer_gets_no_code(ann: Browser) -> None:
    from sqlalchemy import update

    from shared.db.oauth import Client

    client_id = ann.register()
    ann.sign_in()
    page = ann.get("/oauth/authorize", params=query(client_id))
    with transaction() as session:
        session.execute(update(Client).values(disabled_at=Client.created_at))
    answer = ann.answer(page)
    assert answer.status_code == 400
    assert "location" not in answer.headers
