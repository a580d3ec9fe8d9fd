"""Credits page of a card: each credit of the card with what is used of it, and a form that marks it as used."""

from collections.abc import Mapping
from functools import partial

from auth_server.pages import cards
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.pages.tool_forms import drop_marks, name_faults, read_number
from auth_server.web.outcomes import FlowResult, PageResult

PATH = f"{cards.PATH}/credits"
LABELS = {"credit_used": "Used", "credit_used_on": "Day", "opened_on": "Opened on"}
MESSAGES = {"used": "The credit is marked as used.", "unused": "The credit is open again."}


def show(member: Member) -> PageResult:
    number = read_number(member.data.query_value("card"))
    return cards.GONE if number is None else _look(member, number, "", {})


def _look(member: Member, number: int, credit: str, faults: Mapping[str, str]) -> PageResult:
    """`credit`: the one whose form has faults."""
    calls = {"cards": cards.look_for(member, number)}
    return show_when_answered(calls, partial(_look_for_credits, member, credit, faults))


def _look_for_credits(
    member: Member, credit: str, faults: Mapping[str, str], answers: Mapping[str, Answer]
) -> PageResult:
    row = cards.find(answers["cards"])
    if row is None:
        return cards.show_missing(answers["cards"])
    if row["slug"] is None:
        return _show(member, answers["cards"], credit, faults, {})
    call = prepare_look(member, "search_card_catalog", slug=row["slug"], detail="full")
    return show_when_answered({"catalogue": call}, partial(_show, member, answers["cards"], credit, faults))


def _show(
    member: Member,
    card: Answer,
    credit: str,
    faults: Mapping[str, str],
    answers: Mapping[str, Answer],
) -> FlowResult:
    """The catalogue names all credits of the card; the list of cards says of this one what is used of each."""
    row = cards.find(card)
    catalogued = cards.find(answers.get("catalogue", Answer())) or {"credits": ()}
    used = {each["credit"]: each for each in card.get("credits", ())}
    credits = [each | {"own": used.get(each["credit"])} for each in catalogued["credits"]]
    credits.sort(key=lambda each: (each["own"] is None, (each["own"] or {}).get("ends_on") or "9999", each["name"]))
    typed = member.data.form_value("credit_used")
    status = 422 if faults else 200
    context = {"row": row, "credits": credits, "at": credit, "faults": faults, "typed": typed}
    return member.show("card_credits.html", status, **context, messages=MESSAGES)


def mark(member: Member) -> PageResult:
    number, credit = read_number(member.data.form_value("card_id")), member.data.form_value("credit")
    if number is None:
        return cards.GONE
    amount = drop_marks(member.data.form_value("credit_used").strip())
    call = prepare_change(member, "update_card", card_id=number, credit=credit[:60], credit_used=amount)
    return show_when_answered({"marked": call}, partial(_finish_marking, member, number, credit, amount))


def _finish_marking(member: Member, number: int, credit: str, amount: str, answers: Mapping[str, Answer]) -> PageResult:
    marked = answers["marked"]
    if marked.is_good:
        done = "used" if amount.strip("0.") else "unused"
        back = redirect_back(PATH, done)
        back.to += f"&card={number}"
        return back
    return _look(member, number, credit, name_faults(marked, LABELS))


ROUTES = [get_for_member(PATH, show), post_for_member(PATH, mark)]
