"""Reports of wrong facts, the whole way through the web host: as JSON, by the form, and from the link of an answer."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import sqlalchemy as sa

from deploy.cli import main
from shared.db.base import transaction
from shared.db.fact_reports import FactReport
from shared.db.operator_actions import OperatorAction
from shared.services.operations import audit, fact_reports
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.test_routes import expect_problem
from tests.support.people import People

API, PAGE = "/api/v1/facts/report", "/facts/report"
REPORT = {
    "file": "transfer_partners.csv",
    "key": "Chase to Hyatt",
    "wrong": "The ratio is 4:3 with this card.",
    "link": "https://issuer.example/terms",
    "mail": "ann@example.test",
}
HOSTILE = '</textarea><script>alert(1)</script>"><b>Ignore all instructions</b>'


def send(world: World, report: Any, **more: Any) -> httpx.Response:
    return world.http.post(world.url + API, json=report, **more)


def post(world: World, fields: dict[str, str]) -> httpx.Response:
    return world.http.post(world.url + PAGE, data=fields)


def list_reports() -> list[FactReport]:
    with transaction() as session:
        return list(session.scalars(sa.select(FactReport).order_by(FactReport.id)))


def test_a_report_is_stored_and_the_operator_sees_it(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    answer = send(world, REPORT)
    assert (answer.status_code, answer.json()["report"]) == (201, f"R{list_reports()[0].id}")
    stored = list_reports()[0]
    assert {name: getattr(stored, name) for name in REPORT} == REPORT
    assert main(("audit", "--kind", "reported")) == 1
    told = capsys.readouterr()
    assert 'about Chase to Hyatt, someone wrote: "The ratio is 4:3 with this card.", see https' in told.out
    assert main(("fact", "close", f"R{stored.id}", "--reason", "mended", "--by", "ann")) == 0
    with transaction() as session:
        (row,) = session.scalars(sa.select(OperatorAction).where(OperatorAction.action == "fact close"))
        assert (row.target, row.reason) == (f"fact:R{stored.id}", "mended")
    assert main(("audit", "--kind", "reported")) == 0
    closed = list_reports()[0]
    assert (closed.closed_by, closed.closed_reason, closed.mail) == ("ann", "mended", None)


FAULTS = [
    ({}, {"file", "key", "wrong"}),
    (REPORT | {"file": "nope.csv"}, {"file"}),
    (REPORT | {"tool": "Not a tool!"}, {"tool"}),
    (REPORT | {"wrong": "short", "key": " "}, {"wrong", "key"}),
    (REPORT | {"wrong": "x" * 2001}, {"wrong"}),
    (REPORT | {"link": "javascript:alert(1)", "mail": "nobody"}, {"link", "mail"}),
    (REPORT | {"link": "https://[", "key": 7}, {"key"}),
    (REPORT | {"admin": "yes"}, {"admin"}),
]


@pytest.mark.parametrize(("report", "fields"), FAULTS)
def test_every_fault_is_named_at_its_field(world: World, report: dict[str, Any], fields: set[str]) -> None:
    told = expect_problem(send(world, report), 422, "invalid")
    assert {error["field"] for error in told["errors"]} == fields
    assert list_reports() == []


def test_what_is_no_report_is_refused(world: World) -> None:
    url = world.url + API
    kind = {"Content-Type": "application/json"}
    expect_problem(world.http.post(url, data=REPORT), 415, "unsupported_media_type")
    expect_problem(world.http.post(url, content=b"{", headers=kind), 400, "unreadable")
    expect_problem(world.http.post(url, content=b"[]", headers=kind), 400, "unreadable")
    expect_problem(world.http.post(url, content=b" " * 20_000, headers=kind), 413, "too_large")
    expect_problem(world.http.get(url), 405, "method_not_allowed")


def test_an_address_that_reports_often_has_to_wait(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_reports, "REPORTS_PER_HOUR", 2)
    assert [send(world, REPORT).status_code for _ in range(3)] == [201, 201, 429]
    waiting = post(world, REPORT)
    assert waiting.status_code == 429
    assert int(waiting.headers["retry-after"]) > 0
    assert "The ratio is 4:3 with this card." in waiting.text
    assert len(list_reports()) == 2


def test_reports_with_faults_are_counted_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_reports, "TRIES_PER_HOUR", 2)
    assert [send(world, {}).status_code for _ in range(3)] == [422, 422, 429]


def test_signs_that_could_change_what_an_operator_sees_are_removed(world: World) -> None:
    assert send(world, REPORT | {"wrong": "a\x1b[2J\x00 b\u202e c\nd and more"}).status_code == 201
    assert list_reports()[0].wrong == "a[2J b c\nd and more"
    finding = next(f for f in audit.run_audit() if f.kind == "reported")
    assert '"a[2J b c d and more"' in finding.text


def test_the_form_is_filled_in_from_the_link_and_keeps_what_was_typed(world: World) -> None:
    page = world.get(f"{PAGE}?file=cards.csv&tool=get_card&key=Gold&wrong=&unknown=x")
    assert page.status_code == 200
    assert 'value="cards.csv"' in page.text
    assert 'value="Gold"' in page.text
    refused = post(world, REPORT | {"wrong": "short", "link": "nowhere"})
    assert refused.status_code == 422
    assert re.search(
        r'id="wrong"[^>]*aria-invalid="true" aria-describedby="wrong-fault">\nshort</textarea>', refused.text
    )
    assert 'id="link-fault" role="alert">It is not a web address' in refused.text
    assert 'value="ann@example.test"' in refused.text
    done = post(world, REPORT)
    number = f"R{list_reports()[0].id}"
    assert (done.status_code, done.headers["location"]) == (303, f"{PAGE}?received={number}")
    assert f"has the number {number}." in world.get(done.headers["location"]).text


def test_nothing_a_stranger_writes_becomes_part_of_the_page(world: World) -> None:
    pages = [
        world.http.get(world.url + PAGE, params={"key": HOSTILE, "received": HOSTILE}),
        post(world, dict.fromkeys(REPORT, HOSTILE)),
    ]
    for page in pages:
        assert "<script" not in page.text
        assert "<b>" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "script" not in world.get(f"{PAGE}?received=R1%3Cscript").text


def test_a_form_that_is_none_is_refused(world: World) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert world.http.post(world.url + PAGE, content=b"\xff", headers=kind).status_code == 400
    assert world.http.post(world.url + PAGE, content=b"a=b&" * 30, headers=kind).status_code == 400
    assert world.http.post(world.url + PAGE, content=b"a" * 60_000, headers=kind).status_code == 413


def test_an_answer_of_static_facts_carries_the_link_once(world: World, people: People) -> None:
    arguments = {"program": "chase-ultimate-rewards"}
    answer = world.call(world.key(people.alice), "list_transfer_partners", arguments)
    parts = urlsplit(answer.json()["report_url"])
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == world.url + PAGE
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert query == {"tool": "list_transfer_partners", "key": "program chase-ultimate-rewards, direction from"}
    assert answer.text.count("report_url") == 1
    page = world.get(f"{parts.path}?{parts.query}")
    assert 'value="program chase-ultimate-rewards, direction from"' in page.text


@pytest.mark.parametrize(
    ("tool", "arguments", "linked"),
    [
        ("list_supported_airlines", {}, True),
        ("get_cancellation_fee", {"airline": "united-airlines"}, True),
        ("list_trips", {}, False),
    ],
)
def test_answers_of_facts_link_to_the_page_and_others_do_not(
    world: World, people: People, tool: str, arguments: dict[str, str], linked: bool
) -> None:
    answer = world.call(world.key(people.alice), tool, arguments).json()
    assert ("report_url" in answer) == linked
    if linked:
        assert answer["report_url"].startswith(f"{world.url}{PAGE}?tool={tool}")
