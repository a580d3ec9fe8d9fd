"""The profile by hand: what was changed is stored by the tool, the rest stays, and the household is counted up."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from typing import Any

import pytest

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import read_form, send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/profile"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test")


def read_profile(use: Any, ann: Caller) -> dict[str, Any]:
    profile: dict[str, Any] = use(ann, "get_profile")["profile"]
    return profile


def test_the_profile_is_changed_and_emptied_by_hand(world: World, ann: Caller, use: Any) -> None:
    typed = {"home_airport": "Munich", "currency": "eur", "timezone": "europe/berlin", "default_passengers": "2"}
    done = send_form(world, PAGE, PAGE, **typed, default_cabin="business", preferred_airlines="Lufthansa, NH")
    assert done.headers.get("location") == f"{PAGE}?done=saved", done.text
    profile = read_profile(use, ann)
    stored = [profile[name] for name in ("home_airport", "currency", "timezone", "default_passengers", "default_cabin")]
    assert stored == ["MUC", "EUR", "Europe/Berlin", 2, "business"]
    assert profile["preferred_airlines"] == ["LH", "NH"]
    form = read_form(world.get(PAGE).text, PAGE)
    assert (form["home_airport"], form["preferred_airlines"], form["default_passengers"]) == ("MUC", "LH, NH", "2")
    assert send_form(world, PAGE, PAGE, home_airport="", preferred_airlines="", default_cabin="").status_code == 303
    profile = read_profile(use, ann)
    assert [profile[name] for name in ("home_airport", "preferred_airlines", "default_cabin")] == [None, [], None]
    assert (profile["currency"], profile["default_passengers"]) == ("EUR", 2)


def test_what_was_not_changed_is_not_stored(world: World, ann: Caller, use: Any) -> None:
    form = read_form(world.get(PAGE).text, PAGE)
    use(ann, "update_profile", home_airport="LAX", mail={"deadlines": False})
    assert world.http.post(world.url + PAGE, data=form | {"country": "gb"}).status_code == 303
    profile = read_profile(use, ann)
    assert (profile["home_airport"], profile["country"], profile["mail"]["deadlines"]) == ("LAX", "GB", False)


@pytest.mark.parametrize(
    ("field", "typed"),
    [("home_airport", "Nowhereville"), ("currency", "euros"), ("timezone", "Mars/Base"), ("country", "XX")],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, field: str, typed: str
) -> None:
    refused = send_form(world, PAGE, PAGE, **{"avoided_airlines": "LH", field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert 'value="LH"' in refused.text
    assert f'value="{typed}"' in refused.text


def test_an_airline_nobody_knows_is_named(world: World, ann: Caller) -> None:
    refused = send_form(world, PAGE, PAGE, preferred_airlines="Zzqq Air")
    assert (refused.status_code, "Zzqq Air" in refused.text) == (422, True)
    assert 'role="alert"' in refused.text


def test_members_of_the_household_stand_with_what_they_keep(world: World, ann: Caller, use: Any) -> None:
    assert "Everything kept here is yours." in world.get(PAGE).text
    use(ann, "update_points_balance", program="united-mileageplus", balance=50000)
    use(ann, "update_points_balance", program="united-mileageplus", balance=50000, member="Zoë")
    page = world.get(PAGE).text
    assert [name in page for name in ("You</th>", "Zoë</th>", "Everything kept")] == [True, True, False]


def test_without_an_answer_the_page_says_so(world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    form = read_form(world.get(PAGE).text, PAGE)

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    assert world.get(PAGE).status_code == 503
    refused = world.http.post(world.url + PAGE, data=form | {"home_airport": "LAX"})
    assert (refused.status_code, 'value="LAX"' in refused.text) == (422, True)
