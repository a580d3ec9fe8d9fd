"""The application that asks is named on later pages of the way too: second factor, linking of a provider."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from tests.auth_server.in_process_browser import HOSTED, PASSWORD, Browser, query
from tests.auth_server.provider_sign_in import answer_link_page, come_back
from tests.auth_server.test_totp import SECOND, second, set_up
from tests.support.fake_identity_providers import Outside


def test_the_second_factor_says_which_application_asks(ann: Browser, later: Any) -> None:
    client_id = ann.register(HOSTED, client_name="Trip planner")
    ann.sign_in()
    app, _ = set_up(ann)
    ann.cookie = None
    later(timedelta(minutes=1))
    asked = f"/oauth/authorize?{urlencode(query(client_id, redirect_uri=HOSTED))}"
    assert ann.sign_in(return_to=asked).headers["location"] == SECOND
    refused = second(ann, "000000")
    for page in (ann.get(SECOND).text, refused.text):
        words = " ".join(page.split())
        assert "Trip planner</strong> (claude.ai) asks to use your account." in words
    assert second(ann, app.show()).headers["location"] == asked


def test_the_second_factor_of_a_sign_in_for_the_dashboard_names_nobody(ann: Browser, later: Any) -> None:
    ann.sign_in()
    set_up(ann)
    ann.cookie = None
    later(timedelta(minutes=1))
    ann.sign_in()
    assert "asks to use" not in ann.get(SECOND).text


def test_the_page_that_links_a_provider_says_it_too(outside: Outside, ann: Browser) -> None:
    client_id = ann.register(HOSTED, client_name="Trip planner")
    asked = f"/oauth/authorize?{urlencode(query(client_id, redirect_uri=HOSTED))}"
    come_back(ann, return_to=asked)
    wrong = answer_link_page(ann, "wrong password")
    for page in (ann.get("/signin/link").text, wrong.text):
        assert "Trip planner</strong> (claude.ai) asks to use your account." in " ".join(page.split())
    assert answer_link_page(ann, PASSWORD).headers["location"] == asked
