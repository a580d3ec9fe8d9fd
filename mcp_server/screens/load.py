"""The screens as hosts read them: each HTML file of this room with the shared style and script put into it.

A screen is one file here, `<name>.html`, and a tool names it: `@tool(screen="<name>")`. In its head stands the line
`<link rel="stylesheet" href="style.css">`, before its own script `<script src="bridge.js"></script>`; both are replaced
by the files' text, because the policy a host puts on a screen lets it load nothing. What a screen may use of the two
is written at the top of bridge.js and style.css. Whole-line comments and indentation are left out, so a template
literal of a script stays on one line. Nothing is inserted at run time: a screen gets its data from the host alone.
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
    """Every screen by its name. Raises ValueError for a file that lacks a part or is too large."""
    return {path.stem: _build_screen(path) for path in sorted(FOLDER.glob("*.html"))}


def _build_screen(path: Path) -> Screen:
    html = path.read_text(encoding="utf-8")
    for line, (file, tag) in PARTS.items():
        if html.count(line) != 1:
            raise ValueError(f"{path.name} must hold once: {line}")
        html = html.replace(line, f"<{tag}>\n{(FOLDER / file).read_text(encoding='utf-8')}</{tag}>")
    html = _shrink(html)
    title = re.search("<title>([^<]+)</title>", html)
    if title is None or len(html.encode()) >= MAX_BYTES:
        raise ValueError(f"{path.name} needs a title and less than {MAX_BYTES:,} bytes, has {len(html.encode()):,}")
    return Screen(path.stem, title[1], html)


def _shrink(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not _COMMENT_LINE.match(line)) + "\n"
