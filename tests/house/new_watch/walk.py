"""The life of a rain alert in a product that knows the kind: what each part of it shows, as JSON."""

import json
import os
from typing import Any

import anyio
import sqlalchemy as sa
from shared.db.rain_alerts import RainAlert

import mcp_server.tools  # noqa: F401 - registers the tools
from auth_server.accounts.message_channels import FIRST_KINDS
from auth_server.pages import message_channels, notices, settings, watch_list
from auth_server.pages.agent_claim import describe_records
from auth_server.pages.plans import _list_limits
from jobs import runs
from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.registry import TOOLS
from mcp_server.views.profile import Mails
from shared.db.accounts import Account
from shared.db.admin_figures import RECORDS
from shared.db.base import transaction
from shared.db.messages import Delivery, Notification
from shared.db.run_kinds import delete_account_schedules
from shared.db.runs import JobRun, Schedule, create_due_runs
from shared.db.schema import upgrade
from shared.db.watches import find_watch, pause_watch, resume_watch
from shared.domain.plans import Plan, list_additions
from shared.domain.tool_profiles import AREAS
from shared.outbox.links import read_pause_token, read_unsubscribe_token
from shared.outbox.plan_change import change_plan
from shared.outbox.wording.messages import message
from tests.support.people import account

upgrade(os.environ["DATABASE_URL"])
owner = account("owner", Plan.FREE, email_confirmed_at=sa.func.now())


def use(name: str, **arguments: Any) -> dict[str, Any]:
    return anyio.run(dispatch, name, arguments, owner, "mcp").data


def work() -> None:
    with transaction() as session:
        session.execute(sa.update(Schedule).values(next_due_at=sa.func.now()))
    with transaction() as session:
        create_due_runs(session)
    runs.wake()


def look() -> tuple[bool, bool]:
    """Whether the alert is active, and whether it is scheduled."""
    with transaction() as session:
        enabled = session.scalar(sa.select(Schedule.enabled))
    return use("list_rain_alerts")["alerts"][0]["active"], bool(enabled)


def turn(token: str, turn_watch: Any) -> None:
    public_id, kind, number = read_pause_token(token) or ("", "", 0)
    with transaction() as session:
        row = session.scalars(sa.select(Account).where(Account.public_id == public_id)).one()
        watch = find_watch(session, row, kind, number)
        assert watch is not None
        turn_watch(session, watch, row)


made = use("create_rain_alert", airport="JFK")
refused = use("create_rain_alert", airport="LHR")
work()
with transaction() as session:
    notice = session.scalars(sa.select(Notification)).one()
    told = [notice.kind, notice.title, notice.body, notice.subject_type]
    delivery = session.scalars(sa.select(Delivery)).one()
    mail = message(delivery.event, delivery.facts, sandbox=False, account=owner.public_id)
token = mail.text.partition("/pause?token=")[2].split()[0]
turn(token, lambda session, watch, _: pause_watch(session, watch))
paused = look()
turn(token, lambda session, watch, row: resume_watch(session, row, watch))
resumed = look()
with transaction() as session:
    session.add(RainAlert(account_id=owner.account_id, airport="LHR", synthetic=True))
    session.flush()
    change_plan(session, session.get_one(Account, owner.account_id), Plan.FREE)
    kept = session.scalars(sa.select(RainAlert.paused_at.is_(None)).order_by(RainAlert.id)).all()
    records = describe_records(session, owner.account_id)
    ran = session.scalars(sa.select(JobRun.status)).all()
    delete_account_schedules(session, owner.account_id)
    left = session.scalar(sa.select(sa.func.count()).select_from(Schedule))
kind = next(kind for kind in watch_list.KINDS if kind.watch.name == "rain_alert")
report = {
    "made": [made["status"], refused["status"], refused["cap"]],
    "told": told,
    "mail": [mail.subject, delivery.recipient, "It rains at JFK." in mail.text, "It rains at JFK." in mail.html],
    "unsubscribe": read_unsubscribe_token((mail.unsubscribe or "").partition("token=")[2]),
    "pause": [paused, resumed, "Pause this alert" in mail.text],
    "runs": list(ran),
    "plan": list(kept),
    "records": records,
    "left": left,
    "listed": [
        kind.describe(use("list_rain_alerts")["alerts"][-1]).page,
        f"{kind.path}/new" in {route.path for route in watch_list.ROUTES},
        notices.KINDS[notice.kind],
        settings.MAIL_KINDS["rain_alerts"][0],
        "rain_alerts" in message_channels.KINDS and "rain_alerts" in FIRST_KINDS,
        "1 rain alert" in list_additions(Plan.FREE),
        dict(_list_limits())["Rain alerts"],
        RainAlert in RECORDS["alerts"],
        use("get_profile")["profile"]["mail"]["rain_alerts"] and "rain_alerts" in Mails.model_fields,
        use("list_notifications", kind="rain_alert")["notifications"][0]["link"].endswith("/dashboard/watches/rain/1"),
        AREAS["alerts"] == sum(tool.area == "alerts" for tool in TOOLS.values()),
    ],
}
print(json.dumps(report))  # noqa: T201
