"""Bytes of a file as text: the usual encodings are read, and what is no text is told apart."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from shared.documents.text_decoding import MAX_FILE_BYTES, NoText, decode_text

TEXT = "Date,Description,Amount\r\n14/03/2026,Café Zürich – 5 £,12.50\r\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "utf-16-be-mark"]
)
def test_the_usual_encodings_give_the_same_text(encoding: str) -> None:
    content = b"\xfe\xff" + TEXT.encode("utf-16-be") if encoding == "utf-16-be-mark" else TEXT.encode(encoding)
    assert decode_text(content) == TEXT


def _zip() -> bytes:
    balances = io.BytesIO()
    with zipfile.ZipFile(balances, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("statement.csv", b"0" * 50_000_000)
    return balances.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"0" * 1_000_000, mtime=0) * 50, "compressed"),
        (bz2.compress(b"0" * 500_000) * 10, "compressed"),
        (lzma.compress(b"0" * 500_000) * 10, "compressed"),
        (_zip(), "ZIP archive"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"Date,Description\x00,Amount\n", "no text"),
        (b"\x00\x01\x02\x03" * 100, "no text"),
        (b"caf\x81\x8d", "no text"),
        (b"\xff\xfe\x00\xd8", "no text"),
        (b"a" * (MAX_FILE_BYTES + 1), "larger than 6 MiB"),
    ],
    ids=["gzip bomb", "bzip2", "xz", "zip bomb", "pdf", "png", "nul", "binary", "no code page", "half a pair", "large"],
)
def test_what_is_no_text_is_refused_unopened_and_named(content: bytes, said: str) -> None:
    with pytest.raises(NoText, match=said):
        decode_text(content)


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode_text(b"") == ""


def test_a_file_of_a_japanese_card_in_its_own_encoding_is_text() -> None:
    assert (
        decode_text("利用日,ご利用店名\n2026/10/03,ローソン\n".encode("cp932")).splitlines()[1] == "2026/10/03,ローソン"
    )


def test_western_letters_are_not_taken_for_japanese() -> None:
    text = "Überweisung;Café;Größe;Ärzte;naïve;São;Müller\n"
    assert decode_text(text.encode("cp1252")) == text
