"""The connection to a person's Google account, with access only to files that this service made."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from shared import http
from shared.providers import oauth_client
from shared.providers.connectors import COLUMNS, Connector, Push, Row, Written
from shared.providers.contract import Unanswered
from shared.settings import settings

# The spreadsheet: rows that differ are written, new ones are appended.
#
# The first column has our key of each row. Everything is written as plain values, so that no text becomes a formula.

TABS = {"balance": "Balances", "flight": "Flights", "hotel": "Stays"}
MAX_ROWS = 5000
REMOVED_STATE = "removed here"
Cells = list[Any]


@dataclass
class TabPlan:
    """The lines to write into one tab."""

    changes: dict[int, Cells] = field(default_factory=dict)  # by the number of the line
    fresh: list[Cells] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


async def push(request: Push) -> Written:
    """Writes the sheet; one that was deleted, or lost a tab, is made again once."""
    headers = {"Authorization": request.credential}
    sheet = request.details.get("spreadsheet_id")
    async with http.client(settings().google_sheets_base_url, headers=headers) as client:
        there = await _read(client, sheet) if sheet else None
        plans = {tab: _plan_tab(tab, request.rows, (there or {}).get(tab, [])) for tab in TABS}
        done = Written(
            added=tuple(key for p in plans.values() for key in p.added),
            changed=tuple(key for p in plans.values() for key in p.changed),
        )
        if request.dry_run:
            return done
        if there is None:
            sheet = await _create(client)
        try:
            await _write(client, str(sheet), plans)
        except (httpx.HTTPError, Unanswered):  # the sheet is remembered, and the next push continues from there
            return Written(details={"spreadsheet_id": sheet}, failed=True)
    return Written(done.added, done.changed, {"spreadsheet_id": sheet})


async def _request(client: http.AsyncClient, method: str, path: str, **more: Any) -> dict[str, Any]:
    try:
        body = await (http.get if method == "GET" else http.post)(client, path, **more)
        document = json.loads(body)
    except httpx.HTTPStatusError as error:
        if error.response.status_code == 401:
            raise Unanswered("broken", "bad_token") from None
        raise
    if not isinstance(document, dict):
        raise Unanswered("down", "wrong_shape")
    return document


async def _create(client: http.AsyncClient) -> str:
    tabs = [{"properties": {"title": title}} for title in TABS.values()]
    sheet = await _request(
        client, "POST", "/v4/spreadsheets", json={"properties": {"title": settings().service_name}, "sheets": tabs}
    )
    if not isinstance(sheet.get("spreadsheetId"), str):
        raise Unanswered("down", "wrong_shape")
    return str(sheet["spreadsheetId"])


async def _read(client: http.AsyncClient, sheet: str) -> dict[str, list[Cells]] | None:
    """The lines of each tab; None if the sheet was deleted or lost a tab."""
    ranges = [("ranges", f"{title}!A1:Z{MAX_ROWS}") for title in TABS.values()]
    params = [*ranges, ("valueRenderOption", "UNFORMATTED_VALUE")]
    try:
        answer = await _request(
            client, "GET", f"/v4/spreadsheets/{quote(sheet, safe='')}/values:batchGet", params=params
        )
    except httpx.HTTPStatusError as error:
        if error.response.status_code in (400, 404):
            return None
        raise
    ranges_read = answer.get("valueRanges", [])
    if not isinstance(ranges_read, list) or len(ranges_read) != len(TABS):
        raise Unanswered("down", "wrong_shape")
    return {tab: [list(line) for line in r.get("values", [])] for tab, r in zip(TABS, ranges_read, strict=True)}


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value or "")


def _equal_lines(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether lines are equal; the API omits empty cells at the end."""
    width = max(len(first), len(second))
    padded = [[*map(_text, line), *[""] * (width - len(line))] for line in (first, second)]
    return padded[0] == padded[1]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plan_tab(tab: str, rows: Sequence[Row], lines: Sequence[Cells]) -> TabPlan:
    """What a person keeps in columns to the right of ours, or in rows without a key of ours, is left alone."""
    heading: Cells = ["key", *COLUMNS[tab]]
    width = len(heading)
    plan = TabPlan()
    if not lines or not _equal_lines(lines[0][:width], heading):
        plan.changes[1] = heading
    line_numbers = {str(line[0]): number for number, line in enumerate(lines, 1) if number > 1 and line and line[0]}
    for row in rows:
        if row.kind != tab:
            continue
        cells = [row.key, *(_cell(row.values[name]) for name in COLUMNS[tab])]
        number = line_numbers.pop(row.key, None)
        if number is None:
            plan.fresh.append(cells)
            plan.added.append(row.key)
        elif not _equal_lines(lines[number - 1][:width], cells):
            plan.changes[number] = cells
            plan.changed.append(row.key)
    for key, number in line_numbers.items():
        if key.startswith(f"{tab}:"):
            _mark_removed(plan, key, number, [*lines[number - 1], *[""] * width][:width])
    return plan


def _mark_removed(plan: TabPlan, key: str, number: int, cells: Cells) -> None:
    """Marks a deleted row in its last column, the state; its other cells stay."""
    if cells[-1] != REMOVED_STATE:
        plan.changes[number] = [*cells[:-1], REMOVED_STATE]
        plan.changed.append(key)


async def _write(client: http.AsyncClient, sheet: str, plans: Mapping[str, TabPlan]) -> None:
    place = f"/v4/spreadsheets/{quote(sheet, safe='')}"
    data = [
        {"range": f"{TABS[tab]}!A{number}", "majorDimension": "ROWS", "values": [cells]}
        for tab, plan in plans.items()
        for number, cells in plan.changes.items()
    ]
    if data:
        await _request(client, "POST", f"{place}/values:batchUpdate", json={"valueInputOption": "RAW", "data": data})
    for tab, plan in plans.items():
        if plan.fresh:
            where = f"{place}/values/{TABS[tab]}!A1:append"
            how = {"valueInputOption": "RAW", "insertDataOption": "INSERT_ROWS"}
            await _request(client, "POST", where, params=how, json={"majorDimension": "ROWS", "values": plan.fresh})


SCOPE = "https://www.googleapis.com/auth/drive.file"  # files this service makes, and no other
APPLICATION = oauth_client.Application(
    "google",
    authorize_url=lambda s: s.google_authorize_url,
    token_url=lambda s: f"{s.google_oauth_url}/token",
    more=lambda _: {
        "scope": SCOPE,
        "access_type": "offline",
        "prompt": "consent",  # a refresh token is given only with it
        "include_granted_scopes": "true",
    },
)


async def revoke(access: str, refresh: str | None) -> bool:
    return await oauth_client.revoke(f"{settings().google_oauth_url}/revoke", {"token": refresh or access})


CONNECTOR = Connector(
    title="Google Sheets",
    shares=(
        "This service makes one spreadsheet in your Google Drive and can see or change no other file.",
        "When you ask for it, your points balances and bookings are written into it, with their confirmation numbers.",
    ),
    configured=APPLICATION.is_configured,
    start=APPLICATION.start,
    finish=APPLICATION.finish,
    renew=APPLICATION.renew,
    revoke=revoke,
    push=push,
    used_by=("points_balances", "flight_bookings", "hotel_bookings"),
    after="The spreadsheet stays in your Drive.",
)
