"""Credits page of a card: each credit of the card with what is used of it, and a form that marks it as used."""

from auth_server.pages import cards
from auth_server.pages.forms import read_number
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, change, read_faults
from auth_server.web.outcomes import FlowResult

PATH = f"{cards.PATH}/credits"
LABELS = {"credit_used_on": "Day", "credit_used": "Used", "opened_on": "Opened on"}
MESSAGES = {"used": "The credit is marked as used.", "unused": "The credit is open again."}


async def show(member: Member) -> FlowResult:
    return await _show(member, read_number(member.data.query_value("card")))


async def _show(member: Member, number: int | None, credit: str = "", marked: Answer | None = None) -> FlowResult:
    """Shows all credits the catalogue has for the card, with what the list of cards says is used of each.

    `credit`: the one that could not be marked as used.
    """
    row, card = await cards.find(member, number)
    if row is None:
        return cards.CARDS.show_missing(card)
    catalogued = (await cards.find_in_catalogue(member, row["slug"]))[0] if row["slug"] else None
    used = {each["credit"]: each for each in card.get("credits", ())}
    credits = [each | {"own": used.get(each["credit"])} for each in catalogued["credits"]] if catalogued else []
    credits.sort(key=lambda each: (each["own"] is None, (each["own"] or {}).get("ends_on") or "9999", each["name"]))
    faults = read_faults(marked) if marked is not None else {}
    for name, label in LABELS.items():
        faults = {at: text.replace(name, f"“{label}”") for at, text in faults.items()}
    typed = member.data.form_value("credit_used")
    context = {"row": row, "credits": credits, "at": credit, "faults": faults, "typed": typed}
    return member.show("card_credits.html", 422 if faults else 200, **context, messages=MESSAGES)


async def mark(member: Member) -> FlowResult:
    number, credit = read_number(member.data.form_value("card_id")), member.data.form_value("credit")
    if number is None:
        return cards.CARDS.show_gone()
    used = member.data.form_value("credit_used").strip()
    marked = await change(member, "update_card", card_id=number, credit=credit[:60], credit_used=used)
    if not marked.is_good:
        return await _show(member, number, credit, marked)
    back = redirect_back(PATH, "used" if used.strip("0.,") else "unused")
    back.to += f"&card={number}"
    return back


ROUTES = [get_for_member(PATH, show), post_for_member(PATH, mark)]
