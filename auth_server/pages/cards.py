"""Cards pages: the cards a person has, with bonus, fee and what is due, are listed, added, changed and removed."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.pages.tool_forms import (
    BEFORE,
    delete_by,
    drop_marks,
    mark_values,
    name_faults,
    pick_changes,
    read_number,
    read_page,
    read_typed,
    show_away,
    show_gone,
    write_values,
)
from auth_server.web.outcomes import FlowResult, PageResult
from shared.domain.household import add_member

PATH = "/dashboard/cards"
EDIT, DELETE = f"{PATH}/edit", f"{PATH}/delete"
LABELS = {
    "card": "Card",
    "nickname": "Your name for it",
    "member": "Whose",
    "opened_on": "Opened on",
    "closed_on": "Closed on",
    "bonus_status": "Bonus",
    "bonus_amount": "Points or money of the bonus",
    "bonus_currency": "Paid in",
    "bonus_earned_on": "Earned on",
    "spend_requirement": "To spend for it",
    "spend_deadline_on": "Last day to spend",
    "annual_fee": "Annual fee",
    "currency": "Currency",
    "notes": "Notes",
}
FIELDS = tuple(LABELS)[1:]  # what can be changed of a card that is there
NUMBERS = ("bonus_amount", "spend_requirement", "annual_fee")
CLEARABLE = ("opened_on", "closed_on", "nickname", "notes")  # others are cleared by empty text
BONUSES = (("", "Not known"), ("pending", "Open"), ("earned", "Earned"), ("missed", "Missed"))
MESSAGES = {
    "saved": "The card is saved.",
    "credit": "The credit is marked.",
    "deleted": "The card is removed.",
}
DUE_DAYS, FEE_DAYS = 90, 30  # ahead: credits, and the fee, whose day stands with the card anyway
PER_PAGE, MAX_DUE = 15, 3  # a page of cards with many credits stays under 30 kB
_DUE = ("card_credit", "annual_fee")
_AWAY = show_away("Your cards")
GONE = show_gone("card", PATH, "Your cards")


def show(member: Member) -> PageResult:
    calls = {
        "cards": prepare_look(member, "list_my_cards", page=read_page(member), per_page=PER_PAGE),
        "deadlines": prepare_look(member, "list_upcoming_deadlines", within_days=DUE_DAYS, kinds=_DUE),
    }
    return show_when_answered(calls, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["cards"]
    if not answer.is_good:
        return _AWAY
    due: dict[str, list[dict[str, Any]]] = {}
    for row in answers["deadlines"].get("deadlines", ()):
        if row["kind"] == "card_credit" or (row["kind"] == "annual_fee" and row["days_left"] <= FEE_DAYS):
            due.setdefault(row["subject"]["id"], []).append(row)
    rows = [_add_due(card, due.get(str(card["card_id"]), [])) for card in answer.get("cards", ())]
    fees = answer.get("totals", {}).get("annual_fees_by_currency", {})
    return member.show("cards.html", rows=rows, paging=answer.get("paging"), fees=fees, messages=MESSAGES)


def _add_due(card: dict[str, Any], due: list[dict[str, Any]]) -> dict[str, Any]:
    """`due`: what ends soon of the card, in words that need not name it again."""
    name = f" of {add_member(card['nickname'] or card['name'], card['member'])}"
    rows = [row | {"title": row["title"].replace(name, "")} for row in due[:MAX_DUE]]
    return card | {"due": rows, "more": len(due[MAX_DUE:])}


def look_for(member: Member, number: int) -> Any:
    return prepare_look(member, "list_my_cards", card_id=number)


def find(answer: Answer) -> dict[str, Any] | None:
    return next(iter(answer.get("cards", ())), None)


def show_missing(answer: Answer) -> FlowResult:
    """What there is instead of a card that the tool did not name."""
    return GONE if answer else _AWAY


def show_form(member: Member) -> PageResult:
    """For a card of the catalogue (`slug`), one of the person's own, or one that is there already (`card`)."""
    number, slug = read_number(member.data.query_value("card")), member.data.query_value("slug")
    if number is not None:
        return show_when_answered({"cards": look_for(member, number)}, partial(_show_stored, member))
    typed = dict.fromkeys(LABELS, "") | {"card": slug or ""}
    return _show_new(member, typed, slug)


def _show_new(member: Member, typed: Mapping[str, str], slug: str | None) -> PageResult:
    """The form for a new card; with what the catalogue says of it where it is one of the catalogue."""
    if not slug:
        return _show_fields(member, typed, {}, None)
    calls = {"catalogue": _look_for_slug(member, slug)}
    return show_when_answered(calls, lambda answers: _show_catalogued(member, typed, answers["catalogue"]))


def _look_for_slug(member: Member, slug: str) -> Any:
    return prepare_look(member, "search_card_catalog", slug=slug, detail="full")


def _show_catalogued(
    member: Member, typed: Mapping[str, str], answer: Answer, faults: Mapping[str, str] | None = None
) -> FlowResult:
    card = find(answer)
    if card is None and not faults:
        return GONE if answer else _AWAY
    return _show_fields(member, typed, {}, None, catalogued=card, slug=typed["card"], faults=faults)


def _show_stored(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    row = find(answers["cards"])
    if row is None:
        return show_missing(answers["cards"])
    typed = write_values(row, FIELDS)
    return _show_fields(member, typed, mark_values(typed), row["card_id"], name=row["nickname"] or row["name"])


def _show_fields(
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    number: int | None,
    *,
    catalogued: Mapping[str, Any] | None = None,
    slug: str = "",
    name: str = "",
    faults: Mapping[str, str] | None = None,
) -> FlowResult:
    """`number`: of the card that is changed; None for one that is added."""
    return member.show(
        "card_form.html",
        422 if faults else 200,
        typed=typed,
        before=before,
        number=number,
        catalogued=catalogued,
        slug=slug,
        name=name or (catalogued["name"] if catalogued else slug),
        bonuses=BONUSES,
        labels=LABELS,
        faults=faults or {},
    )


def save(member: Member) -> PageResult:
    number = read_number(member.data.form_value("card_id"))
    if number is None:
        return _add(member)
    typed, before = read_typed(member, FIELDS), read_typed(member, FIELDS, BEFORE)
    changes = pick_changes(typed, before, NUMBERS, CLEARABLE)
    if not changes.get("currency", "x"):
        del changes["currency"]  # there is always one
    calls = {"saved": prepare_change(member, "update_card", card_id=number, **changes)}
    return show_when_answered(calls, partial(_finish_changing, member, typed, before, number))


def _finish_changing(
    member: Member, typed: Mapping[str, str], before: Mapping[str, str], number: int, answers: Mapping[str, Answer]
) -> FlowResult:
    saved = answers["saved"]
    if saved.is_good:
        return redirect_back(PATH, "saved")
    if saved.status == "not_found":
        return GONE
    name = member.data.form_value("name")[:120]
    return _show_fields(member, typed, before, number, name=name, faults=name_faults(saved, LABELS))


def _add(member: Member) -> PageResult:
    typed, slug = read_typed(member, LABELS), member.data.form_value("slug")
    values: dict[str, Any] = {
        name: drop_marks(value) if name in NUMBERS else value for name, value in typed.items() if value
    }
    values |= {"card": slug} if slug else {"card": typed["card"], "custom": True}
    calls = {"saved": prepare_change(member, "add_card", **values)}
    if slug:
        calls["catalogue"] = _look_for_slug(member, slug)
    return show_when_answered(calls, partial(_finish_adding, member, dict(typed) | {"card": values["card"]}, slug))


def _finish_adding(member: Member, typed: Mapping[str, str], slug: str, answers: Mapping[str, Answer]) -> FlowResult:
    faults = name_faults(answers["saved"], LABELS)
    if not faults:
        return redirect_back(PATH, "saved")
    if slug:
        return _show_catalogued(member, typed, answers["catalogue"], faults)
    return _show_fields(member, typed, {}, None, faults=faults)


def ask_delete(member: Member) -> PageResult:
    number = read_number(member.data.query_value("card"))
    if number is None:
        return GONE
    return show_when_answered({"cards": look_for(member, number)}, partial(_ask_delete, member))


def _ask_delete(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    row = find(answers["cards"])
    return member.show("card_delete.html", row=row) if row else show_missing(answers["cards"])


def delete(member: Member) -> PageResult:
    number = read_number(member.data.form_value("card_id"))
    return GONE if number is None else delete_by(member, "remove_card", PATH, GONE, card_id=number)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_form),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
