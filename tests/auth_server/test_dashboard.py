"""The dashboard: plan and use, API keys, applications made by hand, settings and the advisor's logo."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from auth_server import app as routes
from auth_server.accounts import api_keys
from auth_server.accounts.security_events import record_event
from auth_server.pages import member, oauth_apps
from auth_server.pages import settings as pages_settings
from auth_server.pages.logo import read_logo
from auth_server.web import sessions
from auth_server.web.rendering import _environment
from auth_server.web.static_files import TEMPLATES
from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey, Client
from shared.db.profile import AdvisorLogo, Profile, find_addressee
from shared.db.usage import API_CALLS, SEARCHES, take
from shared.domain.dates import format_weekday
from shared.secrets import digest, well_formed
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.test_sweep import whole_database

ICON = (Path(__file__).parents[2] / "auth_server" / "templates" / "icon.png").read_bytes()
OOB = "urn:ietf:wg:oauth:2.0:oob"


def on_plan(plan: str) -> None:
    with transaction() as session:
        session.execute(update(Account).values(plan=plan))


def csrf(browser: Browser, page: str, action: str) -> str:
    match = re.search(rf'action="{action}".*?name="csrf" value="([^"]*)"', browser.get(page).text, re.S)
    assert match is not None, f"no form for {action} on {page}"
    return match[1]


def send(browser: Browser, page: str, action: str, **fields: str) -> Any:
    return browser.post(action, {"csrf": csrf(browser, page, action)} | fields)


PAGES = sorted(
    re.sub(r"{\w+}", "1", route.path) for route in routes.DASHBOARD if route.methods and "GET" in route.methods
)
UPLOADS = ("/dashboard/logo", "/dashboard/sheets/upload", "/dashboard/spending")
FORMS = sorted(
    re.sub(r"{\w+}", "1", route.path.replace("{name}", "acme"))
    for route in routes.DASHBOARD
    if route.methods == {"POST"}
)


def test_whoever_is_signed_out_signs_in_first_and_comes_back(stranger: Browser) -> None:
    answers = {path: stranger.get(path) for path in PAGES}
    found = {path: (answer.status_code, answer.headers.get("location")) for path, answer in answers.items()}
    asking = {path: f"/signin?return_to={path}" for path in PAGES}
    assert [f"{path}: {found[path]}" for path in PAGES if found[path] != (302, asking[path])] == []
    pages = [path for path in PAGES if path != "/dashboard/logo"]  # a picture on a page, not a page
    assert [path for path in pages if hidden(stranger.get(asking[path]).text, "return_to") != path] == []


@pytest.mark.slow  # 550 requests
@pytest.mark.usefixtures("outside")
def test_no_form_is_taken_without_its_own_token(ann: Browser) -> None:
    ann.sign_in()
    claim, taken = csrf(ann, "/dashboard/account", "/dashboard/claim"), []
    fields = {"password": PASSWORD, "name": "x", "client_id": "x", "session": "x", "key_id": "1"}
    before = whole_database()
    for path in FORMS:
        for token in ("", "x", "\u00e9", claim if path != "/dashboard/claim" else "y"):
            if path in UPLOADS:
                answer = ann.send("POST", path, data={"csrf": token}, files={"file": ("a.png", ICON)})
            else:
                answer = ann.post(path, fields | {"csrf": token})
            if answer.status_code not in ((400, 403) if token == "\u00e9" else (403,)):
                taken.append(f"{path}: {answer.status_code} with the token {token:.9}")
        if ann.post(path, fields, headers={"sec-fetch-site": "cross-site"}).status_code != 403:
            taken.append(f"{path}: from another site")
    assert taken == []
    assert whole_database() == before


def test_plan_and_use_are_shown_as_they_are_counted(ann: Browser) -> None:
    with transaction() as session:
        id = session.scalars(select(Account.id)).one()
        take(session, id, SEARCHES, clock.today(), None, 3)
        take(session, id, API_CALLS, clock.today().replace(day=1), None, 12)
        session.execute(update(Account).values(api_calls_per_month=777))
    ann.sign_in()
    text = re.sub(r"<[^>]+>|\s+", " ", ann.get("/dashboard/account").text)
    words = re.sub(r" +", " ", text)
    assert "Free plan" in words
    for part in ("Searches today 3 of 5", "API calls this month 12 of 777", "Route monitors 0 of 1"):
        assert part in words
    on_plan("premium")
    assert "without a limit" in ann.get("/dashboard/account").text


def test_the_rail_says_where_one_is() -> None:
    paths = ("/dashboard", "/dashboard/keys", "/dashboard/api-apps/new", "/dashboard/spending")
    beside = ["", "/dashboard/keys", "/dashboard/api-apps", ""]
    assert [member.find_address(path, member.SECTIONS[-1]) for path in paths] == beside
    assert [member.find_address(path, member.PLACES) for path in (paths[0], paths[3])] == ["/dashboard", "/dashboard"]


def test_a_group_of_pages_begins_with_its_place() -> None:
    assert {group[0][0] for group in member.SECTIONS} <= {to for to, *_ in member.PLACES}


def test_a_page_of_the_account_marks_its_tab_and_the_account(ann: Browser) -> None:
    ann.sign_in()
    marked = re.findall(r'<a href="([^"]+)" aria-current="(\w+)"', ann.get("/dashboard/keys").text)
    assert marked == [("/dashboard/account", "true"), ("/dashboard/keys", "page")]
    assert re.findall(r'<a href="([^"]+)" aria-current', ann.get("/dashboard").text) == ["/dashboard"]


# --- API keys


def test_a_key_is_shown_once_and_revoked_at_once(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    ann.sign_in()
    page = send(ann, "/dashboard/keys", "/dashboard/keys", name="laptop")
    key = re.search(r"awt_ak_\w+", page.text)
    assert key is not None
    assert well_formed(key[0], api_keys.PREFIX)
    assert page.headers["cache-control"] == "no-store"
    later = ann.get("/dashboard/keys").text
    assert key[0] not in later + whole_database()
    assert "laptop" in later
    assert f"ends in {key[0][-4:]}" in later
    gone = send(ann, "/dashboard/keys", "/dashboard/keys/revoke", key_id=hidden(later, "key_id"))
    assert gone.headers["location"] == "/dashboard/keys?done=revoked"
    assert published_events[-1] == {"token": digest(key[0])}
    assert "You have no key yet" in ann.get("/dashboard/keys").text


def test_nobody_revokes_another_persons_key(ann: Browser, bob: Browser) -> None:
    ann.sign_in()
    bob.sign_in()
    send(ann, "/dashboard/keys", "/dashboard/keys", name="laptop")
    send(bob, "/dashboard/keys", "/dashboard/keys", name="other")
    theirs = hidden(ann.get("/dashboard/keys").text, "key_id")
    for key_id in (theirs, "0", "-1", "x", "9" * 30):
        assert send(bob, "/dashboard/keys", "/dashboard/keys/revoke", key_id=key_id).status_code == 404
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ApiKey).where(ApiKey.revoked_at.is_(None))) == 2


def test_a_key_needs_a_name_and_there_are_only_so_many(ann: Browser) -> None:
    ann.sign_in()
    assert send(ann, "/dashboard/keys", "/dashboard/keys", name="").status_code == 422
    answers = [send(ann, "/dashboard/keys", "/dashboard/keys", name=f"k{n}") for n in range(api_keys.MAX_KEYS + 1)]
    assert [answer.status_code for answer in answers] == [200] * api_keys.MAX_KEYS + [422]
    assert "at most 10" in answers[-1].text


# --- applications made by hand


def make_app(browser: Browser, name: str = "My site", uris: str = f"https://site.example/back\r\n{OOB}") -> Any:
    return send(browser, "/dashboard/api-apps/new", "/dashboard/api-apps/new", name=name, redirect_uris=uris)


@pytest.mark.spec("s4.1.api_apps_page", "s4.1.api_apps_credentials")
def test_an_application_gets_an_id_and_a_secret_shown_once(ann: Browser) -> None:
    on_plan("premium")
    ann.sign_in()
    page = make_app(ann)
    secret = re.search(r"awt_cs_\w+", page.text)
    assert secret is not None
    assert secret[0] not in ann.get("/dashboard/api-apps").text + whole_database()
    with transaction() as session:
        app = session.scalars(select(Client)).one()
    assert (app.kind, app.auth_method, app.name) == ("manual", "client_secret", "My site")
    assert app.redirect_uris == ["https://site.example/back", OOB]
    assert app.secret_hash == digest(secret[0])
    assert app.client_id in page.text


@pytest.mark.parametrize("how", ["post", "basic"])
def test_the_application_signs_people_in_with_its_secret(ann: Browser, bob: Browser, how: str) -> None:
    import base64

    on_plan("premium")
    ann.sign_in()
    page = make_app(ann)
    client_id, secret = re.findall(r"<code>((?:app_|awt_cs_)\w+)</code>", page.text)
    uri = "https://site.example/back"
    code = bob.code(client_id, redirect_uri=uri)
    pair = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": uri, "client_id": client_id}
    fields["code_verifier"] = "v" * 21 + "-._~" + "0123456789" * 3 + "abcdefghi"
    more: dict[str, Any] = {"headers": {"authorization": f"Basic {pair}"}} if how == "basic" else {}
    answer = bob.token(fields | ({} if how == "basic" else {"client_secret": secret}), **more)
    assert answer.status_code == 200, answer.text
    assert bob.alive(answer.json()["access_token"])


@pytest.mark.spec("s5.4.confidential_needs_premium")
def test_new_applications_need_premium_and_old_ones_stay(ann: Browser) -> None:
    ann.sign_in()
    assert ann.get("/dashboard/api-apps/new").status_code == 403
    on_plan("premium")
    token = csrf(ann, "/dashboard/api-apps/new", "/dashboard/api-apps/new")
    make_app(ann)
    on_plan("free")
    fields = {"csrf": token, "name": "Another", "redirect_uris": OOB}
    refused = ann.post("/dashboard/api-apps/new", fields)
    assert refused.status_code == 403
    assert 'href="/plans"' in refused.text
    page = ann.get("/dashboard/api-apps").text
    assert "My site" in page
    rotated = send(ann, "/dashboard/api-apps", "/dashboard/api-apps/rotate", client_id=hidden(page, "client_id"))
    assert "awt_cs_" in rotated.text


@pytest.mark.parametrize(
    "uris",
    [
        "",
        "http://site.example/back",
        "https://site.example/#x",
        "https://user@site.example/",
        "https://*.site.example/",
        "javascript:alert(1)",
        "https://site.example:8443/",
        f"{OOB}:auto",
        "https://good.example/ http://bad.example/",
        " ".join(f"https://site.example/{n}" for n in range(11)),
    ],
)
def test_a_redirect_uri_nobody_should_use_is_refused(ann: Browser, uris: str) -> None:
    on_plan("premium")
    ann.sign_in()
    answer = make_app(ann, uris=uris)
    assert answer.status_code == 422
    assert "aria-invalid" in answer.text
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Client)) == 0


def test_an_application_needs_a_name_and_there_are_only_so_many(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oauth_apps, "MAX_APPS", 2)
    on_plan("premium")
    ann.sign_in()
    assert make_app(ann, name=" ").status_code == 422
    assert [make_app(ann, name=f"a{n}").status_code for n in range(3)] == [200, 200, 422]


def test_a_new_secret_replaces_the_old_one(ann: Browser) -> None:
    on_plan("premium")
    ann.sign_in()
    page = make_app(ann)
    client_id, old = re.findall(r"<code>((?:app_|awt_cs_)\w+)</code>", page.text)
    again = send(ann, "/dashboard/api-apps", "/dashboard/api-apps/rotate", client_id=client_id)
    _, new = re.findall(r"<code>((?:app_|awt_cs_)\w+)</code>", again.text)
    fields = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": client_id}
    assert ann.token(fields | {"client_secret": old}).json()["error"] == "invalid_client"
    assert ann.token(fields | {"client_secret": new}).json()["error"] == "invalid_grant"


def test_deleting_an_application_ends_everybodys_access_to_it(
    ann: Browser, bob: Browser, published_events: list[dict[str, Any]]
) -> None:
    on_plan("premium")
    ann.sign_in()
    page = make_app(ann, uris="http://127.0.0.1:18250/callback")
    client_id, secret = re.findall(r"<code>((?:app_|awt_cs_)\w+)</code>", page.text)
    answer = bob.redeem(client_id, bob.code(client_id), client_secret=secret).json()
    family = bob.introspect(answer["access_token"])["family"]
    send(ann, "/dashboard/api-apps", "/dashboard/api-apps/delete", client_id=client_id)
    assert {"family": family} in published_events
    assert not bob.alive(answer["access_token"])
    refused = bob.refresh(client_id, answer["refresh_token"], client_secret=secret)
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert bob.authorize(client_id).status_code in (400, 401)


def test_nobody_touches_another_persons_application(ann: Browser, bob: Browser) -> None:
    on_plan("premium")
    ann.sign_in()
    bob.sign_in()
    theirs = re.findall(r"<code>(app_\w+)</code>", make_app(ann).text)[0]
    registered = ann.register()
    make_app(bob)
    with transaction() as session:
        before = session.scalars(select(Client.secret_hash).order_by(Client.client_id)).all()
    for action in ("rotate", "delete"):
        for client_id in (theirs, registered, "nothing"):
            answer = send(bob, "/dashboard/api-apps", f"/dashboard/api-apps/{action}", client_id=client_id)
            assert answer.headers["location"] == "/dashboard/api-apps?done=gone"
    with transaction() as session:
        assert session.scalars(select(Client.secret_hash).order_by(Client.client_id)).all() == before


# --- settings


def test_mails_are_turned_on_and_off(ann: Browser) -> None:
    ann.sign_in()
    assert ann.get("/dashboard/settings").text.count(" checked") == 5
    send(ann, "/dashboard/settings", "/dashboard/settings", hotel_price_drops="on", route_monitors="on")
    with transaction() as session:
        row = session.scalars(select(Profile)).one()
        kinds = [kind for kind, on in find_addressee(session, row.account_id).mail_switches.items() if on]
    assert kinds == ["route_monitors", "hotel_price_drops"]
    assert ann.get("/dashboard/settings").text.count(" checked") == 2


def upload(browser: Browser, content: bytes, name: str = "logo.png") -> Any:
    token = csrf(browser, "/dashboard/settings", "/dashboard/logo")
    return browser.send("POST", "/dashboard/logo", data={"csrf": token}, files={"file": (name, content, "image/png")})


def test_an_advisor_stores_sees_replaces_and_removes_a_logo(ann: Browser) -> None:
    on_plan("pro")
    ann.sign_in()
    assert upload(ann, ICON).headers["location"] == "/dashboard/settings?done=logo"
    assert upload(ann, ICON).status_code == 303
    picture = ann.get("/dashboard/logo")
    assert (picture.content, picture.headers["content-type"]) == (read_logo(ICON).content, "image/png")
    assert picture.headers["x-content-type-options"] == "nosniff"
    send(ann, "/dashboard/settings", "/dashboard/logo/remove")
    assert ann.get("/dashboard/logo").status_code == 404
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(AdvisorLogo)) == 0


def test_pictures_are_read_for_one_account_at_twenty_an_hour(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_settings, "LOGOS_PER_HOUR", 2)
    on_plan("pro")
    ann.sign_in()
    answers = [upload(ann, b"no picture") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [422, 422, 429]
    assert "wait an hour" in answers[2].text


def test_a_logo_is_for_advisors(ann: Browser) -> None:
    on_plan("pro")
    ann.sign_in()
    token = csrf(ann, "/dashboard/settings", "/dashboard/logo")
    on_plan("premium")
    refused = ann.send("POST", "/dashboard/logo", data={"csrf": token}, files={"file": ("a.png", ICON)})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"GIF89a",
        ICON[:-20],
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xd9",
    ],
)
def test_what_is_no_picture_is_refused_with_words(ann: Browser, content: bytes) -> None:
    on_plan("pro")
    ann.sign_in()
    answer = upload(ann, content)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text


def test_a_file_over_the_limit_is_refused_before_it_is_kept(ann: Browser) -> None:
    on_plan("pro")
    ann.sign_in()
    assert upload(ann, ICON + b"x" * 513 * 1024).status_code in (413, 422)
    assert upload(ann, b"x" * 2_000_000).status_code == 413


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b""),
        ("multipart/form-data; boundary=", b"x"),
        ("multipart/form-data; boundary=a", b"--a\r\n\r\nno name\r\n--a--"),
        ("multipart/form-data; boundary=a", b"--a"),
        ("text/plain", b"x"),
        ("multipart/form-data; boundary=\xe9", b"x"),
    ],
)
def test_an_upload_nobody_can_read_is_refused(ann: Browser, kind: str, body: bytes) -> None:
    ann.sign_in()
    answer = ann.send("POST", "/dashboard/logo", content=body, headers={"content-type": kind.encode("latin-1")})
    assert answer.status_code in (400, 403)


def test_a_session_that_ended_ends_everywhere(ann: Browser, later: Any) -> None:
    ann.sign_in()
    token = csrf(ann, "/dashboard/keys", "/dashboard/keys")
    later(timedelta(days=15))
    assert ann.post("/dashboard/keys", {"csrf": token, "name": "x"}).status_code == 403


def test_a_signed_in_persons_pages_are_not_kept_by_the_browser(ann: Browser) -> None:
    ann.sign_in()
    for path in PAGES:
        assert ann.get(path).headers["cache-control"] == "no-store"


def test_consent_warns_of_the_name_of_an_application_somebody_else_made(ann: Browser, bob: Browser) -> None:
    on_plan("premium")
    ann.sign_in()
    bob.sign_in()
    client_id = re.findall(r"<code>(app_\w+)</code>", make_app(ann, name="My <b>site").text)[0]
    mine, theirs = (who.authorize(client_id, redirect_uri="https://site.example/back").text for who in (ann, bob))
    for page in (mine, theirs):
        assert "My &lt;b&gt;site" in page
        assert "site.example" in page
    assert "chose its name itself" in theirs
    assert "chose its name itself" not in mine


CHARACTERS = st.characters(exclude_categories=["Cs"])


@pytest.mark.slow  # a hundred generated forms
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(data=st.data())
def test_whatever_a_signed_in_person_sends_is_no_failure_of_ours(ann: Browser, data: st.DataObject) -> None:
    with transaction() as session:
        owner = session.scalars(select(Account)).one()
        owner.plan = "pro"
        row, ann.cookie = sessions.open_session(session, owner.id)
    path = data.draw(st.sampled_from([path for path in FORMS if path not in UPLOADS]))
    names = st.sampled_from(["name", "client_id", "redirect_uris", "key_id", "session", "claim_code", "password"])
    values = st.sampled_from(["", "0", "9" * 25, "\x00", "\u202e", "x" * 4096, "%", "' or 1=1 --"]) | st.text(
        CHARACTERS
    )
    fields = data.draw(st.dictionaries(names, values, max_size=5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ToolServer, "call", _refuse)  # there is none here, and a form says so with 503
        answer = ann.post(path, fields | {"csrf": sessions.make_csrf_token(row, path)})
    assert answer.status_code < 500


async def _refuse(_server: ToolServer, _call: ToolCall) -> Answer:
    return Answer(status="invalid", message="That is not possible.")


# --- days


def test_days_are_those_of_the_persons_time_zone(ann: Browser) -> None:
    """Noon in UTC is another day in Kiritimati, and it stands with its weekday."""
    ann.sign_in()
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        session.merge(Profile(account_id=account.id, timezone="Pacific/Kiritimati"))
        record_event(UnitOfWork(session), account, "key_created", subject="laptop")
    moment = clock.now()
    there = moment.astimezone(ZoneInfo("Pacific/Kiritimati"))
    assert there.date() != moment.date()
    page = ann.get("/dashboard/security").text
    assert f"{format_weekday(there)}, {there:%H:%M} +14" in page
    assert f"signed in on {format_weekday(there)}" in page


def test_moments_in_attributes_have_no_fraction_of_a_second() -> None:
    """HTML's `datetime` allows three digits of a second."""
    moment = datetime(2026, 11, 22, 7, 9, 11, 858918, tzinfo=UTC)
    template = _environment().from_string('<time datetime="{{ at | instant }}">{{ at | day }}</time>')
    assert template.render(at=moment) == '<time datetime="2026-11-22T07:09:11+00:00">Sun 22 Nov 2026</time>'
    for page in TEMPLATES.glob("*.html"):
        assert "isoformat" not in page.read_text("utf-8"), page.name


# --- forms that are sent again, and faults at their fields


def test_a_key_is_not_made_again_by_a_reload(ann: Browser) -> None:
    ann.sign_in()
    page = ann.get("/dashboard/keys").text
    form = {"csrf": csrf(ann, "/dashboard/keys", "/dashboard/keys"), "once": hidden(page, "once"), "name": "k2"}
    assert "awt_ak_" in ann.post("/dashboard/keys", form).text
    again = ann.post("/dashboard/keys", form)
    assert (again.status_code, again.headers["location"]) == (303, "/dashboard/keys?done=made_before")
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ApiKey)) == 1
    assert (
        "awt_ak_" in ann.post("/dashboard/keys", form | {"once": hidden(ann.get("/dashboard/keys").text, "once")}).text
    )


def test_a_secret_is_not_made_again_by_a_reload(ann: Browser) -> None:
    ann.sign_in()
    on_plan("premium")
    page = ann.get(oauth_apps.PATH + "/new").text
    form = {"csrf": csrf(ann, oauth_apps.PATH + "/new", oauth_apps.PATH + "/new"), "once": hidden(page, "once")}
    form |= {"name": "Site", "redirect_uris": OOB}
    assert "awt_cs_" in ann.post(oauth_apps.PATH + "/new", form).text
    assert ann.post(oauth_apps.PATH + "/new", form).headers["location"].endswith("?done=made_before")
    with transaction() as session:
        (app,) = session.scalars(select(Client)).all()
        client_id = app.client_id
    page, rotate = ann.get(oauth_apps.PATH).text, oauth_apps.PATH + "/rotate"
    form = {"csrf": csrf(ann, oauth_apps.PATH, rotate), "once": hidden(page, "once"), "client_id": client_id}
    assert "awt_cs_" in ann.post(rotate, form).text
    with transaction() as session:
        secret = session.scalars(select(Client.secret_hash)).one()
    assert ann.post(rotate, form).status_code == 303
    with transaction() as session:
        assert session.scalars(select(Client.secret_hash)).one() == secret


def test_a_key_without_a_name_is_said_at_the_field(ann: Browser) -> None:
    ann.sign_in()
    answer = send(ann, "/dashboard/keys", "/dashboard/keys", name="  ")
    assert answer.status_code == 422
    fault = '<p class="fault" id="name-fault" role="alert">Give the key a name of 1 to 100 visible characters.</p>'
    assert fault in answer.text
    assert 'aria-describedby="name-help name-fault" aria-invalid="true"' in answer.text
    assert "Invalid:" not in answer.text


def test_a_logo_that_is_too_large_is_said_where_it_is_chosen(ann: Browser) -> None:
    ann.sign_in()
    on_plan("pro")
    page = "/dashboard/settings"
    files = {"file": ("logo.png", b"x" * 600_000, "image/png")}
    answer = ann.post("/dashboard/logo", {"csrf": csrf(ann, page, "/dashboard/logo")}, files=files)
    assert answer.status_code == 413
    text = answer.text
    assert '<a href="/dashboard/settings" aria-current=' in text
    assert "The file is larger than 512 KiB. Nothing was changed." in text
    assert 'aria-describedby="file-help fault"' in text


@pytest.mark.parametrize(
    "page",
    ["keys", "api_apps", "settings", "security", "forwarding_addresses", "sign_in_methods", "linked_identities"],
)
def test_what_ends_something_asks_first(page: str) -> None:
    """Each button that revokes, ends, removes or replaces stands behind its question."""
    words = r'action="[^"]*/(?:revoke|delete|rotate|remove|browser|application|key|recovery-codes)"'
    assert not re.search(words, (TEMPLATES / f"{page}.html").read_text("utf-8"))
    assert "{{ sure(csrf, " in (TEMPLATES / f"{page}.html").read_text("utf-8")
