"""A standing order in the real programs: made by a tool, run by the worker through /mcp, its result mailed."""

import email
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.model_server import ModelServer, calls, read_data, told, words
from tests.support.oauth_browser import post, tokens
from tests.support.service import PASSWORD, Service, wait_for

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def use(equipped: Service) -> Call:
    signed_in = tokens(equipped.mcp_url, equipped.person("traveller", "premium"), PASSWORD)
    bearer = {"Authorization": f"Bearer {signed_in['access_token']}"}

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        data: dict[str, Any] = post(equipped.mcp_url, json=body, headers=bearer).json()["result"]["structuredContent"]
        return data

    return call


@pytest.mark.slow  # the service with a model is started
@pytest.mark.spec("s2.6.result_emailed", "s2.6.last_result_kept")
def test_an_order_run_by_hand_asks_the_model_calls_a_tool_and_mails_its_result(
    equipped: Service, model: ModelServer, use: Call
) -> None:
    model.script = [
        calls("openai", ("list_trips", {}), ("create_trip", {"name": "No"})),
        words("openai", "# Trips\n- none yet"),
    ]
    id = use("create_standing_order", prompt="List my trips.")["standing_order"]["standing_order_id"]
    run = use("run_standing_order", standing_order_id=id)

    def ended() -> dict[str, Any] | None:
        shown = use("get_standing_order", standing_order_id=id)
        return shown if shown["runs"][0]["outcome"] else None

    shown = wait_for("the end of the run", ended)
    assert (shown["runs"][0]["run_id"], shown["runs"][0]["outcome"]) == (run["run_id"], "ok"), shown
    assert shown["last_result"].endswith("# Trips\n- none yet")
    assert shown["runs"][0]["tools_called"] == ["list_trips", "create_trip"]
    statuses = [read_data(t.rsplit("\n", 1)[0])["status"] for t in told("openai", model.asked[-1])]
    assert statuses == ["ok", "invalid"]
    assert use("list_trips")["trips"] == []

    def find_mails() -> list[EmailMessage]:
        files = Path(equipped.facts["outbox_dir"]).glob("*.eml")
        mails = [email.message_from_bytes(file.read_bytes(), policy=default) for file in files]
        return [m for m in mails if m["Subject"] == "[SANDBOX] Standing order: List my trips."]

    (mail,) = wait_for("the mail", find_mails)
    assert mail["List-Unsubscribe"]
