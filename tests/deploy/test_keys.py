"""Keys that rotate: what hangs on each is counted, sealed again with the first, and nothing is lost on the way."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import shared.db.migrations  # noqa: F401 - registers every table
from deploy.sealing.sealed_values import UNSENT, list_places, seal_all_anew
from shared import clock
from shared.db.base import Base, engine, transaction
from shared.db.message_channels import hash_address
from shared.db.phones import hash_number
from shared.outbox.phone_codes import LIFETIME
from shared.secrets import key_id, seal
from shared.services.bookings.secret_links import find_holder, get_link, mint_link
from tests.auth_server.processes import Program, ready, start, stop
from tests.deploy.test_commands import Say, say
from tests.shared.db.fill import fill
from tests.support.settings_and_clock import Configure, StandingClock

__all__ = ["say"]
OLD, NEW = "the-old-key-0123456789abcdef0123", "the-new-key-0123456789abcdef0123"
OLD_ID, NEW_ID = key_id(OLD), key_id(NEW)
NUMBER, ADDRESS = "+41790000000", {"url": "https://ntfy.example.test", "topic": "mine"}
NOT_OURS = {("oauth_refresh_tokens", "successor_sealed")}  # sealed with the token that it follows


def _write(table: str, **values: Any) -> None:
    with engine().begin() as connection:
        connection.execute(sa.update(Base.metadata.tables[table]).values(values))


def _read(statement: str) -> Any:
    with engine().connect() as connection:
        return connection.execute(sa.text(statement)).scalar_one()


@pytest.fixture
def filled(say: Say, configure: Configure) -> None:
    """One row of everything, sealed with the old key, and the new one in front of it now."""
    configure(SECRET_KEYS=OLD)
    with engine().begin() as connection:
        connection.execute(sa.text("delete from service_facts"))  # other tests keep their own there
    fill(engine())
    _write("signing_keys", private_sealed=seal(OLD, "signing"))
    _write("authenticator_apps", secret_sealed=seal(OLD, "app"))
    _write("connections", **{f"{name}_sealed": seal(OLD, name) for name in ("access", "refresh", "pending")})
    _write("delay_alerts", phone_sealed=seal(OLD, NUMBER))
    _write("phone_numbers", number_sealed=seal(OLD, NUMBER), number_hash=hash_number(NUMBER)[0], code_hash=None)
    sealed, hashed = seal(OLD, json.dumps(ADDRESS)), hash_address("ntfy", ADDRESS)[0]
    _write("message_channels", kind="ntfy", address_sealed=sealed, address_hash=hashed, code_hash=None)
    _write("service_facts", name="push_key", value=seal(OLD, "push"))
    pdf = mint_link("pdf", 1)
    link = {"nonce": pdf.nonce, "key": pdf.key, "token_hash": pdf.token_hash, "secret_sealed": None}
    _write("branded_pdfs", **link, revoked_at=None, expires_at=None)
    _write("deliveries", status="sent")
    _write("accounts", disabled_at=None)
    with engine().begin() as connection:
        connection.execute(sa.text("delete from secret_links"))
    configure(SECRET_KEYS=f"{NEW},{OLD}")


def test_every_sealed_column_is_counted_and_sealed_anew() -> None:
    columns = {(table.name, c.name) for table in Base.metadata.sorted_tables for c in table.c}
    sealed = {pair for pair in columns if pair[1].endswith("_sealed") and pair[1] != "secret_sealed"}
    places = {(place.column.table.name, place.column.name) for place in list_places()}  # type: ignore[attr-defined]
    assert sealed - places - NOT_OURS == set()
    assert {name for name, column in columns if column == "nonce"} - {"one_time_links", "oauth_codes"} == {
        "secret_links",
        "branded_pdfs",
    }


def test_a_rotation_moves_everything_to_the_new_key_and_the_old_one_goes_only_then(
    say: Say, filled: None, configure: Configure
) -> None:
    configure(SECRET_KEYS=OLD)
    with transaction(1) as session:
        link = get_link(session, 1, "calendar").secret
    configure(SECRET_KEYS=f"{NEW},{OLD}")
    report = json.loads(say("keys", "status", "--json")[1])
    assert report["keys"][NEW_ID] == {}
    assert len(report["keys"][OLD_ID]) == 9
    status, _, fault = say("keys", "retire", OLD_ID)
    assert (status, "connections 3" in fault, "keys reseal first" in fault) == (1, True, True)
    assert say("keys", "reseal", "--reason", "yearly")[0] == 0
    after = json.loads(say("keys", "status", "--json")[1])
    assert (after["keys"][OLD_ID], after["keys"][NEW_ID]) == ({}, report["keys"][OLD_ID])
    status, text, _ = say("keys", "retire", OLD_ID)
    assert (status, f"Nothing stored hangs on {OLD_ID}" in text) == (0, True)
    configure(SECRET_KEYS=NEW)
    assert say("keys", "status")[0] == 0
    with transaction(1) as session:
        assert get_link(session, 1, "calendar").secret == link
    with transaction() as session:
        assert find_holder(session, "calendar", link) == 1
    assert _read("select number_hash from phone_numbers") == hash_number(NUMBER)[0]
    assert _read("select address_hash from message_channels") == hash_address("ntfy", ADDRESS)[0]
    assert "keys reseal" in say("trail")[1]


def test_what_no_key_opens_is_named_and_does_not_stop_the_rest(say: Say, filled: None, configure: Configure) -> None:
    fill(engine(), 2)
    with engine().begin() as connection:
        connection.execute(sa.text("update connections set access_sealed = 'deadbeef:00' where id = 1"))
    sealed, unreadable = seal_all_anew(batch=1)
    assert unreadable["connections"] == 1 + 3  # the second row was never sealed
    assert sealed["connections"] >= 2
    status, text, _ = say("keys", "status")
    assert (status, "deadbeef  not in SECRET_KEYS: connections 1" in text) == (1, True)
    status, text, _ = say("keys", "reseal")
    assert (status, "Put the key they were sealed with back" in text) == (1, True)


def test_a_number_that_is_being_proved_keeps_its_key_until_the_code_is_over(
    say: Say, filled: None, standing_clock: StandingClock
) -> None:
    _write("phone_numbers", code_hash="x", code_sent_at=clock.now())
    status, text, _ = say("keys", "reseal")
    assert (status, f"Still on {OLD_ID}: phones 1. Run it again in ten minutes" in text) == (1, True)
    standing_clock.advance(LIFETIME * 2)
    assert say("keys", "reseal")[0] == 0


def test_a_message_that_waits_holds_the_key_of_its_link(say: Say, filled: None) -> None:
    say("keys", "reseal")
    facts = {"purpose": "reset_password", "account": "a", "nonce": "n", "key": OLD_ID}
    _write("deliveries", status="pending", facts={"link": facts})
    status, _, fault = say("keys", "retire", OLD_ID)
    assert (status, f"{UNSENT} 1" in fault) == (1, True)
    _write("deliveries", status="sent")
    assert say("keys", "retire", OLD_ID)[0] == 0


@pytest.mark.parametrize(("key", "complaint"), [(NEW_ID, "so it seals"), ("00000000", "is no key of SECRET_KEYS")])
def test_a_key_that_is_in_use_or_unknown_is_not_retired(
    say: Say, configure: Configure, key: str, complaint: str
) -> None:
    configure(SECRET_KEYS=f"{NEW},{OLD}")
    status, _, fault = say("keys", "retire", key)
    assert (status, complaint in fault) == (1, True)


def test_status_tells_the_order_of_a_rotation(say: Say, configure: Configure) -> None:
    configure(SECRET_KEYS=OLD)
    text = say("keys", "status")[1]
    assert text.index("OLD,NEW") < text.index("NEW,OLD") < text.index("  3. NEW")


def _list_kids(program: Program) -> set[str]:
    return {key["kid"] for key in program.request("GET", "/oauth/jwks").json()["keys"]}


def _may_introspect(program: Program, secret: str) -> bool:
    login = ("award-travel-services", secret)
    return program.request("POST", "/oauth/introspect", data={"token": "x"}, auth=login).status_code == 200


@pytest.mark.e2e
@pytest.mark.slow  # starts five processes
def test_two_running_programs_go_through_the_rotation_and_keep_the_signing_key(
    say: Say, fresh_database: str, tmp_path: Path, configure: Configure
) -> None:
    """Each step runs next to the step before it, as programs do that are restarted one after the other.

    A program that could not open the signing key would make another: then there are two.
    """
    steps = {"before": OLD, "known": f"{OLD},{NEW}", "first": f"{NEW},{OLD}", "alone": NEW}
    programs: list[Program] = []
    kids: set[str] = set()
    configure(DATABASE_URL=fresh_database, SECRET_KEYS=steps["first"])
    try:
        for name, value in steps.items():
            secrets = {"SECRET_KEYS": value, "SERVICE_CLIENT_SECRET": value}
            programs.append(ready(start(tmp_path, name, DATABASE_URL=fresh_database, **secrets)))
            for program in programs[-2:]:
                kids |= _list_kids(program)
            beside = programs[-2:]
            shown = [step.split(",")[0] for step in list(steps.values())[: len(programs)][-2:]]
            assert all(_may_introspect(program, secret) for program in beside for secret in shown)
            if name == "first":
                engine.cache_clear()
                assert say("keys", "reseal")[0] == 0
        assert not _may_introspect(programs[-1], OLD)
    finally:
        engine.cache_clear()
        for program in programs:
            stop(program)
    assert len(kids) == 1
