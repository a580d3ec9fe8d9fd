"""The requests, the tools that answer each, and the part each belongs to."""

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

HERE = Path(__file__).parent
SOURCES = ("hundred", "blind", "late", "everyday", "ordinary", "apart", "fresh", "unheard")
PARTS = ("hundred", "worked_on", "kept", "late", "everyday", "ordinary", "apart", "fresh", "unheard")
UNSEEN = ("apart", "fresh", "unheard")  # descriptions are never written for these: their misses are not printed


class Request(NamedTuple):
    id: str
    text: str
    style: str  # who asks: person, advisor, operator or agent; "query" for a few words of a search box
    accept: tuple[str, ...]  # any of these tools is right; the first is the nearest
    part: str


def _choose_part(source: str, request_id: str) -> str:
    if source != "blind":
        return source
    digest = hashlib.sha256(request_id.encode()).digest()
    return "kept" if digest[0] % 3 == 0 else "worked_on"


def read_requests(path: Path) -> list[Request]:
    """The requests of a YAML file, rows of id, text, style and accept; ValueError names the row that is not so."""
    rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    if not (rows and isinstance(rows, list)):
        raise ValueError(f"{path} holds no requests: it is a list of rows of id, text, style and accept.")
    requests = []
    for number, row in enumerate(rows, 1):
        match row:
            case {"id": str(id_), "text": str(text), "style": str(style), "accept": [*accept]} if accept:
                requests.append(Request(id_, text, style, tuple(map(str, accept)), path.stem))
            case _:
                raise ValueError(f"{path}, row {number}: a request has an id, text, style and accept, a list of tools.")
    return requests


@cache
def load_requests() -> tuple[Request, ...]:
    requests = (request for source in SOURCES for request in read_requests(HERE / f"{source}.yaml"))
    return tuple(request._replace(part=_choose_part(request.part, request.id)) for request in requests)
