"""Step-up: dangerous steps need a sign-in of the last ten minutes; what was typed survives signing in again."""

import json
import re
from datetime import datetime, timedelta
from urllib.parse import urlencode

import sqlalchemy as sa
from sqlalchemy.orm import Session

from auth_server.web.outcomes import Redirect
from auth_server.web.request_data import MAX_VALUE_CHARACTERS, RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.sign_in_methods import AuthenticatorApp, Passkey
from shared.secrets import seal, unseal
from shared.settings import settings

MAX_AGE = timedelta(minutes=10)
FIELDS_LIFETIME = timedelta(minutes=30)
_NEVER_CARRIED = re.compile(r"csrf|password|current|code|credential|token")


def is_fresh(session: WebSession) -> bool:
    return session.authenticated_at is not None and clock.now() - session.authenticated_at <= MAX_AGE


def find_factor_age(db: Session, account: Account) -> datetime | None:
    """When the oldest second factor was added; None without one."""
    moments = [
        db.scalar(sa.select(sa.func.min(model.created_at)).where(model.account_id == account.id))
        for model in (Passkey, AuthenticatorApp)
    ]
    return min((moment for moment in moments if moment is not None), default=None)


def has_shown_factor(session: WebSession, since: datetime) -> bool:
    """False for a sign-in older than the first factor, which was not asked for then."""
    return session.authenticated_at is not None and session.authenticated_at >= since


def may_allow(db: Session, session: WebSession, account: Account) -> bool:
    """Whether this sign-in may let an application in: it is fresh, and has shown the second factor if there is one."""
    since = find_factor_age(db, account)
    return is_fresh(session) and (since is None or has_shown_factor(session, since))


def may_administer(db: Session, session: WebSession, account: Account) -> bool:
    """Whether an administrator has shown a second factor within the last ten minutes."""
    since = find_factor_age(db, account) if account.is_admin else None
    return since is not None and has_shown_factor(session, since) and is_fresh(session)


def ask_for_page(path: str) -> Redirect:
    """Redirects to the sign-in page, and from there to the page that was asked for."""
    return Redirect(f"/signin?{urlencode({'return_to': path, 'fresh': '1'})}", status=302)


def ask_for_form(data: RequestData, account: Account, page: str) -> Redirect:
    """Redirects to the sign-in page, then to the page of the form, which says what to do."""
    query = {"done": "again"} | _carry_fields(data, account, page)
    return Redirect(f"/signin?{urlencode({'return_to': f'{page}?{urlencode(query)}', 'fresh': '1'})}")


def _carry_fields(data: RequestData, account: Account, page: str) -> dict[str, str]:
    """What was typed, sealed for this account and page: no one else can fill in our forms through a link."""
    fields = {name: value for name, value in data.form if not _NEVER_CARRIED.search(name)}
    if not fields:
        return {}
    content = {"account": account.id, "page": page, "at": int(clock.now().timestamp()), "fields": fields}
    sealed = seal(settings().encryption_keys[0], json.dumps(content, ensure_ascii=False))
    return {"typed": sealed} if len(sealed) <= MAX_VALUE_CHARACTERS else {}


def restore_fields(data: RequestData, account: Account) -> dict[str, str]:
    """The fields carried to this page; empty when there are none, or they are old or another person's."""
    opened = unseal(settings().encryption_keys, data.query_value("typed") or "")
    content = json.loads(opened) if opened is not None else {}
    if not isinstance(content, dict) or (content.get("account"), content.get("page")) != (account.id, data.path):
        return {}
    fields: dict[str, str] = content["fields"]
    return fields if clock.now().timestamp() - content["at"] <= FIELDS_LIFETIME.total_seconds() else {}
