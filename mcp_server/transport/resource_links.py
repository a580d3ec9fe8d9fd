"""Resource links next to the texts of a result: files and pages that a host can open or keep by themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import ResourceLink

from shared.settings import settings


@dataclass(frozen=True)
class _Target:
    """What the address in a field of a tool's result leads to."""

    field: str
    name: str
    title: str
    media_type: str


_CALENDAR = _Target("url", "calendar.ics", "Calendar of upcoming flights and stays (secret link)", "text/calendar")
_CHART = _Target("source_url", "award-chart", "Where the award chart was read", "text/html")
_TARGETS = {
    "get_calendar_feed": _CALENDAR,
    "reset_calendar_feed": _CALENDAR,
    "generate_branded_pdf": _Target(
        "url", "proposal.pdf", "The proposal, for anyone who has the link", "application/pdf"
    ),
    "get_award_chart_faq": _CHART,
    "get_pricing": _CHART,
    "get_program_rates": _CHART,
}
_EXPORT_PATH = "/dashboard/account"


def list_links(name: str, status: str, data: Mapping[str, Any]) -> list[ResourceLink]:
    """The links of an answer of one tool; none where it has no such file, or did not answer."""
    if status != "ok":
        return []
    if name == "get_profile":
        page = settings().web_url + _EXPORT_PATH
        return [ResourceLink(uri=page, name="export", title="Download all your data", mime_type="text/html")]
    target = _TARGETS.get(name)
    uri = _find_uri(target, data) if target else None
    if target is None or uri is None:
        return []
    return [ResourceLink(uri=uri, name=target.name, title=target.title, mime_type=target.media_type)]


def _find_uri(target: _Target, data: Mapping[str, Any]) -> str | None:
    uri = data.get(target.field)
    return uri if isinstance(uri, str) and uri.startswith(("https://", "http://")) else None
