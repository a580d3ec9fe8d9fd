"""Two auth servers on one database behave as one: what begins at one continues at the other, and nothing counts twice.

What they leave behind, rows and logs at their most talkative, is searched for every secret that passed.
"""

import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from shared.redis import EVENTS, connect
from tests.auth_server.in_process_browser import BASIC, PASSWORD, VERIFIER, Browser
from tests.auth_server.processes import Program, ready, start, stop
from tests.conftest import copied_database

pytestmark = [pytest.mark.slow, pytest.mark.e2e]  # starts two processes


class Both:
    """Stands where one application stands in other tests; each request goes to the other program than the last."""

    def __init__(self, programs: list[Program]) -> None:
        self.programs, self._turn = programs, itertools.cycle(programs)
        self.cookies = httpx.Cookies()

    def request(self, method: str, path: str, **more: Any) -> Any:
        return next(self._turn).request(method, path, **more)

    def post(self, path: str, **more: Any) -> Any:
        return self.request("POST", path, **more)

    def get(self, path: str, **more: Any) -> Any:
        return self.request("GET", path, **more)


@pytest.fixture(scope="module")
def secrets() -> set[str]:
    """Every secret that passed in this module."""
    return {PASSWORD, VERIFIER}


@pytest.fixture(scope="module")
def database(pytestconfig: Any) -> Iterator[str]:
    with copied_database(pytestconfig) as url:
        yield url


@pytest.fixture(scope="module")
def both(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("two")
    programs = [start(folder, name, DATABASE_URL=database, LOG_LEVEL="DEBUG") for name in ("first", "second")]
    try:
        yield Both([ready(program) for program in programs])
    finally:
        for program in programs:
            stop(program)


def _account(database: str, email: str) -> None:
    from auth_server.accounts.accounts import hash_password

    with psycopg.connect(database, autocommit=True) as session:
        session.execute(
            "insert into accounts (public_id, email, password_hash, email_confirmed_at) values (%s, %s, %s, now())",
            (f"acc_{email}", email, hash_password(PASSWORD, email)),
        )


@pytest.fixture(scope="module")
def person(both: Both, database: str, secrets: set[str]) -> Browser:
    _account(database, "two@example.test")
    browser = Browser(both, "two@example.test")  # type: ignore[arg-type]
    browser.sign_in()
    secrets.add(browser.cookie or "")
    return browser


def _collect(secrets: set[str], *answers: dict[str, Any]) -> None:
    for answer in answers:
        secrets |= {answer[kind] for kind in ("access_token", "refresh_token", "id_token") if kind in answer}


def test_a_flow_that_changes_sides_at_every_step_ends_in_tokens(person: Browser, secrets: set[str]) -> None:
    tokens = person.tokens()
    _collect(secrets, tokens)
    again = person.refresh(tokens["client_id"], tokens["refresh_token"]).json()
    _collect(secrets, again)
    assert person.alive(again["access_token"])
    assert person.alive(again["access_token"])
    person.host.post("/oauth/revoke", data={"client_id": tokens["client_id"], "token": again["refresh_token"]})
    assert [person.alive(t["access_token"]) for t in (tokens, again) for _ in range(2)] == [False] * 4


def test_one_code_redeemed_eight_times_on_both_sides_succeeds_once(person: Browser, secrets: set[str]) -> None:
    client_id = person.register()
    for _ in range(3):
        code = person.code(client_id)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _, code=code: person.redeem(client_id, code), range(8)))
        secrets.add(code)
        assert sorted(a.status_code for a in answers) == [200] + [400] * 7
        won = next(a.json() for a in answers if a.status_code == 200)
        _collect(secrets, won)
        assert not person.alive(won["access_token"])


def test_refreshes_on_both_sides_at_once_have_one_successor(person: Browser, secrets: set[str]) -> None:
    tokens = person.tokens()
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: person.refresh(tokens["client_id"], tokens["refresh_token"]), range(6)))
    _collect(secrets, tokens, *(a.json() for a in answers))
    assert [a.status_code for a in answers] == [200] * 6
    assert len({a.json()["refresh_token"] for a in answers}) == 1


def test_a_late_refresh_at_one_side_leaves_the_line_of_the_other(
    person: Browser, database: str, secrets: set[str]
) -> None:
    """Two programs of one installation: one kept a token that the other replaced minutes ago."""
    first = person.tokens()
    second = person.refresh(first["client_id"], first["refresh_token"]).json()
    with psycopg.connect(database, autocommit=True) as session:
        past = "rotated_at - interval '5 minutes'"
        session.execute(f"update oauth_refresh_tokens set rotated_at = {past} where rotated_at is not null")
    with ThreadPoolExecutor(5) as pool:
        shown = [first, first, first, first, second]
        *late, fresh = pool.map(lambda line: person.refresh(first["client_id"], line["refresh_token"]), shown)
    assert [answer.status_code for answer in (*late, fresh)] == [400] * 4 + [200]
    _collect(secrets, first, second, fresh.json())


def test_both_sign_with_the_same_keys(person: Browser, both: Both, secrets: set[str]) -> None:
    sets = [program.request("GET", "/oauth/jwks").json() for program in both.programs]
    assert sets[0] == sets[1]
    tokens = [person.tokens()["id_token"] for _ in range(2)]
    secrets |= set(tokens)
    for token in tokens:
        assert jwt.decode(token, KeySet.import_key_set(sets[0]), algorithms=["RS256"]).claims["email"] == person.email


def test_guesses_are_counted_together(both: Both, database: str) -> None:
    _account(database, "guessed@example.test")
    stranger = Browser(both, "guessed@example.test")  # type: ignore[arg-type]
    codes = [stranger.sign_in("not the password").status_code for _ in range(12)]
    assert codes == [401] * 10 + [429] * 2


def test_signing_out_at_one_ends_the_session_at_the_other(both: Both, database: str, secrets: set[str]) -> None:
    from tests.auth_server.in_process_browser import hidden

    _account(database, "leaving@example.test")
    leaving = Browser(both, "leaving@example.test")  # type: ignore[arg-type]
    leaving.sign_in()
    cookie = leaving.cookie or ""
    secrets.add(cookie)
    page = leaving.get("/dashboard").text
    leaving.post("/signout", {"csrf": hidden(page[page.index("/signout") :], "csrf")})
    leaving.cookie = cookie
    assert [leaving.get("/dashboard").status_code for _ in range(2)] == [302, 302]


def test_identical_registrations_on_both_sides_at_once_make_one_client(both: Both) -> None:
    body = {"client_name": "Twice", "redirect_uris": ["http://localhost/cb"]}
    with ThreadPoolExecutor(6) as pool:
        client_ids = list(pool.map(lambda _: both.post("/oauth/register", json=body).json()["client_id"], range(6)))
    assert len(set(client_ids)) == 1


def test_revocation_is_told_on_the_channel_by_either_and_names_no_token(person: Browser, secrets: set[str]) -> None:
    tokens = person.tokens()
    _collect(secrets, tokens)
    family = person.introspect(tokens["access_token"])["family"]
    with connect().pubsub() as channel:
        channel.subscribe(EVENTS)
        assert channel.get_message(timeout=5) is not None
        person.host.post("/oauth/revoke", data={"client_id": tokens["client_id"], "token": tokens["refresh_token"]})
        message = channel.get_message(timeout=5)
    assert message is not None
    assert json.loads(message["data"]) == {"family": family}


def test_nothing_secret_is_left_in_the_rows_or_in_logs_of_the_most_talkative_kind(
    person: Browser, both: Both, database: str, secrets: set[str]
) -> None:
    _collect(secrets, *(person.tokens() for _ in range(4)))
    with psycopg.connect(database) as session:
        tables = session.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        dump = "\n".join(
            str(row) for (name,) in tables for row in session.execute(f'select t::text from "{name}" t').fetchall()
        )
    logs = "\n".join(program.log.read_text(encoding="utf-8") for program in both.programs)
    secrets |= {BASIC.removeprefix("Basic "), "test-service-secret-0123456789-01"} - {""}
    assert len(secrets) > 15
    assert "two@example.test" in dump
    assert [s[:12] for s in secrets if s in dump or s in logs] == []
    assert "Traceback" not in logs
