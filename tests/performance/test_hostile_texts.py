"""Texts built to be slow: mails, hotel bills, card statements and arguments are read or refused in little time."""

from contextlib import suppress
from time import perf_counter

import pytest

from shared.documents.card_statements import read_entries
from shared.domain.confirmations.attached_files import DEADLINE_SECONDS
from shared.domain.confirmations.mail_parts import UnreadableMail
from shared.errors import Invalid
from tests.mcp_server.toolkit.test_arguments import BULK, bulk_arguments
from tests.performance.stopwatch import cost_in_pages, processor_seconds, thread_seconds
from tests.shared.documents.test_ofx import HOSTILE as HOSTILE_STATEMENTS
from tests.shared.documents.test_ofx import statement_around
from tests.shared.domain.confirmations.attachments import letter
from tests.shared.domain.confirmations.mails import mail, read
from tests.shared.domain.confirmations.test_attached_files import HOSTILE_FILES
from tests.shared.domain.confirmations.test_attachments import heavy_calendars
from tests.shared.domain.confirmations.test_hostile import HOSTILE as HOSTILE_MAILS
from tests.shared.domain.folio.bills import audit
from tests.shared.domain.folio.test_reading import HOSTILE as HOSTILE_BILLS
from tests.shared.domain.folio.test_reading import long_bill

MAX_MAIL_SECONDS = 10.0  # a worker gives a job eighty


@pytest.mark.parametrize("name", HOSTILE_MAILS)
def test_a_hostile_mail_is_read_or_refused_in_little_time(name: str) -> None:
    raw = HOSTILE_MAILS[name]()

    def work() -> None:
        with suppress(UnreadableMail):
            read(raw)

    assert thread_seconds(work) < MAX_MAIL_SECONDS


def letter_of(kilobytes: int) -> bytes:
    """A page as senders build them: a return booking and its terms, four fifths of it markup."""
    told = ["Booking reference: X7Y8Z9", "Passenger: Mr Alex Example", "Total: GBP 612.40"]
    told += ["BA285  London (LHR) - San Francisco (SFO)  Tue 4 May 2027  11:20 - 14:10  Economy"]
    told += ["BA286  San Francisco (SFO) - London (LHR)  Tue 11 May 2027  16:20 - 10:40+1  Economy"]
    terms = ["Baggage may weigh 23 kg; changes cost GBP 60.00.", "Check-in closes 60 minutes before departure."]
    style = "font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:20px;color:#333333;padding:0 12px 8px"
    attributes = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" align="left" valign="top"'
    rows = [f'<table {attributes}><tr><td style="{style}">{line}</td></tr></table>' for line in told]
    terms_rows = kilobytes * 1000 // len(rows[0]) - len(rows)
    rows += [rows[0].replace(told[0], f"{n}. {terms[n % 2]}") for n in range(terms_rows)]
    return mail(page=f"<html><body>{''.join(rows)}</body></html>", sender="British Airways <x@ba.test>")


@pytest.mark.parametrize(("kilobytes", "pages"), [(100, 50), (1_000, 220)])
def test_a_letter_takes_little_more_than_it_is_long(kilobytes: int, pages: int) -> None:
    """About 60 ms for 100 kB and well under 2 s for a megabyte; half of each bound was measured."""
    raw = letter_of(kilobytes)
    assert len(read(raw).bookings) == 2
    assert cost_in_pages(lambda: read(raw)) < pages


@pytest.mark.parametrize(
    "line", ["BA{} LHR-SFO  {} May 2027  11:20 14:10  Economy", "Fees of GBP 12.{} on {} May 2027"]
)
def test_a_megabyte_of_text_is_read_in_two_seconds(line: str) -> None:
    lines = [line.format(10 + n % 90, n % 28 + 1) for n in range(1_000_000 // (len(line) + 4))]
    raw = mail("\n".join(["Booking reference: X7Y8Z9", *lines]))
    assert cost_in_pages(lambda: read(raw), tries=3) < 700  # 340 measured


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_is_left_unread_in_its_time_and_costs_the_reader_little(name: str) -> None:
    raw = letter(HOSTILE_FILES[name](), "application/pdf", "a.pdf")
    start = perf_counter()
    assert processor_seconds(lambda: read(raw)) < 2
    assert perf_counter() - start < DEADLINE_SECONDS + 5


def test_calendars_built_to_be_a_burden_are_refused_in_little_time() -> None:
    mails = heavy_calendars()
    assert processor_seconds(lambda: [read(mail) for mail in mails]) < 2


def test_a_bill_of_200_lines_is_read_in_little_time() -> None:
    text = long_bill()
    assert cost_in_pages(lambda: audit(text, "hyatt")) < 25  # 12 measured: 40 ms


@pytest.mark.parametrize("text", HOSTILE_BILLS.values(), ids=HOSTILE_BILLS)
def test_a_hostile_bill_is_read_in_little_time(text: str) -> None:
    assert cost_in_pages(lambda: audit(text[:60_000], "hyatt", "cash", "globalist"), tries=2) < 400  # 185 measured


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

    assert cost_in_pages(refuse_all) < 15  # 5 measured: 15 ms
