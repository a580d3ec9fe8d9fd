"""Provenance rules: what proves a fact, and what the loader refuses to trust."""

from types import SimpleNamespace
from typing import Any

import pytest

from shared.reference.load import reference
from shared.reference.provenance import check_provenance, find_publisher, is_primary, is_proof

HOSTS = frozenset({"hyatt.com", "gov.uk"})
GUIDE, LIST = "https://guide.example/hyatt", "https://github.com/somebody/lists/blob/abc/hyatt.json"
PAGE = "https://world.hyatt.com/content/gp/en/rewards.html"


def build_row(**cells: Any) -> SimpleNamespace:
    usual = {"source_url": GUIDE, "second_source_url": None, "as_of": "2026-10", "audited_on": None}
    return SimpleNamespace(**(usual | {"confidence": "medium", "note": None} | cells))


def list_faults(**cells: Any) -> list[str]:
    return check_provenance("file.csv", {7: build_row(**cells)}, HOSTS)


@pytest.mark.parametrize(
    ("url", "publisher"),
    [
        ("https://www.world.hyatt.com/a", "hyatt.com"),
        ("https://blog.example.co.uk/b", "example.co.uk"),
        ("https://github.com/Somebody/lists", "github.com/somebody"),
        ("https://raw.githubusercontent.com/somebody/lists/main/a.csv", "github.com/somebody"),
        ("https://somebody.github.io/a", "github.com/somebody"),
        ("ftp://hyatt.com/a", ""),
        ("a card audit, 2026", ""),
    ],
)
def test_a_publisher_is_a_domain_or_the_owner_of_a_repository(url: str, publisher: str) -> None:
    assert find_publisher(url) == publisher


def test_a_page_is_primary_on_a_listed_host_or_below_it_only() -> None:
    assert is_primary(PAGE, HOSTS)
    assert is_primary("https://www.gov.uk/guidance", HOSTS)
    assert not is_primary("https://nothyatt.com/", HOSTS)
    assert not is_primary("https://hyatt.com.example/", HOSTS)
    assert not is_primary("https://qap.www.hyatt.com/", HOSTS)
    assert not is_primary("https://cms-uat.hyatt.com/", HOSTS)
    assert is_primary("https://latest.hyatt.com/", HOSTS)


def test_two_publishers_prove_and_one_does_not() -> None:
    assert is_proof(GUIDE, LIST, HOSTS)
    assert is_proof(PAGE, None, HOSTS)
    assert not is_proof(GUIDE, None, HOSTS)
    assert not is_proof(LIST, "https://raw.githubusercontent.com/somebody/other/main/b.csv", HOSTS)


def test_what_was_typed_from_memory_is_low_undated_and_not_audited() -> None:
    memory = {"source_url": "general knowledge", "confidence": "low", "as_of": None}
    assert list_faults(**memory) == []
    assert list_faults(**memory | {"confidence": "medium"}) == [
        "file.csv:7: confidence medium, but general knowledge is low"
    ]
    assert "leave as_of empty" in list_faults(**memory | {"as_of": "2026-11-21"})[0]
    assert "need a source" in list_faults(**memory | {"audited_on": "2026-11-21"})[0]


def test_an_audit_and_high_confidence_need_proof() -> None:
    assert list_faults(source_url=GUIDE, second_source_url=LIST, audited_on="2026-11-21", confidence="high") == []
    assert "of another publisher" in list_faults(audited_on="2026-11-21")[0]
    assert list_faults(source_url=PAGE, confidence="high") == ["file.csv:7: confidence high needs audited_on"]
    audited = {"audited_on": "2026-11-30", "confidence": "high"}
    old = {"second_source_url": "https://other.example/2022/05/08/hyatt"}
    (fault,) = list_faults(**audited, **old)
    assert fault.endswith("the second page, of 2022, shows what held years before 2026-10")
    assert not list_faults(**audited, second_source_url="https://other.example/2024/05/08/hyatt")
    assert not list_faults(**audited, **old, source_url=PAGE)
    assert "neither an http(s) address" in list_faults(source_url="a list someone sent")[0]
    assert "source_url is empty" in list_faults(source_url="")[0]


def test_every_host_is_written_as_addresses_have_it() -> None:
    hosts = [row.host for row in reference().rows("primary_hosts.csv")]
    assert all(host == host.lower() and "/" not in host and not host.startswith("www.") for host in hosts)
