"""The operators' page of settings: each of them as it is in force, and of no secret more than that it is set."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from auth_server.pages.operate.settings_in_force import describe_value
from shared.settings import Settings, settings
from shared.settings.identity_providers import OidcProvider
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_operate import make_operator

PAGE = "/operate/settings"
CANARY = "hush"


def read_values(browser: Browser) -> dict[str, str]:
    found = re.findall(r'<dt>([A-Z0-9_]+)</dt><dd class="name">(.*?)</dd>', browser.get(PAGE).text)
    return {name: html.unescape(value) for name, value in found}


def test_every_setting_stands_there_once_as_it_is_in_force(ann: Browser, configure: Any) -> None:
    configure(SMTP_HOST="mail.example.test", SMTP_PASSWORD=CANARY, DCR_PER_HOUR="7")
    make_operator(ann)
    values = read_values(ann)
    assert sorted(values) == sorted(name.upper() for name in Settings.model_fields)
    assert (values["SMTP_HOST"], values["DCR_PER_HOUR"], values["SMTP_PASSWORD"]) == ("mail.example.test", "7", "set")
    assert (values["OPERATOR_EMAIL"], values["DCR"]) == ("not set", "true")
    page = ann.get(PAGE)
    given, _, defaults = page.text.partition("At their default")
    assert ("SMTP_HOST" in given, "SMTP_PORT" in defaults) == (True, True)
    assert CANARY not in page.text
    assert len(page.content) < 30_000


def test_no_secret_of_this_service_stands_there(ann: Browser) -> None:
    make_operator(ann)
    page = ann.get(PAGE).text
    secrets = [value for name in Settings.model_fields if isinstance(value := getattr(settings(), name), SecretStr)]
    words = [part for secret in secrets for part in secret.get_secret_value().split(",") if part]
    assert len(words) >= 2
    assert [word for word in words if word in page] == []


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql+psycopg://{CANARY}:{CANARY}@db.example.test:5432/award?password={CANARY}",
        f"https://{CANARY}@[::1]:8443/path?key={CANARY}#{CANARY}",
        f"https://{CANARY}@host.example.test:port/",
    ],
)
def test_no_setting_gives_a_password_away_that_stands_in_an_address(address: str) -> None:
    assert [name for name in Settings.model_fields if CANARY in describe_value(name, address)] == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("database_url", "postgresql+psycopg://u:p@db.test:5432/award?x=1", "postgresql+psycopg://db.test:5432/award"),
        ("redis_url", "redis://:p@[::1]:6379/0", "redis://[::1]:6379/0"),
        ("database_url", f"host=db password={CANARY}", "set"),
        ("backup_upload", f"rclone copy {{}} --key {CANARY}", "set"),
        ("secret_keys", SecretStr(CANARY), "set"),
        ("smtp_password", SecretStr(""), "empty"),
        ("service_name", "", "empty"),
        ("outbox_dir", Path("/var/mail"), "/var/mail"),
        ("oidc_providers", {}, "none"),
        ("service_name", "n" * 121, f"{'n' * 120}…"),
    ],
)
def test_values_as_they_are_shown(name: str, value: Any, words: str) -> None:
    assert describe_value(name, value) == words


def test_of_identity_providers_the_names_are_shown() -> None:
    provider = OidcProvider(client_id="x", client_secret=SecretStr(CANARY), title="T", issuer="https://id.example.test")
    assert describe_value("oidc_providers", {"acme": provider, "google": provider}) == "acme, google"
