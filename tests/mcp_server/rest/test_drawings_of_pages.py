"""Each page of a member shows at a look what it says, or stands below with the reason why it draws nothing."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from typing import Any

import pytest

from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.rich_account import fill_everything, list_member_pages
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

# A picture with its sentence, a bar of a share, a month of days, and a card that looks like one.
DRAWING = re.compile(r'<svg[^>]* role="img" aria-label="[^"]+"|<svg class="(?:meter|split)|<table class="cal|"plastic ')
# Why a page draws nothing, by the end of its address.
REASONS = {
    "(new|edit|add|change|apply|address|passkey|browser|addresses|channels|phones|sheets|profile)": "a form",
    "(delete|end|revoke)": "a question, or that nothing is there to be asked about",
    "(notices|inbox|activity|security|documents|keys|api-apps|sign-in-methods)": "a list of words, read one by one",
    "(settings|integrations|plan|calendar|waiting)": "switches and addresses: they are on or off",
    "(past|cancelled|archived)": "drawn as its list of what is to come once it holds something",
}


@pytest.mark.slow  # sixty pages
def test_every_page_of_a_member_draws_something_or_has_its_reason(world: World, use: Any) -> None:
    ids = fill_everything(use, sign_up(world, "ann@example.test", "pro"))
    bare = []
    for path in list_member_pages(ids):
        answer = world.get(path)
        if answer.status_code != 200 or "text/html" not in answer.headers.get("content-type", ""):
            continue
        main = answer.text.partition("<main")[2]
        reason = next((why for end, why in REASONS.items() if re.search(rf"/{end}$", path)), "")
        if bool(reason) == bool(DRAWING.search(main)):
            bare.append(f"{path}: {'draws all the same, so needs no reason' if reason else 'draws nothing'}")
        if len(answer.text.encode()) > 30_000:
            bare.append(f"{path}: {len(answer.text.encode())} bytes")
    assert bare == []
