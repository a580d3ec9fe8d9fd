"""The operators' page of the trail: the newest first, by pages, of all targets or of one, each action whole."""

import re

import pytest

from shared.db.base import transaction
from shared.db.operator_actions import OperatorAction
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_operate import make_operator

TRAIL = "/operate/trail"


def add_actions(number: int, target: str, **columns: str) -> list[int]:
    with transaction() as session:
        rows = [OperatorAction(actor="cli:me", action="plan", target=target, **columns) for _ in range(number)]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]


def list_shown(browser: Browser, query: str = "") -> list[int]:
    return [int(n) for n in re.findall(rf"{TRAIL}/show\?id=(\d+)", browser.get(TRAIL + query).text)]


def test_the_trail_is_read_to_its_end_by_pages(ann: Browser) -> None:
    make_operator(ann)
    numbers = sorted(add_actions(45, "client:x"), reverse=True)
    shown: list[list[int]] = []
    query = ""
    for _ in range(3):
        shown.append(list_shown(ann, query))
        older = re.search(r"\?before=(\d+)", ann.get(TRAIL + query).text)
        query = older[0] if older else "end"
    assert [len(page) for page in shown] == [20, 20, 5]
    assert [number for page in shown for number in page] == numbers
    assert query == "end"


def test_the_trail_of_one_account_with_its_address(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    mine, others = add_actions(21, bob.public_id, reason="by <letter>"), add_actions(2, "provider:x")
    query = f"?target={bob.public_id}"
    assert list_shown(ann, query) == sorted(mine, reverse=True)[:20]
    page = ann.get(TRAIL + query).text
    assert f"before={mine[1]}" in page
    assert f"target={bob.public_id}" in page.partition("Older")[0].rpartition("href")[2]
    assert bob.email in page
    assert "by &lt;letter&gt;" in page
    assert list_shown(ann)[:2] == sorted(others, reverse=True)


def test_one_action_whole(ann: Browser, bob: Browser) -> None:
    make_operator(ann)
    reason = f"{'w' * 400} the end"
    (number,) = add_actions(1, bob.public_id, reason=reason, detail="free -> pro")
    page = ann.get(f"{TRAIL}/show?id={number}").text
    assert reason in page
    assert "free -&gt; pro" in page
    assert f"/operate/users/show?id={bob.public_id}" in page
    assert reason not in ann.get(TRAIL).text


@pytest.mark.parametrize("name", ["", "x", "\u00b2", "9" * 19, "0"])
def test_what_does_not_stand_in_the_trail_is_not_there(ann: Browser, name: str) -> None:
    make_operator(ann)
    assert ann.get(f"{TRAIL}/show?id={name}").status_code == 404
    assert ann.get(f"{TRAIL}?before={name}&target={name}").status_code == 200


def test_a_page_of_the_trail_is_small(ann: Browser) -> None:
    make_operator(ann)
    add_actions(25, "t" * 200, reason="'" * 500, detail="'" * 500)
    assert len(ann.get(TRAIL).content) < 30_000
