"""Settings page of the dashboard: mails by kind, an advisor's logo, and where other choices are."""

from dataclasses import replace
from functools import partial

from auth_server.accounts import phones
from auth_server.pages import logo
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult, JsonResponse, PageResult, WaitingStep, show_problem
from shared import clock
from shared.db import clients, message_channels
from shared.db.accounts import lock
from shared.db.profile import MAILS, AdvisorLogo, Profile, find_addressee
from shared.domain.plans import Plan
from shared.domain.watch_kinds import WATCH_KINDS
from shared.limits import hit
from shared.limits.heavy_work import run_heavy

PATH = "/dashboard/settings"
LOGOS_PER_HOUR = 20  # of one account: reading a picture may take seconds
MAIL_KINDS = {kind.mails: kind.mail_words for kind in WATCH_KINDS if kind.has_mail_switch} | {
    "deadlines": ("Deadlines", "90, 30 and 7 days before points, vouchers, credits or free cancellation end"),
    "weekly_overview": ("Weekly overview", "each Monday: what your watches found, what is booked and what ends"),
    "product_news": ("News", "now and then, about what is new here"),
}


def show(member: Member, status: int = 200, fault: str | None = None) -> FlowResult:
    switches = find_addressee(member.db, member.account.id).mail_switches
    choices = [(kind, *MAIL_KINDS[kind], switches[kind]) for kind in MAILS]
    logo_row = member.db.get(AdvisorLogo, member.account.id)
    return member.show(
        "settings.html",
        status,
        choices=choices,
        logo=logo_row,
        may=member.plan >= Plan.PRO,
        fault=fault,
        most=logo.MAX_BYTES,
        numbers=phones.count_proved(member.db, member.account.id),
        channel_count=message_channels.count_proved(member.db, member.account.id),
        documents=len(clients.list_open_links(member.db, member.account.id, clock.now())),
    )


def save(member: Member) -> FlowResult:
    lock(member.db, member.account.id)
    row = member.db.get(Profile, member.account.id)
    if row is None:
        row = Profile(account_id=member.account.id)
        member.db.add(row)
    for kind in MAILS:
        setattr(row, f"mail_{kind}", member.data.form_value(kind) == "on")
    return redirect_back(PATH, "saved")


def save_logo(member: Member) -> PageResult:
    """Reading a picture may take seconds, so this and its transaction end before that starts."""
    if member.plan < Plan.PRO:
        return show_problem("A logo is part of the Pro plan", "The plans page says how to change your plan.", 403)
    if not hit(f"logos:{member.account.id}", LOGOS_PER_HOUR, 3600).allowed:
        return show(member, 429, "You uploaded many pictures. Please wait an hour and try again.")
    return WaitingStep(lambda _tools: _read_logo(member))


async def _read_logo(member: Member) -> FlowResult:
    try:
        picture = await run_heavy(logo.read_logo, member.data.file)
    except logo.InvalidLogo as error:
        fault = str(error)
        return await member.run(lambda again: show(again, 422, fault))
    return await member.run(partial(_store_logo, picture))


def _store_logo(picture: logo.Logo, member: Member) -> FlowResult:
    lock(member.db, member.account.id)
    row = member.db.get(AdvisorLogo, member.account.id) or AdvisorLogo(account_id=member.account.id)
    row.media_type, row.width, row.height, row.content = (
        "image/png",
        picture.width,
        picture.height,
        picture.content,
    )
    member.db.add(row)
    return redirect_back(PATH, "logo")


def show_too_large(member: Member) -> FlowResult:
    """Shows the settings again, with a fault at the picture, which was too large to read."""
    here = replace(member, data=replace(member.data, path=PATH))
    return show(here, 413, f"The file is larger than {logo.MAX_BYTES // 1024} KiB. Nothing was changed.")


def delete_logo(member: Member) -> FlowResult:
    row = member.db.get(AdvisorLogo, member.account.id)
    if row is not None:
        member.db.delete(row)
    return redirect_back(PATH, "logo_removed")


def serve_logo(member: Member) -> FlowResult:
    row = member.db.get(AdvisorLogo, member.account.id)
    if row is None:
        return show_problem("There is no logo", "You have not uploaded one.", 404)
    return JsonResponse(200, row.content, {"Content-Type": row.media_type, "Cache-Control": "no-store"})
