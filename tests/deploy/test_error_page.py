"""deploy/docs/errors.md: what it quotes is what the code says."""

import re
from pathlib import Path

from tests.house.source import product_texts

PAGE = (Path(__file__).parents[2] / "deploy" / "docs" / "errors.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^\| `([^`]+)` \|", PAGE, re.M)
# The texts of a message that stands on several lines follow each other.
CODE = re.sub(r'"\s+f?"', "", "\n".join(product_texts().values()))
CODE = re.sub(r"\{[^{}]*\}", "NAME", CODE)


def test_every_message_that_is_quoted_stands_in_the_code() -> None:
    """With NAME and PORT for what is filled in."""
    assert len(QUOTED) > 30
    parts = {message: re.split(r"\b(?:NAME|PORT)\b", message) for message in QUOTED}
    assert [m for m, pieces in parts.items() if not all(piece.strip() in CODE for piece in pieces)] == []
