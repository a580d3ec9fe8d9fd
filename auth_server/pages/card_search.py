"""Search page of the card catalogue: the card to add is found by its name, bank or country."""

from urllib.parse import urlencode

from auth_server.pages.forms import read_page
from auth_server.pages.member import Member, get_for_member
from auth_server.pages.tool_calls import Subject, look, read_faults
from auth_server.web.outcomes import FlowResult

PATH = "/dashboard/cards/add"
COUNTRIES = (("", "All"), ("US", "United States"), ("CA", "Canada"), ("GB", "United Kingdom"), ("AU", "Australia"))
_CATALOGUE = Subject("card", PATH, "The catalogue of cards")


async def show(member: Member) -> FlowResult:
    typed = {name: (member.data.query_value(name) or "").strip() for name in ("query", "country")}
    if not any(typed.values()):
        return member.show("card_search.html", typed=typed, countries=COUNTRIES, rows=None, faults={})
    arguments = {name: value for name, value in typed.items() if value}
    answer = await look(member, "search_card_catalog", page=read_page(member), detail="full", **arguments)
    if not answer:
        return _CATALOGUE.show_away()
    faults = {} if answer.status == "not_found" else read_faults(answer)
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
