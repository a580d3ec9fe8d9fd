"""The consent page: what it says, what binds it, what is remembered, and what a browser is told to enforce."""

import re
from datetime import timedelta
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from sqlalchemy import select, update

from shared.db.base import transaction
from shared.db.oauth import AuthorizationCode, Client, Consent
from shared.db.security_events import SecurityEvent
from tests.auth_server.in_process_browser import BASE, CALLBACK, HOSTED, RESOURCE, Browser, back, hidden, query
from tests.auth_server.test_operate import make_operator


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
    client_id = ann.register(HOSTED)
    ann.code(client_id, redirect_uri=HOSTED)
    again = ann.authorize(client_id, redirect_uri=HOSTED)
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
    client_id = ann.register(HOSTED)
    ann.code(client_id, redirect_uri=HOSTED)
    later(timedelta(milliseconds=1))
    away = ann.authorize(client_id, redirect_uri=HOSTED, **changed)
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
    assert ann.authorize(client_id, redirect_uri=HOSTED, **changed).headers["location"].startswith("/signin?")


def test_max_age_is_counted_from_the_last_sign_in(ann: Browser, later: Any) -> None:
    client_id = ann.register(HOSTED)
    ann.code(client_id, redirect_uri=HOSTED)
    later(timedelta(minutes=5))
    assert ann.authorize(client_id, redirect_uri=HOSTED, max_age="60").headers["location"].startswith("/signin?")
    assert back(ann.authorize(client_id, redirect_uri=HOSTED, max_age="60", prompt="none"))["error"] == "login_required"
    assert "code" in back(ann.authorize(client_id, redirect_uri=HOSTED, max_age="3600"))
    assert "code" in back(ann.authorize(client_id, redirect_uri=HOSTED, max_age="9" * 4000))


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
    client_id = ann.register(HOSTED)
    code = ann.code(client_id, redirect_uri=HOSTED)
    tokens = ann.redeem(client_id, code, redirect_uri=HOSTED).json()
    assert ann.authorize(client_id, redirect_uri=HOSTED).status_code == 302
    ann.host.post("/oauth/revoke", data={"client_id": client_id, "token": tokens["refresh_token"]})
    assert ann.authorize(client_id, redirect_uri=HOSTED).status_code == 200
    assert back(ann.authorize(client_id, redirect_uri=HOSTED, prompt="none"))["error"] == "consent_required"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\"'><img src=x>", "{{ 7*7 }}", "a & b"])
def test_names_and_parameters_are_escaped(ann: Browser, name: str) -> None:
    ann.sign_in()
    page = ann.authorize(ann.register(client_name=name), state="\"><script>alert(2)</script>'").text
    assert "<script" not in page
    assert "<img src=x" not in page
    assert escape(name) in page.replace("&#39;", "&#x27;").replace("&#34;", "&quot;")


PAGES = ["/", "/signin", "/dashboard", "/nowhere", "/oauth/authorize"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_cannot_be_framed_and_run_no_script_but_the_one_for_passkeys(ann: Browser, path: str) -> None:
    ann.sign_in()
    answer = ann.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert ("script-src 'self'" in policy) == ("script" in policy) == (path == "/signin")
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert ("form-action" not in policy) == (path == "/signin")
    assert answer.text.count("<script") == answer.text.count('<script src="/static/passkeys.js?') == (path == "/signin")


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
    client_id = ann.register()
    ann.sign_in()
    page = ann.get("/oauth/authorize", params=query(client_id))
    with transaction() as session:
        session.execute(update(Client).values(disabled_at=Client.created_at))
    answer = ann.answer(page)
    assert answer.status_code == 400
    assert "location" not in answer.headers


CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback"


@pytest.mark.spec("s5.5.consent_remembered")
@pytest.mark.parametrize("uri", [CALLBACK, "http://[::1]:4000/cb", CURSOR])
def test_a_program_that_could_be_any_other_is_asked_about_with_one_button(ann: Browser, uri: str) -> None:
    client_id = ann.register(uri)
    ann.code(client_id, redirect_uri=uri)
    again = ann.authorize(client_id, redirect_uri=uri)
    assert again.status_code == 200
    assert again.text.count("<button") == 1
    assert "any program there could call itself" in again.text
    assert "It will be able to" not in again.text
    assert "code" in back(ann.answer(again))
    assert back(ann.authorize(client_id, redirect_uri=uri, prompt="none"))["error"] == "consent_required"


def test_a_remembered_program_on_another_port_gets_no_code_without_a_person(ann: Browser) -> None:
    client_id = ann.register()
    ann.code(client_id)
    elsewhere = ann.authorize(client_id, redirect_uri="http://127.0.0.1:6666/callback")
    assert (elsewhere.status_code, "location" in elsewhere.headers) == (200, False)


def test_the_one_button_leads_to_the_whole_question_too(ann: Browser) -> None:
    client_id = ann.register()
    ann.code(client_id)
    page = ann.authorize(client_id).text
    link = re.search(r'href="([^"]*prompt=consent)"', page)
    assert link is not None
    assert "It will be able to" in ann.get(unescape(link[1])).text


def test_an_application_with_a_secret_is_remembered_at_any_address(ann: Browser) -> None:
    """Its secret identifies it when the code is redeemed."""
    client_id = ann.register()
    with transaction() as session:
        session.execute(update(Client).values(auth_method="client_secret", kind="manual"))
    ann.code(client_id)
    assert "code" in back(ann.authorize(client_id))


def read_consent() -> Consent:
    with transaction() as session:
        return session.scalars(select(Consent)).one()


READONLY = RESOURCE + "/readonly"


def test_the_page_names_the_address_asked_for(ann: Browser) -> None:
    ann.sign_in()
    client_id = ann.register()
    whole, narrow = ann.authorize(client_id).text, ann.authorize(client_id, resource=READONLY).text
    assert f"<strong>{RESOURCE}</strong>" in whole
    assert "see and change" in whole
    assert f"<strong>{READONLY}</strong>" in narrow
    assert "see and change" not in narrow
    assert 'name="read_only"' in whole
    assert 'name="read_only"' not in narrow


def test_the_page_says_what_a_part_offers_and_areas_have_one_normal_form(ann: Browser) -> None:
    ann.sign_in()
    client_id, part = ann.register(HOSTED), f"{RESOURCE}/x/vouchers,cards"
    page = ann.authorize(client_id, resource=part, redirect_uri=HOSTED)
    assert "the 12 tools of the areas cards and vouchers" in page.text
    assert f"<strong>{RESOURCE}/x/cards,vouchers</strong>" in page.text
    assert "use other tools than those of the address" in page.text
    code = back(ann.answer(page))["code"]
    tokens = ann.redeem(client_id, code, redirect_uri=HOSTED, resource=part).json()
    assert ann.introspect(tokens["access_token"])["aud"] == f"{RESOURCE}/x/cards,vouchers"
    for again in (part, f"{RESOURCE}/x/cards,vouchers", f"{RESOURCE}/x/vouchers%2Ccards"):
        assert "code" in back(ann.authorize(client_id, resource=again, redirect_uri=HOSTED))
    for other in (RESOURCE, f"{RESOURCE}/x/cards", READONLY):
        assert ann.authorize(client_id, resource=other, redirect_uri=HOSTED).status_code == 200
    refused = ann.authorize(client_id, resource=f"{RESOURCE}/x/search,trips,alerts", redirect_uri=HOSTED)
    assert back(refused)["error"] == "invalid_target"


def test_reading_only_is_a_choice_that_is_remembered_and_kept_by_the_tokens(ann: Browser) -> None:
    client_id = ann.register(HOSTED)
    ann.sign_in()
    page = ann.authorize(client_id, redirect_uri=HOSTED)
    assert "checked" not in page.text
    code = back(ann.answer(page, read_only="yes"))["code"]
    tokens = ann.redeem(client_id, code, redirect_uri=HOSTED).json()
    refreshed = ann.refresh(client_id, tokens["refresh_token"]).json()
    again = ann.redeem(client_id, ann.code(client_id, redirect_uri=HOSTED), redirect_uri=HOSTED).json()
    for answer in (tokens, refreshed, again):
        assert ann.introspect(answer["access_token"])["read_only"] is True
        assert answer["scope"] == "mcp:read openid email"
    assert "checked" in ann.authorize(client_id, redirect_uri=HOSTED, prompt="consent").text
    wider = ann.code(client_id, redirect_uri=HOSTED, prompt="consent")
    assert "read_only" not in ann.introspect(ann.redeem(client_id, wider, redirect_uri=HOSTED).json()["access_token"])
    assert ann.introspect(again["access_token"])["read_only"] is True


def test_tokens_of_the_narrow_address_only_read_and_do_not_cover_the_whole(ann: Browser) -> None:
    client_id = ann.register(HOSTED)
    code = ann.code(client_id, redirect_uri=HOSTED, resource=READONLY)
    claims = ann.introspect(ann.redeem(client_id, code, redirect_uri=HOSTED).json()["access_token"])
    assert (claims["aud"], claims["read_only"]) == (READONLY, True)
    assert "code" in back(ann.authorize(client_id, redirect_uri=HOSTED, resource=READONLY))
    wider = ann.authorize(client_id, redirect_uri=HOSTED)
    assert wider.status_code == 200  # what was allowed for reading is no permission to change
    ann.answer(wider)
    assert "code" in back(ann.authorize(client_id, redirect_uri=HOSTED, resource=READONLY))
    assert "code" in back(ann.authorize(client_id, redirect_uri=HOSTED))


def test_only_administrators_are_asked_about_administering(ann: Browser) -> None:
    client_id = ann.register()
    ann.sign_in()
    page = ann.authorize(client_id)
    assert 'name="administer"' not in page.text
    forged = ann.redeem(client_id, back(ann.answer(page, administer="yes"))["code"]).json()
    assert "administer" not in ann.introspect(forged["access_token"])
    assert read_consent().administer is False
    make_operator(ann)
    page = ann.authorize(client_id, prompt="consent")
    assert 'name="administer"' in page.text
    unticked = ann.redeem(client_id, back(ann.answer(page))["code"]).json()
    assert "administer" not in ann.introspect(unticked["access_token"])
    ticked = ann.redeem(client_id, back(ann.answer(page, administer="yes"))["code"]).json()
    assert ann.introspect(ticked["access_token"])["administer"] is True
    short = ann.authorize(client_id)
    assert "also administer this service" in short.text
    assert hidden(short.text, "administer") == "yes"


def list_events() -> list[tuple[str, str | None]]:
    with transaction() as session:
        rows = session.scalars(select(SecurityEvent).order_by(SecurityEvent.id)).all()
        return [(row.kind, row.subject) for row in rows if row.kind == "application_allowed"]


def test_the_owner_is_told_of_each_application_once_and_of_wider_access(ann: Browser) -> None:
    client_id = ann.register(HOSTED, client_name="Claude")
    ann.sign_in()
    ann.answer(ann.authorize(client_id, redirect_uri=HOSTED), read_only="yes")
    event = ("application_allowed", "Claude (claude.ai)")
    assert list_events() == [event]
    ann.code(client_id, redirect_uri=HOSTED)
    ann.answer(ann.authorize(client_id, redirect_uri=HOSTED, prompt="consent"), read_only="yes")
    assert list_events() == [event]
    ann.answer(ann.authorize(client_id, redirect_uri=HOSTED, prompt="consent"))
    assert list_events() == [event, event]


# --- a browser that was left signed in, or whose cookie was stolen


JUST_TOO_LONG = timedelta(minutes=10, seconds=1)


def sign_in_again(browser: Browser, asked: Any) -> Any:
    """Follows a redirect to the sign-in page, signs in there, and opens the page it leads back to."""
    to = urlsplit(asked.headers["location"])
    assert (asked.status_code in (302, 303), to.path, parse_qs(to.query)["fresh"]) == (True, "/signin", ["1"])
    page = browser.get(asked.headers["location"]).text
    assert "continue as you are" not in page  # it would lead back here
    return browser.get(browser.sign_in(return_to=hidden(page, "return_to")).headers["location"])


def test_an_old_sign_in_lets_no_new_application_in(ann: Browser, later: Any) -> None:
    client_id = ann.register(HOSTED)
    ann.sign_in()
    later(JUST_TOO_LONG)
    assert back(ann.authorize(client_id, redirect_uri=HOSTED, prompt="none"))["error"] == "login_required"
    page = sign_in_again(ann, ann.authorize(client_id, redirect_uri=HOSTED, nonce="n-1"))
    assert parse_qs(hidden(page.text, "query"))["nonce"] == ["n-1"]
    answer = back(ann.answer(page))
    assert ann.redeem(client_id, answer["code"], redirect_uri=HOSTED).status_code == 200
    assert answer["state"] == "st&te= 1"


def test_a_person_who_has_a_sign_in_of_ten_minutes_sees_the_question_at_once(ann: Browser, later: Any) -> None:
    ann.sign_in()
    later(JUST_TOO_LONG - timedelta(seconds=1))
    page = ann.authorize(ann.register())
    assert "It will be able to" in page.text
    assert "code" in back(ann.answer(page))


def test_a_question_that_stood_too_long_is_answered_after_another_sign_in(ann: Browser, later: Any) -> None:
    ann.sign_in()
    page = ann.authorize(ann.register())
    later(JUST_TOO_LONG)
    assert back(ann.answer(page, "deny"))["error"] == "access_denied"
    again = sign_in_again(ann, ann.answer(page))
    assert codes() == 0
    assert list_events() == []
    assert "code" in back(ann.answer(again))


ALLOWED = [(RESOURCE, False), (RESOURCE, True), (READONLY, False), (f"{RESOURCE}/x/cards", False)]


def test_no_old_sign_in_gets_tokens_whatever_was_allowed_before(ann: Browser, later: Any) -> None:
    """Each address, whole or for reading only: who has the cookie alone has neither a code nor a question to answer.

    After another sign-in what was allowed counts again without a question, and what was not is asked about.
    """
    for number, (resource, read_only) in enumerate(ALLOWED):
        client_id = ann.register(HOSTED, client_name=f"Application {number}")
        ann.sign_in()
        page = ann.authorize(client_id, redirect_uri=HOSTED, resource=resource)
        answer = {"read_only": "yes"} if read_only else {}
        assert "code" in back(ann.answer(page, **answer))
        issued = codes()
        later(JUST_TOO_LONG)
        asked = ann.authorize(client_id, redirect_uri=HOSTED)
        silent = ann.authorize(client_id, redirect_uri=HOSTED, resource=resource, prompt="none")
        assert (back(silent)["error"], codes()) == ("login_required", issued), (resource, read_only)
        assert urlsplit(ann.answer(page, **answer).headers["location"]).path == "/signin"
        assert codes() == issued
        again = sign_in_again(ann, asked)
        assert again.status_code == (302 if resource == RESOURCE else 200), (resource, read_only)


@pytest.mark.parametrize("uri", [CALLBACK, CURSOR])
def test_the_one_button_of_a_program_takes_a_fresh_sign_in_too(ann: Browser, later: Any, uri: str) -> None:
    client_id = ann.register(uri)
    ann.code(client_id, redirect_uri=uri)
    page = ann.authorize(client_id, redirect_uri=uri)
    later(JUST_TOO_LONG)
    issued = codes()
    again = sign_in_again(ann, ann.answer(page))
    assert (codes(), again.text.count("<button")) == (issued, 1)
    assert "code" in back(ann.answer(again))


def test_after_the_sign_in_a_repeated_authorization_takes_no_question(ann: Browser, later: Any) -> None:
    client_id = ann.register(HOSTED)
    ann.code(client_id, redirect_uri=HOSTED)
    later(JUST_TOO_LONG)
    again = sign_in_again(ann, ann.authorize(client_id, redirect_uri=HOSTED))
    assert ann.redeem(client_id, back(again)["code"], redirect_uri=HOSTED).status_code == 200
    assert len(list_events()) == 1  # the owner heard of the first time


@pytest.mark.parametrize("path", ["/signin", "/signup", "/recover"])
def test_pages_on_the_way_to_consent_say_which_application_asks(stranger: Browser, path: str) -> None:
    hosted = stranger.register(HOSTED, client_name="<b>Claude</b>")
    asked = f"/oauth/authorize?{urlencode(query(hosted, redirect_uri=HOSTED))}"
    page = stranger.get(f"{path}?{urlencode({'return_to': asked})}").text
    assert "asks to use your account" in page
    assert "&lt;b&gt;Claude&lt;/b&gt;" in page
    assert "(claude.ai)" in page
    local = f"/oauth/authorize?{urlencode(query(stranger.register(client_name='Claude')))}"
    assert "program on your own computer" in stranger.get(f"{path}?{urlencode({'return_to': local})}").text
    assert "asks to use" not in stranger.get(f"{path}?return_to=/dashboard").text


def test_a_wrong_password_does_not_hide_who_asks(ann: Browser) -> None:
    asked = f"/oauth/authorize?{urlencode(query(ann.register(client_name='Trip planner')))}"
    refused = ann.sign_in("wrong password", return_to=asked)
    assert refused.status_code == 401
    assert "Trip planner" in refused.text


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://evil.example/cb"},
        {"client_id": "nobody"},
        {"code_challenge": None},
        {"resource": "https://evil.example/mcp"},
        {"response_type": "token"},
    ],
)
def test_no_name_is_shown_for_a_request_that_is_not_valid(stranger: Browser, changed: dict[str, Any]) -> None:
    fields = query(stranger.register(client_name="Trip planner")) | changed
    asked = urlencode({k: v for k, v in fields.items() if v is not None})
    page = stranger.get(f"/signin?{urlencode({'return_to': f'/oauth/authorize?{asked}'})}")
    assert page.status_code == 200
    assert "asks to use" not in page.text
    assert "Trip planner" not in page.text


@pytest.mark.parametrize("name", ["\u041f\u043b\u0430\u043d", "Plan \u0391\u0392"])
def test_letters_of_other_alphabets_are_named(ann: Browser, name: str) -> None:
    client_id = ann.register(client_name=name)
    asked = f"/oauth/authorize?{urlencode(query(client_id))}"
    alphabet = "Cyrillic" if name[0] == "\u041f" else "Greek"
    for page in (ann.get(f"/signin?{urlencode({'return_to': asked})}").text, _open_question(ann, client_id)):
        assert f"{alphabet} letters, which can look like Latin ones" in " ".join(page.split())


def _open_question(ann: Browser, client_id: str) -> str:
    ann.sign_in()
    return str(ann.authorize(client_id).text)
