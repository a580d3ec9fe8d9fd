"""Words of statements, in the languages read: which way money went, and lines that are no purchase at all."""

import re
from collections.abc import Collection
from typing import Literal

Holder = Literal["account", "card"]

# A cell of a column of direction.
_OUT_WORDS = (
    "af debit debits d dr db soll s debet débit debito débito débitos out outflow o outgoing withdrawal withdrawn "
    "dbit belastung lastschrift kiadás terhelés cargo cargos uscita uscite addebito saída saida gasto egreso "
    "obciążenie wn uttag utgift ut ud utbetaling 支出 出金 출금 borç расход списание חובה "
    "purchase purchases sale compra compras achat achats acquisto acquisti einkauf kauf aankoop zakup köp kjøp køb"
)
OUT = frozenset(_OUT_WORDS.split()) | {"money out", "paid out", "dépense"}
_IN_WORDS = (
    "bij credit credits c cr haben h in inflow i incoming deposit k kredit crdt gutschrift crédit credito crédito "
    "créditos bevétel jóváírás abono abonos entrata entrate accredito avere a entrada ingreso uznanie uznání ma "
    "insättning inn ind innskudd 收入 入金 입금 alacak приход зачисление זכות "
    "refund refunds reversal reembolso remboursement rimborso erstattung rückerstattung terugbetaling zwrot"
)
IN = frozenset(_IN_WORDS.split()) | {"money in", "paid in", "recette"}
# A column with one of these names has the direction even where the month has only one of the two.
DIRECTION_NAMES = frozenset(
    (
        *("af bij", "af/bij", "af_bij", "debit/credit", "credit/debit", "debet/credit", "credit/debet", "soll/haben"),
        *("d/c", "s/h", "dc", "cr/dr", "dr/cr", "d/k", "debitcredit", "creditdebet", "debetcredit", "creditdebit"),
        *("credit debit indicator", "debit credit indicator", "debit or credit", "transaction type", "direction"),
        *("sens", "segno", "indicator", "dr / cr", "cr / dr", "debet / credit", "debit / credit", "d / c"),
        *("tipo de movimiento", "收/支"),
    )
)
# An account: money that comes in and is no refund.
INCOME = re.compile(
    r"\b(?:payroll|salary|salar(?:y|is|io)|sal[aá]rio|wages?|pay ?check|direct dep(?:osit)?|dir ?dep|gehalt|lohn|"
    r"bez[uü]ge|"
    r"salaire|paie|traitement|stipendio|n[oó]mina|sueldo|loon|l[öø]n|lønn|løn|wynagrodzenie|wyp[lł]ata|maa[sş]"
    r"|pension|"
    r"retraite|pensi[oó]n|dividend[eos]?|interest (?:paid|earned|credit)|habenzinsen|deposit|einzahlung|"
    r"(?:ü|ue)berweisung von|virement (?:de|re[cç]u)|transfer(?:encia)? (?:from|recibida|recebida)|payment from|"
    r"mzda|munkabér|fizetés|salariu|palkka|μισθοδοσία|зарплата|급여|工资|薪水|給与|給料|gaji|"
    r"zelle from|bonifico (?:da|in entrata)|pix recebido|tax refund)\b"
)
# A card: what is paid of it.
CARD_PAID = re.compile(
    r"\b(?:payment(?:s)?\b.{0,12}\b(?:thank ?you|received)|thank ?you\b.{0,12}\bpayment|autopay|payment (?:by|"
    r"via) direct debit|"
    r"zahlung\b.{0,3}\bdanke|danke\b.{0,12}\bzahlung|pagamento recebido|abono\b.{0,4}\bpago|"
    r"zahlungseingang|zahlung erhalten|paiement re[cç]u|merci|pago recibido|[st]u pago|pago tef|pagamento ricevuto|"
    r"betaling ontvangen|"
    r"innbetaling|inbetalning|indbetaling)\b"
)
CHARGED = re.compile(
    r"\b(?:annual fee|late fee|membership fee|foreign transaction fee|interest charge[ds]?|purchase interest|"
    r"overdraft fee|"
    r"jahresgeb(?:ü|ue)hr|sollzinsen|kontof(?:ü|ue)hrung|geldautomat|bargeldauszahlung|atm withdrawal|cash withdrawal|"
    r"cash advance|retrait|cotisation|frais|comisi[oó]n|prelievo|canone|geldopname|kosten|uttag|"
    r"wyp[lł]ata z bankomatu)\b"
)
# What the text around the lines says they are from. "Account" alone is on card statements too.
_OF_ACCOUNT = re.compile(
    r"\b(?:iban|checking|savings?|current account|bank account|sort code|routing|girokonto|tagesgeldkonto|gegenkonto|"
    r"kontonummer|kontoinhaber|compte courant|compte ch[eè]ques?|cuenta corriente|cuenta n[oó]mina|conto corrente|"
    r"betaalrekening|spaarrekening|tegenrekening(?:houder)?|rekeningnummer|privatkonto|l[oö]nekonto|conta corrente|"
    r"counterparty|counter account|rachunek|rachunku|hesap)\b"
)
_OF_CARD = re.compile(
    r"\b(?:(?:credit|charge|debit) ?card|card ?(?:member|holder|number|no)|minimum payment|credit limit|kreditkarte|"
    r"karteninhaber|carte de cr[eé]dit|tarjeta(?: de cr[eé]dito)?|carta di credito|creditcard|kredietkaart|kreditkort|"
    r"cart[aã]o de cr[eé]dito|karta kredytowa)\b"
)
# Rows of what did not happen, or has not yet.
_STATES = re.compile(
    r"(?:pending|authori[sz]ed|authori[sz]ation|on hold|processing|in progress|vorgemerkt|ausstehend|en attente|"
    r"pendiente|"
    r"in attesa|pendente|in behandeling|w realizacji|declin\w*|cancel\w*|revers(?:ed|al)|reverted|revert|fail\w*|"
    r"reject\w*|"
    r"void(?:ed)?|expired|refused|returned unpaid|denied|abgelehnt|storniert|fehlgeschlagen|refus[eé]\w*|annul[eé]\w*|"
    r"rechazad\w*|anulad\w*|cancelad\w*|rifiutat\w*|annullat\w*|geweigerd|geannuleerd|mislukt|odrzucon\w*|anulowan\w*|"
    r"avvisad|avbruten|afvist|annulleret|iptal|reddedildi|bekliyor|beklemede|zrušen\w*|zamítnut\w*|čeká\w*"
    r"|отмен\w+|отклон\w+|"
    r"в обработке|ожида\w+|交易关闭|已?关闭|待付款|等待|处理中|失败|已?取消|キャンセル|未確定|승인취소|취소|거절)"
)
_MOST_WORDS = 4  # of a heading
_MOST_STATES = 6  # words of one column, and the empty cell
_WAITS = re.compile(
    r"pending|authori|hold|process|progress|vorgem|ausst|attente|pendien|attesa|pendente|behandel|realiz|bekl"
    r"|čeká|обработ|ожида|待|处理|未確定"
)
# Words for completed payments: next to one of the above they prove that a column gives the state.
_SETTLED = re.compile(
    r"posted|cleared|completed?|settled|booked|success\w*|approved|paid|done|gebucht|verbucht|abgeschlossen"
    r"|ausgef[uü]hrt|"
    r"comptabilis\w+|ex[eé]cut\w+|contabiliz\w+|realizad\w+|completad\w+|liquidad\w+|eseguit\w+|verwerkt|geboekt|"
    r"zaksi[eę]gowan\w*|rozliczon\w*|bokf[oö]rd|bogf[oø]rt|zaúčtov\w+|исполнен\w*|проведен\w*|交易成功|支付成功"
    r"|已完成|完了|確定|승인|정상"
)
_STATE_MARK = re.compile(r" ?[:*]| - ")
STATE_NAMES = (
    "status",
    "state",
    "transaction status",
    "statut",
    "estado",
    "stato",
    "zustand",
    "buchungsstatus",
    *("stan", "交易状态", "当前状态", "статус", "durum", "stav", "tila"),
)
NOT_SETTLED, NOT_DONE = "not settled yet", "declined, cancelled or reversed"
UNPROVED = "no proof of whether it was spent or received"
A_BALANCE, A_TOTAL = "a balance and no purchase", "a total and no purchase"
_BALANCE = re.compile(
    r"(?:(?:opening|closing|starting|ending|beginning|previous|prior|available|current|ledger|statement|last) balance|"
    r"balance (?:brought|carried) forward|balance (?:b/?f|c/?f|forward)|brought forward|carried forward|balance|"
    r"saldo(?: (?:anterior|inicial|final|actual|atual|del d[ií]a|do dia|iniziale|finale|precedente|contabile|"
    r"disponibile))?|"
    r"sald[ou] (?:pocz[aą]tkowe|ko[nń]cowe)|(?:anfangs|end|alter |neuer |konto)saldo|(?:alter|neuer) kontostand|"
    r"kontostand|"
    r"saldovortrag|(?:ancien|nouveau) solde|solde(?: (?:initial|final|pr[eé]c[eé]dent|cr[eé]diteur|d[eé]biteur))?|"
    r"(?:begin|eind)saldo|(?:vorig|nieuw) saldo|(?:ing[aå]ende|utg[aå]ende) saldo|[uü]bertrag|[aà] reporter|report)"
    r"(?:[ :.,-]+(?:on|at|as of|am|per|zum|vom|au|al|el|em|op|den|for|of|"
    r"the)?[ :.]*[\d./-]*(?: ?[a-z]{3,10} ?\d{0,4})?)?"
)
_NEW_BALANCE = re.compile(r"new balance[ :]*")  # followed by anything else it is a shop
_TOTAL = re.compile(
    r"(?:(?:sub|grand |sub-)?totals?|total(?:e|s|en)?(?: g[eé]n[eé]ral| generale?)?|summe|gesamt(?:summe|betrag)?|"
    r"suma|totaal|razem|"
    r"summa|somme|toplam)(?: (?:of |for |der |des |de |der )?(?:(?:all |your )?(?:purchases|charges|debits|credits|"
    r"payments|"
    r"transactions|period|month|ums[aä]tze|buchungen|op[eé]rations|cargos|abonos|movimientos|spese|compras|"
    r"bedragen)))?[ :.]*"
)


def find_holder(text: str) -> Holder | None:
    """What a statement is of, by the words around its lines; None where they say nothing or both."""
    words = text.casefold()
    account, card = _OF_ACCOUNT.search(words), _OF_CARD.search(words)
    return None if bool(account) == bool(card) else "account" if account else "card"


def find_state(cell: str) -> str | None:
    """Why a row with this state is not counted; None for a settled one. The cell is in small letters."""
    if not _STATES.match(cell) and not _STATES.fullmatch(cell.rsplit(" ", 1)[-1]):
        return None
    return NOT_SETTLED if _WAITS.search(cell) else NOT_DONE


def are_states(cells: Collection[str]) -> bool:
    """Whether these are the cells of a column of states, whatever it is called: some settled, some not, and few.

    A cell without words is settled where all others say that they are not.
    """
    if not 1 < len(cells) <= _MOST_STATES:
        return False
    if "" in cells and all(_STATES.fullmatch(cell) for cell in cells if cell):
        return True
    cells = [cell for cell in cells if cell]
    return any(map(find_state, cells)) and any(_SETTLED.fullmatch(cell.rsplit(" ", 1)[-1]) for cell in cells)


def find_state_in(words: str) -> str | None:
    """The same for a description that starts with its state: "Declined: bar", "pending - bar"."""
    match = _STATES.match(words)
    return find_state(words) if match and _STATE_MARK.match(words, match.end()) else None


def find_state_of_heading(words: str, before: str | None) -> str | None:
    """Why the lines below a heading are not counted: "Pending transactions"; unchanged below one of no such words."""
    if len(words.split()) > _MOST_WORDS or words.endswith("."):
        return before
    return find_state(words) if _STATES.match(words) else None if _SETTLED.match(words) else before


def is_balance(words: str) -> bool:
    return bool(_BALANCE.fullmatch(words) or _NEW_BALANCE.fullmatch(words))


def is_total(words: str) -> bool:
    """Whether these are the words of a total; a shop can be called so too, so its amount has to prove it."""
    return bool(_TOTAL.fullmatch(words))
