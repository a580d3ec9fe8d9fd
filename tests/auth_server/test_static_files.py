"""The style sheet: small on the wire, kept by browsers under the address of its content, and under no other."""

import gzip
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import auth_server
import mcp_server
from auth_server.web.rendering import _environment
from auth_server.web.static_files import STYLESHEET_PATH, build_stylesheet_address, read_stylesheet

YEAR = "public, max-age=31536000, immutable"


def test_a_page_names_the_style_sheet_by_its_content(host: TestClient) -> None:
    (address,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', host.get("/").text)
    assert address == build_stylesheet_address()
    answer = host.get(address)
    assert answer.headers["cache-control"] == YEAR
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.content == read_stylesheet().content


@pytest.mark.parametrize("address", [STYLESHEET_PATH, f"{STYLESHEET_PATH}?v=0.4.0", f"{STYLESHEET_PATH}?v="])
def test_under_another_address_it_is_not_kept_for_long(host: TestClient, address: str) -> None:
    """What another release asks for must not be kept as that release's."""
    assert host.get(address).headers["cache-control"] == "public, max-age=300"


def test_who_reads_no_gzip_gets_it_plain_and_who_has_it_gets_nothing(host: TestClient) -> None:
    plain = host.get(STYLESHEET_PATH, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding"
    again = host.get(STYLESHEET_PATH, headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_it_weighs_less_than_twelve_kilobytes_on_the_wire() -> None:
    sheet = read_stylesheet()
    assert gzip.decompress(sheet.compressed) == sheet.content
    assert len(sheet.compressed) < 12 * 1024


def test_no_page_has_a_style_of_its_own() -> None:
    """The policy of the site allows no inline style."""
    environment = _environment()
    assert environment.loader is not None
    for name in environment.list_templates(extensions=["html"]):
        source = environment.loader.get_source(environment, name)[0]
        assert not re.search(r"<style|\sstyle=", source), name


def test_pages_write_money_in_one_way() -> None:
    """By `format_money` or the filter that calls it; a number with a currency behind it is another way."""
    folders = [Path(auth_server.__file__).parent, Path(mcp_server.__file__).parent / "templates"]
    files = [file for folder in folders for kind in ("*.py", "*.html") for file in folder.rglob(kind)]
    another = re.compile(r"format_amount|:,?\.[02]f\}[^\n]{0,40}(?:USD|currency)|\$\{\{")
    faults = [f"{file.name}: {found[0]}" for file in files for found in another.finditer(file.read_text("utf-8"))]
    assert faults == []
