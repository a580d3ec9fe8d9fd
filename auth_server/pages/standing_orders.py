"""Pages of standing orders: what runs each day or week, its last result, running it now, changing and stopping it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from auth_server.pages import watch_forms
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, show_when_answered
from auth_server.pages.watch_forms import Field, Kind, show_refusal
from auth_server.pages.watch_lines import Row, describe_standing_order, read_moment
from auth_server.web.outcomes import FlowResult, PageResult

PATH = "/dashboard/watches/order"
_RESULT_CHARACTERS = 6000  # of the last result: the whole one is in the mail
_DAYS = tuple(
    (str(number), name)
    for number, name in enumerate(("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))
)


def _settle_weekday(typed: dict[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """What runs every day has no weekday, whatever the form shows."""
    return typed | {"run_weekday": before.get("run_weekday", "")} if typed["cadence"] == "daily" else typed


KIND = Kind(
    noun="standing order",
    path=PATH,
    number="standing_order_id",
    tools={
        "create": "create_standing_order",
        "look": "get_standing_order",
        "change": "update_standing_order",
        "end": "cancel_standing_order",
    },
    pick=lambda answer: answer["standing_order"],
    pick_new=lambda answer: answer["standing_order"],
    fields=(
        Field(
            "prompt",
            "What to look at",
            "long",
            "In plain words and complete: it knows none of your conversations.",
            required=True,
            length=4000,
        ),
        Field(
            "cadence",
            "How often",
            "choice",
            options=(("weekly", "Every week"), ("daily", "Every day")),
            half=True,
        ),
        Field("run_weekday", "Day, if every week", "number", options=_DAYS, half=True),
        Field("run_hour", "Hour, in UTC", "number", "From 0 to 23.", required=True, half=True, length=2),
    ),
    defaults={"cadence": "weekly", "run_hour": "7", "run_weekday": "1"},
    describe=describe_standing_order,
    verb="Stop",
    end_words="It runs no more and cannot be started again. Its last result is kept.",
    is_kept=True,
    is_pausable=False,
    settle=_settle_weekday,
)


def _show(member: Member, answer: Answer) -> FlowResult:
    result = answer["last_result"] or ""
    return member.show(
        "standing_order.html",
        side="",  # two columns need the width of the side tabs
        kind=KIND,
        line=describe_standing_order(answer["standing_order"]),
        prompt=answer["standing_order"]["prompt"],
        result=result[:_RESULT_CHARACTERS],
        is_cut=len(result) > _RESULT_CHARACTERS,
        runs=[_describe_run(run) for run in answer["runs"]],
    )


def _describe_run(run: Row) -> dict[str, Any]:
    words = {"ok": "Worked", "failed": "Failed"}.get(run["outcome"] or "", "Waits, or runs now")
    return {"at": read_moment(run["started_at"]), "words": words}


def run(member: Member) -> PageResult:
    number = member.data.path_number("number") or 0
    call = prepare_change(member, "run_standing_order", standing_order_id=number)
    return show_when_answered({"run": call}, partial(_finish_run, f"{PATH}/{number}"))


def _finish_run(page: str, answers: Mapping[str, Answer]) -> FlowResult:
    return redirect_back(page, "queued") if answers["run"].is_good else show_refusal(KIND, answers["run"])


ROUTES = [
    *watch_forms.build_routes(KIND),
    get_for_member(f"{PATH}/{{number}}", partial(watch_forms.show_one, KIND, _show)),
    post_for_member(f"{PATH}/{{number}}/run", run),
]
