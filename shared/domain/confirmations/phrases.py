"""Phrases of confirmations in many languages: cabins and marks of forwarding."""

import re
from functools import lru_cache

_CABINS = {
    "premium_economy": r"premium[ _-]?(?:economy|eco|select|class(?!\w))|world traveller plus|economy premium"
    r"|premium plus"
    r"|economica premium|eco premium|turista premium|premium comfort|(?<!saga )premium (?:light|classic|flex"
    r"|standard)|premium(?=\s?\([a-z]\))|premium klasse|sas plus|premium tourist"
    r"|(?:^|[\t|])\s*premium\s*(?=$|[\t|])|フレミアムエコノミー"
    r"|(?:(?:特選|豪華|超級|超级|高端|豪华|優選)(?:經濟|经济)|프리미엄 ?(?:일반|이코노미))(?:客)?[艙舱석]?"
    r"|(?:^|[\t|])\s*(?:cabin|class|klasse|cabine|cabina|clase|classe"
    r"|kabine|reiseklasse|reisklasse)\s?:?\s+premium\s*(?=[(,;|\t-]|$)",
    "first": r"first(?: class| suite)|flagship first|la premiere|erste klasse|primera clase|prima classe"
    r"|premiere classe"
    r"|first(?=\s?\([a-z]\))|primeira classe|royal first|the residence|first apartment"
    r"|(?:頭等|头等)(?:客)?[艙舱]|일등석|ファーストクラス|^\s*(?:first"
    r"|primera|premiere)(?:\s*$|(?=\s{2}))"
    r"|(?<=[|\t,(/])\s?first\s?(?=[|\t,)(]|$)|eerste klas(?:se)?"
    r"|ファースト(?=\s?(?:[(/\t|]|$))",
    "business": r"business(?! (?:days?|cent|hours|travel|trip|name|address|traveller|select|lounge|number|id\b))"
    r"|club (?:world|europe|suite)|saga (?:premium|class)|signature class|royal silk|prestige (?:class|suite)"
    r"|polaris|upper class|q-?suite|delta one|clase ejecutiva|executive class|classe executiva|classe executive"
    r"|classe affaires|affaires|clase business|ejecutiva|executiva|mint (?:suite|studio|class)"
    r"|(?:^|[\t|])\s*(?:mint|executive)\s*®?\s*(?=$|[\t|])|(?:商務|商务|公務|公务)(?:客)?[艙舱]|비즈니스석"
    r"|бизнес[- ]?класс\w*|бізнес[- ]?клас\w*|מחלקת עסקים|ชั้นธุรกิจ|thuong gia|kelas bisnis|درجة رجال الاعمال"
    r"|διακεκριμενη|ヒシネス(?:クラス|(?=\s?(?:[(/\t|]|$)))",
    "economy": r"economy|(?:^|[\t|])\s*main(?=\s?(?:\([a-z]\)|[\t|]|$))"
    r"|world traveller|euro traveller|main cabin|coach|turista|classe economique|economica"
    r"|economique|wirtschaftsklasse|light fare|\beco\b|delta comfort|comfort plus|sas go|lowfare|econo\b|economie"
    r"|ekonomi\w*|οικονομικ\w*|эконом\w*|turistaosztaly|turisticka trida|turistiluokka"
    r"|економ\w*|מחלקת תיירים|ชั้นประหยัด|pho thong\b|الدرجة السياحية|درجة سياحية"
    r"|(?:經濟|经济)(?:客)?[艙舱]|일반석|이코노미석"
    r"|エコノミー(?:クラス|(?=\s?(?:[(/\t|]|$)))|普通席"
    r"|delta main(?! ?cabin)|main (?:classic|basic|extra)(?![a-z])"
    r"|tourist class|touristenklasse",
}
_SUITES = re.compile(r"\bsuites?\b")  # a cabin only where no other is named: "Club Suite" is business
_CABIN = [(name, re.compile(words)) for name, words in _CABINS.items()]


# "Cabin: J": that of the cabin alone, for a letter behind "class" may be one of the fare.
_CODE = re.compile(
    r"(?<![a-z])(?:cabin|kabine|cabine|cabina)(?: class| code)?\s?[:\t]\s*\(?"
    r"([yjcfw](?: ?/ ?[yjcfw])*)\)?\s*(?:$|[\t|,;])"
)
_CODES = {"y": "economy", "w": "premium_economy", "j": "business", "c": "business", "f": "first"}
_ANY_CABIN = re.compile("|".join((*_CABINS.values(), _SUITES.pattern, _CODE.pattern)))


@lru_cache(maxsize=4_096)
def find_cabins(folded: str) -> frozenset[str]:
    """Every cabin a text names; the words of a better one do not count as those of another."""
    if not _ANY_CABIN.search(folded):
        return frozenset()
    cabins = {_CODES[code] for m in _CODE.finditer(folded) for code in m[1] if code in _CODES}
    for name, words in _CABIN:
        folded, hits = words.subn(" ", folded)
        if hits:
            cabins.add(name)
    return frozenset(cabins or ({"first"} if _SUITES.search(folded) else ()))


_CABIN_LABEL = re.compile(
    r"(?<![a-z])(?:cabin(?: class)?|class(?: of (?:service|travel))?|cabine|klasse|reiseklasse|clase|cabina"
    r"|classe(?: di viaggio)?"
    r"|reisklasse|klas|クラス|座席クラス)\s?[:\t]\s*(?=[a-z]{3})"
)


def names_other_cabin(folded: str) -> bool:
    """Whether a line tells a cabin in words that are none of the above."""
    match = _CABIN_LABEL.search(folded)
    return match is not None and not find_cabins(folded[match.end() :])


def find_cabin(folded: str) -> str | None:
    """The one cabin a text names; None when it names none or several."""
    cabins = find_cabins(folded)
    return next(iter(cabins)) if len(cabins) == 1 else None


_PREFIX = re.compile(
    r"^\s*(?:(?:fwd?|fw|wg|tr|rv|enc|vs|i|r|re|res|rif|aw|antw|doorst|reenv|転送|返信)\s*[:：]\s*)+", re.I
)
FORWARDED = re.compile(
    r"^[ >\t]*(?:-{2,} ?(?:forwarded message|original message|weitergeleitete nachricht|ursprungliche nachricht"
    r"|urspr\. (?:mitteilung|nachricht)|weitergeleitete (?:mail|e-?mail)|(?:message|mail|e-?mail) (?:transferee?"
    r"|d'origine|original|reexpediee?)|(?:mensaje|correo) (?:reenviado|original)|mensagem (?:(?:re)?encaminhada"
    r"|original)"
    r"|messaggio (?:inoltrato|originale)|(?:doorgestuurd|oorspronkelijk) (?:bericht|e-?mail)|転送(?:された)?メッセーシ"
    r"|元のメッセーシ)[ -]*-*|(?:begin forwarded message|begin doorgestuurd bericht"
    r"|anfang der weitergeleiteten nachricht"
    r"|debut du message (?:reexpedie|transfere)|inicio del mensaje reenviado|inizio messaggio inoltrato"
    r"|inicio da mensagem (?:re)?encaminhada|転送されたメッセーシ) ?:?)\s*$",
    re.M,
)
_FROM = r"from|von|absender|de|da|expediteur|remitente|remetente|mittente|van|afzender|差出人|送信者"
_SENT = (
    r"sent|date|gesendet(?: am)?|datum|envoye(?: le)?|enviad[oa](?: el| em)?|inviato(?: il)?|data(?: de envio)?|fecha"
    r"|verzonden(?: op)?|送信日時?|日付|日時"
)
_SUBJECT = r"subject|betreff|objet|sujet|asunto|assunto|oggetto|onderwerp|件名"
_OTHERS = (
    r"to|an|a|para|aan|cc|cco|ccn|bcc|kopie|copie|copia|empfanger|destinataires?|destinatari[oa]s?|ontvanger|宛先"
    r"|reply-to|antwort an|repondre a|responder a|rispondi a|antwoord aan|返信先"
)
SUBJECT = re.compile(rf"^\*{{0,2}}(?:{_SUBJECT})\*{{0,2}} ?:\*{{0,2}}\s*")
SENT = re.compile(rf"^\*{{0,2}}(?:{_SENT})\*{{0,2}} ?:\*{{0,2}}\s*")
FROM = re.compile(rf"^\*{{0,2}}(?:{_FROM})\*{{0,2}} ?:\*{{0,2}}\s*")
HEADER = re.compile(rf"^\*{{0,2}}(?:{_FROM}|{_SENT}|{_SUBJECT}|{_OTHERS})\*{{0,2}} ?:")


def strip_subject(subject: str) -> tuple[str, bool]:
    """The subject without the marks of forwarding, and whether it bore one."""
    bare = _PREFIX.sub("", subject)
    return bare.strip(), bool(re.match(r"\s*(?:fwd?|fw|wg|tr|rv|enc|i|doorst|reenv|転送)\s*[:：]", subject, re.I))
