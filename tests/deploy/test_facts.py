"""`award-travel fact`: corrections with their trail, and one line for each fault."""

import io
from collections.abc import Iterator

import pytest

from deploy.cli import main
from shared import clock
from shared.db.base import transaction
from shared.db.source_watch import list_open_items, store_items
from shared.reference import load
from shared.reference.load import reference
from shared.services.operations import facts

GOLD = ("cards.csv", "slug=us-amex-gold", "annual_fee=375", "source_url=https://example.test/gold")


@pytest.fixture(autouse=True)
def as_before(clean: None) -> Iterator[None]:
    files, version = reference(), facts._loaded_version[0]
    yield
    load.replace(files)
    facts._loaded_version[0] = version


def test_a_fact_is_set_listed_and_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fact", "set", *GOLD, "--reason", "new fee", "--by", "ann")) == 0
    said = capsys.readouterr().out
    assert "annual_fee: 325 -> 375" in said.splitlines()[1]
    assert "annual_fee=375" in said.splitlines()[2]
    assert main(("fact", "list")) == 0
    listed = capsys.readouterr().out
    assert "1 correction in force" in listed
    assert "by ann: new fee" in listed
    assert "annual_fee: 325 -> 375" in listed
    assert main(("fact", "undo", "cards.csv", "slug=us-amex-gold", "--reason", "wrong", "--by", "ann")) == 0
    capsys.readouterr()
    main(("fact", "list", "cards.csv"))
    assert "0 corrections in force" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("set", "cards.csv", "slug"), "'slug' is not of the form COLUMN=VALUE"),
        (("set", "cards.csv", "slug=us-amex-gold", "annual_fee=x", "source_url=y"), "annual_fee 'x' is not a number"),
        (("remove", "cards.csv", "slug=nothing"), "cards.csv has no row nothing"),
    ],
)
def test_a_fault_is_said_and_nothing_changes(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    assert main(("fact", *words, "--reason", "why")) == 1
    assert complaint in capsys.readouterr().err
    main(("fact", "list"))
    assert "0 corrections in force" in capsys.readouterr().out


@pytest.mark.spec("s1.5.charts_audited_weekly")
def test_the_audit_lists_the_oldest_first_and_ends_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("audit", "--limit", "2")) == 1
    told = capsys.readouterr()
    assert told.out.startswith("undated")
    assert "more: --limit 0 prints all." in told.out
    assert "stale" in told.err
    assert "queue" in told.err


def test_an_audit_that_finds_nothing_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("audit", "--kind", "override")) == 0
    assert capsys.readouterr().out == "Nothing to look at.\n"


def test_a_file_nobody_knows_is_not_listed_as_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fact", "list", "nope.csv")) == 1
    assert "There is no file nope.csv. The files: " in capsys.readouterr().err


def open_item(file: str, key: str, field: str, ours: str, theirs: str) -> dict[str, str]:
    link = "https://raw.githubusercontent.com/somebody/lists/main/cards.json"
    return {
        "source": "lists",
        "file": file,
        "key": key,
        "field": field,
        "ours": ours,
        "theirs": theirs,
        "link": link,
    }


def test_a_proposal_is_taken_or_refused_by_one_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [
        open_item("cards.csv", "us-amex-gold", "annual_fee", "325", "375.0"),
        open_item("cards.csv", "us-amex-green", "annual_fee", "150", "a lot"),  # no number: for a person to write
        open_item("cards.csv", "us-amex-platinum", "annual_fee", "895", "1"),
        open_item("cards.csv", "us-chase-aeroplan", "row", "no row", "a row"),
    ]
    with transaction() as session:
        store_items(session, items, clock.today())
    monkeypatch.setattr("sys.stdin", io.StringIO("a\nr\n"))
    assert main(("audit", "--decide", "--by", "ann")) == 0
    told = capsys.readouterr().out
    assert "annual_fee: 325 -> 375" in told
    assert "2 proposals: 1 taken, 1 refused." in told
    with transaction() as session:
        left = [(item.key, item.field) for item in list_open_items(session)]
    assert left == [("us-amex-green", "annual_fee"), ("us-chase-aeroplan", "row")]
    main(("fact", "list"))
    listed = capsys.readouterr().out
    assert "1 correction in force" in listed
    assert "by ann" in listed
