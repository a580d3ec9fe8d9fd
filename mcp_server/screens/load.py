"""Loads the screens for hosts: each HTML file of this package with the shared style and script inserted.

A screen is one file here, `<name>.html`, and a tool names it: `@tool(screen="<name>")`. Its head has the line
`<link rel="stylesheet" href="style.css">`, before its own script `<script src="bridge.js"></script>`; both are replaced
by the files' text, because a host's policy lets a screen load nothing. What a screen may use of the two
is written at the top of bridge.js and style.css. Whole-line comments, indentation, the blanks of styles and rules for
unused classes are left out; a template literal of a script stays on one line. Nothing is inserted
at run time: a screen gets its data only from the host.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
MAX_BYTES = 40_000  # of a finished screen: hosts read it again for each conversation
PARTS = {
    '<link rel="stylesheet" href="style.css">': ("style.css", "style"),
    '<script src="bridge.js"></script>': ("bridge.js", "script"),
}
_STYLE, _STYLE_BLANK = (
    re.compile("<style>.*?</style>", re.DOTALL),
    re.compile(r"(?<=[;{}:,>])\s+|\s+(?=[{}>])|;\s*(?=})"),
)
_CLASS = re.compile(r"\.([a-z][a-z-]*)(?![\w-])")  # a script builds those with a number
_COMMENT_LINE = re.compile(r"^(?://.*|/\*[^*]*\*/|<!--[^>]*-->)$")


@dataclass(frozen=True)
class Screen:
    """`title` is the document's own; `html` is complete and loads nothing."""

    name: str
    title: str
    html: str

    @property
    def uri(self) -> str:
        return f"ui://award-travel/{self.name}.html"


@lru_cache(maxsize=1)
def load_screens() -> dict[str, Screen]:
    """Loads every screen by name. Raises ValueError for a file that lacks a part or is too large."""
    return {path.stem: _build_screen(path) for path in sorted(FOLDER.glob("*.html"))}


def _build_screen(path: Path) -> Screen:
    html = path.read_text(encoding="utf-8")
    for line, (file, tag) in reversed(PARTS.items()):
        if html.count(line) != 1:
            raise ValueError(f"{path.name} must hold once: {line}")
        part = (FOLDER / file).read_text(encoding="utf-8")
        html = html.replace(line, f"<{tag}>\n{_drop_unused(part, _shrink(html)) if tag == 'style' else part}</{tag}>")
    html = _shrink(html)
    title = re.search("<title>([^<]+)</title>", html)
    if title is None or len(html.encode()) >= MAX_BYTES:
        raise ValueError(f"{path.name} needs a title and less than {MAX_BYTES:,} bytes, has {len(html.encode()):,}")
    return Screen(path.stem, title[1], html)


def _drop_unused(style: str, screen: str) -> str:
    """The style without one-line rules for classes that neither the screen nor the script names."""
    rules = style.splitlines(keepends=True)
    return "".join(rule for rule in rules if not rule.startswith(".") or _is_used(rule.partition("{")[0], screen))


def _is_used(selectors: str, screen: str) -> bool:
    """Whether all classes of a selector are in a class of the screen, or are whole strings."""
    return any(all(_is_named(name, screen) for name in _CLASS.findall(one)) for one in selectors.split(","))


def _is_named(name: str, screen: str) -> bool:
    return bool(re.search(rf'class(?:Name)?\s?[:=]\s?["`][^"`]*\b{name}\b|"{name}"', screen))


def _shrink(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    shorter = "\n".join(line for line in lines if line and not _COMMENT_LINE.match(line)) + "\n"
    return _STYLE.sub(lambda style: _STYLE_BLANK.sub("", style[0]), shorter)
