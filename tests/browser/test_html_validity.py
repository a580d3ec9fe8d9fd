"""The judge of HTML by itself: what is not HTML is named with its place, and the source is what the server sent."""

import socket

import pytest
from starlette.responses import HTMLResponse

from tests.browser.conftest import serve
from tests.browser.html_validity import list_invalid, list_invalid_in
from tests.support.browser import Tab

pytestmark = [pytest.mark.html_validator, pytest.mark.slow]  # starts a browser and Node
PAGE = '<!doctype html>\n<html lang="en"><head><title>Plans</title></head><body>{}</body></html>\n'


def test_what_is_not_html_is_named() -> None:
    assert list_invalid(PAGE.format("<h1>Plans</h1>")) == []
    wrong = '<p><div>x</div></p><b id="a"></b><b id="a"></b>'
    verdict = " ".join(list_invalid(PAGE.format(wrong)))
    assert "HTML close-order at 2" in verdict
    assert "HTML no-dup-id at 2" in verdict


def test_a_page_no_server_sent_is_left_out(tab: Tab) -> None:
    tab.go("data:text/html,<p><div>x</div></p>")
    assert list_invalid_in(tab) == []


def test_the_source_is_judged_and_not_what_the_browser_made_of_it(tab: Tab) -> None:
    page = HTMLResponse(PAGE.format("<p><div>x</div></p>"), headers={"Cache-Control": "no-store"})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = serve(page, listening)
        tab.go(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        tab.wait("document.title === 'Plans'")
        assert "</div>" in tab.source()
        assert [verdict for verdict in list_invalid_in(tab) if "close-order" in verdict]
        server.should_exit = True
