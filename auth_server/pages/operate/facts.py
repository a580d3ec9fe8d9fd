"""Facts: what people reported, where sources differ, what audits found, what is corrected, and closing an item."""

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import FACTS, Question, build_change_routes, get_for_operator
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.admin_figures import count_fact_items
from shared.db.fact_items import REPORTS, FactItem, close_item, count_items, find_item, list_items

PER_PAGE = 12
CLOSE = f"{FACTS}/close"
MAX_TEXT = 1000  # characters of a report on the page that asks
LISTS = {
    "reports": "Reported by people",
    "differences": "Sources that differ",
    "findings": "Found by the audit",
    "corrections": "Corrections in force",
}
MESSAGES = {
    "closed": "The item is closed. The address of anyone who reported it is forgotten.",
    "unchanged": "Nothing was changed: it was closed already.",
}


def show_facts(member: Member) -> FlowResult:
    name = member.data.query_value("list") or REPORTS
    if name not in LISTS:
        return operator.show_nothing()
    page, counts = operator.read_page(member), count_items(member.db)
    rows = list_items(member.db, name, PER_PAGE + 1, offset=(page - 1) * PER_PAGE)
    context = {
        "lists": [(key, words, counts[key]) for key, words in LISTS.items()],
        "name": name,
        "heading": LISTS[name],
        "rows": rows[:PER_PAGE],
        "page": page,
        "has_more": len(rows) > PER_PAGE,
        "checked_at": count_fact_items(member.db)["sources_checked_at"],
        "messages": MESSAGES,
    }
    return operator.show(member, "operate_facts.html", **context)


def _find_item(member: Member) -> FactItem | None:
    return find_item(member.db, member.data.query_value("item") or member.read_field("item"))


def _ask_close(member: Member, item: FactItem, fault: str) -> FlowResult:
    text = f"{item.file}, {item.key}: {item.text}"[:MAX_TEXT]
    question = Question(CLOSE, f"Close {item.name}?", text, "Close it", (FACTS, "Facts"), {"item": item.name or ""})
    return operator.ask(member, question, fault)


def _close(member: Member, item: FactItem, reason: str) -> FlowResult:
    name = item.name or ""
    if not close_item(member.db, name, clock.today(), operator.name_actor(member), reason):
        return redirect_back(FACTS, "unchanged")
    operator.write_trail(member, "fact close", f"fact:{name}", f"{item.file}, {item.key}", reason)
    return redirect_back(FACTS, "closed")


ROUTES = [
    get_for_operator(FACTS, show_facts),
    *build_change_routes(CLOSE, _find_item, _ask_close, _close),
]
