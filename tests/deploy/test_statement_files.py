"""Statements from files on the command line: any usual encoding is read, anything else is refused in one line."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import gzip
from pathlib import Path

import pytest

from tests.deploy.test_client import Say, alice, say  # noqa: F401 - fixtures
from tests.mcp_server.rest.conftest import people, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.test_spending import twenty_thousand_lines
from tests.shared.domain.spending.issuers import OFX, SAMPLES

IMPORT = ("call", "import_spending_statement", "--statement_text")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_statement_file_is_imported_in_its_own_encoding(alice: Say, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "statement.csv"
    path.write_bytes(SAMPLES["amex-uk"].text.replace("LIDL", "Lidl Köln £").encode(encoding))
    status, said, _ = alice(*IMPORT, f"@{path}", "--label", "März")
    assert (status, "Stored the totals of 1 purchase from" in said) == (0, True)
    status, said, _ = alice(*IMPORT, f"@{path}")
    assert (status, "imported before; nothing was changed" in said) == (0, True)


def test_a_statement_may_come_through_a_pipe(alice: Say) -> None:
    status, said, _ = alice(*IMPORT, "@-", given=OFX)
    assert (status, "in CAD" in said) == (0, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"0" * 1_000_000, mtime=0) * 50, "it is a compressed file"),
        (b"PK\x03\x04" + b"0" * 100, "it is a ZIP archive or a spreadsheet that cannot be read; save it as CSV"),
        (b"%PDF-1.7", "it is a PDF"),
        (b"\x00\x01" * 500, "it is no text"),
        (b"0" * 3_000_001, "at most 3,000,000 can be sent"),
        (b"hello", "is no statement that can be read"),
    ],
    ids=["gzip bomb", "workbook", "pdf", "binary", "too long", "no statement"],
)
def test_a_file_that_is_no_statement_is_refused_in_a_line(
    alice: Say, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "statement.csv"
    path.write_bytes(content)
    status, out, fault = alice(*IMPORT, f"@{path}")
    assert (status, said in fault) == (2, True), fault
    assert out == ""


def write_huge_file(folder: Path) -> Path:
    path = folder / "huge.csv"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    return path


def test_a_hundred_megabytes_are_refused(alice: Say, tmp_path: Path) -> None:
    status, _, fault = alice(*IMPORT, f"@{write_huge_file(tmp_path)}")
    assert (status, "larger than 6 MiB" in fault) == (2, True)


def test_a_file_of_twenty_thousand_lines_goes_the_whole_way(alice: Say, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(twenty_thousand_lines(), encoding="utf-8")
    status, output, _ = alice(*IMPORT, f"@{path}")
    assert (status, "20,000 purchases" in output) == (0, True)
