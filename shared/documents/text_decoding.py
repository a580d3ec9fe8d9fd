"""Text of an uploaded file: its encoding, or what kind of file it is instead."""

import codecs
import re

from shared.documents.workbooks import UnreadWorkbook, read_workbook
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded

MAX_FILE_BYTES = 6 * 1024 * 1024
_WORKBOOK_BUDGET = Budget(processor_seconds=10, seconds=30, memory_bytes=512 << 20)
_KINDS = {
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document; save it as CSV",
    b"%PDF": "a PDF; ask the bank for CSV or OFX",
    b"\x1f\x8b": "a compressed file; unpack it",
    b"BZh": "a compressed file; unpack it",
    b"\xfd7zXZ": "a compressed file; unpack it",
    b"7z\xbc\xaf": "a compressed file; unpack it",
    b"Rar!": "a compressed file; unpack it",
    b"(\xb5/\xfd": "a compressed file; unpack it",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


_KANA = re.compile("[ぁ-んァ-ヶ]")
# Encodings of one country, each with words of which one heads a column of its banks: any bytes are a text in most.
_BY_WORDS = {
    "gb18030": ("日期", "时间", "金额", "余额"),
    "cp949": ("일자", "일시", "거래일", "이용일", "금액"),
    "big5": ("日期", "金額", "餘額"),
    "cp874": ("วันที่", "จำนวนเงิน"),
    "cp1256": ("التاريخ", "المبلغ", "الرصيد"),
    "cp1251": ("Дата", "дата", "Сумма", "сумма"),
}
_HEAD = 8_000  # bytes of a statement in which its columns are named


class NoText(ValueError):
    """The text says what kind of file it is and quotes nothing of it."""


def decode_text(content: bytes) -> str:
    """UTF-8, UTF-16 or UTF-32 by its mark or its look, Shift JIS by its kana, another of one country by names of its
    columns, else Windows-1252; of a workbook CSV.

    Raises NoText.
    """
    if len(content) > MAX_FILE_BYTES:
        raise NoText(f"larger than {MAX_FILE_BYTES >> 20} MiB")
    if kind := next((words for start, words in _KINDS.items() if content.startswith(start)), None):
        raise NoText(kind)
    if content.startswith(b"PK\x03\x04"):
        return _decode_workbook(content)
    text = _try_encodings(content)
    if text is None or any(c in text for c in _UNWRITTEN):
        raise NoText("no text in a known encoding (UTF-8, UTF-16, one of East Asia or Windows-1252)")
    return text


def _decode_workbook(content: bytes) -> str:
    try:
        text = read_bounded(_WORKBOOK_BUDGET, read_workbook, content)
    except ReaderEnded as ended:
        raise NoText(f"a spreadsheet that cannot be read: {ended}; save it as CSV") from None
    if isinstance(text, UnreadWorkbook):
        raise NoText(text.reason)
    return text


_UNWRITTEN = [chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\x1a"]  # no text has these


def _try_encodings(content: bytes) -> str | None:
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    for encoding in (marked,) if marked else (_guess_encoding(content), *_find_by_words(content), "cp932", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "cp932" or _KANA.search(text):  # Western text that can be read so has none
            return text
    return None


def _find_by_words(content: bytes) -> list[str]:
    head = content[:_HEAD]
    return [name for name, words in _BY_WORDS.items() if any(word.encode(name) in head for word in words)]


def _guess_encoding(content: bytes) -> str:
    """Guesses by zeros: in UTF-16 every second byte of Western text is zero."""
    start = content[:2000]
    if start.count(0) * 3 > len(start):
        return "utf-16-le" if start[1::2].count(0) > start[0::2].count(0) else "utf-16-be"
    return "utf-8"
