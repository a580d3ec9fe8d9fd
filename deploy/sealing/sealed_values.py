"""What depends on each of SECRET_KEYS: counted by key, and sealed again with the first."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - registers every table
from mcp_server.views.clients import PURPOSE as PDF
from shared import clock
from shared.db.base import Base, transaction
from shared.db.message_channels import hash_address
from shared.db.messages import OPEN_STATUSES
from shared.db.phones import hash_number
from shared.db.push_keys import NAME as PUSH_KEY
from shared.outbox.phone_codes import LIFETIME
from shared.secrets import key_id, seal, unseal
from shared.services.bookings.secret_links import read_secret
from shared.settings import settings

BATCH = 500  # rows of one transaction
UNSENT = "links and codes in messages that wait to be sent"
Values = dict[str, Any]
SealAnew = Callable[[Any], Values | None]  # from a row its new values; None where no key opens it


@dataclass(frozen=True)
class Place:
    """One column of sealed values, or of ids of the keys that secrets are derived from."""

    noun: str
    column: sa.Column[Any]
    is_current: sa.ColumnElement[bool]  # ended rows depend on no key
    seal_anew: SealAnew


def _reseal_plain(column: str, row: Any) -> Values | None:
    value = unseal(settings().encryption_keys, getattr(row, column))
    return None if value is None else {column: _seal(value)}


def _reseal_number(row: Any) -> Values | None:
    """Reseals a number; the hash it is compared by is keyed too."""
    number = unseal(settings().encryption_keys, row.number_sealed)
    return None if number is None else {"number_sealed": _seal(number), "number_hash": hash_number(number)[0]}


def _reseal_address(row: Any) -> Values | None:
    text = unseal(settings().encryption_keys, row.address_sealed)
    if text is None:
        return None
    return {"address_sealed": _seal(text), "address_hash": hash_address(row.kind, json.loads(text))[0]}


def _reseal_link(purpose: str | None, row: Any) -> Values | None:
    """Keeps the address of a link: its secret is then sealed with a key instead of derived from one."""
    secret = read_secret(purpose or row.purpose, row)
    first = key_id(settings().encryption_keys[0])
    return None if secret is None else {"secret_sealed": _seal(secret), "key": first}


def _seal(value: str) -> str:
    return seal(settings().encryption_keys[0], value)


def _plain(noun: str, table: str, column: str) -> Place:
    return Place(noun, Base.metadata.tables[table].c[column], sa.true(), partial(_reseal_plain, column))


def list_places() -> list[Place]:
    tables = Base.metadata.tables
    links, pdfs, facts = tables["secret_links"], tables["branded_pdfs"], tables["service_facts"]
    shared_pdfs = sa.and_(
        pdfs.c.revoked_at.is_(None), sa.or_(pdfs.c.expires_at.is_(None), pdfs.c.expires_at > clock.now())
    )
    return [
        _plain("signing keys", "signing_keys", "private_sealed"),
        _plain("authenticator apps", "authenticator_apps", "secret_sealed"),
        _plain("connections", "connections", "access_sealed"),
        _plain("connections", "connections", "refresh_sealed"),
        _plain("connections", "connections", "pending_sealed"),
        _plain("phones of delay alerts", "delay_alerts", "phone_sealed"),
        Place("phones", tables["phone_numbers"].c.number_sealed, sa.true(), _reseal_number),
        Place("message channels", tables["message_channels"].c.address_sealed, sa.true(), _reseal_address),
        Place("secret links", links.c.key, links.c.ended_at.is_(None), partial(_reseal_link, None)),
        Place("documents for clients", pdfs.c.key, shared_pdfs, partial(_reseal_link, PDF)),
        Place("key of push services", facts.c.value, facts.c.name == PUSH_KEY, partial(_reseal_plain, "value")),
    ]


def count_by_key(session: Session) -> dict[str, Counter[str]]:
    """How many values depend on each key, by the key's id and by noun, including keys that no one has any longer."""
    counts: dict[str, Counter[str]] = {}
    for place in list_places():
        key = sa.func.split_part(place.column, ":", 1)
        rows = sa.select(key, sa.func.count()).where(place.column.is_not(None), place.is_current).group_by(key)
        for name, number in session.execute(rows):
            counts.setdefault(name, Counter())[place.noun] += number
    for name, number in session.execute(sa.text(_UNSENT)):
        counts.setdefault(name, Counter())[UNSENT] += number
    return counts


# The facts of a message name the key of its link or code at some depth, and include a sealed phone number.
_UNSENT = f"""
  select key, count(distinct id) from (
    select id, key #>> '{{}}' as key from deliveries, jsonb_path_query(facts, '$.**.key') key
     where status in {OPEN_STATUSES}
    union all
    select id, split_part(facts ->> 'phone_sealed', ':', 1) from deliveries where status in {OPEN_STATUSES}
  ) named where key ~ '^[0-9a-f]{{8}}$' group by key
"""  # noqa: S608 - the statuses are ours


def seal_all_anew(batch: int = BATCH) -> tuple[Counter[str], Counter[str]]:
    """Seals values again with the first key; returns how many, and how many no key opens, by noun."""
    sealed: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    for place in list_places():
        position: Any = None
        while True:
            with transaction() as session:
                rows = _read_batch(session, place, position, batch)
                for row in rows:
                    _seal_row(session, place, row, sealed, unreadable)
            if not rows:
                break
            position = tuple(getattr(rows[-1], column.name) for column in place.column.table.primary_key)
    return sealed, unreadable


def _read_batch(session: Session, place: Place, position: Any, batch: int) -> list[Any]:
    """The next rows that depend on another key than the first, locked until they are written."""
    table = place.column.table
    first = key_id(settings().encryption_keys[0])
    primary = tuple(table.primary_key)
    old = (place.column.is_not(None), place.is_current, sa.func.split_part(place.column, ":", 1) != first)
    after = sa.true() if position is None else sa.tuple_(*primary) > sa.tuple_(*position)
    query = sa.select(table).where(*old, after, _is_at_rest(table)).order_by(*primary).limit(batch)
    return list(session.execute(query.with_for_update(skip_locked=True)))


def _is_at_rest(table: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether no code is on its way: it belongs to the hash of its number or address, which must not change."""
    if "code_sent_at" not in table.c:
        return sa.true()
    earlier = table.c.code_sent_at < clock.now() - LIFETIME
    return sa.or_(table.c.code_hash.is_(None), table.c.code_sent_at.is_(None), earlier)


def _seal_row(session: Session, place: Place, row: Any, sealed: Counter[str], unreadable: Counter[str]) -> None:
    values = place.seal_anew(row)
    if values is None:
        unreadable[place.noun] += 1
        return
    table = place.column.table
    same = (column == getattr(row, column.name) for column in table.primary_key)
    session.execute(sa.update(table).where(*same).values(values))
    sealed[place.noun] += 1
