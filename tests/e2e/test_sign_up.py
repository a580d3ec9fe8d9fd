"""A person with a browser and the running programs: the web host writes a row, a worker words and delivers the mail."""

import email
import email.policy
import re
from pathlib import Path

import httpx

from tests.support.oauth_browser import forms
from tests.support.service import PASSWORD, Service, wait_for


def mailed(service: Service, to: str) -> str:
    """The one-time link in the mail to this address, once a worker has delivered it."""

    def seek() -> str | None:
        for file in (service.home / "outbox").glob("*.eml"):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            found = re.search(r"https?://\S+\?token=\w+", file_text(mail)) if mail["To"] == to else None
            if found is not None:
                return found[0]
        return None

    return str(wait_for("mail", seek))  # a run of checks may hold the one worker for 20 s


def file_text(mail: email.message.Message) -> str:
    body = mail.get_body(("plain",))  # type: ignore[attr-defined]
    return str(body.get_content())


def fill(browser: httpx.Client, address: str, **fields: str) -> httpx.Response:
    page = browser.get(address)
    form = next(form for form in forms(page) if form.action != "/signout")
    return browser.post(str(page.url.join(form.action)), data=form.fields | fields)


def test_sign_up_mail_and_link_open_an_account_and_a_copy_shows_it(service: Service) -> None:
    with httpx.Client(follow_redirects=True, timeout=90) as browser:
        said = fill(browser, f"{service.web_url}/signup", email="newcomer@example.test", password=PASSWORD)
        assert "Check your mail" in said.text
        inside = fill(browser, mailed(service, "newcomer@example.test"), password=PASSWORD)
        assert "newcomer@example.test" in inside.text
        page = browser.get(f"{service.web_url}/dashboard/account")
        form = next(form for form in forms(page) if form.action.endswith("/export"))
        copied = browser.post(f"{service.web_url}{form.action}", data=form.fields).json()
    assert [row["email"] for row in copied["accounts"]] == ["newcomer@example.test"]
    logs = "".join(Path(file).read_text("utf-8") for file in (service.home / "logs").glob("*"))
    assert PASSWORD not in logs + service.words
    assert "token=" not in logs + service.words
