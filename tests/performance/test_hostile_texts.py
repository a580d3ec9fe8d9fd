"""Texts built to be slow: mails, hotel bills, card statements and arguments are read or refused in little time."""

from contextlib import suppress

import pytest

from shared.documents.ofx import read_entries
from shared.domain.confirmations.mail_parts import Unreadable
from shared.errors import Invalid
from tests.mcp_server.toolkit.test_arguments import BULK, bulk_arguments
from tests.performance.stopwatch import any_attempt_passes, processor_seconds, thread_seconds
from tests.shared.documents.test_ofx import HOSTILE as HOSTILE_STATEMENTS
from tests.shared.documents.test_ofx import statement_around
from tests.shared.domain.confirmations.mails import read
from tests.shared.domain.confirmations.test_attachments import heavy_calendars
from tests.shared.domain.confirmations.test_hostile import HOSTILE as HOSTILE_MAILS
from tests.shared.domain.folio.bills import audit
from tests.shared.domain.folio.test_reading import HOSTILE as HOSTILE_BILLS
from tests.shared.domain.folio.test_reading import long_bill

MAX_MAIL_SECONDS = 10.0  # a worker gives a job eighty


def seconds_of_additions(millions: int) -> float:
    """The yardstick of this machine: processor seconds of so many additions."""
    return processor_seconds(lambda: sum(range(1_000_000 * millions)))


@pytest.mark.parametrize("name", HOSTILE_MAILS)
def test_a_hostile_mail_is_read_or_refused_in_little_time(name: str) -> None:
    raw = HOSTILE_MAILS[name]()

    def work() -> None:
        with suppress(Unreadable):
            read(raw)

    assert thread_seconds(work) < MAX_MAIL_SECONDS


def test_calendars_built_to_be_a_burden_are_refused_in_little_time() -> None:
    mails = heavy_calendars()
    assert processor_seconds(lambda: [read(mail) for mail in mails]) < 2


def test_a_bill_of_200_lines_takes_less_than_four_million_additions() -> None:
    text = long_bill()
    assert any_attempt_passes(
        lambda: processor_seconds(lambda: audit(text, "hyatt")) < seconds_of_additions(4), tries=7
    )


@pytest.mark.parametrize("text", HOSTILE_BILLS.values(), ids=HOSTILE_BILLS)
def test_a_hostile_bill_takes_less_than_a_hundred_million_additions(text: str) -> None:
    assert processor_seconds(lambda: audit(text[:60_000], "hyatt", "cash", "globalist")) < seconds_of_additions(100)


@pytest.mark.parametrize("inside", HOSTILE_STATEMENTS.values(), ids=HOSTILE_STATEMENTS)
def test_a_hostile_transaction_of_a_statement_holds_up_nobody(inside: str) -> None:
    text = statement_around(inside)
    assert thread_seconds(lambda: list(read_entries(text))) < 2


def test_arguments_in_bulk_are_refused_in_little_time() -> None:
    arguments = bulk_arguments()

    def refuse_all() -> None:
        for raw_arguments in BULK:
            with pytest.raises(Invalid):
                arguments.check(raw_arguments)

    assert processor_seconds(refuse_all) < 1
