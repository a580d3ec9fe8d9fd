"""Row type of the list of public files that are watched for changes."""

from shared.reference.rows.fact import rows_of


@rows_of("watched_sources.csv", key="name")
class WatchedSource:
    """A public file of facts, and its comparison with one of our files.

    `rows` is the path of its rows. `keys` and `values` are `column=reader:path`; a column may be the quotient of two.
    `reports` names further reports besides differing values: rows missing here, and rows of ours that
    are gone there (of those whose first key the source lists at all). `names` are the source's words with our slugs,
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
