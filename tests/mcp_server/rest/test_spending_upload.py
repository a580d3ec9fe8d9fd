"""A statement uploaded on the dashboard goes through both hosts: what a person sees, and what is kept of it."""

import gzip
import re
import socket
from datetime import date
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import func, select, update

from auth_server.accounts.accounts import create_account
from auth_server.web.tool_server import Answer, ToolServer
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.cards import Card
from shared.db.oauth import AccessToken, Family
from shared.db.spending import SpendingStatement, SpendingTotal
from tests.auth_server.in_process_browser import PASSWORD, hidden
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.tools.test_spending import twenty_thousand_lines
from tests.shared.documents.test_workbooks import HEAD, make_workbook, row
from tests.shared.domain.spending.issuers import SAMPLES

PAGE = "/dashboard/spending"
MARCH = date(2026, 3, 1)
CSV = SAMPLES["amex-uk"].text


@pytest.fixture
def ann(world: World) -> World:
    """Signed in with a browser's cookie, on the Premium plan, with one card."""
    with transaction() as session:
        made = create_account(session, "ann@example.test", PASSWORD, plan="premium")
        session.add(Card(account_id=made.id, name="Zorblatt Gold", custom=True, currency="GBP", country="GB"))
    fields = {"csrf": hidden(world.get("/signin").text, "csrf"), "return_to": "", "email": "ann@example.test"}
    assert world.http.post(f"{world.url}/signin", data=fields | {"password": PASSWORD}).status_code == 303
    return world


def csrf(world: World) -> str:
    found = re.search(r'action="/dashboard/spending".*?name="csrf" value="([^"]*)"', world.get(PAGE).text, re.S)
    assert found is not None
    return found[1]


def upload(world: World, content: bytes, name: str = "statement.csv", **fields: str) -> httpx.Response:
    form = {"csrf": csrf(world)} | fields
    return world.http.post(world.url + PAGE, data=form, files={"file": (name, content, "text/csv")})


def kept() -> tuple[int, int]:
    with transaction() as session:
        count = [session.scalar(select(func.count()).select_from(m)) or 0 for m in (SpendingStatement, SpendingTotal)]
    return count[0], count[1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_an_uploaded_statement_is_counted_and_its_totals_are_shown(ann: World, encoding: str) -> None:
    shown = upload(ann, CSV.replace("LIDL", "Lidl Café").encode(encoding))
    assert shown.status_code == 200
    assert "Stored the totals of 1 purchase from 14 Mar 2026 to 15 Mar 2026 in GBP" in shown.text
    assert re.search(r"<strong>2026-03</strong>\s*<span class=\"small\">groceries 12.10 GBP</span>", shown.text)
    assert "Sat 14 Mar 2026 to Sun 15 Mar 2026" in ann.get(PAGE).text
    assert kept() == (1, 2)
    again = upload(ann, CSV.replace("LIDL", "Lidl Café").encode("utf-8-sig"))
    assert "nothing was changed" in again.text
    assert kept() == (1, 2)


def test_a_statement_is_filed_with_the_card_chosen(ann: World) -> None:
    with transaction() as session:
        card = session.scalars(select(Card.id)).one()
    assert "Zorblatt Gold" in ann.get(PAGE).text
    assert upload(ann, b"Date,Payee,Amount\n03/04/2026,ALDI,5\n", card_id=str(card)).status_code == 200
    with transaction() as session:
        stored = session.scalars(select(SpendingStatement)).one()
        assert (stored.card_id, stored.currency, stored.period_start.month) == (card, "GBP", 4)


def test_a_workbook_is_imported_as_its_sheet(ann: World) -> None:
    sheet = HEAD + row(2, 46300, "ALDI, SOUTH", 12.5) + row(3, 46301, "ALDI", 42000)
    done = upload(ann, make_workbook(sheet), currency="GBP")
    assert done.status_code == 200, done.text
    with transaction() as session:
        stored = session.scalars(select(SpendingStatement)).one()
        assert (stored.currency, stored.transactions, str(stored.period_start)) == ("GBP", 2, "2026-10-05")


def test_an_upload_leaves_no_authorization_behind(ann: World) -> None:
    upload(ann, CSV.encode())
    with transaction() as session:
        rows = [session.scalar(select(func.count()).select_from(table)) for table in (Family, AccessToken)]
    assert (kept(), rows) == ((1, 2), [0, 0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Choose a file first"),
        (gzip.compress(b"0" * 1_000_000, mtime=0) * 50, "it is a compressed file"),
        (b"PK\x03\x04" + b"0" * 100, "save it as CSV"),
        (b"\x00\x01" * 500, "it is no text"),
        (b"hello", "The file is no statement that can be read"),
        (b"Date,Payee,Notes\n1,2,3\n", "The file names no column for the amount"),
        (b"Date,Payee,Amount\n03/04/2026,ALDI,5\n", "dates that can be read day first and month first"),
        (b"0" * 3_000_001, "may have 3,000,000 characters"),
        ("Date,Description,Amount\n" + "é€" * 900_000, "characters and 4 MiB"),
    ],
    ids=["empty", "gzip", "zip", "binary", "no statement", "no amount", "two orders", "too long", "many bytes"],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(ann: World, content: bytes | str, said: str) -> None:
    refused = upload(ann, content.encode() if isinstance(content, str) else content)
    assert refused.status_code == 422
    assert re.search(said, refused.text), re.search(r'role="alert".*?</p>', refused.text, re.S)
    assert kept() == (0, 0)


def test_another_persons_card_and_a_bad_currency_are_refused(ann: World) -> None:
    for fields in ({"card_id": "999999"}, {"card_id": "x"}, {"currency": "EURO"}):
        assert upload(ann, CSV.encode(), **fields).status_code == 422
    assert kept() == (0, 0)


def test_a_description_is_never_markup_on_the_page(ann: World) -> None:
    shown = upload(
        ann, b"Date,Description,Amount\n14/03/2026,<script>alert(1)</script>,5\n15/03/2026,x,y\n", currency="GBP"
    )
    assert (shown.status_code, "alert(1)" in shown.text) == (200, False)


def test_a_free_account_is_shown_the_plan_and_not_the_form(ann: World) -> None:
    token = csrf(ann)
    with transaction() as session:
        session.execute(update(Account).values(plan="free"))
    assert "part of the Premium plan" in ann.get(PAGE).text
    refused = ann.http.post(ann.url + PAGE, data={"csrf": token}, files={"file": ("a.csv", CSV.encode())})
    assert (refused.status_code, "needs the Premium plan" in refused.text) == (422, True)
    assert kept() == (0, 0)


def announce_huge_upload(ann: World, token: str) -> str:
    """The answer to the head of a request that promises a hundred megabytes and sends almost none of them."""
    place = urlsplit(ann.url)
    head = (
        f"POST {PAGE} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        f"Content-Length: {100 * 1024 * 1024}\r\nCookie: award={ann.http.cookies['award']}\r\n\r\n--x\r\n"
    )
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=90) as line:
        line.sendall(head.encode() + token.encode())
        return line.recv(65536).decode()


def test_a_hundred_megabytes_are_refused_before_they_are_sent(ann: World) -> None:
    assert announce_huge_upload(ann, csrf(ann)).startswith("HTTP/1.1 413")


def test_twenty_thousand_lines_go_through_the_form(ann: World) -> None:
    assert "20,000 purchases" in upload(ann, twenty_thousand_lines().encode()).text


@pytest.mark.parametrize("content", [b"", b"hello"], ids=["refused by the page", "refused by the tool"])
def test_after_a_fault_card_and_currency_are_still_chosen(ann: World, content: bytes) -> None:
    with transaction() as session:
        card = session.scalars(select(Card.id)).one()
    page = upload(ann, content, card_id=str(card), currency="gbp", replace="yes").text
    assert f'<option value="{card}" selected>' in page
    assert 'name="currency" type="text" value="gbp"' in page
    assert 'name="replace" value="yes" checked>' in page
    assert re.search(r'id="file"[^>]*aria-invalid="true"[^>]*aria-describedby="file-help fault"', page)
    assert "Choose the file again: a browser does not keep it." in page


def test_each_currency_is_summed_apart_and_months_without_spending_stay_empty(ann: World) -> None:
    for text in ("2026-04-03,ALDI,5\n", "2026-06-03,ALDI,7\n"):
        assert upload(ann, b"Date,Payee,Amount\n" + text.encode(), currency="GBP").status_code == 200
    assert upload(ann, b"Date,Payee,Amount\n2026-05-03,ALDI,11\n", currency="EUR").status_code == 200
    page = ann.get(PAGE).text
    assert f'href="{PAGE}?currency=EUR">In EUR: 11 EUR</a>' in page
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Apr 2026 5 GBP 5 GBP May 2026 0 GBP 0 GBP Jun 2026 7 GBP 7 GBP" in text
    euros = ann.get(f"{PAGE}?currency=EUR").text
    assert "What you spent in EUR" in euros
    assert "In GBP: 12 GBP" in euros
    assert "What you spent" not in ann.get(f"{PAGE}?currency=JPY").text
    assert len(page) < 30_000


def test_the_page_says_how_much_has_no_category(ann: World) -> None:
    upload(ann, b"Date,Payee,Amount\n2026-05-03,ALDI,25\n2026-05-04,ZORBLATT,75\n", currency="GBP")
    assert "75% of this spending has no category: its shops are not known." in ann.get(PAGE).text


def test_totals_that_cannot_be_read_are_named_and_the_rest_stands(ann: World, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(ann, CSV.encode())

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    page = ann.get(PAGE)
    assert (page.status_code, "could not be added up right now" in page.text) == (200, True)
    assert "Sat 14 Mar 2026" in page.text


def test_totals_are_shown_by_month_and_deleted_by_the_person(ann: World) -> None:
    with transaction() as session:
        other = create_account(session, "bob@example.test", PASSWORD)
        facts = {"period_start": MARCH, "period_end": MARCH, "transactions": 1, "currency": "CHF"}
        statement = SpendingStatement(account_id=other.id, fingerprint="b", **facts)
        session.add(statement)
        session.flush()
        total = {"month": MARCH, "category": "groceries", "amount": 99, "transactions": 1}
        session.add(SpendingTotal(account_id=other.id, statement_id=statement.id, **total))
    upload(ann, CSV.encode())
    page = ann.get(PAGE).text
    text = " ".join(re.sub(r"<[^>]+>", " ", page[page.index('id="totals"') :]).split())
    assert "What you spent in GBP 12.10 GBP in the last 12 months; 80 GBP came back." in text
    assert "Month groceries in all Mar 2026 12.10 GBP 12.10 GBP" in text
    assert "By category Groceries 12.10 GBP 12.10 GBP in an average month" in text
    assert "CHF" not in page
    path = f"{PAGE}/delete"
    token = re.search(rf'action="{path}".*?name="csrf" value="([^"]*)"', page, re.S)
    assert token is not None
    answer = ann.http.post(ann.url + path, data={"csrf": token[1]})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{PAGE}?done=spending_deleted")
    assert kept() == (1, 1)
    assert "None yet." in ann.get(PAGE).text


def test_what_the_file_leaves_open_is_asked_with_its_lines_and_answered_on_the_form(ann: World) -> None:
    content = b"Date,Payee,Amount\n03/04/2026,ZORBLATT,-5\n03/05/2026,QUINT,7\n"
    asked = upload(ann, content, currency="GBP")
    assert (asked.status_code, "03/04/2026 can be 3 April 2026 or 4 March 2026" in asked.text) == (422, True)
    asked = upload(ann, content, currency="GBP", date_order="day_first")
    assert "7 on 3 May 2026" in asked.text
    assert '<option value="day_first" selected>Day first</option>' in asked.text
    done = upload(ann, content, currency="GBP", date_order="day_first", positive_is="received")
    assert done.status_code == 200
    assert "5 GBP" in done.text


def test_a_shop_that_is_not_known_is_sorted_on_the_page_once(ann: World) -> None:
    text = "Date,Description,Amount\n14/03/2026,QU&UX 0042,12.34\n15/03/2026,ALDI,1.66\n"
    shown = upload(ann, text.encode(), currency="GBP")
    assert 'name="shop_0" value="qu&amp;ux"' in shown.text
    token = re.search(r'action="/dashboard/spending/shops".*?name="csrf" value="([^"]*)"', shown.text, re.S)
    assert token is not None
    form = {"csrf": token[1], "shop_0": "qu&ux", "category_0": "dining", "shop_1": "other", "category_1": ""}
    saved = ann.http.post(f"{ann.url}{PAGE}/shops", data=form)
    assert (saved.status_code, saved.headers["location"]) == (303, f"{PAGE}?done=shops_sorted")
    again = upload(ann, text.encode(), currency="GBP", replace="yes")
    assert "groceries 1.66 GBP, dining 12.34 GBP" in again.text
    assert "shop_0" not in again.text
