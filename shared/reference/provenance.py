"""Provenance rules: which sources prove a fact, and how far a row with them may be trusted."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

GENERAL_KNOWLEDGE = "general knowledge"  # typed from memory: low, undated and never audited
CONFIDENCE = ("high", "medium", "low", "missing")
_WHEN = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_TEST_LABEL = re.compile(r"(?:^|-)(?:dev|qap?|stag(?:e|ing)|test|uat)\d*(?:-|$)")  # hosts where owners test
_DATED = re.compile(r"/(20\d\d)/(?:0[1-9]|1[0-2])\b")  # an address that tells its month, such as /2022/05/08/a-page
_YEARS_APART = 3
# Hosts of code: the publisher is the owner of the repository, not the site.
_CODE_HOSTS = ("github.com", "raw.githubusercontent.com", "gitlab.com")
# Second-level labels under which names are registered (example.co.uk, example.com.au).
_SHARED_LABELS = ("ac", "co", "com", "gov", "gv", "ne", "net", "or", "org")


@lru_cache(maxsize=16_384)
def find_publisher(url: str) -> str:
    """The publisher of a page: the registered domain, or the owner of a repository. Empty for no address."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    if parts.scheme not in ("http", "https") or "." not in host:
        return ""
    if host in _CODE_HOSTS:
        return f"github.com/{parts.path.strip('/').split('/')[0].lower()}"
    if host.endswith(".github.io"):
        return f"github.com/{host.removesuffix('.github.io')}"
    labels = host.split(".")
    return ".".join(labels[-3:] if labels[-2] in _SHARED_LABELS else labels[-2:])


@lru_cache(maxsize=16_384)  # thousands of rows name the same pages
def is_primary(url: str, hosts: frozenset[str]) -> bool:
    """Whether the page is the issuer's, carrier's or authority's own: its host or a parent domain is listed.

    A test host (qa, uat, staging) may show things that were never published.
    """
    labels = (urlsplit(url).hostname or "").split(".")
    if any(_TEST_LABEL.search(label) for label in labels):
        return False
    return any(".".join(labels[at:]) in hosts for at in range(len(labels) - 1))


@lru_cache(maxsize=16_384)
def is_proof(source_url: str, second_source_url: str | None, hosts: frozenset[str]) -> bool:
    """Whether these sources allow an audit: a primary page, or two publishers that do not share a name."""
    if is_primary(source_url, hosts):
        return True
    first, second = find_publisher(source_url), find_publisher(second_source_url or "")
    return bool(first and second) and first != second


def check_provenance(name: str, rows: Mapping[Any, Any], hosts: frozenset[str]) -> list[str]:
    """Checks that facts have sources, dates and audits, and no more confidence than these allow."""
    kind = type(next(iter(rows.values()), None))
    sources = [column for column in getattr(kind, "__dataclass_fields__", ()) if column.endswith("_source")]
    return [f"{name}:{number}: {fault}" for number, row in rows.items() for fault in _find_faults(row, hosts, sources)]


def _find_faults(row: Any, hosts: frozenset[str], sources: Iterable[str]) -> Iterator[str]:
    for column in sources:  # sources of single values; source_url has its own rules
        if getattr(row, column) == GENERAL_KNOWLEDGE and row.confidence not in ("low", "missing"):
            yield f"{column} is {GENERAL_KNOWLEDGE}: confidence {row.confidence} is too high, or its value stays out"
    if row.confidence not in CONFIDENCE:
        yield f"confidence {row.confidence!r} is not one of {', '.join(CONFIDENCE)}"
    if row.as_of is not None and not _WHEN.fullmatch(row.as_of):
        yield f"as_of {row.as_of!r} is not YYYY, YYYY-MM or YYYY-MM-DD"
    if row.source_url == GENERAL_KNOWLEDGE:
        yield from _find_memory_faults(row)
    else:
        yield from _find_source_faults(row, hosts)


def _find_memory_faults(row: Any) -> Iterator[str]:
    if row.confidence not in ("low", "missing"):
        yield f"confidence {row.confidence}, but {GENERAL_KNOWLEDGE} is low"
    if row.as_of is not None:
        yield f"as_of {row.as_of}, but {GENERAL_KNOWLEDGE} has no date: leave as_of empty"
    if row.audited_on is not None or row.second_source_url is not None:
        yield f"audited_on and second_source_url need a source: {GENERAL_KNOWLEDGE} is none"


def _find_source_faults(row: Any, hosts: frozenset[str]) -> Iterator[str]:
    for column, url in (("source_url", row.source_url), ("second_source_url", row.second_source_url)):
        if column == "source_url" and not url:
            yield "source_url is empty"
        elif url and not find_publisher(url):
            yield f"{column} {url!r} is neither an http(s) address nor {GENERAL_KNOWLEDGE!r}"
    if row.audited_on is not None and not is_proof(row.source_url, row.second_source_url, hosts):
        yield (
            "audited_on needs a page of the issuer, carrier or authority (primary_hosts.csv)"
            " or a second_source_url of another publisher"
        )
    if row.confidence == "high" and row.audited_on is None:
        yield "confidence high needs audited_on"
    dated = _DATED.search(row.second_source_url or "") if row.confidence == "high" and row.as_of else None
    if dated and int(row.as_of[:4]) - int(dated[1]) >= _YEARS_APART and not is_primary(row.source_url, hosts):
        # KrisFlyer sold stopovers until 2022, and a page of that year was taken as proof for 2026
        yield f"confidence high, but the second page, of {dated[1]}, shows what held years before {row.as_of}"
