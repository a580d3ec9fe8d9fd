"""Bills printed from a hidden truth, in layouts and languages of hotels, with what papers add to a plain list of lines.

They break no rule: whatever is claimed of one is claimed wrongly.
"""

import random
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Words:
    """How a hotel of one country writes."""

    currency: str
    comma: bool
    day: str
    head: str  # with places for the hotel's name, arrival and departure
    headings: tuple[str, str, str, str]  # date, description, charges, credits
    amount: str
    vat: tuple[str, str, str]  # net, tax, gross
    quantity: tuple[str, str]
    room: str
    extras: tuple[str, ...]
    payment: str
    total: str
    balance: str
    carried: tuple[str, str]  # at the end of a page and at the beginning of the next


LANGUAGES = {
    "en": Words("GBP", False, "%d/%m/%Y", "Hilton {name} London\nArrival {a} Departure {d}",
        ("Date", "Description", "Charges", "Credits"), "Amount", ("Net", "VAT", "Gross"), ("Qty", "Rate"),
        "Accommodation", ("Breakfast", "Parking", "Laundry", "Restaurant dinner"), "Visa card", "Total", "Balance",
        ("Carried forward", "Brought forward")),
    "de": Words("EUR", True, "%d.%m.%Y", "Hilton {name} Frankfurt\nAnreise {a} Abreise {d}",
        ("Datum", "Bezeichnung", "Belastung", "Gutschrift"), "Betrag",
        ("Netto", "MwSt", "Brutto"), ("Menge", "Einzelpreis"),
        "Logis", ("Frühstück", "Parkplatz", "Wäscherei", "Restaurant"), "Kreditkarte Visa", "Gesamtbetrag", "Saldo",
        ("Übertrag", "Vortrag")),
    "fr": Words("EUR", True, "%d/%m/%Y", "Hilton {name} Paris\nArrivée {a} Départ {d}",
        ("Date", "Libellé", "Débit", "Crédit"), "Montant", ("HT", "TVA", "TTC"), ("Qté", "Prix unitaire"),
        "Hébergement", ("Petit déjeuner", "Parking", "Blanchisserie", "Restaurant"), "Carte bancaire", "Total", "Solde",
        ("A reporter", "Report")),
    "es": Words("EUR", True, "%d/%m/%Y", "Hilton {name} Madrid\nLlegada {a} Salida {d}",
        ("Fecha", "Concepto", "Cargos", "Abonos"), "Importe", ("Base", "IVA", "Total"), ("Cantidad", "Precio"),
        "Habitación", ("Desayuno", "Aparcamiento", "Lavandería", "Restaurante"),
        "Tarjeta Visa", "Importe total", "Saldo",
        ("Suma y sigue", "Suma anterior")),
    "it": Words("EUR", True, "%d/%m/%Y", "Hilton {name} Roma\nArrivo {a} Partenza {d}",
        ("Data", "Descrizione", "Addebiti", "Accrediti"), "Importo",
        ("Imponibile", "IVA", "Totale"), ("Quantità", "Prezzo"),
        "Pernottamento", ("Colazione", "Parcheggio", "Lavanderia", "Ristorante"), "Carta di credito", "Totale", "Saldo",
        ("A riportare", "Riporto")),
    "pt": Words("EUR", True, "%d/%m/%Y", "Hilton {name} Lisboa\nChegada {a} Saída {d}",
        ("Data", "Descrição", "Débitos", "Créditos"), "Valor", ("Base", "IVA", "Total"), ("Qtd", "Preço"),
        "Alojamento", ("Pequeno-almoço", "Estacionamento", "Lavandaria", "Restaurante"), "Cartão de crédito", "Total",
        "Saldo", ("A transportar", "Transporte")),
    "nl": Words("EUR", True, "%d-%m-%Y", "Hilton {name} Amsterdam\nAankomst {a} Vertrek {d}",
        ("Datum", "Omschrijving", "Debet", "Credit"), "Bedrag", ("Netto", "BTW", "Bruto"), ("Aantal", "Prijs"),
        "Logies", ("Ontbijt", "Parkeren", "Wasserij", "Restaurant"), "Creditcard Visa", "Totaal", "Saldo",
        ("Transport", "Transport vorige pagina")),
}  # fmt: skip
LAYOUTS = ("sides", "sides_close", "amount", "bars", "balance")
QUANTITIES = ("", "times", "at", "columns", "price_first", "word")
FORMS = {"times": "{2} {0} x {1}", "at": "{2} ({0} @ {1})", "price_first": "{2} {1} x {0}", "word": "{0} {2} à {1}"}
VATS = ("", "columns", "gross_first", "rate")
CARDS = ("Bancontact", "girocard 4711", "Multibanco", "PIN", "CB", "Pagamento", "MC XXXX1234")  # of no known word, some
PAYMENTS = ("dated", "below", "below_unsigned", "below_split", "below_no_balance", "none")


@dataclass
class Bill:
    """What the hotel means, and what its paper says."""

    text: str
    charges: Decimal
    credits: Decimal
    nights: int
    kinds: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Line:
    day: date | None
    text: str
    amount: Decimal  # credits are negative
    count: int = 1
    is_sum: bool = False


def write_money(amount: Decimal, words: Words) -> str:
    text = f"{amount:,.2f}"
    return text.translate(str.maketrans(",.", ".,")) if words.comma else text


def invent(seed: int) -> Bill:
    """One bill; every feature is drawn from its seed."""
    dice = random.Random(seed)
    language = dice.choice(list(LANGUAGES))
    words, layout = LANGUAGES[language], dice.choice(LAYOUTS)
    quantity, carried = dice.choice(QUANTITIES), dice.random() < 0.4
    vat = dice.choice(VATS) if layout == "amount" and quantity != "columns" else ""
    payment = dice.choice(PAYMENTS)
    nights = dice.randint(1, 5)
    arrival = date(2026, dice.randint(1, 12), dice.randint(1, 25))
    lines = _invent_lines(dice, words, arrival, nights, quantity)
    charges = sum((line.amount for line in lines), Decimal(0))
    if carried and len(lines) > 2:
        lines = _break_page(dice, words, lines)
    paid = Decimal(0) if payment == "none" else charges
    pays_by = dice.choice((words.payment, words.payment, *CARDS))
    printer = _Printer(words, layout, quantity, vat)
    departure = arrival + timedelta(nights)
    head = words.head.format(name="Harbour", a=f"{arrival:{words.day}}", d=f"{departure:{words.day}}")
    text = [head, *printer.heading()]
    text += [printer.line(line) for line in lines]
    if payment == "dated":
        text.append(printer.line(Line(departure, pays_by, -charges)))
    else:
        text.append(printer.sum(words.total, charges))
        text += _sum_up_taxes(printer, words, charges) if dice.random() < 0.3 else []
        text += _pay_below(printer, pays_by, payment, charges)
    if payment != "below_no_balance":
        text.append(printer.sum(words.balance, charges - paid))
    paper = "\n".join(text)
    is_narrow = layout in ("amount", "balance") and dice.random() < 0.2
    if is_narrow:  # as text comes out of some files
        paper = re.sub(r"  +", " ", paper)
    kinds = (language, layout, quantity, vat, "carried" if carried else "", payment, "narrow" if is_narrow else "")
    return Bill(paper, charges, paid, nights, kinds)


def _invent_lines(dice: random.Random, words: Words, arrival: date, nights: int, quantity: str) -> list[Line]:
    rate = Decimal(dice.randint(9000, 48000)) * CENT
    lines = []
    if quantity and nights > 1 and dice.random() < 0.6:
        lines.append(Line(arrival, words.room, rate * nights, nights))
    else:
        lines += [Line(arrival + timedelta(n), words.room, rate) for n in range(nights)]
    for extra in dice.sample(words.extras, dice.randint(1, 3)):
        count = dice.randint(2, 4) if quantity and dice.random() < 0.5 else 1
        price = Decimal(dice.randint(400, 6000)) * CENT
        lines.append(Line(arrival + timedelta(dice.randrange(nights)), extra, price * count, count))
    return sorted(lines, key=lambda line: line.day or arrival)


def _break_page(dice: random.Random, words: Words, lines: list[Line]) -> list[Line]:
    """The sum so far stands at the end of a page and, or, at the beginning of the next."""
    at = dice.randint(2, len(lines) - 1)
    so_far = sum((line.amount for line in lines[:at]), Decimal(0))
    day = lines[at].day if dice.random() < 0.5 else None
    both = [Line(day, text, so_far, is_sum=True) for text in words.carried]
    return [*lines[:at], *dice.choice((both, both[:1], both[1:])), *lines[at:]]


def _sum_up_taxes(printer: "_Printer", words: Words, charges: Decimal) -> list[str]:
    net = (charges / Decimal("1.07")).quantize(CENT)
    parts = "".join(f"{write_money(part, words):>12}" for part in (net, charges - net, charges))
    return [f"{words.vat[1]:<10}{'7%':>6}{parts}"]


def _pay_below(printer: "_Printer", pays_by: str, payment: str, charges: Decimal) -> list[str]:
    if payment == "none":
        return []
    parts = [charges]
    if payment == "below_split":
        parts = [(charges / 3).quantize(CENT), charges - (charges / 3).quantize(CENT)]
    sign = 1 if payment == "below_unsigned" else -1
    return [printer.sum(pays_by, sign * part) for part in parts]


@dataclass
class _Printer:
    words: Words
    layout: str
    quantity: str
    vat: str
    so_far: Decimal = Decimal(0)

    def heading(self) -> list[str]:
        when, what, charges, credits = self.words.headings
        money = f"{self.words.amount} {self.words.currency}"
        if self.layout in ("sides", "sides_close"):
            gap = 16 if self.layout == "sides" else 10
            return [f"{when:<12}{what:<34}{self._columns(self.words.quantity)}{charges:>{gap}}{credits:>{gap}}"]
        if self.layout == "bars":
            return ["|".join((when, what, *(self.words.quantity if self.quantity == "columns" else ()), money))]
        if self.layout == "balance":
            columns = self._columns(self.words.quantity)
            return [f"{when:<12}{what:<34}{columns}{money:>16}{self.words.balance:>14}"]
        if self.vat:
            names = self.words.vat[::-1] if self.vat == "gross_first" else self.words.vat
            return [f"{when:<12}{what:<34}{'%':>6}{names[0]:>12}{names[1]:>12}{names[2]:>12}"]
        return [f"{when:<12}{what:<34}{self._columns(self.words.quantity)}{money:>16}"]

    def _columns(self, cells: tuple[str, str]) -> str:
        return f"{cells[0]:>9}{cells[1]:>14}" if self.quantity == "columns" else ""

    def line(self, line: Line) -> str:
        words = self.words
        when = f"{line.day:{words.day}}" if line.day else ""
        each = write_money(abs(line.amount) / line.count, words)
        forms = {
            "times": "{2} {0} x {1}",
            "at": "{2} ({0} @ {1})",
            "price_first": "{2} {1} x {0}",
            "word": "{0} {2} à {1}",
        }
        form = forms.get(self.quantity, "{2}") if line.count > 1 else "{2}"
        text = form.format(line.count, each, line.text)
        is_posting = not line.is_sum
        cells = ("", "") if line.amount < 0 or line.is_sum else (str(line.count), each)
        money = write_money(abs(line.amount), words)
        if self.layout in ("sides", "sides_close"):
            gap = 16 if self.layout == "sides" else 10
            left, right = (money, "") if line.amount > 0 else ("", money)
            return f"{when:<12}{text:<34}{self._columns(cells)}{left:>{gap}}{right:>{gap}}".rstrip()
        money = f"-{money}" if line.amount < 0 else money
        if self.layout == "bars":
            return "|".join((when, text, *(cells if self.quantity == "columns" else ()), money))
        if self.layout == "balance":
            self.so_far += line.amount if is_posting else 0
            return f"{when:<12}{text:<34}{self._columns(cells)}{money:>16}{write_money(self.so_far, words):>14}"
        if self.vat and is_posting and line.amount > 0:
            return f"{when:<12}{text:<34}{self._split_tax(line.amount)}"
        if self.vat in ("columns", "rate"):
            return f"{when:<12}{text:<34}{'':>30}{money:>12}"
        if self.vat:
            return f"{when:<12}{text:<34}{'':>6}{money:>12}"
        return f"{when:<12}{text:<34}{self._columns(cells)}{money:>16}"

    def _split_tax(self, amount: Decimal) -> str:
        net = (amount / Decimal("1.07")).quantize(CENT)
        parts = [write_money(part, self.words) for part in (net, amount - net, amount)]
        parts = parts[::-1] if self.vat == "gross_first" else parts
        rate = write_money(Decimal(7), self.words) if self.vat == "rate" else "7%"
        return f"{rate:>6}{parts[0]:>12}{parts[1]:>12}{parts[2]:>12}"

    def sum(self, name: str, amount: Decimal) -> str:
        return f"{name:<46}{write_money(amount, self.words):>16} {self.words.currency}"
