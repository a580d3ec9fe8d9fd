"""Search page of the card catalogue: the card to add is found by its name, bank or country."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Answer, prepare_look, show_when_answered
from auth_server.pages.tool_forms import name_faults, read_page, show_away
from auth_server.web.outcomes import FlowResult, PageResult

PATH = "/dashboard/cards/add"
COUNTRIES = (("", "All"), ("US", "United States"), ("CA", "Canada"), ("GB", "United Kingdom"), ("AU", "Australia"))
_AWAY = show_away("The catalogue of cards")


def show(member: Member) -> PageResult:
    typed = {name: (member.data.query_value(name) or "").strip() for name in ("query", "country")}
    if not any(typed.values()):
        return member.show("card_search.html", typed=typed, countries=COUNTRIES, rows=None, faults={})
    arguments = {name: value for name, value in typed.items() if value}
    call = prepare_look(member, "search_card_catalog", page=read_page(member), detail="full", **arguments)
    return show_when_answered({"catalogue": call}, partial(_show, member, typed))


def _show(member: Member, typed: Mapping[str, str], answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["catalogue"]
    if not answer:
        return _AWAY
    faults = {} if answer.status == "not_found" else name_faults(answer, {})
    return member.show(
        "card_search.html",
        422 if faults else 200,
        typed=typed,
        countries=COUNTRIES,
        rows=answer.get("cards", ()),
        paging=answer.get("paging"),
        message=answer.get("message", ""),
        faults=faults,
        address=f"{PATH}?{urlencode(typed)}",
    )


ROUTES = [get_for_member(PATH, show)]
