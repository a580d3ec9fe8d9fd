"""The name an operator gives the service stands in mails, their sender, documents and interfaces."""

from datetime import UTC, datetime
from typing import Any

import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from deploy import service_name
from deploy.cli import build_parser
from mcp_server.rest import openapi
from mcp_server.transport import sdk_server
from mcp_server.ways_of_working.skills import build_skills
from shared.documents.calendar_feed import build_calendar
from shared.outbox.channels import Letter
from shared.outbox.channels.email import compose
from shared.outbox.wording.messages import message
from shared.services.proposals.brands import parse_brand
from shared.settings import Settings

NAME = "Miles & Möre"
LINK = {"link": "https://travel.example/x", "hours": 24}


@pytest.fixture(autouse=True)
def named(configure: Any) -> None:
    configure(SERVICE_NAME=NAME)


def test_mails_are_signed_with_the_name() -> None:
    words = message("address_confirmed", {}, sandbox=False)
    assert f"you sign in to {NAME} with" in words.text
    assert words.text.count(NAME) == 2
    assert "Award Travel" not in words.text + words.html
    assert "Miles &amp; Möre</td>" in words.html


@pytest.mark.parametrize(
    ("sender", "header"),
    [("noreply@travel.example", f"{NAME} <noreply@travel.example>"), ("Desk <a@b.example>", "Desk <a@b.example>")],
)
def test_a_sender_without_a_name_has_that_of_the_service(configure: Any, sender: str, header: str) -> None:
    configure(SERVICE_NAME=NAME, MAIL_FROM=sender)
    words = message("address_confirmed", {}, sandbox=False)
    letter = Letter("id", "ann@example.test", words, datetime(2026, 1, 1, tzinfo=UTC))
    assert str(compose(letter)["From"]) == header


def test_interfaces_and_documents_bear_the_name() -> None:
    assert openapi.info()["title"] == NAME
    assert sdk_server.build().title == f"{NAME} [SANDBOX]"
    assert parse_brand({}).name == NAME
    assert f"PRODID:-//{NAME}//Calendar feed//EN" in build_calendar(NAME, [], 2026).decode()


def test_skills_bear_the_name() -> None:
    skills = build_skills.__wrapped__().values()
    assert {skill.frontmatter["compatibility"] for skill in skills} == {
        f"Needs the tools of the {NAME} server, connected over MCP."
    }
    assert not [skill.name for skill in skills if "Award Travel" in skill.text]


def test_the_command_line_bears_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_NAME", NAME)
    assert build_parser().format_help().startswith(f"{NAME} answers")
    monkeypatch.delenv("SERVICE_NAME")
    assert build_parser().format_help().startswith("Award Travel answers")
    assert Settings.model_fields["service_name"].default == service_name.DEFAULT
