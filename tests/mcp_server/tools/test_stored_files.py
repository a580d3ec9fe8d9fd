"""Files and mail: which tools have them stored, and that none is stored for an agent that no one has claimed."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS, Tier
from shared.db import sign_in_methods
from shared.db.accounts import Account
from shared.db.base import Base, transaction
from shared.services.bookings import inbound_mail
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.shared.domain.confirmations.mails import mail
from tests.support.people import People

CHANGING = sorted(name for name, tool in TOOLS.items() if not tool.reads and tool.tier is not Tier.ADMIN)


def count_files(caller: Caller) -> int:
    """Rows of the account with content, and its living mail addresses."""
    tables = [
        mapper.local_table
        for mapper in Base.registry.mappers
        if mapper.class_.__module__ != sign_in_methods.__name__
        and any(isinstance(column.type, sa.LargeBinary) for column in mapper.local_table.columns)
    ]
    assert {table.name for table in tables} > {"inbound_mails"}
    links = Base.metadata.tables["secret_links"]
    with transaction() as session:
        mine = links.c.account_id == caller.account_id, links.c.purpose == inbound_mail.PURPOSE
        counts = [sa.select(sa.func.count()).where(t.c.account_id == caller.account_id) for t in tables]
        counts.append(sa.select(sa.func.count()).where(*mine))
        return sum(session.scalars(count).one() for count in counts)


def call_all(caller: Caller, use: Use) -> dict[str, str]:
    """All tools that change something; the outcome of each after which there is a file more."""
    storing, before = {}, count_files(caller)
    for name in CHANGING:
        arguments = sample_arguments(TOOLS[name])
        if "confirm" in TOOLS[name].arguments.schema["properties"]:
            arguments["confirm"] = True
        status = use(caller, name, **arguments)["status"]
        if (now := count_files(caller)) != before or status == "limit_reached":
            storing[name], before = status, now
    return storing


@pytest.mark.slow
def test_the_tools_that_store_files_are_those_that_say_so_and_no_agent_without_a_person_has_any_stored(
    people: People, use: Use
) -> None:
    declared = {name for name in CHANGING if TOOLS[name].keeps_files}
    assert call_all(people.paula, use) == dict.fromkeys(declared, "ok")
    agent = replace(people.charlie, plan=people.paula.plan, has_person=False)
    assert call_all(agent, use) == dict.fromkeys(declared, "limit_reached")
    assert count_files(agent) == 0


def test_no_letter_to_an_agent_without_a_person_is_taken(people: People, use: Use) -> None:
    """Also where its address was handed out before, and whatever its plan is."""
    address = use(people.alice, "get_booking_inbox")["address"]
    with transaction() as session:
        session.execute(sa.update(Account).where(Account.id == people.alice.account_id).values(email=None))
    for door in (inbound_mail.check_recipient, lambda to: inbound_mail.store([to], mail("Anything"))):
        with pytest.raises(inbound_mail.MailRefused) as refused:
            door(address)
        assert refused.value.why is inbound_mail.RefusalReason.OFF
