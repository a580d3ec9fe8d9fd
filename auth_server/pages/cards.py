"""Cards pages: the cards a person has, with bonus, fee and what is due, are listed, added, changed and removed."""

from asyncio import gather
from collections.abc import Mapping
from typing import Any

from auth_server.pages.forms import Field, Form, ToolForm, mark_values, read_number, read_page, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.web.outcomes import FlowResult
from shared.domain.household import add_member

PATH = "/dashboard/cards"
EDIT, DELETE = f"{PATH}/edit", f"{PATH}/delete"
_BONUS, _FEE = "Welcome bonus", "Fee and notes"
FORM = ToolForm(
    (
        Field("card", only_new=True),
        Field("nickname", "Your name for it", half=True),
        Field("member", "Whose", "If it is not yours: a first name, as you call them.", half=True),
        Field("opened_on", half=True),
        Field("closed_on", half=True),
        Field("bonus_status", "Bonus", words={"pending": "Open"}, none="Not known", half=True, section=_BONUS),
        Field("bonus_earned_on", "Earned on", half=True, section=_BONUS),
        Field("bonus_amount", "Points or money of the bonus", half=True, section=_BONUS),
        Field("bonus_currency", "Paid in", "Such as Membership Rewards.", half=True, section=_BONUS),
        Field("spend_requirement", "To spend for it", half=True, section=_BONUS),
        Field("spend_deadline_on", "Last day to spend", half=True, section=_BONUS),
        Field("annual_fee", help="Empty: what the catalogue says.", half=True, section=_FEE),
        Field("currency", help="Three letters. Of the fee and of what is to be spent.", half=True, section=_FEE),
        Field("notes", section=_FEE),
    ),
    add="add_card",
    change="update_card",
)
MESSAGES = {
    "saved": "The card is saved.",
    "credit": "The credit is marked.",
    "deleted": "The card is removed.",
}
DUE_DAYS, FEE_DAYS = 90, 30  # ahead: credits, and the fee, whose day is shown with the card anyway
PER_PAGE, MAX_DUE = 15, 3  # a page of cards with many credits stays under 30 kB
_DUE = ("card_credit", "annual_fee")
CARDS = Subject("card", PATH, "Your cards")


async def show(member: Member) -> FlowResult:
    answer, deadlines = await gather(
        look(member, "list_my_cards", page=read_page(member), per_page=PER_PAGE),
        look(member, "list_upcoming_deadlines", within_days=DUE_DAYS, kinds=_DUE),
    )
    if not answer.is_good:
        return CARDS.show_away()
    due: dict[str, list[dict[str, Any]]] = {}
    for row in deadlines.get("deadlines", ()):
        if row["kind"] == "card_credit" or (row["kind"] == "annual_fee" and row["days_left"] <= FEE_DAYS):
            due.setdefault(row["subject"]["id"], []).append(row)
    rows = [_add_due(card, due.get(str(card["card_id"]), [])) for card in answer.get("cards", ())]
    fees = answer.get("totals", {}).get("annual_fees_by_currency", {})
    return member.show("cards.html", rows=rows, paging=answer.get("paging"), fees=fees, messages=MESSAGES)


def _add_due(card: dict[str, Any], due: list[dict[str, Any]]) -> dict[str, Any]:
    """`due`: what ends soon, in words that do not repeat the card's name."""
    name = f" of {add_member(card['nickname'] or card['name'], card['member'])}"
    rows = [row | {"title": row["title"].replace(name, "")} for row in due[:MAX_DUE]]
    return card | {"due": rows, "more": len(due[MAX_DUE:])}


async def find(member: Member, number: int | None) -> tuple[dict[str, Any] | None, Answer]:
    """The card of this number, or None, and the tool's answer."""
    if number is None:
        return None, Answer(status="not_found")
    answer = await look(member, "list_my_cards", card_id=number)
    return next(iter(answer.get("cards", ())), None), answer


async def find_in_catalogue(member: Member, slug: str) -> tuple[dict[str, Any] | None, Answer]:
    answer = await look(member, "search_card_catalog", slug=slug, detail="full")
    return next(iter(answer.get("cards", ())), None), answer


async def show_new_or_stored(member: Member) -> FlowResult:
    """For a card of the catalogue (`slug`), one of the person's own, or one that is there already (`card`)."""
    number, slug = read_number(member.data.query_value("card")), member.data.query_value("slug")
    form = await FORM.load(member, is_new=number is None)
    if number is not None:
        row, answer = await find(member, number)
        if row is None:
            return CARDS.show_missing(answer)
        typed, name = form.write(row), row["nickname"] or row["name"]
        return _show(member, form, typed, mark_values(typed), {"card_id": row["card_id"], "name": name})
    if not slug:
        return _show(member, form, form.begin(), {}, {})
    card, answer = await find_in_catalogue(member, slug)
    if card is None:
        return CARDS.show_missing(answer)
    return _show(member, form, form.begin(), {}, {"slug": slug}, card)


def _show(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    hidden: Mapping[str, Any],
    catalogued: Mapping[str, Any] | None = None,
    saved: Answer | None = None,
) -> FlowResult:
    """`hidden` names the card to change, or the catalogue's card to add."""
    if "slug" in hidden:
        form.inputs.pop("card")
    return show_form(
        member,
        form,
        typed,
        before,
        title="Add a card" if form.is_new else "Change a card",
        heading=hidden.get("name") or (catalogued or {}).get("name") or hidden.get("slug") or "A card of your own",
        back=(PATH, "Cards"),
        template="card_form.html",
        answer=saved,
        hidden=hidden,
        delete=f"{DELETE}?card={hidden['card_id']}" if "card_id" in hidden else "",
        catalogued=catalogued,
    )


async def save(member: Member) -> FlowResult:
    number, slug = read_number(member.data.form_value("card_id")), member.data.form_value("slug")
    form = await FORM.load(member, is_new=number is None)
    typed, before = form.read(member), form.read_before(member)
    catalogued, hidden = None, {}
    if number is not None:
        changes = form.list_changes(typed, before)
        if not changes.get("currency", "x"):
            del changes["currency"]  # there is always one
        saved = await change(member, "update_card", card_id=number, **changes)
        if saved.status == "not_found":
            return CARDS.show_gone()
        hidden = {"card_id": number, "name": member.data.form_value("name")[:120]}
    elif slug:
        saved, (catalogued, _) = await gather(
            change(member, "add_card", **form.list_filled(typed) | {"card": slug}), find_in_catalogue(member, slug)
        )
        hidden = {"slug": slug}
    else:
        saved = await change(member, "add_card", **{"card": ""} | form.list_filled(typed), custom=True)
    if saved.is_good:
        return redirect_back(PATH, "saved")
    return _show(member, form, typed, before, hidden, catalogued, saved)


async def ask_delete(member: Member) -> FlowResult:
    row, answer = await find(member, read_number(member.data.query_value("card")))
    return member.show("card_delete.html", row=row) if row else CARDS.show_missing(answer)


async def delete(member: Member) -> FlowResult:
    number = read_number(member.data.form_value("card_id"))
    return CARDS.show_gone() if number is None else await CARDS.delete(member, "remove_card", card_id=number)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_new_or_stored),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
