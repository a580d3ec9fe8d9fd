"""Statements made from lines that are known, in every way banks write them: read right or asked about, never wrong."""

import csv
import dataclasses
import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

import pytest

from shared.documents.card_statements import read_source
from shared.domain.spending.model import Hints, UnreadableStatement
from shared.reference.load import reference
from shared.reference.spending import build_book

TODAY = date(2026, 11, 21)
# Shops that no list knows, and words of the three kinds of money that comes in.
SHOPS = (
    "zorblatt",
    "quint & daughters",
    "mirabel 12",
    "ovenlight",
    "tanzhaus nord",
    "petit lac",
    "casa lirio",
    "ro-mar",
)
KNOWN = ("tesco stores", "lidl", "shell station", "netflix", "rewe markt", "carrefour city", "mercadona")
WORDS = {
    "en": {
        "salary": "acme payroll",
        "paid": "payment received - thank you",
        "back": "refund",
        "from": "transfer from j doe",
    },
    "de": {
        "salary": "gehalt oktober",
        "paid": "zahlungseingang danke",
        "back": "gutschrift",
        "from": "überweisung von j doe",
    },
    "fr": {
        "salary": "salaire octobre",
        "paid": "paiement reçu merci",
        "back": "remboursement",
        "from": "virement de j doe",
    },
    "es": {
        "salary": "nomina octubre",
        "paid": "pago recibido gracias",
        "back": "devolucion",
        "from": "transferencia recibida",
    },
    "nl": {"salary": "salaris oktober", "paid": "betaling ontvangen", "back": "terugbetaling", "from": "amy sample"},
}
NAMES = {
    "en": ("Date", "Description", "Amount", "Balance", "Debit", "Credit", "Debit/Credit", "Currency"),
    "de": ("Buchungsdatum", "Verwendungszweck", "Betrag", "Saldo", "Soll", "Haben", "Soll/Haben", "Währung"),
    "fr": ("Date", "Libellé", "Montant", "Solde", "Débit", "Crédit", "Sens", "Devise"),
    "es": ("Fecha", "Concepto", "Importe", "Saldo", "Cargo", "Abono", "D/C", "Divisa"),
    "nl": ("Datum", "Omschrijving", "Bedrag", "Saldo", "Debet", "Credit", "CreditDebet", "Munt"),
}
WAYS = {"en": ("DEBIT", "CREDIT"), "de": ("S", "H"), "fr": ("D", "C"), "es": ("D", "C"), "nl": ("Af", "Bij")}
ORDERS = ("%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d", "%d %b %Y", "%Y%m%d")


@dataclass(frozen=True)
class Line:
    day: date
    spent: Decimal  # negative where it came in
    words: str


def _make_truth(random_: random.Random, language: str, card: bool) -> list[Line]:
    first = date(2026, 9, 1) + timedelta(days=random_.randrange(40))
    days = sorted(first + timedelta(days=random_.randrange(28)) for _ in range(random_.randint(3, 14)))
    truth = []
    for day in days:
        shop = random_.choice(SHOPS if random_.random() < 0.6 else KNOWN)
        amount = Decimal(random_.randrange(150, 30_000)) / 100
        kind = random_.random()
        if kind < 0.62:
            truth.append(Line(day, amount, shop))
        elif card:
            word = "paid" if kind < 0.85 else "back"
            text = WORDS[language][word]
            truth.append(Line(day, -amount, text if word == "paid" else f"{text} {shop}"))
        else:
            word = "salary" if kind < 0.75 else "from" if kind < 0.9 else "back"
            text = WORDS[language][word]
            truth.append(
                Line(day, -amount * (10 if word == "salary" else 1), text if word != "back" else f"{text} {shop}")
            )
    return truth


def _write_amount(amount: Decimal, style: str) -> str:
    text = f"{amount:,.2f}" if "," in style else f"{amount:.2f}"
    return text.translate({ord(","): ".", ord("."): ","}) if style.endswith("comma") else text


def _write(random_: random.Random, truth: list[Line], language: str, card: bool) -> str:
    """One of the ways to write these lines."""
    names = NAMES[language]
    order = random_.choice(ORDERS)
    style = random_.choice(("point", ",point", "comma", ",comma"))
    layout = random_.choice(("signed", "columns", "direction", "signed", "text"))
    with_balance = random_.random() < 0.4
    negative_is_spent = not card or random_.random() < 0.5
    lines = truth if random_.random() < 0.7 else truth[::-1]
    opening = Decimal(random_.randrange(0, 400_000)) / 100
    balances = {}
    held = opening
    for line in truth:
        held += line.spent if card else -line.spent
        balances[id(line)] = held
    header = [names[0], names[1]]
    header += {"signed": [names[2]], "columns": [names[4], names[5]], "direction": [names[2], names[6]]}.get(layout, [])
    header += [names[3]] if with_balance else []
    rows = [header]
    for line in lines:
        row = [line.day.strftime(order), line.words]
        signed = -line.spent if negative_is_spent else line.spent
        if layout in ("signed", "text"):
            row.append(_write_amount(signed, style))
        elif layout == "columns":
            whole = _write_amount(abs(line.spent), style)
            row += [whole, ""] if line.spent > 0 else ["", whole]
        else:
            row += [_write_amount(abs(line.spent), style), WAYS[language][line.spent < 0]]
        row += [_write_amount(balances[id(line)], style)] if with_balance else []
        rows.append(row)
    if layout == "text":
        return "\n".join("  ".join(row) for row in rows[1:])
    out = io.StringIO()
    csv.writer(out, delimiter=";" if style.endswith("comma") else random_.choice(",;\t")).writerows(
        rows if random_.random() < 0.85 or layout != "signed" else rows[1:]
    )
    return out.getvalue()


def _make_up(random_: random.Random) -> str:
    """Words that no list has."""
    syllables = [random_.choice("bcdfgklmnprstvz") + random_.choice("aeiou") for _ in range(random_.randint(4, 9))]
    return "".join(syllables[:3]) + " " + "".join(syllables[3:])


def _make_statements(first: int, count: int) -> Iterator[tuple[int, list[Line], str]]:
    """In half of them some or all words are made up, and of these accounts more may have come in than went out."""
    for seed in range(first, first + count):
        random_ = random.Random(seed)
        language, card = random_.choice(list(WORDS)), random_.random() < 0.5
        truth = _make_truth(random_, language, card)
        unknown = max(0.0, random_.uniform(-1, 1.2))
        truth = [
            dataclasses.replace(line, words=_make_up(random_)) if random_.random() < unknown else line for line in truth
        ]
        if unknown and not card and random_.random() < 0.4:
            turned = [
                dataclasses.replace(line, spent=-abs(line.spent), words=_make_up(random_))
                if random_.random() < 0.6
                else line
                for line in truth
            ]
            truth = turned if any(line.spent > 0 for line in turned) else truth
        if any(line.spent > 0 for line in truth):  # a month without a purchase and without a word cannot be told
            yield seed, truth, _write(random_, truth, language, card)


@pytest.mark.slow  # six hundred statements
def test_a_statement_is_read_as_it_was_meant_or_asked_about() -> None:
    book = build_book(reference())
    wrong, asked, refused = [], 0, []
    for seed, truth, text in _make_statements(0, 600):
        read = read_source(text, book, Hints(TODAY, currency="CHF"))
        if isinstance(read, UnreadableStatement):
            asked += read.field is not None
            refused += [] if read.field else [(seed, read.problem)]
            continue
        found = sorted((line.day, line.amount, line.description) for line in read[0].lines)
        meant = sorted((line.day, line.spent, line.words) for line in truth)
        if found != meant:
            wrong.append((seed, text))
    assert wrong == []
    assert refused == []
    assert asked <= 100
