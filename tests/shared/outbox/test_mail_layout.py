"""Every kind of mail: both bodies say the same, the sandbox comes first, and no program clips it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import shared.outbox
from shared.outbox.wording.messages import SANDBOX_LINE, Message
from tests.support.mail_samples import build_mails
from tests.support.settings_and_clock import Configure

MAX_BYTES = 30_000  # Gmail cuts a mail at 102 kB; a long list must stay far below
_URL = re.compile(r"https?://[^\s<>\"]*[\w/=]")
NAMES = sorted(
    path.stem
    for path in (Path(shared.outbox.__file__).parent / "templates").glob("*.html")
    if path.stem not in {"frame", "parts", "pauses", "seats", "deadline_list"}
)


class _Visible(HTMLParser):
    """The words a person sees, and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: set[str] = set()
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag in ("style", "title")
        self.links |= {value for name, value in attrs if name in ("href", "src") and value}

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)


def _list_words(text: str) -> set[str]:
    return set(re.findall(r"[\w.,'%+:-]*\w", _URL.sub(" ", text)))


def _read(mail: Message) -> _Visible:
    parser = _Visible()
    parser.feed(mail.html)
    return parser


@pytest.fixture
def mails(configure: Configure) -> dict[str, Message]:
    configure(WEB_URL="https://travel.example")
    return build_mails()


def test_there_is_a_sample_of_every_mail(mails: dict[str, Message]) -> None:
    assert set(NAMES) - set(mails) == set()


def test_plain_text_and_html_hold_the_same_words_figures_and_addresses(mails: dict[str, Message]) -> None:
    different = {}
    for name, mail in mails.items():
        html = _read(mail)
        # Next to a link that a model wrote the HTML names its host, which plain text shows in the address.
        hosts = {urlsplit(address).hostname for address in html.links}
        words, plain = _list_words(" ".join(html.words)) - hosts, _list_words(mail.text)
        addresses = html.links | set(_URL.findall(" ".join(html.words)))
        different[name] = (words ^ plain, addresses ^ set(_URL.findall(mail.text)))
    assert {name: both for name, both in different.items() if both != (set(), set())} == {}


def test_a_mail_is_small_and_takes_nothing_from_elsewhere(mails: dict[str, Message]) -> None:
    for mail in mails.values():
        assert len(mail.html.encode()) < MAX_BYTES
        assert not re.search(r"<(img|script|link|iframe|form)\b|url\(|@import", mail.html)


def test_invented_data_says_so_before_anything_else(mails: dict[str, Message]) -> None:
    for mail in mails.values():
        if mail.subject.startswith("[SANDBOX]"):
            assert mail.text.startswith(SANDBOX_LINE)
            assert "".join(_read(mail).words).strip().startswith(SANDBOX_LINE)
        else:
            assert "SANDBOX - " not in mail.text + mail.html


def test_gaps_of_plain_text_are_one_line(mails: dict[str, Message]) -> None:
    for name, mail in mails.items():
        assert "\n\n\n" not in mail.text, name
        assert not any(line.endswith(" ") for line in mail.text.splitlines()), name
