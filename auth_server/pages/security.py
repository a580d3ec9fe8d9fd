"""Security page of the dashboard: a year's events, and everything signed in, each with a button to end it."""

from datetime import datetime, timedelta

from auth_server.accounts import access, api_keys, authorizations, password_guesses
from auth_server.pages.member import Member, redirect_back
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Redirect
from shared import clock
from shared.db.security_events import SecurityEvent, list_events
from shared.outbox.wording import security_events as wording

PATH = "/dashboard/security"
YEAR = timedelta(days=365)


def show(member: Member) -> FlowResult:
    account, db = member.account, member.db
    return member.show(
        "security.html",
        events=[_describe_event(event) for event in list_events(db, account.id, clock.now() - YEAR)],
        locked=password_guesses.is_locked(member.uow, account),
        sessions=sessions.list_active(db, account.id),
        here=member.session.id_hash,
        applications=authorizations.list_active(db, account.id),
        keys=[
            (key, authorizations.is_unused(key.last_used_at or key.created_at))
            for key in api_keys.list_active(db, account.id)
        ],
    )


def _describe_event(event: SecurityEvent) -> tuple[str, str, datetime, str | None]:
    """Title, sentence, moment, browser."""
    facts = {"kind": event.kind, "subject": event.subject, "browser": event.browser}
    return wording.title(facts), wording.sentence(facts), event.at, event.browser


def end_browser(member: Member) -> FlowResult:
    """Ends one session, given by the first characters of its hash."""
    prefix = member.data.form_value("session")
    for row in sessions.list_active(member.db, member.account.id):
        if len(prefix) >= 16 and row.id_hash.startswith(prefix):
            sessions.end(member.uow, row.id_hash)
    return redirect_back(PATH, "signed_out")


def end_application(member: Member) -> FlowResult:
    authorizations.end_one(member.uow, member.account, member.data.form_value("application"))
    return redirect_back(PATH, "application_ended")


def end_key(member: Member) -> FlowResult:
    key_id = member.data.form_value("key_id")
    if key_id.isdecimal():
        api_keys.revoke(member.uow, member.account.id, int(key_id[:18]))
    return redirect_back(PATH, "revoked")


def end_everywhere(member: Member) -> FlowResult:
    """Ends what was ticked: other browsers, this one, all applications or those of the last day, keys."""
    ticked = {name for name, value in member.data.form if value == "on"}
    if "applications" in ticked:
        access.end_applications(member.uow, member.account, "ended_by_person")
    elif "new_applications" in ticked:
        access.end_new_applications(member.uow, member.account, "ended_by_person")
    if "keys" in ticked:
        access.end_keys(member.uow, member.account)
    if "browsers" in ticked:
        sessions.end_others(member.uow, member.session)
    if "here" in ticked:
        sessions.end(member.uow, member.session.id_hash)
        return Redirect("/signin", session_cookie="")
    return redirect_back(PATH, "ended" if ticked else "nothing_ended")
