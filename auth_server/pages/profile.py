"""Profile page: where from and how the person travels, in which currency and time zone, and who is in the household."""

from asyncio import gather
from collections.abc import Mapping

from auth_server.pages.forms import Field, Form, ToolForm, mark_values
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.web.outcomes import FlowResult

PATH = "/dashboard/profile"
_AIRLINES = "Names or codes, with commas between them."
FORM = ToolForm(
    (
        Field("home_airport", help="A code or a city, such as LAX or Munich."),
        Field("default_cabin", "Usual cabin", none="None", half=True),
        Field("default_passengers", "Usual number of travellers", half=True),
        Field("currency", help="Three letters, such as USD. Values and prices are shown in it.", half=True),
        Field("country", help="Two letters, such as US. Its cards come first.", half=True),
        Field(
            "timezone",
            "Time zone",
            "Such as Europe/Paris. Days and hours on pages and in mails are those of this zone.",
        ),
        Field("preferred_airlines", "Airlines you prefer", _AIRLINES),
        Field("avoided_airlines", "Airlines you avoid", _AIRLINES),
    ),
    add="update_profile",
    change="update_profile",
)
MESSAGES = {"saved": "Your profile is saved."}
PROFILE = Subject("profile", PATH, "Your profile")


async def show(member: Member) -> FlowResult:
    form, answer, portfolio = await gather(
        FORM.load(member, is_new=False), look(member, "get_profile"), look(member, "get_portfolio")
    )
    if not answer.get("profile"):
        return PROFILE.show_away()
    typed = form.write(answer["profile"])
    return _show(member, form, typed, mark_values(typed), portfolio, {})


def _show(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    portfolio: Answer,
    faults: Mapping[str, str],
) -> FlowResult:
    return member.show(
        "profile.html",
        422 if faults else 200,
        form=form,
        typed=typed,
        before=before,
        household=portfolio.get("by_member", ()),
        faults=faults,
        messages=MESSAGES,
    )


async def save(member: Member) -> FlowResult:
    form = await FORM.load(member, is_new=False)
    typed, before = form.read(member), form.read_before(member)
    saved = await change(member, "update_profile", **form.list_changes(typed, before))
    if saved.is_good:
        return redirect_back(PATH, "saved")
    return _show(member, form, typed, before, await look(member, "get_portfolio"), form.read_faults(saved))


ROUTES = [get_for_member(PATH, show), post_for_member(PATH, save)]
