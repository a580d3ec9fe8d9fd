"""Papers that travellers own, made by dice from a hidden truth, and strict judges of what is read from them.

What is stored has to be the truth; what is asked about must not be shown wrong, and choices have to hold what is right.
"""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from shared.documents.card_statements import read_source
from shared.documents.text_decoding import decode_text
from shared.domain.confirmations.model import BookedLeg, BookedStay, MailReading
from shared.domain.folio.checks import is_read_whole
from shared.domain.spending.model import Hints, UnreadableStatement
from shared.reference.load import reference
from shared.reference.spending import build_book
from tests.shared.documents.test_bank_statements import balance, entry
from tests.shared.documents.test_workbooks import make_workbook, row
from tests.shared.domain.confirmations.attachments import attach, flight_pass, wallet
from tests.shared.domain.confirmations.mails import mail, read
from tests.shared.domain.folio.bills import audit
from tests.shared.domain.folio.invented_bills import invent

TODAY = date(2026, 11, 28)
AIRPORTS = (
    "LHR",
    "CDG",
    "FRA",
    "MAD",
    "FCO",
    "LIS",
    "AMS",
    "ARN",
    "JFK",
    "BOS",
    "ORD",
    "SFO",
    "NRT",
    "SIN",
    "GRU",
    "SYD",
)
AIRLINES = ("BA", "AF", "LH", "IB", "TP", "KL", "SK", "AA", "UA", "NH", "SQ", "QF", "DL", "AZ", "EK")
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


@dataclass(frozen=True)
class Words:
    """How an airline and a hotel write in one language."""

    made: str
    reference: str
    flight: str
    leaves: str
    lands: str
    total: str
    economy: str
    check_in: str
    check_out: str
    months: str
    day: str = "{d} {month} {y}"


LANGUAGES = {
    "en": Words("Your booking is confirmed.", "Booking reference", "Flight", "Departure", "Arrival", "Total price",
        "Economy", "Check-in", "Check-out", "January February March April May June July August September October"
        " November December"),
    "de": Words("Ihre Buchung ist bestätigt.", "Buchungsnummer", "Flug", "Abflug", "Ankunft", "Gesamtpreis",
        "Economy", "Anreise", "Abreise", "Januar Februar März April Mai Juni Juli August September Oktober November"
        " Dezember", "{d}. {month} {y}"),
    "fr": Words("Votre réservation est confirmée.", "Référence de réservation", "Vol", "Départ", "Arrivée",
        "Prix total", "Économique", "Arrivée", "Départ", "janvier février mars avril mai juin juillet août septembre"
        " octobre novembre décembre"),
    "es": Words("Su reserva está confirmada.", "Código de reserva", "Vuelo", "Salida", "Llegada", "Precio total",
        "Turista", "Entrada", "Salida", "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
        " diciembre", "{d} de {month} de {y}"),
    "it": Words("La tua prenotazione è confermata.", "Codice di prenotazione", "Volo", "Partenza", "Arrivo",
        "Prezzo totale", "Economy", "Check-in", "Check-out", "gennaio febbraio marzo aprile maggio giugno luglio agosto"
        " settembre ottobre novembre dicembre"),
    "pt": Words("A sua reserva está confirmada.", "Código de reserva", "Voo", "Partida", "Chegada", "Preço total",
        "Económica", "Check-in", "Check-out", "janeiro fevereiro março abril maio junho julho agosto setembro outubro"
        " novembro dezembro", "{d} de {month} de {y}"),
    "nl": Words("Uw boeking is bevestigd.", "Boekingsnummer", "Vlucht", "Vertrek", "Aankomst", "Totaalprijs",
        "Economy", "Aankomst", "Vertrek", "januari februari maart april mei juni juli augustus september oktober"
        " november december"),
    "ja": Words("ご予約が確定しました", "予約番号", "便名", "出発", "到着", "合計金額", "エコノミークラス",
        "チェックイン", "チェックアウト", "1 2 3 4 5 6 7 8 9 10 11 12", "{y}年{month}月{d}日"),
    "sv": Words("Din bokning är bekräftad.", "Bokningsnummer", "Flyg", "Avresa", "Ankomst", "Totalpris", "Economy",
        "Incheckning", "Utcheckning", "januari februari mars april maj juni juli augusti september oktober november"
        " december"),
    "pl": Words("Twoja rezerwacja została potwierdzona.", "Numer rezerwacji", "Lot", "Wylot", "Przylot", "Cena łączna",
        "Economy", "Zameldowanie", "Wymeldowanie", "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września"
        " października listopada grudnia"),
    "cs": Words("Vaše rezervace byla potvrzena.", "Číslo rezervace", "Let", "Odlet", "Přílet", "Celková cena",
        "Economy", "Příjezd", "Odjezd", "ledna února března dubna května června července srpna září října listopadu"
        " prosince", "{d}. {month} {y}"),
    "hu": Words("Foglalását megerősítettük.", "Foglalási kód", "Járat", "Indulás", "Érkezés", "Fizetett összeg",
        "Economy", "Érkezés", "Távozás", "január február március április május június július augusztus szeptember"
        " október november december", "{y}. {month} {d}."),
    "ro": Words("Rezervarea dumneavoastră este confirmată.", "Cod rezervare", "Zbor", "Plecare", "Sosire",
        "Total de plată", "Economy", "Check-in", "Check-out", "ianuarie februarie martie aprilie mai iunie iulie"
        " august septembrie octombrie noiembrie decembrie"),
    "fi": Words("Varauksesi on vahvistettu.", "Varaustunnus", "Lento", "Lähtö", "Saapuminen", "Yhteensä", "Economy",
        "Tulopäivä", "Lähtöpäivä", "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta"
        " elokuuta syyskuuta lokakuuta marraskuuta joulukuuta", "{d}. {month} {y}"),
    "el": Words("Η κράτησή σας επιβεβαιώθηκε.", "Κωδικός κράτησης", "Πτήση", "Αναχώρηση", "Άφιξη", "Συνολικό ποσό",
        "Οικονομική", "Άφιξη", "Αναχώρηση", "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου"
        " Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου"),
    "tr": Words("Rezervasyonunuz onaylandı.", "Rezervasyon kodu", "Uçuş", "Kalkış", "Varış", "Toplam tutar", "Ekonomi",
        "Giriş", "Çıkış", "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"),
    "ru": Words("Ваше бронирование подтверждено.", "Код бронирования", "Рейс", "Вылет", "Прилёт", "Итого", "Эконом",
        "Заезд", "Выезд", "января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
    "ko": Words("예약이 확정되었습니다.", "예약번호", "편명", "출발", "도착", "총액", "일반석", "체크인", "체크아웃",
        "1 2 3 4 5 6 7 8 9 10 11 12", "{y}년 {month}월 {d}일"),
}  # fmt: skip


@dataclass(frozen=True)
class Leg:
    airline: str
    number: int
    origin: str
    destination: str
    leaves: datetime  # on the clock of the airport, and so the next
    lands: datetime

    @property
    def name(self) -> str:
        return f"{self.airline}{self.number}"


@dataclass(frozen=True)
class Trip:
    code: str
    price: Decimal
    legs: list[Leg]


def make_trip(dice: Random, count: int) -> Trip:
    """Flights one after another, each as long as the way between its airports takes."""
    facts, legs, at = reference(), [], dice.choice(AIRPORTS)
    moment = datetime(2026, 3, 1, tzinfo=ZoneInfo("UTC")) + timedelta(
        days=dice.randrange(150), minutes=dice.randrange(1440)
    )
    for _ in range(count):
        there = dice.choice([code for code in AIRPORTS if code != at])
        lands = moment + timedelta(minutes=40 + facts.miles(at, there) * 60 // 480)
        leaves, arrives = (
            m.astimezone(ZoneInfo(facts.airports[code].tz)).replace(tzinfo=None)
            for m, code in ((moment, at), (lands, there))
        )
        legs.append(Leg(dice.choice(AIRLINES), dice.randrange(100, 1900), at, there, leaves, arrives))
        at, moment = there, lands + timedelta(minutes=dice.choice((75, 130, 300, 4000)))
    code = "".join(dice.choice(LETTERS) for _ in range(6))
    return Trip(code, Decimal(dice.randrange(9_000, 250_000)) / 100, legs)


# Letters, passes and calendars of flights.


def _write_day(day: datetime | date, words: Words) -> str:
    return words.day.format(d=day.day, month=words.months.split()[day.month - 1], y=day.year)


def _write_block(leg: Leg, words: Words) -> str:
    ends = [
        f"{label}: {reference().airports[code].city} ({code}) {_write_day(at, words)} {at:%H:%M}"
        for label, code, at in ((words.leaves, leg.origin, leg.leaves), (words.lands, leg.destination, leg.lands))
    ]
    return "\n".join((f"{words.flight} {leg.airline} {leg.number}", *ends, words.economy, ""))


def _write_lines(leg: Leg, words: Words) -> str:
    later = (leg.lands.date() - leg.leaves.date()).days
    shift = f" ({later:+d})" if later else ""
    return (
        f"{leg.airline} {leg.number}\n{_write_day(leg.leaves, words)}\n"
        f"{reference().airports[leg.origin].city} ({leg.origin}) {leg.leaves:%H:%M}\n"
        f"{reference().airports[leg.destination].city} ({leg.destination}) {leg.lands:%H:%M}{shift}\n{words.economy}\n"
    )


def _write_row(leg: Leg, words: Words) -> str:
    later = (leg.lands.date() - leg.leaves.date()).days
    shift = f"{later:+d}" if later else ""
    cells = (f"{leg.airline} {leg.number}", _write_day(leg.leaves, words), leg.origin, f"{leg.leaves:%H:%M}")
    return "\t".join((*cells, leg.destination, f"{leg.lands:%H:%M}{shift}", words.economy)) + "\n"


def _write_letter(dice: Random, trip: Trip, words: Words) -> bytes:
    layout = dice.choice((_write_block, _write_lines, _write_row))
    body = "\n".join(layout(leg, words) for leg in trip.legs)
    text = f"{words.made}\n{words.reference}: {trip.code}\n\n{body}\n{words.total}: EUR {trip.price}\n"
    return mail(text, subject=words.made)


def letter(dice: Random) -> list[str]:
    words = LANGUAGES[dice.choice(list(LANGUAGES))]
    trip = make_trip(dice, dice.randint(1, 2))
    return judge_flights(read(_write_letter(dice, trip, words)), trip)


def itinerary(dice: Random) -> list[str]:
    words = LANGUAGES[dice.choice(list(LANGUAGES))]
    trip = make_trip(dice, dice.randint(3, 6))
    return judge_flights(read(_write_letter(dice, trip, words)), trip)


def _write_barcode(trip: Trip, legs: list[Leg], *, filled: bool) -> str:
    """As IATA Resolution 792 has it; some airlines fill up with blanks behind and not with zeros before."""
    text = f"M{len(legs)}{'EXAMPLE/ALEX':20}E"
    for leg in legs:
        number, day = str(leg.number), str(leg.leaves.timetuple().tm_yday)
        number, day = (number.zfill(4), day.zfill(3)) if filled else (number.ljust(4), day.ljust(3))
        text += f"{trip.code:7}{leg.origin}{leg.destination}{leg.airline:3}{number} {day}Y003C0042 100"
    return text


def _write_pass(dice: Random, trip: Trip, legs: list[Leg]) -> bytes:
    """A pass of one leg states it in fields, of more in its barcode alone; some programs leave a comma too many."""
    first, style = legs[0], flight_pass()["boardingPass"]
    style["primaryFields"] = [
        {"key": "from", "label": "From", "value": first.origin},
        {"key": "to", "label": "To", "value": first.destination},
    ]
    fields = {"flight": first.name, "date": f"{first.leaves:%-d %B %Y}", "departs": f"{first.leaves:%H:%M}"}
    style["auxiliaryFields"] = [{"key": k, "label": k.upper(), "value": v} for k, v in fields.items()]
    style["backFields"] = [{"key": "pnr", "label": "Booking reference", "value": trip.code}]
    code = {"format": "PKBarcodeFormatAztec", "message": _write_barcode(trip, legs, filled=dice.random() < 0.5)}
    document = flight_pass() | {"boardingPass": style, "barcodes": [code]}
    document.pop("barcode", None)
    document.pop("relevantDate", None)
    text = json.dumps(document)
    return wallet((text[:-1] + ",}").encode() if dice.random() < 0.3 else document)


def boarding_pass(dice: Random) -> list[str]:
    trip = make_trip(dice, dice.randint(1, 6))
    raw = attach(mail("Your boarding pass.", subject="Your boarding pass"), _write_pass(dice, trip, trip.legs),
        "application/vnd.apple.pkpass", "pass.pkpass")  # fmt: skip
    return judge_flights(read(raw), replace(trip, price=Decimal(0)), has_times=False)


def bundle(dice: Random) -> list[str]:
    trip, out = make_trip(dice, dice.randint(2, 4)), io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number, leg in enumerate(trip.legs):
            archive.writestr(f"{number}.pkpass", _write_pass(dice, trip, [leg]))
    raw = attach(mail("Your boarding passes.", subject="Your boarding passes"), out.getvalue(),
        "application/vnd.apple.pkpasses", "passes.pkpasses")  # fmt: skip
    return judge_flights(read(raw), replace(trip, price=Decimal(0)), has_times=False)


def calendar(dice: Random) -> list[str]:
    trip, facts, lines = make_trip(dice, dice.randint(1, 3)), reference(), ["BEGIN:VCALENDAR", "VERSION:2.0"]
    in_utc = dice.random() < 0.5
    for leg in trip.legs:
        lines.append("BEGIN:VEVENT")
        for name, at, code in (("DTSTART", leg.leaves, leg.origin), ("DTEND", leg.lands, leg.destination)):
            zone = ZoneInfo(facts.airports[code].tz)
            moment = at.replace(tzinfo=zone).astimezone(ZoneInfo("UTC"))
            lines.append(f"{name}:{moment:%Y%m%dT%H%M%SZ}" if in_utc else f"{name};TZID={zone.key}:{at:%Y%m%dT%H%M%S}")
        lines.append(f"SUMMARY:Flight {leg.airline} {leg.number} {leg.origin} - {leg.destination}")
        lines.append(f"LOCATION:{facts.airports[leg.origin].city} ({leg.origin})")
        lines += [f"DESCRIPTION:Booking reference: {trip.code}\\nConfirmed\\nEconomy", "END:VEVENT"]
    text = "\r\n".join([*lines, "END:VCALENDAR", ""])
    raw = attach(mail("Your flights.", subject="Booking confirmation"), text.encode(), "text/calendar", "trip.ics")
    return judge_flights(read(raw), replace(trip, price=Decimal(0)))


def judge_flights(reading: MailReading, trip: Trip, *, has_times: bool = True) -> list[str]:
    """What is wrong in what is stored or shown; `has_times` is of papers that state all of them."""
    legs = [b for b in reading.bookings if isinstance(b, BookedLeg)]
    if len(legs) != len(reading.bookings) or not (legs or reading.missing):
        return ["silent, or no flight"]
    rest, faults = list(trip.legs), []
    for leg in legs:
        meant = next((m for m in rest if leg.flight_number in (m.name, None) and leg.origin in (m.origin, None)), None)
        if meant is None:
            faults.append(f"no such flight: {leg}")
            continue
        rest.remove(meant)
        right = {
            "airline": meant.airline, "flight_number": meant.name, "origin": meant.origin,
            "destination": meant.destination, "departure_date": meant.leaves.date(), "arrival_date": meant.lands.date(),
            "departure_time": meant.leaves.time(), "arrival_time": meant.lands.time(), "confirmation_number": trip.code,
            "cabin_class": "economy",
        }  # fmt: skip
        faults += _compare(leg, right)
        timed = ("departure_time", "arrival_time", "arrival_date") if has_times and not reading.missing else ()
        faults += [f"{meant.name}: no {name}" for name in timed if getattr(leg, name) is None]
    paid = sum((leg.cash_paid for leg in legs if leg.cash_paid), Decimal(0))
    faults += [f"paid {paid} and not {trip.price}"] if paid and paid != trip.price else []
    faults += [f"{leg.name} is lost" for leg in rest] if not reading.missing else []
    return faults


def _compare(booking: BookedLeg | BookedStay, right: dict[str, Any]) -> list[str]:
    """A value that was read is right; of values that are offered one is."""
    faults = [
        f"{name}: {value!r} and not {meant!r}"
        for name, meant in right.items()
        if (value := getattr(booking, name)) is not None and value != meant
    ]
    for doubt in booking.doubts:
        value = right.get(doubt.field, "")
        meant = f"{value:%H:%M}" if isinstance(value, time) else str(value)
        if meant and doubt.values and not any(meant in value or value in meant for value in doubt.values):
            faults.append(f"{doubt.field}: {meant} is not among {doubt.values}")
    return faults


# Letters of hotels.


def hotel_letter(dice: Random) -> list[str]:
    words = LANGUAGES[dice.choice(list(LANGUAGES))]
    hotel = dice.choice([h for h in reference().rows("hotels.csv") if h.name.isascii()][:400])
    first = date(2026, 3, 1) + timedelta(days=dice.randrange(200))
    last, code = first + timedelta(days=dice.randint(1, 9)), str(dice.randrange(10**7, 10**8))
    price = Decimal(dice.randrange(9_000, 200_000)) / 100
    lines = (
        words.made, "", hotel.name, f"{words.reference}: {code}", f"{words.check_in}: {_write_day(first, words)}",
        f"{words.check_out}: {_write_day(last, words)}", f"{words.total}: EUR {price}", "",
    )  # fmt: skip
    reading = read(mail("\n".join(lines), subject=words.made, sender="Hotel <stay@hotel.test>"))
    stays = [b for b in reading.bookings if isinstance(b, BookedStay)]
    if len(stays) != len(reading.bookings) or len(stays) > 1 or not (stays or reading.missing):
        return [f"silent, or no stay: {reading.bookings}"]
    right = {"check_in_date": first, "check_out_date": last, "confirmation_number": code, "cash_total": price}
    return [fault for found in stays for fault in _compare(found, right)]


# Statements and bills.

SHOPS = ("zorblatt", "mirabel 12", "tanzhaus nord", "tesco stores", "rewe markt", "shell station", "casa lirio")
Line = tuple[date, Decimal, str]  # the amount is positive where it was spent


def _make_lines(dice: Random) -> list[Line]:
    days = sorted(TODAY - timedelta(days=dice.randrange(5, 60)) for _ in range(dice.randint(3, 12)))
    amounts = [Decimal(dice.randrange(150, 30_000)) / 100 for _ in days]
    lines = [(day, amount, dice.choice(SHOPS)) for day, amount in zip(days, amounts, strict=True)]
    if dice.random() < 0.5:
        lines.append((days[-1], Decimal(-dice.randrange(100_000, 400_000)) / 100, "acme payroll"))
    return lines


def _write_csv(lines: list[Line]) -> bytes:
    out = io.StringIO()
    rows = [(f"{day:%Y-%m-%d}", words, str(-amount)) for day, amount, words in lines]
    csv.writer(out).writerows([("Date", "Description", "Amount"), *rows])
    return out.getvalue().encode()


def _write_ofx(lines: list[Line]) -> bytes:
    entries = "".join(
        f"<STMTTRN><TRNTYPE>{'DEBIT' if amount > 0 else 'CREDIT'}<DTPOSTED>{day:%Y%m%d}<TRNAMT>{-amount}<FITID>{n}"
        f"<NAME>{words}</STMTTRN>"
        for n, (day, amount, words) in enumerate(lines)
    )
    head = "OFXHEADER:100\nDATA:OFXSGML\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKTRANLIST>"
    return f"{head}{entries}</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>".encode()


def _write_qif(lines: list[Line]) -> bytes:
    entries = "".join(f"D{day:%m/%d'%y}\nT{-amount}\nP{words}\n^\n" for day, amount, words in lines)
    return f"!Type:Bank\n{entries}".encode()


def _write_workbook(lines: list[Line]) -> bytes:
    rows = [
        row(number, (day - date(1899, 12, 30)).days, words, float(-amount))
        for number, (day, amount, words) in enumerate(lines, 2)
    ]
    return make_workbook(row(1, "Date", "Description", "Amount") + "".join(rows))


def _write_camt(lines: list[Line]) -> bytes:
    entries = "".join(
        entry(
            str(abs(amount)),
            "DBIT" if amount > 0 else "CRDT",
            f"<Dt>{day}</Dt>",
            f"<AddtlNtryInf>{words}</AddtlNtryInf>",
        )
        for day, amount, words in lines
    )
    left = Decimal(10_000) - sum((amount for _, amount, _ in lines), Decimal(0))
    return (
        "<?xml version='1.0'?><Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'><BkToCstmrStmt><Stmt>"
        f"<Id>1</Id>{balance('OPBD', '10000.00')}{balance('CLBD', str(left))}{entries}"
        "</Stmt></BkToCstmrStmt></Document>"
    ).encode()


def _write_mt940(lines: list[Line]) -> bytes:
    entries = "".join(
        f":61:{day:%y%m%d%m%d}{'D' if amount > 0 else 'C'}{str(abs(amount)).replace('.', ',')}NMSCNONREF\n:86:{words}\n"
        for day, amount, words in lines
    )
    left = str(Decimal(10_000) - sum((amount for _, amount, _ in lines), Decimal(0))).replace(".", ",")
    first, last = lines[0][0], lines[-1][0]
    head = f":20:START\n:25:12345678/0000123456\n:28C:1/1\n:60F:C{first:%y%m%d}EUR10000,00\n"
    return f"{head}{entries}:62F:C{last:%y%m%d}EUR{left}\n".encode()


def _write_text(lines: list[Line]) -> bytes:
    """As it is copied from a page of a bank, with what the account held after each line."""
    held, rows = Decimal(10_000), []
    for day, amount, words in lines:
        held -= amount
        rows.append(f"{day:%d %b %Y}   {words}   {-amount:.2f}   {held:.2f}")
    return "\n".join(rows).encode()


def _judge_statement(write: Callable[[list[Line]], bytes], dice: Random) -> list[str]:
    lines = _make_lines(dice)
    made = read_source(decode_text(write(lines)), build_book(reference()), Hints(TODAY, currency="EUR"))
    if isinstance(made, UnreadableStatement):
        return [] if made.field else [f"refused: {made.problem}"]
    found = sorted((line.day, line.amount, line.description) for line in made[0].lines)
    return [] if found == sorted(lines) else [f"{found} and not {sorted(lines)}"]


def bill(dice: Random) -> list[str]:
    meant = invent(dice.randrange(1000, 10**6))
    done = audit(meant.text, "hilton", None, None)
    faults = [f"disputed {finding.rule.id}" for finding in done.findings if finding.is_disputed]
    right = (done.bill.charges, done.bill.credits) == (meant.charges, meant.credits)
    return faults if right or not is_read_whole(done.bill) else [*faults, f"another sum: {meant.text}"]


KINDS: dict[str, Callable[[Random], list[str]]] = {
    "letter": letter,
    "itinerary": itinerary,
    "boarding pass": boarding_pass,
    "bundle of passes": bundle,
    "calendar": calendar,
    "letter of a hotel": hotel_letter,
    "bill": bill,
    **{
        f"statement as {name}": partial(_judge_statement, write)
        for name, write in {
            "CSV": _write_csv, "OFX": _write_ofx, "QIF": _write_qif, "workbook": _write_workbook,
            "CAMT": _write_camt, "MT940": _write_mt940, "pasted text": _write_text,
        }.items()
    },
}  # fmt: skip
