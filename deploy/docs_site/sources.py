"""What the site is built from: the pages of `deploy/docs` and others of the tree, with links between them."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from deploy.docs_site.settings_tables import write_settings
from deploy.docs_site.tool_pages import write_areas, write_plans, write_tool_pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "deploy" / "docs"
CONFIGURATION = Path(__file__).parent / "zensical.toml"
FIRST = ("index.md", "start.md", "connect.md", "concepts.md", "tools.md", "rest.md")
OPERATE = ("operate.md", "live-data.md", "settings.md", "commands.md")
LAST = ("security.md", "data.md", "FACTS.md", "contribute.md")
# Pages that stand elsewhere in the tree, and their places in the site.
OTHERS = {
    ".github/SECURITY.md": "reporting.md",
    ".github/CONTRIBUTING.md": "adding-facts.md",
    "deploy/CHANGELOG.md": "changelog.md",
    "shared/reference/data/LICENSES.md": "licences.md",
}
_LINK = re.compile(r"\[(?P<text>[^\]\[]*)\]\((?P<path>[^)\s:#]+)(?P<anchor>#[^)\s]*)?\)")


def stage(folder: Path) -> None:
    """Writes the configuration and every page into the folder; a file next to pages is copied, so links reach it."""
    places = dict(list_pages())
    for source, place in places.items():
        text = source.read_text(encoding="utf-8")
        _write(folder / "pages" / place, fill_in(lead_links(text, source, places)))
    for place, text in write_tool_pages():
        _write(folder / "pages" / place, text)
    for name in ("env.example", "Caddyfile"):
        shutil.copy(ROOT / "deploy" / name, folder / "pages" / name)
    _write(folder / "zensical.toml", CONFIGURATION.read_text(encoding="utf-8").replace('"NAV"', list_contents(places)))


def list_pages() -> Iterator[tuple[Path, str]]:
    """Each page of the tree and its place in the site."""
    yield from ((page, page.relative_to(DOCS).as_posix()) for page in sorted(DOCS.rglob("*.md")))
    yield from ((page, f"decisions/{page.name}") for page in sorted((ROOT / "deploy" / "decisions").glob("*.md")))
    yield from ((ROOT / name, place) for name, place in OTHERS.items() if (ROOT / name).exists())


def lead_links(text: str, source: Path, places: dict[Path, str]) -> str:
    """Links between pages, whose places differ; what is no page of the site is named by its path instead."""

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
    """The pages for operators that no list names, by their titles."""
    pages = (page for page in sorted(DOCS.glob("*.md")) if page.name not in {*FIRST, *OPERATE, *LAST})
    titles = {page.name: page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages}
    return "\n".join(f"- [{title}]({name})" for name, title in titles.items())


def fill_in(text: str) -> str:
    for comment, write in WRITTEN.items():
        if comment in text:
            text = text.replace(comment, write())
    return text


# A comment in a page, and what is written in its place.
WRITTEN = {
    "<!-- areas -->": write_areas,
    "<!-- operators -->": write_operators_pages,
    "<!-- plans -->": write_plans,
    "<!-- settings -->": write_settings,
}


def list_contents(places: dict[Path, str]) -> str:
    """The order of pages, as TOML; a page that no list names belongs to those for operators."""
    named = {*FIRST, *OPERATE, *LAST, *OTHERS.values()}
    more = sorted(place for place in places.values() if place not in named and not place.startswith("decisions/"))
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
