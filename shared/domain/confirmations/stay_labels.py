"""What letters call the days, the room and the house of a stay in twelve languages, and the values behind it."""

import re
from collections.abc import Iterator, Sequence

from shared.domain.confirmations.confirmation_labels import BARE, CONFIRMATION
from shared.domain.parsing.text import fold

_DAY = (
    r"(?:(?:date|data|fecha|datum|dia|jour|giorno|dag|tag)(?: (?:of|d[eaio]|del|de la|van|der|prevue d[e'])| d')? ?)?"
)
IN = (
    rf"{_DAY}(?:check(?:ing)?[ -]?in(?: on)?|arrival|arriving(?: on)?|arrive|anreise|ankunft|einchecken|eincheck"
    rf"|arrivee"
    r"|l'arrivee|llegada|entrada|ingreso|chegada|arrivo|dell'arrivo|aankomst|inchecken|incheck"
    r"|incheckning|indtjekning|innsjekking|ankomst|zameldowanie|przyjazd|prijezd|erkezes|bejelentkezes|sosire|tulopaiva"
    r"|saapumis?\w*|giris|заезд|прибытие|αφιξη)"
    r"(?:[ -]?(?:date|day|s?datum|s?tag|dag|prevu[es]?|prevista|previsto|le|am|on)\b)?"
    r"|체크인|입실일?|入住(?:日期|时间)?|チェックイン(?:日時?)?|こ?到着日?|こ?宿泊(?:開始)?日|入室日|こ?利用日"
)
OUT = (
    rf"{_DAY}(?:check(?:ing)?[ -]?out(?: on)?|departure|departing(?: on)?|leaving(?: on)?|abreise|auschecken|auscheck"
    r"|depart|salida|saida|egreso|partida|partenza|vertrek|uitchecken|uitcheck"
    r"|utcheckning|udtjekning|utsjekking|avresa|afrejse|avreise|wymeldowanie|wyjazd|odjezd|tavozas|kijelentkezes|plecare"
    r"|lahtopaiva|cikis|выезд|отъезд|αναχωρηση)"
    r"(?:[ -]?(?:date|day|s?datum|s?tag|dag|prevu[es]?|prevista|previsto|le|am|on)\b)?"
    r"|체크아웃|퇴실일?|(?:离店|退房)(?:日期|时间)?|チェックアウト(?:日時?)?|こ?出発日?|退室日"
)
LABEL_PARTS = (  # one of these is in every label of a day
    *("check", "arriv", "anreise", "ankunft", "llegada", "entrada", "ingreso", "chegada", "aankomst", "depart"),
    *("leaving", "abreise", "salida", "saida", "egreso", "partida", "partenza", "vertrek"),
    *("tjekning", "sjekking", "ankomst", "avresa", "afrejse", "avreise", "meldowanie", "przyjazd", "wyjazd"),
    *("prijezd", "odjezd", "erkezes", "jelentkezes", "tavozas", "sosire", "plecare", "paiva", "saapumi", "giris"),
    *(
        "cikis",
        "заезд",
        "прибытие",
        "выезд",
        "отъезд",
        "αφιξη",
        "αναχωρηση",
        "체크",
        "입실",
        "퇴실",
        "入住",
        "离店",
        "退房",
    ),
    *("チェック", "到着", "宿泊", "入室", "利用", "出発", "退室"),
)
# A value that begins so is that of a room also behind a label for lodging ("Hébergement").
ROOM_WORD = re.compile(
    r"\W*(?:\d ?x? )?(?:chambre|camera|habitacion|quarto|double|twin|single|deluxe|standard|superior|suite|studio|room"
    r"|(?:doppel|einzel|zweibett|familien)?zimmer|(?:een|twee)persoons|kamer|doble|individual|doppia|singola|duplo"
    r"|king|queen)\b"
)
ROOM = (
    r"(?:your |our |ihr(?:e|es)? |votre |(?:la )?(?:su|tu|sua|tua) |uw |je |gebuchtes? |booked )?"
    r"(?:rooms?(?: type| types| description| plan| category| name| booked| details| selected)?|accommodation type"
    r"|bed type"
    r"|(?:type|category) of room|unit(?: type)?|zimmer(?:typ|kategorie|art|bezeichnung|wahl)?|unterkunftstyp"
    r"|(?:(?:type|categorie) de )?(?:la )?chambres?|type d'hebergement|hebergement|logement"
    r"|(?:(?:tipo|clase|categoria) (?:de|da) (?:la )?)?(?:habitacion(?:es)?|quartos?|acomodacao|unidade)"
    r"|(?:(?:tipo|tipologia|categoria)(?: d[ie]| della)? )?camer[ae]|tipologia(?: de quarto)?|sistemazione"
    r"|(?:type |soort )?kamers?(?:type|categorie|soort)?|accommodatietype"
    rf"|(?:accommodation|unterkunft|alojamiento|alojamento|accommodatie)(?=\s?[:：\t|]\s?{ROOM_WORD.pattern})"
    r"|お?部屋(?:の?(?:タイフ|種類|種別|名称?))?|客室(?:タイフ|名)?|ルームタイフ|宿泊タイフ)"
    r"(?: ?(?:n[.°ºor]{0,2} ?)?1(?! ?/)(?:\t(?=type|tipo|typ|art))?)?"
)
HOTEL = (
    r"(?:(?:your |ihr |votre |(?:il )?(?:vostro|suo|tuo) |(?:su|tu|seu|o seu) |uw |je |das |gebuchtes )?"
    r"(?:hotel(?:name)?(?: name|/property)?|property(?: name)?|name of (?:the )?hotel|unterkunft|objekt(?:name)?|haus"
    r"|etablissement|hebergement|lodging|establecimiento|estabelecimento|hospedagem|alojamiento|alojamento|struttura"
    r"|parador|pousada|riad|hostel|apartment|appartement|appartamento|ferienwohnung|chalet|camping"
    r"|accommodation(?: name)?|accommodatie|verblijf|resort|albergo|name der unterkunft"
    r"|nom (?:de l'|du )?(?:hotel|etablissement)|nom de l'etablissement|nombre del? (?:hotel|establecimiento"
    r"|alojamiento)"
    r"|nome (?:d[oa] |dell[ao]? ?'?|della )?(?:hotel|struttura|alojamento|propriedade)|propriedade"
    r"|naam (?:van )?(?:het )?hotel))"
    r"|ホテル名?|こ?宿泊(?:先|施設)名?|施設名?|お?宿(?:名|泊先)?|滞在先"
)
_OTHERS = (
    r"tipo|type|typ|art|tipologia|categor(?:ia|y|ie)|guests?(?: name)?|names?|gast(?:name)?|gaste|clientes?"
    r"|huesped(?:es)?|hospedes?|ospiti?|gasten?|nights?|nachte"
    r"|nuits"
    r"|noches|noites|notti|nachten|adults?|status|address|adresse|direccion|indirizzo|endereco|adres|total|price"
    r"|preis|prix"
    r"|precio|prezzo|prijs|preco|rate|tarif|tariffa|tarifa|phone|telefon|duree|dauer|duration|duracion|durata|duracao"
    r"|duur|board|persons?|personen|personnes|住所|(?:こ?(?:宿泊|利用))?人数|フラン名?|電話(?:番号)?|食事|料金|宿泊者名?|代表者名?"
)
OTHER_LABELS = re.compile(rf"(?<![a-z])(?:{_OTHERS})(?![a-z])")
_KNOWN = re.compile(rf"\W*(?:{IN}|{OUT}|{ROOM}|{HOTEL}|{_OTHERS})\W*")
_SEPARATOR = r"(?:\s*[:：\t】\]|]\s*|\s{2,}|\s*$)"
_LABELLED = {
    name: re.compile(rf"(?:^|\t|\s\s|【|\[|\| )[^\w\t]*(?:{label}){_SEPARATOR}")
    for name, label in (("room", ROOM), ("hotel", HOTEL))
}


_END_OF_CELL = re.compile(r"\t|(?!^)【|\s{3,}|\s\|")  # a room may begin with its own sign: "【禁煙】ツイン"


def is_label(text: str) -> bool:
    """Whether a text is nothing but a label."""
    small = fold(text)
    return bool(
        _KNOWN.fullmatch(small) or CONFIRMATION.fullmatch(small.strip(" :#\t")) or BARE.fullmatch(small.strip(" :\t"))
    )


def read_cells(lines: Sequence[str], name: str) -> Iterator[str]:
    """The values behind the labels of the "room" or the "hotel": in the same line, below, or in the row below."""
    for at, line in enumerate(lines):
        for match in _LABELLED[name].finditer(fold(line)):
            value = _END_OF_CELL.split(line[match.end() :].strip())[0]
            below = lines[at + 1] if at + 1 < len(lines) else ""
            if value.strip(" |") and not is_label(value):
                yield value
            elif "\t" not in line and not value.strip() and not is_label(re.split(r"[\t:：]", below)[0]):
                yield _END_OF_CELL.split(below.strip())[0]
            elif "\t" in line:
                column = line[: match.end()].rstrip("\t ").count("\t")
                cells = below.split("\t")
                yield cells[column] if column < len(cells) and len(cells) == line.count("\t") + 1 else ""
