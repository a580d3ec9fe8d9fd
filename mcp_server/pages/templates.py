"""Rendering of the pages next to tools: every page has the same frame and escapes what it shows."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from shared.settings import VERSION, settings


@lru_cache(maxsize=1)
def _load_templates() -> Environment:
    own = FileSystemLoader(Path(__file__).parents[1] / "templates")
    environment = Environment(
        loader=ChoiceLoader([own, PackageLoader("shared")]),  # both hosts share the frame
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["stylesheet"] = f"/static/site.css?v={VERSION}"
    environment.globals["config"] = settings
    return environment


def render_page(name: str, **values: Any) -> str:
    """The page of a template in `mcp_server/templates`."""
    return _load_templates().get_template(name).render(values)
