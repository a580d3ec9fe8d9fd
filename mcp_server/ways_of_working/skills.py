"""The ways of working as Agent Skills: a folder with one SKILL.md each, and all of them in one archive."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mcp_server.ways_of_working.texts import WayOfWorking, read_ways_of_working
from shared.settings import settings

FILE = "SKILL.md"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest possible in an archive, so that its bytes never vary
_MODE = 0o644


@dataclass(frozen=True)
class Skill:
    """One SKILL.md. `frontmatter` is its head, field by field."""

    name: str
    title: str
    frontmatter: Mapping[str, str]
    text: str

    @property
    def uri(self) -> str:
        return f"skill://{self.name}/{FILE}"

    @property
    def content(self) -> bytes:
        return self.text.encode()

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


@cache
def build_skills() -> Mapping[str, Skill]:
    """Every skill by its address, in the order of names."""
    skills = (_to_skill(way) for way in read_ways_of_working().values())
    return {skill.uri: skill for skill in skills}


@cache
def build_bundle() -> bytes:
    """The archive of all skills. Stored, not compressed: compression differs between machines."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as bundle:
        for skill in build_skills().values():
            entry = zipfile.ZipInfo(f"{skill.name}/{FILE}", _FIRST_DAY)
            entry.external_attr, entry.create_system = _MODE << 16, 3  # 3: Unix, whatever machine writes it
            bundle.writestr(entry, skill.content)
    return archive.getvalue()


def _to_skill(way: WayOfWorking) -> Skill:
    compatibility = f"Needs the tools of the {settings().service_name} server, connected over MCP."
    frontmatter = {"name": way.name, "description": way.description, "compatibility": compatibility}
    # A string of JSON is a string of YAML too.
    head = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in frontmatter.items())
    return Skill(way.name, way.title, frontmatter, f"---\n{head}---\n\n{way.text}")
