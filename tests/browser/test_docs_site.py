"""The documentation site in Chromium: every kind of page fits a phone and asks no one but its own host."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.docs_site.__main__ import main
from tests.browser.axe import list_violations
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
FOREIGN = "performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))"
PAGES = ("index", "connect", "tools/search", "settings", "commands", "decisions/0013-rooms-and-their-order")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the test reads what the browser says."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the built site is served."""
    folder: Path = tmp_path_factory.mktemp("docs")
    assert main([str(folder)]) == 0
    handler = functools.partial(_Quiet, directory=str(folder / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_and_load_from_their_own_host_alone(address: str, tab: Tab, width: int) -> None:
    tab.look(width)
    for page in PAGES:
        tab.go(f"{address}/{page}.html")
        tab.wait(f"location.pathname == '/{page}.html' && performance.getEntriesByType('resource').length > 2")
        assert tab.run("document.documentElement.scrollWidth") <= width, page
        assert tab.run(f"({FOREIGN}).length") == 0, page


@pytest.mark.axe
def test_pages_are_in_the_products_colours_and_break_no_rule_of_wcag(address: str, tab: Tab) -> None:
    """The theme makes a landmark without a name of each code block, which is good practice alone."""
    found = []
    for page, dark in (("start", False), ("start", True), ("tools/search", True), ("settings", False)):
        tab.look(1280, dark=dark)
        tab.go(f"{address}/{page}.html")
        tab.wait(f"location.pathname == '/{page}.html' && performance.getEntriesByType('resource').length > 2")
        found += [f"{page}: {fault}" for fault in list_violations(tab) if "good practice" not in fault]
        assert tab.run("getComputedStyle(document.querySelector('.md-header')).backgroundColor") == "rgb(13, 51, 45)"
        assert tab.run("document.querySelector('.md-logo img').naturalWidth") > 0
    assert found == []
