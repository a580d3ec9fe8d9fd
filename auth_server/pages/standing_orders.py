"""Pages of standing orders: what runs each day or week, its last result, running it now, changing and stopping it."""

from collections.abc import Mapping

from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.member import Member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, change
from auth_server.pages.watch_lines import describe_standing_order, read_moment
from auth_server.pages.watch_pages import Kind, Listing, list_routes, refuse
from auth_server.web.outcomes import FlowResult
from shared.domain.look_bars import draw_looks
from shared.domain.watch_kinds import STANDING_ORDER

_RESULT_CHARACTERS = 6000  # of the last result: the whole one is in the mail
_LOOKS = {"done": "worked", "fail": "failed", "due": "runs or waits"}
_OUTCOMES = {"ok": "Worked", "failed": "Failed"}
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
FORM = ToolForm(
    (
        Field("prompt", "What to look at", "In plain words and complete: it knows none of your conversations.", rows=6),
        Field("cadence", "How often", words={"weekly": "Every week", "daily": "Every day"}, half=True),
        Field(
            "run_weekday",
            "Day, if every week",
            words={str(number): name for number, name in enumerate(_DAYS)},
            half=True,
        ),
        Field("run_hour", "Hour, in UTC", "From 0 to 23.", half=True),
    ),
    add="create_standing_order",
    change="update_standing_order",
)


def _settle_weekday(typed: dict[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Drops the weekday of a daily order, whatever the form shows."""
    return typed | {"run_weekday": before.get("run_weekday", "")} if typed["cadence"] == "daily" else typed


async def _show(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    result = answer["last_result"] or ""
    return member.show(
        "standing_order.html",
        kind=kind,
        line=describe_standing_order(answer["standing_order"]),
        prompt=answer["standing_order"]["prompt"],
        result=result[:_RESULT_CHARACTERS],
        is_cut=len(result) > _RESULT_CHARACTERS,
        looks=draw_looks(
            [{"ok": "done", "failed": "fail"}.get(run["outcome"] or "", "due") for run in answer["runs"]][::-1],
            "run",
            _LOOKS,
        ),
        runs=[
            {"at": read_moment(run["started_at"]), "words": _OUTCOMES.get(run["outcome"] or "", "Waits, or runs now")}
            for run in answer["runs"]
        ],
    )


KIND = Kind(
    watch=STANDING_ORDER,
    noun="standing order",
    number="standing_order_id",
    listing=Listing(
        name="orders",
        drawing="list",
        title="Standing orders",
        words="Add a standing order",
        empty="Nothing runs by itself. A standing order asks the tools each day or week and mails the result.",
        tool="list_standing_orders",
        rows="standing_orders",
        arguments={"state": "all"},
    ),
    form=FORM,
    look="get_standing_order",
    end="cancel_standing_order",
    pick=lambda answer: answer["standing_order"],
    show=_show,
    describe=describe_standing_order,
    verb="Stop",
    end_words="It runs no more and cannot be started again. Its last result is kept.",
    is_kept=True,
    is_pausable=False,
    settle=_settle_weekday,
)


async def run(member: Member) -> FlowResult:
    started = await change(member, "run_standing_order", **KIND.name_watch(member))
    return redirect_back(KIND.find_page(member), "queued") if started.is_good else refuse(KIND, started)


ROUTES = [*list_routes(KIND), post_for_member(f"{KIND.path}/{{number}}/run", run)]
