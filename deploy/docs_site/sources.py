"""Sources of the site: the pages of `deploy/docs` and others of the tree, with links between them."""

import html
import inspect
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

import mcp_server.tools  # noqa: F401 - registers the tools
from mcp_server.pages.tool_reference import ToolEntry, describe_tool, name_area, select_tools
from mcp_server.toolkit.registry import TOOLS
from shared.domain.plans import LIMITS, Plan
from shared.domain.tool_profiles import AREAS, PROFILES
from shared.domain.watch_kinds import LIMITED_KINDS
from shared.settings import Settings

# The pages about tools and plans, generated from the catalogue and the limits of the server.

SITE = "http://127.0.0.1:8000"
_LIMITS = {
    "searches_per_day": "Searches a day",
    "results": "Results of a search",
    "active_trips": "Active trips",
    "tool_calls_per_day": "Tool calls a day",
    "api_calls_per_month": "REST calls a month",
}


def write_areas() -> str:
    """The areas with their tools, and the profiles."""
    rows = [
        (
            f"[{name_area(area)}](tools/{area}.md)",
            f"`{area}`",
            ", ".join(f"`{tool.name}`" for tool in select_tools(area)),
        )
        for area in AREAS
    ]
    profiles = [(f"`/mcp/x/{name}`", str(len(tools))) for name, tools in PROFILES.items()]
    areas = write_table(("Area", "Its word", "Tools"), rows)
    return f"{len(TOOLS)} tools in {len(AREAS)} areas:\n\n{areas}\n\nProfiles:\n\n" + write_table(
        ("Address", "Tools"), profiles
    )


def write_plans() -> str:
    """The limits of each plan."""
    rows = [
        *((_LIMITS[field], *(_format_limit(getattr(LIMITS[plan], field)) for plan in Plan)) for field in _LIMITS),
        *((kind.nouns.capitalize(), *(_format_limit(kind.cap(plan)) for plan in Plan)) for kind in LIMITED_KINDS),
    ]
    return write_table(("", *(plan.slug.title() for plan in Plan)), rows)


def _format_limit(value: int | None) -> str:
    return "no limit" if value is None else f"{value:,}"


def write_tool_pages() -> Iterator[tuple[str, str]]:
    """The place and the text of each area's page."""
    for area in AREAS:
        parts = [f"# {name_area(area)}", *(_write_tool(describe_tool(tool, SITE)) for tool in select_tools(area))]
        yield f"tools/{area}.md", "\n\n".join(parts) + "\n"


def _write_tool(entry: ToolEntry) -> str:
    parts = [
        f"## {entry.tool.name}",
        f"*{html.escape(entry.tool.title, quote=False)}*",
        f"**{entry.tool.tier.label}** · {entry.effect}",
        entry.about,
    ]
    if entry.arguments:
        rows = [
            (
                f"`{row.name}`",
                row.kind + ("; **required**" if row.required else ""),
                html.escape(row.about, quote=False),
            )
            for row in entry.arguments
        ]
        parts.append(write_table(("Argument", "What may stand there", "Meaning"), rows))
    else:
        parts.append("It takes no arguments.")
    parts.append(_write_block("json", "Over MCP", entry.mcp))
    parts.append(_write_block("sh", "Over REST", entry.rest))
    parts.append(_write_block("sh", "By command", entry.command))
    return "\n\n".join(parts)


def _write_block(language: str, title: str, text: str) -> str:
    return f'```{language} title="{title}"\n{html.unescape(text)}\n```'


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; a bar or a line break in a cell would end the cell."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [titles, ["---"] * len(titles), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# The table of settings: meanings from deploy/env.example, defaults from the settings class.

EXAMPLE = Path(__file__).parents[1] / "env.example"
_SECTION = re.compile(r"# --- (?P<title>.+?) -*$")
_FIELD = re.compile(r"^    (?P<name>\w+): .*  # (?P<remark>.+)$", re.M)
_SETTING = re.compile(r"#?(?P<name>[A-Z][A-Z0-9_]+)=")


def write_settings() -> str:
    """One table for each part of the file, with a row for each setting."""
    return "\n".join(_write_lines())


def _write_lines() -> Iterator[str]:
    comment: list[str] = []
    remarks = read_remarks()
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        section, setting = _SECTION.match(line), _SETTING.match(line)
        if section:
            comment = []
            yield from _open_section(section["title"])
        elif setting:
            yield _write_row(setting["name"], " ".join(comment) or remarks.get(setting["name"], ""))
            comment = []
        elif line.startswith("#"):
            comment.append(line.removeprefix("#").strip())


def _open_section(words: str) -> Iterator[str]:
    title, _, remark = words.partition(": ")
    yield f"\n## {title[0].upper()}{title[1:]}\n"
    if remark:
        yield f"{_escape(remark[0].upper() + remark[1:])}\n"
    yield from ("| Setting | Default | Meaning |", "| --- | --- | --- |")


def read_remarks() -> dict[str, str]:
    """The comment next to each field of the class, by the setting's name."""
    parts = (part for part in Settings.__mro__ if part.__module__.startswith("shared."))
    fields = (match for part in parts for match in _FIELD.finditer(inspect.getsource(part)))
    return {field["name"].upper(): field["remark"] for field in fields}


def _write_row(name: str, meaning: str) -> str:
    return f"| `{name}` | {_write_default(name)} | {_escape(meaning)} |"


def _write_default(name: str) -> str:
    field = Settings.model_fields[name.lower()]
    if field.default is PydanticUndefined:
        return "**required**"
    if field.default in (None, "", {}) or field.annotation is SecretStr:
        return "not set"
    return f"`{field.default}`"


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|")


ROOT = Path(__file__).parents[2]
DOCS = ROOT / "deploy" / "docs"
CONFIGURATION = Path(__file__).parent / "zensical.toml"
FIRST = ("index.md", "start.md", "connect.md", "concepts.md", "tools.md", "rest.md")
OPERATE = ("operate.md", "live-data.md", "settings.md", "commands.md")
LAST = ("security.md", "data.md", "FACTS.md", "contribute.md")
# Pages from elsewhere in the tree, and their places in the site.
OTHERS = {
    ".github/SECURITY.md": "reporting.md",
    ".github/CONTRIBUTING.md": "adding-facts.md",
    "deploy/CHANGELOG.md": "changelog.md",
    "shared/reference/data/LICENSES.md": "licences.md",
}
_LINK = re.compile(r"\[(?P<text>[^\]\[]*)\]\((?P<path>[^)\s:#]+)(?P<anchor>#[^)\s]*)?\)")


COPIED = (
    ROOT / "deploy" / "env.example",
    ROOT / "deploy" / "Caddyfile",
    CONFIGURATION.with_name("product.css"),
    ROOT / "auth_server" / "templates" / "icon.svg",
)


def stage(folder: Path) -> None:
    """Writes the configuration and every page into the folder; a file next to pages is copied, so links reach it."""
    places = dict(list_pages())
    for source, place in places.items():
        text = source.read_text(encoding="utf-8")
        _write(folder / "pages" / place, fill_in(lead_links(text, source, places)))
    for place, text in write_tool_pages():
        _write(folder / "pages" / place, text)
    for file in COPIED:
        shutil.copy(file, folder / "pages" / file.name)
    _write(folder / "zensical.toml", CONFIGURATION.read_text(encoding="utf-8").replace('"NAV"', list_contents(places)))


def list_pages() -> Iterator[tuple[Path, str]]:
    """Each page of the tree and its place in the site."""
    yield from ((page, page.relative_to(DOCS).as_posix()) for page in sorted(DOCS.rglob("*.md")))
    yield from ((page, f"decisions/{page.name}") for page in sorted((ROOT / "deploy" / "decisions").glob("*.md")))
    yield from ((ROOT / name, place) for name, place in OTHERS.items() if (ROOT / name).exists())


def lead_links(text: str, source: Path, places: dict[Path, str]) -> str:
    """Rewrites links to the pages' places in the site; a link to anything else becomes its path."""

    def lead(link: re.Match[str]) -> str:
        target = (source.parent / link["path"]).resolve()
        if target.parent == ROOT / "deploy" and target.name in ("env.example", "Caddyfile"):
            return f"[{link['text']}]({_up(places[source])}{target.name})"
        if target not in places and target.exists():
            path = f"`{target.relative_to(ROOT).as_posix()}`"
            return path if link["text"].strip("`") in path else f"{link['text']} ({path})"
        place = places.get(target, link["path"])
        return f"[{link['text']}]({_up(places[source])}{place}{link['anchor'] or ''})"

    return _LINK.sub(lead, text)


def write_operators_pages() -> str:
    """Lists the pages for operators that no list names, by title."""
    pages = (page for page in sorted(DOCS.glob("*.md")) if page.name not in {*FIRST, *OPERATE, *LAST})
    titles = {page.name: page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages}
    return "\n".join(f"- [{title}]({name})" for name, title in titles.items())


def fill_in(text: str) -> str:
    for comment, write in WRITTEN.items():
        if comment in text:
            text = text.replace(comment, write())
    return text


# Comments in pages, and the text that replaces each.
WRITTEN = {
    "<!-- areas -->": write_areas,
    "<!-- operators -->": write_operators_pages,
    "<!-- plans -->": write_plans,
    "<!-- settings -->": write_settings,
}


def list_contents(places: dict[Path, str]) -> str:
    """The order of pages, as TOML; pages that no list names go with those for operators."""
    listed_pages = {*FIRST, *OPERATE, *LAST, *OTHERS.values()}
    more = sorted(
        place for place in places.values() if place not in listed_pages and not place.startswith("decisions/")
    )
    areas = [place for place, _ in write_tool_pages()]
    others = [place for place in OTHERS.values() if place in places.values()]
    decisions = [place for place in places.values() if place.startswith("decisions/")]
    groups: list[object] = [page for page in FIRST if page != "tools.md"]
    groups += [{"Tools": ["tools.md", *areas]}, {"Operate": [*OPERATE, *more]}]
    groups += [{"Security, data, contribute": [*LAST, *others]}, {"Decisions": decisions}]
    return ", ".join(_write_toml(group) for group in groups)


def _write_toml(group: object) -> str:
    if isinstance(group, dict):
        ((title, pages),) = group.items()
        return f"{{ {json.dumps(title)} = {json.dumps(pages)} }}"
    return json.dumps(group)


def _up(place: str) -> str:
    return "../" * place.count("/")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
