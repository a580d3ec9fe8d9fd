"""The pages anybody can open: what they say follows from the settings, and they load nothing from elsewhere."""

import re
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from PIL import Image
from sqlalchemy.exc import OperationalError

from auth_server import app
from auth_server.pages import connecting, discovery, landing
from auth_server.pages.connecting import HOSTS
from auth_server.pages.logo import read_logo
from auth_server.web import flows
from auth_server.web.rendering import render_page
from auth_server.web.static_files import TEMPLATES
from shared import clock
from shared.domain.mcp_addresses import find_address
from shared.domain.plans import Plan
from shared.domain.tool_profiles import CORE
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.settings import VERSION
from tests.auth_server.in_process_browser import Browser

GUIDE = Path(__file__).parent.parent.parent / "deploy" / "docs" / "connect.md"
_PASSKEYS = [f'<script src="/static/passkeys.js?v={VERSION}" defer>']
OPEN = ["/", "/plans", "/privacy", "/terms", "/support", "/signin", "/signup", "/recover", "/nothing-here"]


@pytest.mark.parametrize("path", OPEN)
def test_a_page_has_its_headers_and_nothing_from_elsewhere(stranger: Browser, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == (404 if path == "/nothing-here" else 200)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert ("script-src" in policy) == (path == "/signin")
    assert answer.headers["x-frame-options"] == "DENY"
    assert re.findall(r"<script[^>]*>", answer.text) == (_PASSKEYS if path == "/signin" else [])
    assert not re.search(r"\son\w+=", answer.text)
    page = re.sub(r'<link rel="canonical" href="http://127.0.0.1:8000/[^"]*">', "", answer.text)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', page) == []


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


def test_the_start_page_leads_to_each_assistant(stranger: Browser) -> None:
    page = stranger.get("/").text
    for one in connecting.list_connectables():
        assert f"<b>{one.name}</b>" in page
    assert 'href="/connect#claude-code"' in page
    assert 'href="cursor://anysphere.cursor-deeplink/mcp/install?' in page
    assert "claude mcp add --transport http award-travel http://127.0.0.1:8000/mcp" in page
    assert "invented data" in page


def test_assistants_on_the_web_are_offered_where_they_reach_this_service(stranger: Browser, configure: Any) -> None:
    assert "https://claude.ai/" not in stranger.get("/").text
    configure(WEB_URL="https://travel.example")
    page = render_page("landing.html", landing.build_context(None)).body
    assert b'href="https://claude.ai/' in page


@pytest.mark.parametrize("path", ["/", "/plans", "/connect"])
def test_a_page_has_one_primary_button(stranger: Browser, path: str) -> None:
    assert len(re.findall(r'class="(?:button )?primary"', stranger.get(path).text)) == 1


def test_a_search_on_the_start_page_waits_until_one_is_signed_in(stranger: Browser) -> None:
    page = stranger.get("/").text
    assert '<form class="card" method="get" action="/dashboard/search"' in page
    query = "origin=London&destination=Tokyo&month=2027-02"
    kept = stranger.get(f"/dashboard/search?{query}").headers["location"]
    assert unquote(kept) == f"/signin?return_to=/dashboard/search?{query}"


def test_whoever_is_signed_in_is_led_to_the_portfolio(stranger: Browser, ann: Browser) -> None:
    ann.sign_in()
    page, own = stranger.get("/").text, ann.get("/").text
    assert ("Sign up" in page, "Your portfolio" in page) == (True, False)
    assert ("Sign up" in own, "Start free" in own, "Your portfolio" in own) == (False, False, True)
    assert "your plan" in own


def test_the_start_page_opens_while_the_database_is_away(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.sign_in()

    def fail(*_: Any) -> None:
        raise OperationalError("select", {}, Exception())

    monkeypatch.setattr(flows, "transact", fail)
    answer = ann.get("/")
    assert (answer.status_code, "Sign up" in answer.text) == (200, True)


def test_the_answer_on_the_start_page_says_what_it_is(stranger: Browser, configure: Any) -> None:
    configure(AWARD_BACKEND="live")
    page = " ".join(stranger.get("/").text.split())
    assert "An answer of the sandbox on the Premium plan, asked on 23 Nov 2026: seats, prices and balances" in page
    assert "55,000 + $182 per person, <b>110,000 + $364 for both</b>" in page
    assert page.count('<td role="cell"') == 21
    assert page.count('class="c0"') == page.count('<span class="vh">none</span>')


def test_the_connect_page_and_the_documentation_name_the_same_address_for_each_host(stranger: Browser) -> None:
    page, guide = stranger.get("/connect").text, GUIDE.read_text(encoding="utf-8")
    assert {"Claude", "ChatGPT", "Cursor", "VS Code", "JetBrains", "Windsurf", "Goose"} == {name for name, *_ in HOSTS}
    for name, path, why in HOSTS:
        assert find_address(path) is not None
        assert f"| {name} | `{path}` | {why} |" in guide
        assert f'<tr><th scope="row">{name}</th><td><code>http://127.0.0.1:8000{path}</code></td>' in page
    assert "traveller, keeper, hotels, advisor, operator" in page
    assert f"the {len(CORE)} most" in page


@pytest.mark.spec("s8.premium_price")
def test_the_plans_page_gives_price_and_limits(stranger: Browser, configure: Any) -> None:
    page = stranger.get("/plans").text
    assert "$9.99 a month" in page
    for plan in Plan:
        assert f"{ROUTE_MONITOR.cap(plan)}</td>" in page
    configure(PREMIUM_PRICE="12.5")
    assert "$12.50 a month" in stranger.get("/plans").text


def test_the_plans_page_says_how_to_change_as_the_operator_wants(stranger: Browser, configure: Any) -> None:
    page = stranger.get("/plans").text
    assert "has named no address to write to here" in page
    assert "Choose Premium" not in page
    configure(OPERATOR_EMAIL="ops@example.test")
    page = stranger.get("/plans").text
    assert 'href="mailto:ops@example.test"' in page
    assert 'href="mailto:ops@example.test?subject=Award%20Travel%3A%20Premium%20plan"' in page
    configure(PLAN_CHANGE_TEXT="Ask at the <desk>.", PLAN_CHANGE_URL="https://pay.example/plan")
    page = stranger.get("/plans").text
    assert "Ask at the &lt;desk&gt;." in page
    for words in ("Choose Premium", "Choose Pro", "Choose Enterprise", "Change my plan"):
        assert re.search(f'href="https://pay.example/plan"[^>]*>{words}</a>', page)


def test_the_free_plan_is_offered_to_whom_it_is_open(stranger: Browser, ann: Browser, configure: Any) -> None:
    page = stranger.get("/plans").text
    assert ("Start free</a>" in page, "$0" in page) == (True, False)
    ann.sign_in()
    own = ann.get("/plans").text
    assert ("Start free</a>" in own, own.count("your plan</span>")) == (False, 1)
    configure(SIGNUP="invite")
    page = stranger.get("/plans").text
    assert ("Start free</a>" in page, "New accounts are made by invitation here." in page) == (False, True)


def test_privacy_terms_and_support_name_the_operator(stranger: Browser, configure: Any) -> None:
    configure(OPERATOR_NAME="Example Ltd", OPERATOR_EMAIL="ops@example.test")
    for path in ("/privacy", "/terms"):
        assert "Example Ltd" in stranger.get(path).text
    for path in ("/privacy", "/support"):
        assert "ops@example.test" in stranger.get(path).text
    assert "cookie" in stranger.get("/privacy").text


def test_privacy_says_what_operators_do_is_noted_and_for_how_long(stranger: Browser, configure: Any) -> None:
    assert "It is kept for 730 days" in " ".join(stranger.get("/privacy").text.split())
    configure(KEEP_TRAIL_DAYS="400")
    assert "It is kept for 400 days" in " ".join(stranger.get("/privacy").text.split())


def test_privacy_names_the_model_that_carries_out_standing_orders(stranger: Browser, configure: Any) -> None:
    assert "language model" not in stranger.get("/privacy").text
    configure(STANDING_ORDER_MODEL="small-one", STANDING_ORDER_MODEL_URL="https://models.example.test/v1")
    assert "language model small-one at models.example.test" in " ".join(stranger.get("/privacy").text.split())


def test_the_icon_is_there_in_both_forms(stranger: Browser) -> None:
    assert stranger.get("/static/icon.svg").headers["content-type"] == "image/svg+xml"
    icon = stranger.get("/static/icon.png")
    assert icon.headers["content-type"] == "image/png"
    assert read_logo(icon.content).width == 360
    assert stranger.get("/favicon.ico").content == icon.content


def test_the_portals_challenge_is_shown_when_it_is_set(stranger: Browser, configure: Any) -> None:
    path = "/.well-known/openai-apps-challenge"
    assert stranger.get(path).status_code == 404
    configure(OPENAI_APPS_CHALLENGE="abc-123")
    answer = stranger.get(path)
    assert (answer.text, answer.headers["content-type"]) == ("abc-123", "text/plain; charset=utf-8")


def test_every_page_in_the_folder_is_used_and_every_path_is_served_once() -> None:
    paths = [(route.path, *sorted(route.methods or ())) for route in app.SITE]
    assert len(paths) == len(set(paths))
    used = "".join(file.read_text("utf-8") for file in TEMPLATES.parent.rglob("*.py"))
    used += "".join(file.read_text("utf-8") for file in TEMPLATES.glob("*.html"))
    assert [file.name for file in TEMPLATES.iterdir() if f'"{file.name}"' not in used and file.suffix == ".html"] == []


def test_security_txt_names_the_operator_and_a_day_less_than_a_year_away(stranger: Browser, configure: Any) -> None:
    assert stranger.get("/.well-known/security.txt").status_code == 404
    configure(OPERATOR_EMAIL="security@travel.example")
    answer = stranger.get("/.well-known/security.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert fields["Contact"] == "mailto:security@travel.example"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(0) < expires - clock.now() < timedelta(days=366)


@pytest.mark.parametrize("path", ["/", "/signin"])
def test_pages_may_use_no_device_and_are_cut_off_from_other_windows_unless_an_assistant_opened_them(
    stranger: Browser, path: str
) -> None:
    headers = stranger.get(path).headers
    assert "camera=()" in headers["permissions-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers.get("cross-origin-opener-policy") == (None if path == "/signin" else "same-origin")


@pytest.mark.parametrize("path", discovery.PUBLIC_PAGES)
def test_a_public_page_says_what_it_is_to_searches_and_previews(stranger: Browser, path: str) -> None:
    page = stranger.get(path).text
    meta = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))
    assert 40 <= len(meta["description"]) <= 160  # what searches show of it
    assert meta["og:description"] == meta["description"]
    assert meta["og:title"] in re.findall(r"<title>([^<]*)</title>", page)[0]
    assert meta["og:url"] == f"http://127.0.0.1:8000{path}"
    assert meta["og:image"] == "http://127.0.0.1:8000/static/preview.png"
    assert f'<link rel="canonical" href="{meta["og:url"]}">' in page
    assert '<html lang="en">' in page


def test_the_picture_of_previews_has_the_size_they_show(stranger: Browser) -> None:
    answer = stranger.get("/static/preview.png")
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(BytesIO(answer.content)).size == (1200, 630)
    assert len(answer.content) < 30_000


def test_support_names_whom_to_write_to_or_says_that_nobody_is_named(stranger: Browser, configure: Any) -> None:
    page = stranger.get("/support").text
    assert ("No one to write to is named here" in page, "mailto:" in page) == (True, False)
    for path in ("/status", "/connect", "/recover", "/dashboard/account", "/facts/report"):
        assert f'href="{path}"' in page
    configure(OPERATOR_EMAIL="ops@example.test")
    page = stranger.get("/support").text
    assert ("No one to write to is named here" in page, "mailto:ops@example.test" in page) == (False, True)


def test_descriptions_of_public_pages_differ(stranger: Browser) -> None:
    pages = [stranger.get(path).text for path in discovery.PUBLIC_PAGES]
    assert len({re.findall(r'name="description" content="([^"]*)"', page)[0] for page in pages}) == len(pages)


def test_robots_are_led_to_the_public_pages_and_kept_from_the_others(stranger: Browser) -> None:
    answer = stranger.get("/robots.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    kept_out = re.findall(r"^Disallow: (\S+)$", answer.text, re.M)
    assert [path for path in discovery.PUBLIC_PAGES for prefix in kept_out if path.startswith(prefix)] == []
    for path in ("/dashboard/keys", "/feeds/secret.ics", "/shared/secret", "/signin", "/oauth/authorize"):
        assert path.startswith(tuple(kept_out))
    assert "Sitemap: http://127.0.0.1:8000/sitemap.xml" in answer.text


def test_the_sitemap_names_pages_that_are_there(stranger: Browser) -> None:
    tree = ElementTree.fromstring(stranger.get("/sitemap.xml").content)
    places = [str(node.text) for node in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    own = [place for place in places if "/tools" not in place]
    assert len(own) == len(discovery.PUBLIC_PAGES)
    assert {"http://127.0.0.1:8000/tools", "http://127.0.0.1:8000/tools/cards"} <= {*places}
    for place in own:
        assert stranger.get(place.removeprefix("http://127.0.0.1:8000")).status_code == 200


def test_assistants_read_what_the_site_is(stranger: Browser, configure: Any) -> None:
    text = stranger.get("/llms.txt").text
    assert text.startswith("# Award Travel\n\n> 142 tools")
    assert "invented" in text
    assert "\n\n\n" not in text
    for address in ("/mcp", "/mcp/lean", "/mcp/readonly", "/.well-known/openapi.yaml", "/plans"):
        assert f"(http://127.0.0.1:8000{address})" in text
    configure(AWARD_BACKEND="live")
    assert "invented" not in stranger.get("/llms.txt").text


@pytest.mark.parametrize("path", ["/", "/privacy", "/terms", "/signin", "/missing"])
def test_pages_call_the_service_as_the_operator_does(stranger: Browser, configure: Any, path: str) -> None:
    configure(SERVICE_NAME="Miles & More for Us")
    page = stranger.get(path).text
    assert "Miles &amp; More for Us</title>" in page
    assert "Award Travel" not in page
