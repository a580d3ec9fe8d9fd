"""The pages anybody can open: what they say follows from the settings, and they load nothing from elsewhere."""

import re
from typing import Any

import pytest

from auth_server.pages import routes
from auth_server.pages.logo import Logo, read_logo
from auth_server.web.rendering import TEMPLATES
from shared.domain.plans import LIMITS, Plan
from tests.auth_server.in_process_browser import Browser

OPEN = ["/", "/plans", "/privacy", "/terms", "/support", "/signin", "/signup", "/recover", "/nothing-here"]


@pytest.mark.parametrize("path", OPEN)
def test_a_page_has_its_headers_and_no_script_and_nothing_from_elsewhere(stranger: Browser, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == (404 if path == "/nothing-here" else 200)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert "<script" not in answer.text
    assert not re.search(r"\son\w+=", answer.text)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', answer.text) == []


def test_pages_that_may_lead_to_an_application_do_not_bind_their_forms() -> None:
    """Chromium applies form-action to every later hop."""
    from auth_server.web.rendering import render_page

    leaving = {
        "confirm.html": {"csrf": "", "token": "", "email": ""},
        "reset.html": {"csrf": "", "token": "", "email": ""},
    }
    for name, context in leaving.items():
        assert "form-action" not in render_page(name, context).headers["content-security-policy"]
    assert (
        "form-action 'self'"
        in render_page("sent.html", {"email": "", "files": False}).headers["content-security-policy"]
    )


def test_the_start_page_says_how_to_connect_each_client(stranger: Browser) -> None:
    page = stranger.get("/").text
    for name in ("Claude", "ChatGPT", "Cursor", "VS Code", "Command line"):
        assert f"<h3>{name}</h3>" in page
    assert "claude mcp add --transport http award-travel http://127.0.0.1:8000/mcp" in page
    assert "invented data" in page


@pytest.mark.spec("s8.premium_price")
def test_the_plans_page_gives_price_and_limits(stranger: Browser, configure: Any) -> None:
    page = stranger.get("/plans").text
    assert "9.99 USD a month" in page
    for plan in Plan:
        assert f"{LIMITS[plan].route_monitors}</td>" in page
    configure(PREMIUM_PRICE="12.5")
    assert "12.50 USD a month" in stranger.get("/plans").text


def test_the_plans_page_says_how_to_change_as_the_operator_wants(stranger: Browser, configure: Any) -> None:
    assert "Write to the operator of this service." in stranger.get("/plans").text
    configure(OPERATOR_EMAIL="ops@example.test")
    assert 'href="mailto:ops@example.test"' in stranger.get("/plans").text
    configure(PLAN_CHANGE_TEXT="Ask at the <desk>.", PLAN_CHANGE_URL="https://pay.example/plan")
    page = stranger.get("/plans").text
    assert "Ask at the &lt;desk&gt;." in page
    assert 'href="https://pay.example/plan"' in page


def test_privacy_terms_and_support_name_the_operator(stranger: Browser, configure: Any) -> None:
    configure(OPERATOR_NAME="Example Ltd", OPERATOR_EMAIL="ops@example.test")
    for path in ("/privacy", "/terms"):
        assert "Example Ltd" in stranger.get(path).text
    for path in ("/privacy", "/support"):
        assert "ops@example.test" in stranger.get(path).text
    assert "cookie" in stranger.get("/privacy").text


def test_privacy_names_the_model_that_carries_out_standing_orders(stranger: Browser, configure: Any) -> None:
    assert "language model" not in stranger.get("/privacy").text
    configure(STANDING_ORDER_MODEL="small-one", STANDING_ORDER_MODEL_URL="https://models.example.test/v1")
    assert "language model small-one at models.example.test" in " ".join(stranger.get("/privacy").text.split())


def test_the_icon_is_there_in_both_forms(stranger: Browser) -> None:
    assert stranger.get("/static/icon.svg").headers["content-type"] == "image/svg+xml"
    icon = stranger.get("/static/icon.png")
    assert icon.headers["content-type"] == "image/png"
    assert read_logo(icon.content) == Logo("image/png", 512, 512)
    assert stranger.get("/favicon.ico").content == icon.content


def test_the_portals_challenge_is_shown_when_it_is_set(stranger: Browser, configure: Any) -> None:
    path = "/.well-known/openai-apps-challenge"
    assert stranger.get(path).status_code == 404
    configure(OPENAI_APPS_CHALLENGE="abc-123")
    answer = stranger.get(path)
    assert (answer.text, answer.headers["content-type"]) == ("abc-123", "text/plain; charset=utf-8")


def test_every_page_in_the_folder_is_used_and_every_path_is_served_once() -> None:
    paths = [(route.path, *sorted(route.methods or ())) for route in routes.SITE]
    assert len(paths) == len(set(paths))
    used = "".join(file.read_text("utf-8") for file in TEMPLATES.parent.rglob("*.py"))
    used += "".join(file.read_text("utf-8") for file in TEMPLATES.glob("*.html"))
    assert [file.name for file in TEMPLATES.iterdir() if f'"{file.name}"' not in used and file.suffix == ".html"] == []
