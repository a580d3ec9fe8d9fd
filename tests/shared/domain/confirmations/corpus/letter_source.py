"""Letters in their readable form: headers, parts between `===` lines, and at the end what they state."""

import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from datetime import timedelta
from email.headerregistry import Address
from email.message import EmailMessage, Message
from email.policy import SMTP
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

from tests.shared.domain.confirmations.corpus.forwards import PREFIXES, render_text, wrap_letter

FOLDER = Path(__file__).parent / "letters"
_PART = re.compile(r"^=== ?(\w+)(?: (.+))?\n", re.M)


@dataclass
class Letter:
    """One letter. `labels` are its language, kinds and sender; `expected` is the last part, read by `expectations`."""

    name: str
    headers: dict[str, str]
    parts: list[tuple[str, str, str]] = field(default_factory=list)  # kind, name of the file, text
    expected: str = ""

    @property
    def language(self) -> str:
        return self.headers["Lang"]

    @property
    def kinds(self) -> list[str]:
        return [kind.strip() for kind in self.headers["Kind"].split(",")]

    @property
    def sender(self) -> str:
        return self.headers["Sender"]

    def build(self) -> bytes:
        """The bytes a mail program would send."""
        way, _, forwarder = self.headers.get("Forward", "").partition(" ")
        message = _start(self.headers, self.name)
        if way == "attachment":
            _fill(message, self.headers, self.parts)
            outer = _start(self.headers | {"From": forwarder, "Subject": f"Fwd: {self.headers['Subject']}"}, "outer")
            outer.set_content("See attached.\n")
            outer.add_attachment(message)
            return outer.as_bytes(policy=SMTP)
        if way:
            later = format_datetime(parsedate_to_datetime(self.headers["Date"]) + timedelta(days=1))
            subject = PREFIXES.get(way, "Fwd: ") + self.headers["Subject"]
            headers = self.headers | {"From": forwarder, "Subject": subject, "Date": later}
            message = _start(headers, self.name)
            _fill(message, headers, _forward(way, self.headers, self.parts))
            return message.as_bytes(policy=SMTP)
        _fill(message, self.headers, self.parts)
        return message.as_bytes(policy=SMTP)


def read_letter(path: Path) -> Letter:
    """Raises ValueError where the file lacks a header the reports need."""
    head, *pieces = _PART.split(path.read_text(encoding="utf-8"))
    headers = dict(line.split(": ", 1) for line in head.strip().split("\n"))
    if lacking := {"Lang", "Kind", "Sender", "From", "Subject", "Date"} - headers.keys():
        raise ValueError(f"{path.name} lacks {sorted(lacking)}")
    letter = Letter(path.stem, headers)
    for kind, file_name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if kind == "expect":
            letter.expected = text
        else:
            letter.parts.append((kind, file_name or "", text))
    return letter


def read_letters(folder: Path = FOLDER) -> list[Letter]:
    """All letters of a folder, by name."""
    return [read_letter(path) for path in sorted(folder.glob("*.letter"))]


def _start(headers: dict[str, str], name: str) -> EmailMessage:
    message = EmailMessage()
    shown, _, address = headers["From"].rpartition(" <")
    message["From"] = Address(shown.strip('"'), addr_spec=address.rstrip(">"))
    message["To"] = headers.get("To", "traveller@example.org")
    message["Subject"], message["Date"] = headers["Subject"], headers["Date"]
    message["Message-ID"] = f"<{name}@corpus.test>"
    return message


def _forward(way: str, headers: dict[str, str], parts: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The parts as a program forwards them: a text beside a page that had none; files stay as they are."""
    to, kinds = headers.get("To", "traveller@example.org"), {kind for kind, _, _ in parts}
    if "text" not in kinds:
        page = next(text for kind, _, text in parts if kind == "html")
        parts = [("text", "", render_text(page)), *parts]
    return [
        (k, f, wrap_letter(way, headers, text, to, k == "html") if k in ("text", "html") else text)
        for k, f, text in parts
    ]


def _fill(message: EmailMessage, headers: dict[str, str], parts: list[tuple[str, str, str]]) -> None:
    charset, _, transfer = headers.get("Encoding", "utf-8 quoted-printable").partition(" ")
    codec = "ascii" if charset == "us-ascii" else charset
    bodies = [(kind, text) for kind, _, text in parts if kind in ("text", "html")]
    for at, (kind, text) in enumerate(bodies):
        part: Message = message
        if at:
            message.make_alternative()
            part = EmailMessage()
        subtype = "plain" if kind == "text" else "html"
        assert isinstance(part, EmailMessage)
        if charset == "iso-2022-jp":  # the standard library has no transfer encoding for text in seven bits
            part.set_payload(text.encode(codec, "replace").decode("ascii"))
            part["MIME-Version"], part["Content-Transfer-Encoding"] = "1.0", "7bit"
            part["Content-Type"] = f'text/{subtype}; charset="ISO-2022-JP"'
        else:
            part.set_content(
                text.encode(codec, "xmlcharrefreplace").decode(codec), subtype, charset=charset, cte=transfer or None
            )
        if at:
            message.attach(part)
    for kind, file_name, text in parts:
        if kind not in ("text", "html"):
            _attach(message, kind, file_name, text)


def _attach(message: EmailMessage, kind: str, file_name: str, text: str) -> None:
    if kind == "ics":
        lines = "\r\n".join(line for line in text.strip().split("\n")) + "\r\n"
        message.add_attachment(lines.encode(), maintype="text", subtype="calendar", filename=file_name)
    elif kind == "pdf":
        message.add_attachment(print_pdf(text), maintype="application", subtype="pdf", filename=file_name)
    elif kind == "pkpass":
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("pass.json", json.dumps(json.loads(text)))
            archive.writestr("manifest.json", "{}")
        message.add_attachment(
            content.getvalue(), maintype="application", subtype="vnd.apple.pkpass", filename=file_name
        )


def print_pdf(text: str) -> bytes:
    """The lines of a text on pages of A4; a form feed begins a page."""
    from fpdf import FPDF

    pdf = FPDF()
    pdf.set_font("Courier", size=9)
    for page in text.strip("\n").split("\f"):
        pdf.add_page()
        for line in page.split("\n"):
            pdf.cell(0, 4.5, line.encode("cp1252", "replace").decode("latin-1"), new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())
