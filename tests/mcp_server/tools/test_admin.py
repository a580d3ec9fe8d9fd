"""The list of accounts for administrators: filters, pages, and refusal of everyone else."""

from typing import Any

import pytest

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People, account


def emails(made: dict[str, Any]) -> list[str]:
    return [u["email"] for u in made["users"]]


@pytest.mark.spec("s5.9.admin_decides")
def test_admin_list_users_is_for_admins_whatever_their_plan(people: People, use: Use) -> None:
    assert use(people.paula, "admin_list_users") == {
        "data_mode": "sandbox",
        "notice": "SANDBOX - invented data for testing. Not real availability or prices.",
        "status": "admin_only",
        "message": "admin_list_users is for administrators only.",
    }
    assert use(people.ada, "admin_list_users")["status"] == "ok"


def test_admin_list_users_shows_every_account_oldest_first(people: People, use: Use) -> None:
    answer = use(people.ada, "admin_list_users")
    assert emails(answer) == [f"{n}@example.test" for n in ("alice", "bob", "charlie", "paula", "ada")]
    assert answer["users"][3]["tier"] == "pro"
    assert set(answer["users"][0]) == {"id", "email", "tier", "created_at", "last_seen_at"}
    assert answer["paging"] == {"page": 1, "per_page": 20, "total": 5, "has_more": False}


@pytest.mark.spec("s4.4.admin_list_users.params")
@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("LIE@", ["charlie@example.test"]),
        ("_", ["under_score@example.test"]),
        ("%", ["per%cent@example.test"]),
        ("\\", ["back\\slash@example.test"]),
        ("nobody", []),
        ("a'; drop table accounts; --", []),
    ],
)
def test_admin_list_users_takes_the_search_literally(people: People, use: Use, search: str, found: list[str]) -> None:
    for name in ("under_score", "per%cent", "back\\slash"):
        account(name)
    assert emails(use(people.ada, "admin_list_users", search=search)) == found


def test_admin_list_users_shows_agents_without_mail_but_finds_none_by_it(people: People, use: Use) -> None:
    agent = account("agent", Plan.FREE)
    with transaction() as session:
        session.get_one(Account, agent.account_id).email = None
    assert emails(use(people.ada, "admin_list_users"))[-1] is None
    assert use(people.ada, "admin_list_users", search="")["paging"]["total"] == 6
    assert use(people.ada, "admin_list_users", search="@")["paging"]["total"] == 5


@pytest.mark.spec("s4.4.admin_list_users.params", "s8.ranges_as_listed")
def test_admin_list_users_pages_within_its_bounds(people: People, use: Use) -> None:
    second = use(people.ada, "admin_list_users", page=2, per_page=2)
    assert emails(second) == ["charlie@example.test", "paula@example.test"]
    assert second["paging"] == {"page": 2, "per_page": 2, "total": 5, "has_more": True}
    assert emails(use(people.ada, "admin_list_users", page=10**9, per_page=100)) == []
    for bad in ({"page": 0}, {"per_page": 0}, {"per_page": 101}, {"page": 10**19}, {"search": "x" * 121}):
        assert use(people.ada, "admin_list_users", **bad)["status"] == "invalid"


def test_admin_list_users_sends_the_same_statements_for_any_number(
    people: People, use: Use, queries: list[str]
) -> None:
    use(people.ada, "admin_list_users")
    for per_page, statements in ((1, 2), (100, 1)):  # what a first page holds in full is not counted once more
        queries.clear()
        use(people.ada, "admin_list_users", per_page=per_page)
        assert len(queries) == statements
