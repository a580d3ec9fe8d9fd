"""Clients other people wrote, in JavaScript, against the running service: each finds its own way to tokens."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.oauth_browser import visit
from tests.support.service import PASSWORD, Service, command, folder_for_homes, start, stop

SCRIPTS = Path(__file__).parents[1] / "node"
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


def _run(service: Service, script: str, *arguments: str) -> dict[str, Any]:
    """The script's last line, after a person went where its first line points."""
    line = [os.environ["AWARD_NODE"], str(SCRIPTS / script), *arguments]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        address = program.stdout.readline().decode().strip()
        if address.startswith("http"):
            landed = visit(address, service.person("scripted"), PASSWORD)
            program.stdin.write(landed.encode() + b"\n")
            program.stdin.flush()
        said, complaint = program.communicate(timeout=90)
    assert program.returncode == 0, complaint.decode()
    told: dict[str, Any] = json.loads(said.decode().splitlines()[-1])
    return told


@pytest.mark.node
@pytest.mark.parametrize("place", ["web", "tools"])
def test_a_strict_client_gets_tokens_identity_refresh_and_revocation(service: Service, place: str) -> None:
    resource = service.mcp_url if place == "tools" else f"{service.web_url}/mcp"
    told = _run(service, "oauth4webapi.mjs", service.web_url, resource)
    assert told["email"] == "scripted@example.test"
    assert told["sub"].startswith("acc_")
    assert told["scope"] == "mcp:read openid email"


@pytest.mark.node
def test_the_official_typescript_client_registers_lists_tools_and_refreshes(service: Service) -> None:
    told = _run(service, "sdk.mjs", service.mcp_url)
    assert told["before"] == told["after"] > 20
    assert "mcp:read" in told["scope"].split()


@pytest.mark.node
def test_the_official_typescript_client_connects_to_the_address_for_reading(service: Service) -> None:
    answer = _run(service, "sdk.mjs", f"{service.mcp_url}/readonly")
    assert 20 < answer["before"] == answer["after"] < 142


@pytest.mark.node
@pytest.mark.slow  # a service of its own: documents that are not fetched are offered only in place of registration
def test_the_official_typescript_client_may_name_its_document_instead() -> None:
    with folder_for_homes() as folder:
        running = start(folder, DCR="false")
        try:
            told = _run(running, "sdk.mjs", running.mcp_url, CLAUDE_CODE)
        finally:
            assert stop(running) == 0, running.words
    assert told["client_id"] == CLAUDE_CODE
    assert told["before"] == told["after"] > 20


@pytest.mark.node
@pytest.mark.parametrize(("answer", "status"), [("yes", "ok"), ("decline", "confirmation_required")])
def test_the_official_typescript_client_lets_its_person_confirm(service: Service, answer: str, status: str) -> None:
    email = service.person("confirming")
    token = command(service.home, "token", email, "--password-stdin", given=PASSWORD).split()[-1]
    result = _run(service, "elicit.mjs", service.mcp_url, token, answer)
    assert result["answer"]["status"] == status
    assert [form["requestedSchema"]["required"] for form in result["forms"]] == [["answer"]]
