"""Row type of the list of public files that are watched for changes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchedSource:
    """A public file of facts and how it is compared with a file of ours.

    `rows` is the path of its rows. `keys` and `values` are `column=reader:path`; a column may be the quotient of two.
    `reports` names what is reported besides other values: rows of theirs that are missing here, and rows of ours that
    are gone there (of those whose first key the source lists at all). `names` are words of the source in our slugs,
    `word=slug`; with an empty slug their rows are left out.
    """

    name: str
    url: str
    format: str
    file: str
    rows: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    reports: tuple[str, ...]
    names: tuple[str, ...]
    licence: str
