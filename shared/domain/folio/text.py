"""Lines of a bill without invisible characters, with one kind of minus, space and bar; and words of several readers."""

import re
import unicodedata

_MAX_LINES, _MAX_LINE_CHARACTERS = 3_000, 400
_SPACES = dict.fromkeys(map(ord, "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u200a\u3000\x0b\x0c"), " ")
_LIKE = _SPACES | dict.fromkeys(map(ord, "−–—‐‑﹣－"), "-") | {ord("’"): "'", ord("│"): "|", ord("¦"): "|"}
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_JOINED = re.compile(r"(?<=\d)[\u00a0\u202f\u2009\u2007](?=\d{3}(?!\d))")
_JAPANESE = re.compile("[¥￥円年月▲△]")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_PART_CASH = re.compile(
    r"points? ?(?:&|\+|and|plus|et) ?(?:money|cash|argent|especes)|(?:cash|money) ?(?:&|\+|and|plus) ?points?|"
    r"punkte ?(?:&|\+|und|plus) ?(?:geld|bar(?:geld|zahlung)?|cash)|puntos ?(?:&|\+|y|mas) ?(?:dinero|efectivo|cash)|"
    r"punti ?(?:&|\+|e|piu) ?(?:denaro|contanti|cash)|(?:ポイント|ホイント) ?(?:&|\+|・)? ?(?:現金|キャッシュ)"
)
_LEADERS = re.compile(r"[.·…_]{3,}")


def split_lines(text: str) -> list[str]:
    """The lines of a bill, without invisible characters, and with look-alikes of minus, space and bar unified."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n"))
    text = _JOINED.sub("'", text).translate(_LIKE)
    text = re.sub("[\u00a0\u202f\u2009\u2007]", " ", text)
    if _JAPANESE.search(text):
        text = _spell_japanese(text)
    return [
        _LEADERS.sub(lambda leaders: " " * len(leaders.group()), line[:_MAX_LINE_CHARACTERS]).rstrip()
        for line in text.split("\n")[:_MAX_LINES]
    ]


def _spell_japanese(text: str) -> str:
    """Days, yen and minus signs of Japanese bills in other bills' forms."""
    text = re.sub(r"(\d{4})年\s*(\d{1,2})月\s*(\d{1,2})日", r"\1-\2-\3", text)
    text = re.sub(r"(\d{1,2})月\s*(\d{1,2})日", lambda m: f"{m[2]} {_MONTHS[min(int(m[1]), 12) - 1]}", text)
    text = re.sub(r"[▲△]\s?(?=[¥￥]?\d)", "-", text)
    text = re.sub(r"([¥￥]\s?\d[\d,]*)-(?!\d)", r"\1", text)  # a dash after the number
    return re.sub(r"(?<=\d)\s?円", " JPY", text)


def is_part_cash(folded: str) -> bool:
    """Whether nights were paid with points and money together."""
    return _PART_CASH.search(folded) is not None
