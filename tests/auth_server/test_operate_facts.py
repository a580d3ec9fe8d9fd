"""The operators' page of facts: its four lists, and closing what a person or a source said."""

import re
from datetime import date, timedelta
from typing import Any

import pytest

from shared import clock
from shared.db.audit import AuditFinding
from shared.db.base import transaction
from shared.db.fact_reports import FactReport
from shared.db.overrides import ReferenceOverride
from shared.db.source_watch import SourceItem
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_operate import WHY, make_operator, trail

PAGE = "/operate/facts"
FILE = "transfer_partners.csv"


def add_items(text: str = "the ratio is <1:1>") -> str:
    """One open item for each list, and one of each that is over; the name of the open report."""
    today = clock.today()
    seen = {"first_seen_on": today, "last_seen_on": today, "link": "https://source.example.test/file.csv"}
    source = {"source": "opendata", "file": FILE, "key": text, "ours": "1", "theirs": text}
    found = {"file": FILE, "text": text, "since": date.min, "first_found_on": today, "last_found_on": today}
    cells = {"bank": "chase", "ratio": text, "note": ""}
    correction = {"file": FILE, "cells": cells, "entered_by": "me", "reason": text}
    with transaction() as session:
        report = FactReport(file=FILE, key="Chase to Hyatt", wrong=text, mail="kim@example.test", link=None)
        session.add_all(
            [
                report,
                FactReport(file=FILE, key="old", wrong="over", closed_on=today),
                SourceItem(**source, field="ratio", **seen),
                SourceItem(**source, field="name", **seen, ended_on=today),
                SourceItem(**source, field="source", **seen),
                AuditFinding(**found, kind="undated", key=text),
                AuditFinding(**found, kind="reported", key="report 1"),
                AuditFinding(**found, kind="undated", key="over", ended_on=today),
                ReferenceOverride(**correction, key="a", removed=False),
                ReferenceOverride(**correction, key="b", removed=True),
            ]
        )
        session.flush()
        return f"R{report.id}"


def close(browser: Browser, item: str, **fields: str) -> Any:
    return send(browser, f"{PAGE}/close?item={item}", f"{PAGE}/close", **{"item": item, "reason": WHY} | fields)


def test_each_list_says_what_is_open(ann: Browser) -> None:
    make_operator(ann)
    name = add_items()
    page = ann.get(PAGE).text
    assert re.findall(r'list=\w+"(?: aria-current="page")?>([^<]+)<', page) == [
        "Reported by people (1)",
        "Sources that differ (2)",
        "Found by the audit (1)",
        "Corrections in force (2)",
    ]
    assert re.findall(r"close\?item=(\w+)", page) == [name]
    assert "the ratio is &lt;1:1&gt;; from kim@example.test" in page
    differences = ann.get(f"{PAGE}?list=differences").text
    assert "ratio here: 1; in opendata: the ratio is" in differences
    assert re.findall(r"\((D\d+)\)</span>", differences) == re.findall(r"close\?item=(\w+)", differences)
    findings = ann.get(f"{PAGE}?list=findings").text
    assert ("undated, undated<" in findings, "report 1" in findings, "close?item" in findings) == (True, False, False)
    corrections = ann.get(f"{PAGE}?list=corrections").text
    assert "bank=chase, ratio=the ratio" in corrections
    assert ", removed<" in corrections
    assert ann.get(f"{PAGE}?list=secrets").status_code == 404


def test_a_report_is_closed_with_the_reason_and_its_address_forgotten(ann: Browser) -> None:
    make_operator(ann)
    name, actor = add_items(), f"admin:{ann.public_id}"
    assert "Chase to Hyatt" in ann.get(f"{PAGE}/close?item={name}").text
    assert close(ann, name).headers["location"] == f"{PAGE}?done=closed"
    assert ann.get(f"{PAGE}/close?item={name}").status_code == 404
    with transaction() as session:
        row = session.get_one(FactReport, int(name[1:]))
        assert (row.closed_on, row.closed_by, row.closed_reason, row.mail) == (clock.today(), actor, WHY, None)
    assert trail() == [(actor, "fact close", f"fact:{name}", f"{FILE}, Chase to Hyatt", WHY)]


def test_a_difference_is_closed_too(ann: Browser) -> None:
    make_operator(ann)
    add_items()
    name = re.findall(r"close\?item=(D\d+)", ann.get(f"{PAGE}?list=differences").text)[0]
    assert close(ann, name).headers["location"] == f"{PAGE}?done=closed"
    assert name not in ann.get(f"{PAGE}?list=differences").text


@pytest.mark.parametrize("name", ["", "R", "R0", "X1", "1", "R\u00b2", f"D{'9' * 19}", "R-1"])
def test_an_item_nobody_has_is_not_there(ann: Browser, name: str) -> None:
    make_operator(ann)
    add_items()
    assert ann.get(f"{PAGE}/close?item={name}").status_code == 404


def test_nothing_is_closed_without_a_reason(ann: Browser) -> None:
    make_operator(ann)
    name = add_items()
    assert close(ann, name, reason=" ").status_code == 422
    assert name in ann.get(PAGE).text
    assert trail() == []


def test_pages_of_facts_are_small_and_turned(ann: Browser) -> None:
    make_operator(ann)
    text, today = "'" * 2000, clock.today()
    with transaction() as session:
        session.add_all(FactReport(file=FILE, key=text, wrong=text) for _ in range(15))
        for n in range(15):
            day = {"since": today - timedelta(days=n), "first_found_on": today, "last_found_on": today}
            session.add(AuditFinding(kind="old", file=FILE, key=f"{n}{text}", text=text, **day))
            values = {"cells": {"ratio": text}, "removed": False, "entered_by": "me", "reason": text}
            session.add(ReferenceOverride(file=FILE, key=str(n), **values))
    for name in ("reports", "findings", "corrections"):
        pages = [ann.get(f"{PAGE}?list={name}&page={n}") for n in (1, 2, 3)]
        assert [page.text.count(f"<b>{FILE}</b>") for page in pages] == [12, 3, 0]
        assert max(len(page.content) for page in pages) < 30_000
    item = re.findall(r"close\?item=(R\d+)", ann.get(PAGE).text)[0]
    assert len(ann.get(f"{PAGE}/close?item={item}").content) < 12_000
