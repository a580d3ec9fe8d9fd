"""Documents made for clients: who is no advisor any more still takes them back, and no one another person's."""

from typing import Any

from sqlalchemy import select

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.clients import BrandedPdf
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_dashboard import on_plan, send


def document(title: str) -> str:
    """One of the first account's documents, which is open."""
    with transaction() as session:
        pdf = BrandedPdf(title=title, content=b"x", pages=1, nonce="n", key="k", token_hash=title, views=2)
        pdf.account_id = session.scalars(select(Account.id).order_by(Account.id)).first() or 0
        pdf.synthetic = True
        session.add(pdf)
        session.flush()
        return str(pdf.id)


def take_back(browser: Browser, listed: str, pdf_id: str) -> Any:
    """With the token of the page that asks about the document listed."""
    asked = f"/dashboard/clients/documents/revoke?pdf_id={listed}"
    return send(browser, asked, "/dashboard/clients/documents/revoke", pdf_id=pdf_id)


def test_who_is_no_advisor_any_more_still_takes_documents_back(ann: Browser) -> None:
    first, second = document("Tokyo in spring"), document("Rome <b>")
    ann.sign_in()
    assert "2 of the documents you made can be opened" in ann.get("/dashboard/settings").text
    assert "2 documents you made can still be opened" in ann.get("/dashboard/clients").text
    page = ann.get("/dashboard/clients/documents").text
    assert "Tokyo in spring" in page
    assert "Rome &lt;b&gt;" in page
    assert take_back(ann, first, first).headers["location"] == "/dashboard/clients/documents?done=document"
    with transaction() as session:
        closed = {str(row.id): row.revoked_at is not None for row in session.scalars(select(BrandedPdf))}
    assert closed == {first: True, second: False}
    assert "Tokyo" not in ann.get("/dashboard/clients/documents").text
    assert ann.get(f"/dashboard/clients/documents/revoke?pdf_id={first}").status_code == 404


def test_nobody_takes_back_another_persons_document(ann: Browser, bob: Browser) -> None:
    hers = document("Hers")
    with transaction() as session:
        mine = BrandedPdf(title="His", content=b"x", pages=1, nonce="n", key="k", token_hash="his", synthetic=True)
        mine.account_id = session.scalars(select(Account.id).order_by(Account.id.desc())).first() or 0
        session.add(mine)
        session.flush()
        his = str(mine.id)
    bob.sign_in()
    for other in (hers, "nonsense", ""):
        take_back(bob, his, other)
        assert bob.get(f"/dashboard/clients/documents/revoke?pdf_id={other}").status_code == 404
    assert "Hers" not in bob.get("/dashboard/clients/documents").text
    with transaction() as session:
        assert [row.revoked_at for row in session.scalars(select(BrandedPdf))] == [None, None]


def test_clients_are_for_advisors(ann: Browser) -> None:
    ann.sign_in()
    assert ">Clients</a>" not in ann.get("/dashboard/settings").text
    page = ann.get("/dashboard/clients").text
    assert 'href="/plans">See the plans' in page
    assert "On the Pro plan" in ann.get("/dashboard/clients/1/change").text
    on_plan("pro")
    assert ">Clients</a>" in ann.get("/dashboard/settings").text
