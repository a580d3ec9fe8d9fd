"""Agents that register themselves: what they get, how often, what their keys open, and how a person claims them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from auth_server.accounts import agents, api_keys
from auth_server.app import ROUTES, create_app
from auth_server.sweep import sweep
from auth_server.web.flows import transact
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.oauth import ApiKey
from shared.db.route_monitors import RouteMonitor
from shared.db.trips import Trip
from shared.db.usage import API_CALLS, count_used, take
from shared.errors import PROBLEMS, Invalid, LimitReached
from shared.secrets import digest, mint, well_formed
from shared.settings import STATUS, VERSION
from tests.auth_server.in_process_browser import BASE, BASIC, Browser
from tests.auth_server.test_sweep import whole_database
from tests.support.settings_and_clock import Configure

PATH = "/api/v1/agent/register"


def register(host: TestClient, name: Any = "Trip planner", **more: Any) -> Any:
    return host.post(PATH, json={"agent_name": name}, **more)


def ask_internal(host: TestClient, path: str, **form: str) -> Any:
    return host.post(path, data=form, headers={"authorization": BASIC})


def key_is(host: TestClient, key: str) -> dict[str, Any]:
    answer = ask_internal(host, "/internal/api-key", token=key)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.spec("s4.1.agent_register", "s4.1.agent_gets_key", "s4.1.agent_free_tier")
def test_an_agent_gets_a_free_account_with_a_key_shown_once(host: TestClient) -> None:
    answer = register(host, "  Trip planner – été ")
    body = answer.json()
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert body["api_key"].startswith("awt_ak_")
    assert well_formed(body["api_key"], "awt_ak_")
    assert (body["agent_name"], body["plan"], body["api_calls_per_month"]) == ("Trip planner – été", "free", 50)
    stored = whole_database()
    assert [secret for secret in (body["api_key"], body["claim_code"]) if secret in stored] == []
    assert digest(body["api_key"]) in stored
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        assert (account.public_id, account.plan, account.email) == (body["account_id"], "free", None)


BAD_NAMES: list[Any] = [
    None,
    "",
    "   ",
    7,
    ["x"],
    "x" * 101,
    "a\nb",
    "a\u202eb",
    "\u200b",
    "\u3164",
    "\u2800",
    "Cl\u0430ude",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_must_be_readable(host: TestClient, name: Any) -> None:
    answer = register(host, name)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert (problem["outcome"], problem["errors"][0]["field"]) == ("invalid", "agent_name")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b"agent_name=x", "application/x-www-form-urlencoded", 415),
        (b'{"agent_name": "x"}', "text/plain", 415),
        (b'{"agent_name": "' + b"x" * 17_000 + b'"}', "application/json", 413),
    ],
)
def test_what_is_no_registration_is_a_problem(host: TestClient, body: bytes, kind: str, status: int) -> None:
    answer = host.post(PATH, content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["type"].startswith(f"{BASE}/problems#")


def test_other_methods_are_not_answered(host: TestClient) -> None:
    assert [host.request(method, PATH).status_code for method in ("GET", "PUT", "DELETE")] == [405] * 3


def test_one_address_makes_so_many_agents_an_hour(host: TestClient, configure: Configure, later: Any) -> None:
    configure(AGENTS_PER_HOUR="3")
    answers = [register(host) for _ in range(5)]
    assert [a.status_code for a in answers] == [201] * 3 + [429] * 2
    assert 0 < int(answers[4].headers["retry-after"]) <= 3600
    assert answers[4].json()["outcome"] == "too_many_requests"
    far = TestClient(create_app(), base_url=BASE, client=("203.0.113.4", 1))
    assert register(far).status_code == 201
    later(timedelta(hours=1))
    assert register(host).status_code == 201


def test_one_address_has_a_limit_at_all_doors_together(host: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auth_server.web.rate_limit.PER_MINUTE", 3)
    far = TestClient(create_app(), base_url=BASE, client=("203.0.113.4", 1), follow_redirects=False)
    doors = [
        lambda: far.post("/oauth/token", data={"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x"}),
        lambda: far.get("/signin"),
        lambda: far.post("/oauth/revoke", data={"token": "x", "client_id": "x"}),
        lambda: far.get("/oauth/authorize?client_id=x"),
        lambda: register(far),
        lambda: far.post("/oauth/token", data={"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x"}),
    ]
    answers = [door() for door in doors]
    assert [a.status_code == 429 for a in answers] == [False] * 3 + [True] * 3
    assert all(0 < int(a.headers["retry-after"]) <= 60 for a in answers[3:])
    assert answers[4].headers["content-type"] == "application/problem+json"
    assert host.get("/signin").status_code == 200
    assert ask_internal(far, "/oauth/introspect", token="x").status_code == 200


@pytest.mark.spec("s4.1.agent_document")
def test_agent_json_describes_the_registration(host: TestClient) -> None:
    answer = host.get("/.well-known/agent.json")
    description = answer.json()
    assert (description["version"], description["status"]) == (VERSION, STATUS) == ("0.4.0", "Online")
    assert description["registration"]["endpoint"] == BASE + PATH
    assert description["registration"]["body"].keys() == {"agent_name"}
    assert description["rest"]["calls_per_month"] == {"free": 50, "premium": 150, "pro": 150, "enterprise": 500}
    assert answer.headers["access-control-allow-origin"] == "*"


def test_agent_json_describes_no_registration_where_there_is_none(host: TestClient, configure: Any) -> None:
    configure(AGENT_REGISTRATION="false")
    registration = host.get("/.well-known/agent.json").json()["registration"]
    instead = f"A person with an account makes an API key at {BASE}/dashboard/keys."
    assert registration == {"open": False, "instead": instead}
    assert host.post(PATH, json={"agent_name": "x"}).status_code == 403


def test_each_kind_of_problem_has_its_place_on_the_page_it_names(host: TestClient) -> None:
    page = host.get("/problems")
    assert page.status_code == 200
    assert [word for word in PROBLEMS if f'id="{word}"' not in page.text] == []


@pytest.mark.spec("s4.1.agent_gets_key")
def test_a_key_is_nothing_to_the_oauth_endpoints(host: TestClient, stranger: Browser) -> None:
    key = register(host).json()["api_key"]
    assert ask_internal(host, "/oauth/introspect", token=key).json() == {"active": False}
    assert ask_internal(host, "/oauth/introspect", token=key, token_type_hint="api_key").json() == {"active": False}
    for kind in ("authorization_code", "refresh_token"):
        refused = stranger.token(
            {"grant_type": kind, "code": key, "refresh_token": key, "client_id": stranger.register()}
        )
        assert refused.status_code == 400
    assert stranger.token({"grant_type": "refresh_token", "client_id": key}).status_code in (400, 401)
    assert host.post("/oauth/revoke", data={"token": key, "client_id": stranger.register()}).status_code == 200
    assert key_is(host, key)["active"] is True


def test_only_our_own_programs_may_ask_about_keys(host: TestClient) -> None:
    key = register(host).json()["api_key"]
    for path in ("/internal/api-key", "/internal/session", "/internal/run-token", "/internal/run-end"):
        for headers in ({}, {"authorization": "Basic eDp5"}, {"authorization": f"Bearer {key}"}):
            answer = host.post(path, data={"token": key}, headers=headers)
            assert (answer.status_code, "active" in answer.json()) == (401, False), path
        assert host.get(path).status_code == 405
        assert ask_internal(host, path).json()["error"] == "invalid_request"


def test_a_key_is_described_until_it_is_revoked(host: TestClient, published_events: list[dict[str, Any]]) -> None:
    body = register(host, "Planner").json()
    claims = key_is(host, body["api_key"])
    assert claims == {
        "active": True,
        "iss": BASE,
        "sub": body["account_id"],
        "client_id": claims["client_id"],
        "client_name": "Planner",
        "administer": False,
    }
    with transaction() as session:
        row = session.scalars(select(ApiKey)).one()
        assert row.last_used_at is not None
        assert row.ending == body["api_key"][-4:]
    assert _revoke(row.account_id + 1, row.id) is False
    assert key_is(host, body["api_key"])["active"] is True
    assert [_revoke(row.account_id, row.id) for _ in range(2)] == [True, False]
    assert published_events == [{"token": digest(body["api_key"])}]
    assert key_is(host, body["api_key"]) == {"active": False}


def _revoke(account_id: int, key_id: int) -> bool:
    def flow(uow: UnitOfWork, _: RequestData) -> bool:
        return api_keys.revoke(uow, account_id, key_id)

    return transact(flow, RequestData("POST", "/", ""))


def test_a_disabled_accounts_key_and_unknown_keys_are_inactive(host: TestClient) -> None:
    key = register(host).json()["api_key"]
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=clock.now()))
    for token in (key, mint("awt_ak_"), mint("awt_at_"), "awt_ak_x", "x" * 4000):
        assert key_is(host, token) == {"active": False}


def test_an_account_holds_so_many_keys_and_names_each(ann: Browser) -> None:
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        keys = [api_keys.issue(session, account.id, f"Key {n}") for n in range(api_keys.MAX_KEYS)]
        assert [row.name for row in api_keys.list_active(session, account.id)] == [
            f"Key {n}" for n in reversed(range(10))
        ]
        assert len({key for _, key in keys}) == 10
        with pytest.raises(LimitReached):
            api_keys.issue(session, account.id, "One more")
        with pytest.raises(Invalid):
            api_keys.issue(session, account.id, "\u202e")


def claim(person: Browser, code: str, *, keep_key: bool = True) -> str | None:
    """The words of the refusal, or None when the agent is the person's now."""

    def flow(uow: UnitOfWork, _: RequestData) -> None:
        whose = uow.db.scalars(select(Account).where(Account.public_id == person.public_id)).one()
        agents.claim(uow, whose, code, keep_key=keep_key)

    try:
        transact(flow, RequestData("POST", "/", ""))
    except Invalid as no:
        return no.message
    return None


def test_a_person_claims_an_agent_once_and_its_key_is_theirs(host: TestClient, ann: Browser, bob: Browser) -> None:
    body = register(host).json()
    assert claim(ann, f" {body['claim_code']} ") is None
    assert key_is(host, body["api_key"])["sub"] == ann.public_id
    for person in (ann, bob):
        assert "fits no agent" in (claim(person, body["claim_code"]) or "")
    for code in (body["api_key"], mint("awt_cl_"), "", "x"):
        assert "fits no agent" in (claim(bob, code) or "")
    with transaction() as session:
        assert {a.public_id for a in session.scalars(select(Account))} == {ann.public_id, bob.public_id}


def test_eight_people_at_once_claim_an_agent_and_one_gets_it(host: TestClient, ann: Browser, bob: Browser) -> None:
    body = register(host).json()
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda n: claim((ann, bob)[n % 2], body["claim_code"]), range(8)))
    assert outcomes.count(None) == 1


def test_what_an_agent_recorded_comes_along_and_what_the_person_has_stays(host: TestClient, ann: Browser) -> None:
    body = register(host).json()
    month = clock.today().replace(day=1)
    with transaction() as session:
        ids = dict(session.execute(select(Account.public_id, Account.id)).all())
        agent, person = ids[body["account_id"]], ids[ann.public_id]
        for account_id, points in ((agent, 1), (person, 2)):
            session.add(PointsBalance(account_id=account_id, program="flying-blue", balance=points, as_of=month))
            session.add(Trip(account_id=account_id, name=f"Trip of {points}"))
            take(session, account_id, API_CALLS, month, None, 20)
        session.add(PointsBalance(account_id=agent, program="iberia-club", balance=3, as_of=month))
    assert claim(ann, body["claim_code"]) is None
    with transaction() as session:
        balances = {b.program: b.balance for b in session.scalars(select(PointsBalance))}
        assert balances == {"flying-blue": 2, "iberia-club": 3}
        assert {t.account_id for t in session.scalars(select(Trip))} == {person}
        assert session.scalar(select(func.count()).select_from(Trip)) == 2
        assert count_used(session, person, API_CALLS, month) == 40


def test_monitors_beyond_the_persons_plan_are_paused_and_not_lost(host: TestClient, ann: Browser) -> None:
    body = register(host).json()
    with transaction() as session:
        for account_id in session.scalars(select(Account.id)):
            day = clock.today() + timedelta(days=30)
            session.add(
                RouteMonitor(
                    account_id=account_id,
                    origin="LHR",
                    destination="JFK",
                    earliest_date=day,
                    latest_date=day,
                    passengers=1,
                )
            )
    assert claim(ann, body["claim_code"]) is None
    with transaction() as session:
        monitors = session.scalars(select(RouteMonitor).order_by(RouteMonitor.id)).all()
        assert [m.paused_at is None for m in monitors] == [True, False]


def test_the_tool_servers_hear_of_a_claim(
    host: TestClient, ann: Browser, published_events: list[dict[str, Any]]
) -> None:
    body = register(host).json()
    claim(ann, body["claim_code"])
    assert {"account": body["account_id"]} in published_events


def test_an_agent_cannot_sign_in_or_be_reset(host: TestClient, stranger: Browser) -> None:
    register(host)
    stranger.email = ""
    assert stranger.sign_in().status_code == 401


def test_agents_nobody_used_or_claimed_go_after_thirty_days(host: TestClient, ann: Browser, later: Any) -> None:
    idle, busy, claimed = (register(host, name).json() for name in ("Idle", "Busy", "Claimed"))
    claim(ann, claimed["claim_code"])
    later(timedelta(days=29))
    assert sweep()["accounts"] == 0
    with transaction() as session:
        session.execute(update(Account).where(Account.public_id == busy["account_id"]).values(last_seen_at=clock.now()))
    later(timedelta(days=2))
    assert sweep()["accounts"] == 1
    assert [key_is(host, a["api_key"])["active"] for a in (idle, busy, claimed)] == [False, True, True]
    later(timedelta(days=29))
    assert sweep()["accounts"] == 1
    assert [key_is(host, a["api_key"])["active"] for a in (busy, claimed)] == [False, True]


def test_a_session_is_told_to_our_programs_and_a_strangers_is_not(host: TestClient, ann: Browser) -> None:
    ann.get("/signin")
    before = ask_internal(host, "/internal/session", cookie=ann.cookie or "").json()
    ann.sign_in()
    claims = ask_internal(host, "/internal/session", cookie=ann.cookie or "").json()
    assert before == ask_internal(host, "/internal/session", cookie="x").json() == {"active": False}
    assert (claims["active"], claims["sub"]) == (True, ann.public_id)
    assert abs(claims["auth_time"] - clock.now().timestamp()) < 10


def run_token(host: TestClient, account: str, run_id: str = "run-7") -> Any:
    return ask_internal(host, "/internal/run-token", account=account, run_id=run_id)


def test_a_runs_token_is_short_read_only_and_the_only_one_of_its_run(
    host: TestClient, ann: Browser, later: Any, published_events: list[dict[str, Any]]
) -> None:
    first = run_token(host, ann.public_id).json()
    assert (first["expires_in"], first["token_type"]) == (900, "Bearer")
    claims = ann.introspect(first["access_token"])
    assert (claims["active"], claims["read_only"], claims["sub"]) == (True, True, ann.public_id)
    assert (claims["client_name"], claims["aud"], claims["exp"] - claims["iat"]) == (
        "Standing order",
        "http://127.0.0.1:8001/mcp",
        900,
    )
    other = run_token(host, ann.public_id, "run-70").json()
    second = run_token(host, ann.public_id).json()
    alive = [ann.alive(t["access_token"]) for t in (first, other, second)]
    assert alive == [False, True, True]
    assert published_events == [{"family": claims["family"]}]
    later(timedelta(minutes=15, seconds=1))
    assert ann.alive(second["access_token"]) is False


def test_a_run_that_ends_takes_its_own_token_along_and_no_other(
    host: TestClient, ann: Browser, published_events: list[dict[str, Any]]
) -> None:
    earlier = run_token(host, ann.public_id).json()["access_token"]
    later = run_token(host, ann.public_id).json()["access_token"]
    ordinary = ann.tokens()["access_token"]
    published_events.clear()
    for token in (earlier, ordinary, "unknown"):  # an attempt another worker took over ends last
        assert ask_internal(host, "/internal/run-end", token=token).json() == {}
    assert [ann.alive(t) for t in (earlier, later, ordinary)] == [False, True, True]
    family = ann.introspect(later)["family"]
    assert ask_internal(host, "/internal/run-end", token=later).json() == {}
    assert (ann.alive(later), published_events[-1]) == (False, {"family": family})
    assert ask_internal(host, "/internal/run-end").status_code == 400


def test_no_runs_token_for_unknown_or_disabled_accounts(host: TestClient, ann: Browser) -> None:
    assert run_token(host, "acc_nobody").status_code == 400
    assert run_token(host, ann.public_id, "x" * 41).status_code == 400
    assert run_token(host, ann.public_id, "a b%").status_code == 400
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=clock.now()))
    assert run_token(host, ann.public_id).status_code == 400


def test_ordinary_tokens_are_not_read_only(ann: Browser) -> None:
    assert "read_only" not in ann.introspect(ann.tokens()["access_token"])


def test_nobody_can_authenticate_as_the_client_of_standing_orders(host: TestClient, ann: Browser) -> None:
    run_token(host, ann.public_id)
    client_id = "award-travel-standing-orders"
    ann.sign_in()
    assert ann.authorize(client_id).status_code == 400
    for secret in (None, "", "x"):
        fields = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": client_id, "client_secret": secret}
        assert ann.token(fields).json()["error"] == "invalid_client"


def test_no_page_opens_for_an_agent_without_a_person_and_no_form_is_taken(ann: Browser) -> None:
    """So nothing can be uploaded there, whatever session it has."""
    ann.sign_in()
    with transaction() as session:
        session.execute(update(Account).where(Account.email == ann.email).values(email=None))
    for route in ROUTES:
        if not route.path.startswith("/dashboard") or "{" in route.path:
            continue
        method = "POST" if "POST" in (route.methods or ()) else "GET"
        answer = ann.send(method, route.path)
        assert "dashboard" not in str(answer.headers.get("location", "/signin")).partition("?")[0], route.path
        assert answer.status_code in (302, 303, 400, 403), (method, route.path)
