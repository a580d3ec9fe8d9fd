"""How mail programs wrap a letter that a person forwards: the lines above it, their dates, and its text from HTML."""

import html
import re
import textwrap
from datetime import datetime
from email.utils import parsedate_to_datetime

# Gmail translates the first header alone. Outlook and Apple Mail translate all of them.
_HEADERS = {
    "gmail": {"en": "From", "de": "Von", "fr": "De", "es": "De", "it": "Da", "pt": "De", "nl": "Van", "ja": "From"},
    "outlook": {
        "en": "From Sent To Subject",
        "de": "Von Gesendet An Betreff",
        "fr": "De\u00a0 Envoyé\u00a0 À\u00a0 Objet\u00a0",
        "es": "De Enviado Para Asunto",
        "it": "Da Inviato A Oggetto",
        "pt": "De Enviado Para Assunto",
        "nl": "Van Verzonden Aan Onderwerp",
        "ja": "差出人 送信日時 宛先 件名",
    },
    "apple": {
        "en": "From Subject Date To",
        "de": "Von Betreff Datum An",
        "fr": "De Objet Date À",
        "es": "De Asunto Fecha Para",
        "it": "Da Oggetto Data A",
        "pt": "De Assunto Data Para",
        "nl": "Van Onderwerp Datum Aan",
        "ja": "差出人 件名 日付 宛先",
    },
}
_APPLE_LINE = {
    "en": "Begin forwarded message:",
    "de": "Anfang der weitergeleiteten Nachricht:",
    "fr": "Début du message réexpédié :",
    "es": "Inicio del mensaje reenviado:",
    "it": "Inizio messaggio inoltrato:",
    "pt": "Início da mensagem reencaminhada:",
    "nl": "Begin doorgestuurd bericht:",
    "ja": "転送されたメッセージ:",
}
PREFIXES = {"outlook-en": "FW: ", "outlook-de": "WG: ", "outlook-fr": "TR: ", "outlook-es": "RV: ", "outlook-it": "I: "}
_WEEKDAYS = {
    "en": "Mon Tue Wed Thu Fri Sat Sun",
    "de": "Mo. Di. Mi. Do. Fr. Sa. So.",
    "fr": "lun. mar. mer. jeu. ven. sam. dim.",
    "es": "lun mar mié jue vie sáb dom",
    "it": "lun mar mer gio ven sab dom",
    "pt": "seg. ter. qua. qui. sex. sáb. dom.",
    "nl": "ma di wo do vr za zo",
    "ja": "月 火 水 木 金 土 日",
}
_MONTHS = {  # letters are sent in these two
    "en": "Oct Nov",
    "de": "Okt. Nov.",
    "fr": "oct. nov.",
    "es": "oct nov",
    "it": "ott nov",
    "pt": "out. nov.",
    "nl": "okt nov",
    "ja": "10月 11月",
}
_GMAIL_DATES = {
    "en": "{w}, {m} {d}, {y} at {t}",
    "de": "{w}, {d}. {m} {y} um {t} Uhr",
    "fr": "{w} {d} {m} {y} à {t}",
    "es": "{w}, {d} {m} {y} a las {t}",
    "it": "{w} {d} {m} {y} alle ore {t}",
    "pt": "{w}, {d} de {m} de {y} às {t}",
    "nl": "{w} {d} {m} {y} om {t}",
    "ja": "{y}年{m}{d}日({w}) {t}",
}


def wrap_letter(way: str, headers: dict[str, str], text: str, to: str, as_page: bool) -> str:
    """The text or the page of a letter below what the program writes above it; `way` is "gmail-de" or the like."""
    program, _, language = way.partition("-")
    above, lines = _list_headers(program, language, headers, to)
    if as_page:
        return _wrap_page(program, above, lines, text)
    if program == "apple":
        quoted = [f"> {line}".rstrip() for line in ["", *lines, "", *text.split("\n")]]
        return "\n".join(["", above, "", *quoted]) + "\n"
    return "\n".join(["", *([above] if above else ["________________________________"]), *lines, "", "", text])


def _list_headers(program: str, language: str, headers: dict[str, str], to: str) -> tuple[str, list[str]]:
    sent = parsedate_to_datetime(headers["Date"])
    names = _HEADERS[program][language].split(" ")
    sender, subject = headers["From"], headers["Subject"]
    day = write_day(language, sent)
    if program == "gmail":
        lines = [f"{names[0]}: {sender}", f"Date: {day}", f"Subject: {subject}", f"To: <{to}>"]
        return "---------- Forwarded message ---------", lines
    values = [sender, day, to, subject] if program == "outlook" else [sender, subject, day, to]
    pairs = [f"{name}: {value}" for name, value in zip(names, values, strict=True)]
    return (_APPLE_LINE[language] if program == "apple" else ""), pairs


def write_day(language: str, sent: datetime) -> str:
    """The moment as Gmail writes it in a language: "Mo., 9. Nov. 2026 um 09:14 Uhr"."""
    words = {"w": _WEEKDAYS[language].split(" ")[sent.weekday()], "m": _MONTHS[language].split(" ")[sent.month - 10]}
    clock = f"{sent:%I:%M %p}".lstrip("0") if language == "en" else f"{sent:%H:%M}"
    return _GMAIL_DATES[language].format(**words, d=sent.day, y=sent.year, t=clock)


def _wrap_page(program: str, above: str, lines: list[str], page: str) -> str:
    inner = re.sub(r"(?i)</?(?:html|body)[^>]*>", "", page)
    rows = [html.escape(line, quote=False) for line in lines]
    if program == "gmail":
        attr = "<br>".join([above, *rows])
        return (
            f'<div dir="ltr"><br><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">{attr}<br></div>'
            f"<br><br>{inner}</div></div>"
        )
    bold = "<br>".join(f"<b>{name}:</b>{value}" for name, _, value in (row.partition(":") for row in rows))
    if program == "apple":
        return (
            f'<html><body><br><blockquote type="cite"><div>{above}</div><br><div>{bold}</div><br>{inner}'
            "</blockquote></body></html>"
        )
    return (
        f'<html><body><p>&nbsp;</p><div style="border-top:solid #E1E1E1 1.0pt"><p>{bold}</p></div>{inner}</body></html>'
    )


def render_text(page: str) -> str:
    """The page as programs write it in the text beside it: rows as lines, bold words starred, broken at 78."""
    page = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", "", page)
    page = re.sub(r"(?is)<(?:b|strong|h\d)\b[^>]*>(.*?)</(?:b|strong|h\d)>", r" *\1* ", page)
    page = re.sub(r"(?i)<br[^>]*>|</(?:tr|p|div|table|h\d|li)>", "\n", page)
    page = html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ")
    lines = [re.sub(r"\s+", " ", line).strip() for line in page.split("\n")]
    return "\n".join("\n".join(textwrap.wrap(line, 78)) for line in lines) + "\n"
