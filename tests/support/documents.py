"""The documents people read, and the blocks of shell commands in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWN_MACHINE = 'title="On your own machine"'  # of a block whose commands need what only the reader has
# Pages whose commands need servers that may be stopped: each has a test that runs them there.
TESTS_OF_THEIR_OWN = {"deploy/docs/backups.md": "tests/deploy/test_backup_page.py"}
_FENCE = re.compile(r"^```(?P<language>\w*)(?: (?P<words>[^\n]*))?\n(?P<text>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """One fenced block of a document."""

    document: str
    language: str
    words: str
    text: str

    @property
    def runs(self) -> bool:
        """Whether it is run as it stands against a service that is started for it."""
        return self.language == "sh" and self.words != OWN_MACHINE and self.document not in TESTS_OF_THEIR_OWN


def list_documents() -> list[Path]:
    folders = (ROOT / "deploy" / "docs", ROOT / "deploy" / "decisions", ROOT / ".github")
    return [ROOT / "README.md", *(page for folder in folders for page in sorted(folder.rglob("*.md")))]


def list_blocks() -> Iterator[Block]:
    for page in list_documents():
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        for fence in _FENCE.finditer(text):
            yield Block(name, fence["language"], fence["words"] or "", fence["text"])
