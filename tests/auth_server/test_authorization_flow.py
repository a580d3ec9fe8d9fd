"""The whole way, as a client and a person go it: discovery, registration, sign-in, consent, tokens, use, refresh."""

import pytest

from tests.auth_server.in_process_browser import BASE, CALLBACK, RESOURCE, Browser, back


@pytest.mark.spec("s4.1.authorize_flow")
@pytest.mark.spec("s5.5.sign_in_first")
@pytest.mark.spec("s5.5.code_grant_form")
@pytest.mark.spec("s4.1.authorize_query")
def test_a_person_signs_in_allows_and_the_application_gets_working_tokens(ann: Browser) -> None:
    client_id = ann.register()
    first = ann.authorize(client_id)
    assert first.status_code == 302
    assert first.headers["location"].startswith("/signin?return_to=%2Foauth%2Fauthorize")
    page = ann.get(first.headers["location"])
    entered = ann.sign_in(return_to=_return_to(page.text))
    assert entered.status_code == 303
    consent_page = ann.get(entered.headers["location"])
    assert consent_page.status_code == 200
    assert "Test application" in consent_page.text
    allowed = ann.answer(consent_page)
    assert allowed.status_code == 303
    assert allowed.headers["location"].startswith(CALLBACK + "?")
    params = back(allowed)
    assert params["state"] == "st&te= 1"
    assert params["iss"] == BASE
    answer = ann.redeem(client_id, params["code"])
    assert answer.status_code == 200
    tokens = answer.json()
    assert ann.introspect(tokens["access_token"])["sub"] == ann.public_id
    again = ann.refresh(client_id, tokens["refresh_token"])
    assert again.status_code == 200
    assert ann.alive(again.json()["access_token"])
    assert ann.introspect(again.json()["access_token"])["aud"] == RESOURCE


def _return_to(page: str) -> str:
    from tests.auth_server.in_process_browser import hidden

    return hidden(page, "return_to")
