"""A home keeps its secrets, its ports and its one owner."""

import json
import socket
from pathlib import Path

import pytest

from deploy.errors import CommandError
from deploy.local import ports
from deploy.local.home import RUNNING, Home, write_private
from deploy.local.private_servers import free_port, is_free


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("SECRET_KEYS", "SERVICE_CLIENT_SECRET", "METRICS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return Home(tmp_path / "home").prepare()


def test_secrets_are_made_once_and_only_their_owner_reads_them(home: Home) -> None:
    first = home.secrets()
    assert home.secrets() == first
    assert len(set(first.values())) == 3
    assert (home.path / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_a_secret_of_the_environment_wins_and_is_not_kept(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = home.secrets()
    monkeypatch.setenv("SECRET_KEYS", "from-the-shell")
    assert home.secrets() == kept | {"SECRET_KEYS": "from-the-shell"}
    assert "from-the-shell" not in (home.path / "secrets.json").read_text(encoding="utf-8")


def test_a_home_has_one_owner_at_a_time(home: Home) -> None:
    with home.alone() as first, home.alone() as second:
        assert (first, second) == (True, False)
    with home.alone() as again:
        assert again


def test_what_a_killed_service_left_is_not_taken_for_a_running_one(home: Home) -> None:
    write_private(home.path / RUNNING, json.dumps({"web_url": "http://127.0.0.1:1"}))
    assert home.running() is None
    with home.alone():
        assert home.running() == {"web_url": "http://127.0.0.1:1"}


def test_a_home_that_cannot_be_used_is_one_line_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(CommandError, match="--home DIR") as fault:
        Home(tmp_path / "file" / "home").prepare()
    assert "\n" not in str(fault.value)


def test_a_spoilt_file_of_the_home_is_named(home: Home) -> None:
    (home.path / "ports.json").write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match=r"ports\.json cannot be read"):
        home.ports()


def test_a_port_picked_freely_is_kept_and_used_again(home: Home) -> None:
    picked = ports.choose_port(home, "web", 0)
    assert ports.choose_port(home, "web", 0) == picked
    assert ports.choose_port(home, "web", None) == picked
    assert ports.usual_port(home, "mcp") == 8001


def test_a_kept_port_that_somebody_took_is_replaced_when_zero_is_asked_for(home: Home) -> None:
    picked = ports.choose_port(home, "web", 0)
    with socket.create_server(("127.0.0.1", picked)):
        assert ports.choose_port(home, "web", 0) != picked


def test_a_taken_port_names_the_option_that_helps(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"Port {number} is taken.*--mcp-port N"):
            ports.choose_port(home, "mcp", number)


def test_a_free_port_is_none_that_systems_give_to_outgoing_connections() -> None:
    picked = {free_port() for _ in range(50)}
    assert len(picked) > 40
    assert max(picked) < 32768  # from here on Linux numbers them, macOS and Windows from 49152


def test_a_port_that_is_held_is_not_free() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        assert not is_free(port)
    assert is_free(port)
