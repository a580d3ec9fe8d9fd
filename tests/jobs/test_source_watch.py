"""The weekly watch of public files: each difference opens an item, and no answer of a server breaks or changes more."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import sqlalchemy as sa

from deploy.doctor import report
from jobs import dispatcher
from jobs.runs import work as work_on
from shared import clock
from shared.db.base import transaction
from shared.db.run_kinds import RunKind
from shared.db.runs import JobRun, Schedule, claim_run
from shared.db.source_watch import SourceItem, SourceReading
from shared.domain.dates import format_day
from shared.reference import load
from shared.reference.load import reference
from shared.reference.rows.watched import WatchedSource
from shared.services.operations import audit, facts, source_fetch, source_watch
from shared.settings import settings
from tests.jobs.conftest import past, rows

PAIR = {"from": "Capital One Miles", "to": "JetBlue TrueBlue"}  # 5:3 here
OTHER = {"from": "Capital One Miles", "to": "Finnair Plus", "ratio": 1.0}


class PublicHost:
    """A server of one public file; `answer` is what the next requests get."""

    def __init__(self) -> None:
        self.body: bytes = b"[]"
        self.kind = "good"
        self.robots: bytes | None = None
        self.requests: list[tuple[str, str | None, int]] = []  # path, tag sent, status
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._build_handler())
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/list.json"

    def serve(self, *transfers: dict[str, Any], **more: Any) -> None:
        self.kind, self.body = "good", json.dumps([{**t, **more} for t in transfers]).encode()

    def _build_handler(host: "PublicHost") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body, headers = host.respond(self.path, self.headers.get("if-none-match"))
                host.requests.append((self.path, self.headers.get("if-none-match"), status))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for part in body:
                    try:
                        self.wfile.write(part)
                        self.wfile.flush()
                    except OSError:  # the client hung up, as it should
                        return

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        return Handler

    def respond(self, path: str, tag: str | None) -> tuple[int, Any, dict[str, str]]:
        if path == "/robots.txt":
            return (404, [b""], {}) if self.robots is None else (200, [self.robots], {})
        mine = f'"{hash(self.body)}"'
        if self.kind == "good" and tag == mine:
            return 304, [], {"etag": mine}
        answers: dict[str, tuple[int, Any, dict[str, str]]] = {
            "good": (200, [self.body], {"etag": mine}),
            "absent": (404, [b"<html>not found</html>"], {}),
            "page": (200, [b"<!doctype html><title>Just a moment</title>"], {}),
            "cut": (200, [self.body[:-9]], {"etag": '"cut"'}),
            "moved": (302, [b""], {"location": "https://elsewhere.example/"}),
            "huge": (200, (b" " * 65_536 for _ in range(200)), {}),
            "slow": (200, _drip(), {}),
        }
        return answers[self.kind]


def _drip() -> Iterator[bytes]:
    for _ in range(100):
        threading.Event().wait(0.05)
        yield b" "


@pytest.fixture
def host(clean: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[PublicHost]:
    """The only watched source is a list of transfers on this host."""
    public = PublicHost()
    source = WatchedSource(
        name="list",
        url=public.url,
        format="json",
        file="transfer_partners.csv",
        rows="*",
        keys=("from_program=program:from", "to_program=program:to"),
        values=("ratio_to/ratio_from=number:ratio",),
        reports=(),
        names=(),
        licence="MIT",
    )
    before = reference()
    tables = load.read_tables(load.FOLDER)
    tables["watched_sources.csv"] = [source]
    load.replace(load.Reference(tables))
    dispatcher.begin()
    yield public
    load.replace(before)
    public.server.shutdown()
    public.server.server_close()


def watch() -> None:
    """The schedule comes due and its run is worked on."""
    with transaction() as session:
        session.execute(sa.update(Schedule).values(next_due_at=sa.func.now() + sa.text("interval '9 days'")))
        session.execute(sa.update(Schedule).where(Schedule.kind == RunKind.SOURCE_WATCH).values(next_due_at=past()))
    dispatcher.step()
    with transaction() as session:
        claim = claim_run(session, 60)
    assert claim is not None
    assert claim.kind == "source_watch"
    work_on(claim)
    assert {run.status for run in rows(JobRun)} == {"done"}


def items(only_open: bool = True) -> list[tuple[str, str, str]]:
    """Field, ours and theirs of each item."""
    return [
        (i.field, i.ours, i.theirs)
        for i in rows(SourceItem)
        if not only_open or (i.ended_on is None and i.closed_on is None)
    ]


RATIO = "ratio_to/ratio_from"


def test_the_watch_is_due_each_week(host: PublicHost) -> None:
    assert [s.every.days for s in rows(Schedule) if s.kind == RunKind.SOURCE_WATCH] == [7]


def test_a_difference_opens_an_item_and_ends_with_it(host: PublicHost) -> None:
    before = list(reference().rows("transfer_partners.csv"))
    host.serve(PAIR, OTHER, ratio=0.75)
    watch()
    assert items() == [(RATIO, "1", "0.75"), (RATIO, "0.6", "0.75")]
    assert list(reference().rows("transfer_partners.csv")) == before
    host.serve(PAIR | {"ratio": 0.6}, OTHER)
    watch()
    assert items() == []
    assert len(items(only_open=False)) == 2


def test_an_unchanged_file_costs_one_small_request_and_keeps_its_items(host: PublicHost) -> None:
    host.serve(PAIR, ratio=0.75)
    watch()
    watch()
    assert [(path, status) for path, _, status in host.requests] == [
        ("/robots.txt", 404),
        ("/list.json", 200),
        ("/robots.txt", 404),
        ("/list.json", 304),
    ]
    assert items() == [(RATIO, "0.6", "0.75")]
    assert [i.first_seen_on for i in rows(SourceItem)] == [i.last_seen_on for i in rows(SourceItem)]


def test_a_file_with_two_mappings_is_asked_for_once(host: PublicHost) -> None:
    tables = load.read_tables(load.FOLDER)
    first = reference().rows("watched_sources.csv")[0]
    tables["watched_sources.csv"] = [first, replace(first, name="same")]
    load.replace(load.Reference(tables))
    host.serve(PAIR, ratio=0.75)
    watch()
    watch()
    assert [status for path, _, status in host.requests if path == "/list.json"] == [200, 304]
    assert items() == [(RATIO, "0.6", "0.75")] * 2


def test_a_file_is_read_anew_when_it_is_mapped_otherwise(host: PublicHost) -> None:
    host.serve(PAIR, ratio=0.75)
    watch()
    with transaction() as session:
        session.execute(sa.update(SourceReading).values(mapping="of an earlier release"))
    watch()
    assert [tag for path, tag, _ in host.requests if path == "/list.json"] == [None, None]


FAULTS = [
    ("absent", "answered with status 404"),
    ("page", "is a web page and not data"),
    ("cut", "is not whole JSON"),
    ("moved", "answered with status 302"),
    ("huge", "is larger than 4 MiB"),
    ("slow", "was not read whole within"),
]


@pytest.mark.parametrize(("kind", "fault"), FAULTS)
def test_a_source_that_fails_opens_one_item_and_changes_nothing_else(
    host: PublicHost, monkeypatch: pytest.MonkeyPatch, kind: str, fault: str
) -> None:
    monkeypatch.setattr(source_fetch, "MAX_SECONDS", 0.4 if kind == "slow" else 12.0)
    host.serve(PAIR, ratio=0.75)
    watch()
    host.kind = kind
    watch()
    watch()
    assert [i for i in items() if i[0] == RATIO] == [(RATIO, "0.6", "0.75")]
    about_source = [theirs for field, _, theirs in items() if field == "source"]
    assert len(about_source) == 1
    assert fault in about_source[0]
    host.serve(PAIR | {"ratio": 0.6})
    watch()
    assert items() == []


def test_columns_that_changed_are_a_fault_of_the_source(host: PublicHost) -> None:
    host.serve(PAIR, rate=0.75)
    watch()
    assert items() == [("source", "", "no longer has ratio in any row")]


def test_a_list_that_lost_most_of_its_rows_is_compared_a_run_later(host: PublicHost) -> None:
    host.serve(*[PAIR | {"ratio": 0.6}] * 12)
    watch()
    host.serve(PAIR, ratio=0.75)
    watch()
    assert items() == [("source", "", "holds 1 row where it held 12; it is compared in the next run")]
    watch()
    assert items() == [(RATIO, "0.6", "0.75")]


def test_a_host_that_forbids_it_is_not_read(host: PublicHost) -> None:
    host.robots = b"User-agent: *\nDisallow: /list\n"
    watch()
    assert items() == [("source", "", "may not be read: robots.txt of its host forbids it")]
    assert {path for path, _, _ in host.requests} == {"/robots.txt"}


def test_names_nobody_knows_are_told_and_read_again_in_case_they_are_known_by_then(host: PublicHost) -> None:
    host.serve(PAIR | {"ratio": 0.6}, {"from": "Capital One Miles", "to": "Mars Miles", "ratio": 1})
    watch()
    watch()
    assert items() == [("source", "", "has names that nothing here bears: Mars Miles")]
    assert [status for path, _, status in host.requests if path == "/list.json"] == [200, 200]


def test_an_item_a_person_closed_returns_when_the_value_is_another(host: PublicHost) -> None:
    host.serve(PAIR, ratio=0.75)
    watch()
    number = rows(SourceItem)[0].id
    with transaction() as session:
        assert audit.close_item(session, f"D{number}", "ann", "their list is old")
        assert not audit.close_item(session, f"D{number}", "ann", "again")
    watch()
    assert items() == []
    host.serve(PAIR, ratio=0.5)
    watch()
    assert items() == [(RATIO, "0.6", "0.5")]


def test_the_audit_shows_both_values_and_the_link(host: PublicHost) -> None:
    host.serve(PAIR, ratio=0.75)
    watch()
    host.kind = "absent"
    watch()
    texts = {f.kind: f.text for f in audit.run_audit() if f.kind in ("differs", "unread")}
    assert texts["differs"].startswith(f"{RATIO} here: 0.6; in list: 0.75: http://127.0.0.1")
    assert texts["unread"].startswith("list answered with status 404: http://127.0.0.1")


def test_the_doctor_says_how_the_watched_files_fare(host: PublicHost) -> None:
    assert report.check_source_watch() == "1 file, none read yet, 0 differences open"
    host.serve(PAIR, ratio=0.75)
    watch()
    host.kind = "absent"
    watch()
    day = format_day(clock.today())
    assert (
        report.check_source_watch() == f"1 file, last read on {day}, 1 difference open; list answered with status 404"
    )


@pytest.mark.slow  # loads all facts
def test_an_operator_can_add_a_file_without_a_release(clean: None) -> None:
    before, version = reference(), facts._loaded_version[0]
    cells = {
        "name": "another-list",
        "url": "https://raw.example/list.csv",
        "format": "csv",
        "file": "cards.csv",
        "rows": "",
        "keys": "slug=text:card",
        "values": "annual_fee=number:fee",
        "licence": "CC0",
    }
    with transaction() as session:
        facts.set_fact(session, "watched_sources.csv", cells, "ann", "a good list")
        with pytest.raises(facts.BadFact, match="names no reader of"):
            facts.set_fact(session, "watched_sources.csv", cells | {"keys": "slug=guess:card"}, "ann", "why")
    assert facts.refresh()
    assert "another-list" in {source.name for source in source_watch.list_sources()}
    load.replace(before)
    facts._loaded_version[0] = version


def test_an_operator_can_switch_the_watch_off(host: PublicHost, monkeypatch: pytest.MonkeyPatch) -> None:
    host.serve(PAIR, ratio=0.75)
    watch()
    monkeypatch.setitem(settings().__dict__, "watch_sources", False)
    watch()
    assert len(host.requests) == 2
    assert items() == [(RATIO, "0.6", "0.75")]
    assert report.check_source_watch() == "none, as WATCH_SOURCES says"


def test_a_source_that_is_watched_no_more_leaves_nothing_open(host: PublicHost) -> None:
    host.serve(PAIR, ratio=0.75)
    watch()
    tables = load.read_tables(load.FOLDER)
    tables["watched_sources.csv"] = []
    load.replace(load.Reference(tables))
    watch()
    assert (items(), rows_of_readings()) == ([], 0)


def rows_of_readings() -> int:
    with transaction() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(SourceReading)) or 0
