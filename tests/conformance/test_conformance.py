"""The official conformance programs go over the running service; only what is listed with a reason may fail."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from deploy.local.private_servers import free_port
from tests.conformance.proxy import door
from tests.support.oauth_browser import discover, get, register, tokens, visit
from tests.support.service import PASSWORD, Service

HERE = Path(__file__).parent
EXPECTED: dict[str, dict[str, str]] = yaml.safe_load((HERE / "expected-failures.yml").read_text(encoding="utf-8"))


def _program() -> list[str]:
    return [os.environ["AWARD_NODE"], os.environ["AWARD_CONFORMANCE"]]


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return str(tokens(service.mcp_url, service.person("conformance"), PASSWORD)["access_token"])


@pytest.mark.node
@pytest.mark.slow  # some thirty scenarios, each its own client
@pytest.mark.spec("s9.1.transport")
@pytest.mark.parametrize("revision", sorted(EXPECTED))
def test_server_scenarios_of_a_revision_pass_but_for_the_reasoned_ones(
    service: Service, token: str, revision: str, tmp_path: Path
) -> None:
    baseline = tmp_path / "expected.yml"
    baseline.write_text(yaml.safe_dump({"server": sorted(EXPECTED[revision])}), encoding="utf-8")
    with door(service.mcp_url, token) as url:
        line = [*_program(), "server", "--url", url, "--requirements", revision, "--expected-failures", str(baseline)]
        done = subprocess.run([*line, "-o", str(tmp_path)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]


@pytest.mark.parametrize("revision", sorted(EXPECTED))
def test_every_expected_failure_has_its_reason(revision: str) -> None:
    for scenario, reason in EXPECTED[revision].items():
        assert len(reason) > 20, scenario


@pytest.mark.node
@pytest.mark.spec("s4.1.authorize_flow", "s4.1.authorize_query", "s4.1.as_metadata")
def test_authorization_scenarios_pass_with_a_person_at_the_browser(service: Service) -> None:
    port = free_port()
    server = discover(service.mcp_url)
    client = register(server, f"http://127.0.0.1:{port}/callback")
    line = [*_program(), "authorization", "--url", service.web_url]  # metadata first, then the code grant
    line += ["--client-id", client["client_id"], "--resource", server["resource"], "-p", str(port)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        assert program.stdout is not None
        said = []
        for words in program.stdout:
            said.append(words)
            if re.match(rf"{re.escape(server['authorization_endpoint'])}\?", words):
                get(visit(words.strip(), service.person("conformance"), PASSWORD))
        assert program.wait(90) == 0, "".join(said)
