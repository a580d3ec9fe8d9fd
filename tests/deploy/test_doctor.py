"""What doctor reports about the sources: one line for their health, or a fault."""

import errno
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.errors import DiskFull
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import OperationalError

from deploy.backups.archive import dump_database
from deploy.backups.postgres_programs import Server
from deploy.cli import main
from deploy.doctor import report, stores
from deploy.doctor import report as outside_services
from deploy.doctor import report as programs
from deploy.doctor.stores import Check, SwitchedOff
from deploy.errors import CommandError, user_message
from deploy.local.private_servers import Valkey, free_port
from deploy.local.server_binaries import find_valkey
from jobs import startup
from shared import clock, provider_health
from shared.db.base import engine, transaction
from shared.redis import connect, key
from shared.services.operations import workers
from shared.services.operations.data_mode import find_data_mode
from shared.settings import SettingsError
from tests.support.certificates import Authority, authority
from tests.support.fake_identity_providers import Outside, outside, serving
from tests.support.fake_programs import fake_program
from tests.support.fake_seats import live
from tests.support.mail_server import mail_server
from tests.support.service import ROOT, wait_for
from tests.support.settings_and_clock import Configure

__all__ = ["authority", "live", "outside", "serving"]


def test_each_source_is_named_with_what_is_known_of_it(live: None, configure: Configure) -> None:
    configure(TRAVELPAYOUTS_TOKEN="token")
    provider_health.record_success("ecb:anyone")
    provider_health.record_failure("travelpayouts:operator", "http_500")
    said = outside_services.check_sources().split("; ")
    assert f"ecb answered {clock.now():%Y-%m-%d}" in "; ".join(said)
    assert {"faa_nas not asked yet", "serpapi not configured", "travelpayouts degraded"} <= set(said)
    assert not [line for line in said if "sandbox" in line]


def test_a_source_that_is_down_is_a_fault_with_its_name(live: None) -> None:
    for _ in range(provider_health.FAILURES_TO_OPEN):
        provider_health.record_failure("faa_nas:anyone", "timeout")
    with pytest.raises(CommandError, match=r"faa_nas \(timeout\) failed when last asked"):
        outside_services.check_sources()


def test_a_queue_that_no_worker_serves_is_a_fault_that_names_it(
    clean: None, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "BEAT_SECONDS", -1)  # it does not look again
    with pytest.raises(CommandError, match="no worker listens: start python -m jobs worker"):
        programs.check_workers(served=True)
    workers.record_sign("worker", 1, ["deliveries", "checks"])
    with pytest.raises(CommandError, match="no dispatcher works: start python -m jobs dispatcher"):
        programs.check_workers(served=True)
    workers.record_sign("dispatcher", 1)
    with pytest.raises(CommandError, match="no worker serves the queue mail, and what is due there waits"):
        programs.check_workers(served=True)
    configure(APP_ENV="production", INBOUND_MAIL_DOMAIN="")
    assert programs.check_workers(served=True) == "1 worker, 1 dispatcher, 0 wake-ups waiting"  # no mail can arrive
    configure(INBOUND_MAIL_DOMAIN="in.example.test")
    workers.record_sign("worker", 2, ["mail"])
    assert programs.check_workers(served=True) == "2 workers, 1 dispatcher, 0 wake-ups waiting"


def test_a_program_that_fell_silent_is_a_fault_and_one_that_ended_is_none(
    clean: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "BEAT_SECONDS", -1)
    for pid in (1, os.getpid(), _find_unused_pid()):
        workers.record_sign("worker", pid, ["deliveries", "checks", "mail"])
    workers.record_sign("dispatcher", 1)
    _fall_silent("worker", os.getpid())
    _fall_silent("worker", _find_unused_pid())  # killed: no one could continue it
    fault = f"the worker {os.getpid()} on {socket.gethostname()} gave no sign of life for 4[5-9] s: continue it, or end"
    with pytest.raises(CommandError, match=fault):
        programs.check_workers(served=True)
    assert programs.check_workers(served=False) == "1 worker, 1 dispatcher, 0 wake-ups waiting"
    workers.record_end("worker", os.getpid())
    assert programs.check_workers(served=True) == "1 worker, 1 dispatcher, 0 wake-ups waiting"


def _find_unused_pid() -> int:
    """One that no process ever gets: the largest itself is taken once in a while."""
    return int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii")) + 1 if sys.platform == "linux" else 99_999


def _fall_silent(kind: str, pid: int) -> None:
    """Its last sign was given three quarters of a minute ago."""
    name = key("program", f"{kind}:{socket.gethostname()}:{pid}")
    assert connect().expire(name, workers.REMEMBERED_SECONDS - 45)


def test_looking_writes_nothing_and_leaves_the_data_mode_open(clean: None, configure: Configure) -> None:
    def refuse_writing(connection: Connection) -> None:
        connection.exec_driver_sql("set transaction read only")

    configure(AWARD_BACKEND="live")
    event.listen(engine(), "begin", refuse_writing)
    try:
        words = {name: _read_check(check) for name, check in report.list_checks(served=True).items()}
    finally:
        event.remove(engine(), "begin", refuse_writing)
    assert [name for name, text in words.items() if "read-only" in text.lower() or "ReadOnly" in text] == []
    assert words["data mode"] == "live, once a program starts: the database is empty and takes either"
    with transaction() as session:
        assert find_data_mode(session) is None


def _read_check(check: Check) -> str:
    try:
        return check()
    except Exception as fault:
        return f"{type(fault).__name__}: {fault}"


def test_in_sandbox_mode_the_sandbox_is_all_there_is(clean: None) -> None:
    assert outside_services.check_sources() == "sandbox not asked yet"


def test_providers_of_sign_in_are_asked_and_named_with_their_way_back(outside: Outside) -> None:
    report = outside_services.check_sign_in()
    assert report.startswith("passwords, acme (way back: http://127.0.0.1:8000/signin/callback/acme), github")
    assert outside.count("/oidc/.well-known/openid-configuration") == 1


def test_a_provider_that_names_another_issuer_is_a_fault(outside: Outside, configure: Configure) -> None:
    outside.metadata = {"issuer": "https://other.example"}
    configure(ENTERPRISE_ISSUERS=json.dumps({outside.issuer: {"jwks_url": f"{outside.base}/missing"}}))
    with pytest.raises(CommandError, match=f"acme, {outside.base}/missing cannot be read"):
        outside_services.check_sign_in()


def test_the_model_of_standing_orders_is_named_without_being_asked(configure: Configure) -> None:
    def given(**values: str) -> str:
        configure(**values)
        return outside_services.check_language_model()

    assert given().startswith("none, so no standing orders")
    with pytest.raises(CommandError, match="needs a key: set STANDING_ORDER_MODEL_KEY"):
        given(STANDING_ORDER_MODEL="model-1")
    assert given(STANDING_ORDER_MODEL_KEY="key") == "model-1 at api.anthropic.com (anthropic)"
    local = {"STANDING_ORDER_MODEL_URL": "http://127.0.0.1:9/v1", "STANDING_ORDER_MODEL_KIND": "openai"}
    assert given(**local, STANDING_ORDER_AREAS="search, trips") == "model-1 at 127.0.0.1:9 (openai)"
    with pytest.raises(CommandError, match="STANDING_ORDER_AREAS names boats: the areas are account"):
        given(STANDING_ORDER_AREAS="boats,trips")


def test_programs_that_take_connections_and_answer_none_are_faults(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of a stopped process, for which the kernel continues accepting."""
    monkeypatch.setattr(programs, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        configure(MCP_URL=f"http://127.0.0.1:{port}/mcp", INBOUND_SMTP_PORT=str(port))
        with pytest.raises(CommandError, match=f"127.0.0.1:{port} does not answer: .* python -m mcp_server"):
            programs.check_tools_server()
        with pytest.raises(CommandError, match=f"127.0.0.1:{port} does not greet: .* python -m jobs inbox"):
            programs.check_mail_listener()


def test_a_listener_that_nobody_asked_for_is_off_and_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert report.report_check("mail listener", programs.check_mail_listener) == "off"
    assert capsys.readouterr().out.startswith("mail listener    off    no listener: INBOUND_SMTP_PORT")


def test_the_last_line_counts_the_faults_and_names_them() -> None:
    words = {"clock": "ok", "wheels": "FAULT", "queue": "FAULT", "language model": "off"}
    assert report.summarize(words)[0] == "2 faults in 4 parts: wheels, queue."
    assert (
        report.summarize({"clock": "ok", "language model": "off"})[0] == "All is well: 2 parts checked, 1 of them off."
    )


def test_programs_read_one_object_and_the_exit_status(
    clean: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise CommandError("is down")

    checks = {"clock": lambda: "agrees", "queue": fail}
    monkeypatch.setattr(report, "list_checks", lambda *, served: checks if served else {})
    assert main(["doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer == {
        "ok": False,
        "summary": "1 fault in 2 parts: queue.",
        "checks": [
            {"name": "clock", "state": "ok", "text": "agrees"},
            {"name": "queue", "state": "fault", "text": "is down"},
        ],
    }
    del checks["queue"]
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_the_auth_server_is_asked_as_the_tools_ask_it(configure: Configure) -> None:
    with fake_program() as program:
        configure(WEB_URL="https://travel.example.test", AUTH_INTERNAL_URL=program.address)
        assert programs.check_internal_address() == f"{program.address} takes the service's own client"
        assert program.hosts == ["travel.example.test"]
        program.status = 401
        with pytest.raises(CommandError, match=r"refuses the service's own client: give all .* SERVICE_CLIENT_SECRET"):
            programs.check_internal_address()
        program.status = 404
        with pytest.raises(CommandError, match=r"is not the auth server \(404\): see whether AUTH_INTERNAL"):
            programs.check_internal_address()
    with pytest.raises(CommandError, match="does not answer: see whether AUTH_INTERNAL_URL is right"):
        programs.check_internal_address()


def test_settings_that_are_no_whole_are_one_fault(configure: Configure, capsys: pytest.CaptureFixture[str]) -> None:
    configure(CA_BUNDLE="/nowhere.pem")
    assert main(["doctor", "--json"]) == 1
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert (check["name"], "CA_BUNDLE: /nowhere.pem" in check["text"]) == ("settings", True)


def test_a_certificate_that_is_not_trusted_is_not_called_silence(configure: Configure, authority: Authority) -> None:
    with fake_program(authority.build_server_context()) as program:
        configure(WEB_URL=program.address, MCP_URL=f"{program.address}/mcp")
        for check in (programs.check_auth_server, programs.check_tools_server):
            with pytest.raises(CommandError, match=r"answers, but .*: name the file of that authority in CA_BUNDLE"):
                check()
        configure(CA_BUNDLE=authority.bundle)
        program.issuer = program.address
        for check in (programs.check_auth_server, programs.check_tools_server):
            assert check() == f"{program.address} is ready"


def test_servers_below_the_oldest_supported_version_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.match(r"PostgreSQL \d+\.\d+ answers, tables at version \d{4}$", stores.check_database())
    assert re.match(r"(valkey|redis) \d+\.\d+\.\d+ answers$", stores.check_queue())
    monkeypatch.setattr(stores, "LEAST_POSTGRES", 99)
    monkeypatch.setattr(stores, "LEAST_QUEUE", {"redis": (99, 1), "valkey": (99, 1)})
    with pytest.raises(CommandError, match=r"is PostgreSQL \d.*, and the oldest supported is 99: update it"):
        stores.check_database()
    with pytest.raises(CommandError, match=r"is (valkey|redis) \d.*, and the oldest supported is 99\.1: update it"):
        stores.check_queue()


def test_the_oldest_supported_versions_are_documented() -> None:
    words = (ROOT / "deploy/docs/operate.md").read_text(encoding="utf-8")
    names = {"redis": "Redis", "valkey": "Valkey"}
    servers = [f"{names[name]} {major}.{minor}" for name, (major, minor) in stores.LEAST_QUEUE.items()]
    assert [name for name in (f"PostgreSQL {stores.LEAST_POSTGRES}", *servers) if name not in words] == []


def test_a_queue_that_drops_keys_when_its_memory_is_full_is_a_fault() -> None:
    before = {name: connect().config_get(name)[name] for name in ("maxmemory", "maxmemory-policy")}
    try:
        connect().config_set("maxmemory", 0)
        connect().config_set("maxmemory-policy", "allkeys-lru")
        assert stores.check_queue().endswith("answers")  # it never gets full
        connect().config_set("maxmemory", "64gb")
        with pytest.raises(CommandError, match=r"\(maxmemory-policy allkeys-lru\): set maxmemory-policy noeviction"):
            stores.check_queue()
        connect().config_set("maxmemory-policy", "noeviction")
        connect().config_set("maxmemory", connect().info("memory")["used_memory"])
        with pytest.raises(CommandError, match=r"uses \d+ of its \d+ MB \(maxmemory\)"):
            stores.check_queue()
    finally:
        for name, value in before.items():
            connect().config_set(name, value)


def test_the_private_queue_has_a_bound() -> None:
    """What strangers count there ends within a day, but comes as fast as they like until then."""
    assert int(connect().config_get("maxmemory")["maxmemory"]) == 256 << 20


def test_only_its_owner_reads_what_the_private_queue_writes(tmp_path: Path) -> None:
    (tmp_path / "valkey").mkdir(mode=0o755)  # as an earlier release made it
    server = Valkey(tmp_path).start()
    try:
        written = [server.folder, *server.folder.rglob("*")]
        assert any(path.suffix == ".aof" for path in written)
        assert {path.name: path.stat().st_mode & 0o077 for path in written if path.stat().st_mode & 0o077} == {}
    finally:
        server.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The address of a Valkey in cluster mode, alone in its cluster."""
    port = free_port()
    words = [str(find_valkey()), "--port", str(port), "--cluster-enabled", "yes", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        with Redis.from_url(f"redis://127.0.0.1:{port}/0") as probe:
            wait_for("the cluster", lambda: _answers(probe), 20)
        yield f"redis://127.0.0.1:{port}/0"
        server.terminate()


def _answers(probe: Redis) -> bool:
    try:
        return bool(probe.ping())
    except RedisError:
        return False


def test_a_queue_in_cluster_mode_is_refused_by_doctor_and_by_each_program_that_starts(
    cluster: str, configure: Configure, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = "REDIS_URL: the server is in cluster mode; name one without it"
    configure(REDIS_URL=cluster, OUTBOX_DIR=str(tmp_path))
    connect.cache_clear()
    try:
        with pytest.raises(SettingsError, match=words):
            stores.check_queue()
        with pytest.raises(SystemExit) as ended:
            startup.start()
    finally:
        connect.cache_clear()
    assert (ended.value.code, words in capfd.readouterr().err) == (1, True)


def test_an_empty_database_is_one_fault_and_one_thing_to_do(
    fresh_database: str, configure: Configure, capfd: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(fresh_database) as connection:
        connection.execute("drop schema public cascade")
        connection.execute("create schema public")
    configure(DATABASE_URL=fresh_database)
    assert main(["doctor"]) == 1
    first, second, *rest = (line for line in capfd.readouterr().out.splitlines() if line)
    assert " ".join(first.split()).startswith("database FAULT its tables are at version none, this program wants")
    assert " ".join(second.split()).startswith("all others off not looked at: the tables of this release are not")
    assert rest == ["First: award-travel migrate."]


def test_a_dump_program_older_than_the_server_is_a_fault_with_the_way_out(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert isinstance(stores.check_backup_program(), SwitchedOff)
    configure(BACKUP_FOLDER=str(tmp_path))
    assert re.match(r"pg_dump \(PostgreSQL\) \d+\S* reads PostgreSQL \d+$", stores.check_backup_program())
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n", encoding="utf-8")
    old.chmod(0o755)
    monkeypatch.setenv("AWARD_PG_BIN", str(tmp_path))
    way_out = (
        r"pg_dump \(PostgreSQL\) 9\.6\.24, and the server is PostgreSQL \d+, .* name their folder with AWARD_PG_BIN"
    )
    with pytest.raises(CommandError, match=way_out):
        stores.check_backup_program()
    with pytest.raises(CommandError, match=way_out):
        dump_database(Server.from_environment(), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_queue_that_refuses_the_password_is_told_so(configure: Configure) -> None:
    url = urlsplit(os.environ["REDIS_URL"])
    configure(REDIS_URL=url._replace(netloc=f"nobody:wrong@{url.hostname}:{url.port}").geturl())
    connect.cache_clear()
    try:
        with pytest.raises(CommandError, match="refuses the sign-in: see the user and the password in REDIS_URL"):
            stores.check_queue()
    finally:
        connect.cache_clear()


WAITING = """
insert into schedules (id, kind, subject_id, every, next_due_at) overriding system value values
  (801, 'route_check', 1, '1 hour', now() - interval '{schedule} seconds');
insert into job_runs (schedule_id, due_at, queue, status) values
  (801, now() - interval '{run} seconds', 'checks', 'pending')
"""


def test_what_is_due_for_too_long_is_a_fault_while_the_service_runs(clean: None) -> None:
    assert programs.check_waiting_work(served=True) == "nothing that is due waits"
    with transaction() as session:
        session.execute(text(WAITING.format(schedule=60, run=300)))
    said = programs.check_waiting_work(served=True)
    assert re.fullmatch("due: the oldest schedule for 6. s, the oldest run for 5 minutes", said)
    with transaction() as session:
        session.execute(text("update job_runs set due_at = now() - interval '3 hours'"))
    with pytest.raises(CommandError, match=r"due for too long: .*, the oldest run for 3 hours; see the logs"):
        programs.check_waiting_work(served=True)
    assert programs.check_waiting_work(served=False).endswith("the oldest run for 3 hours")


def test_the_mail_server_is_signed_in_to_and_gets_no_mail(configure: Configure, authority: Authority) -> None:
    assert isinstance(outside_services.check_outgoing_mail(), SwitchedOff)
    tls = authority.build_server_context()
    with mail_server(tls_context=tls, require_starttls=True, auth_required=True) as box:
        where = f"127.0.0.1:{box.port}"
        configure(MAIL_BACKEND="smtp", SMTP_PORT=box.port, SMTP_USERNAME="award", SMTP_PASSWORD="right")
        with pytest.raises(CommandError, match=f"{where}: TLS with the mail server failed: its certificate is from an"):
            outside_services.check_outgoing_mail()
        configure(CA_BUNDLE=authority.bundle)
        assert outside_services.check_outgoing_mail() == f"{where} takes mail by STARTTLS, signed in as award"
        configure(SMTP_PASSWORD="wrong")
        with pytest.raises(CommandError, match="refused the sign-in; see SMTP_HOST and the settings next to it"):
            outside_services.check_outgoing_mail()
        assert box.taken == []


def test_a_folder_that_cannot_be_written_to_is_a_fault(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(OUTBOX_DIR=tmp_path, BACKUP_FOLDER=tmp_path)
    assert re.match(r"OUTBOX_DIR [\d,.]+ GB, BACKUP_FOLDER [\d,.]+ GB, TMPDIR [\d,.]+ GB free$", stores.check_folders())
    configure(BACKUP_FOLDER=tmp_path / "none")
    with pytest.raises(CommandError, match=f"BACKUP_FOLDER: {tmp_path}/none cannot be used \\(No such file"):
        stores.check_folders()
    monkeypatch.setattr(stores, "LEAST_FREE_BYTES", 1 << 62)
    with pytest.raises(CommandError, match=f"OUTBOX_DIR: could not write in {tmp_path}, whose disk is full: make room"):
        stores.check_folders()


REFUSED = "connection failed: FATAL:  could not write init file: No space left on device"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "Could not write a temporary file: its disk is full."),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/backups/x"), "Could not write /backups/x: its disk is full."),
        (OperationalError("insert", {}, DiskFull()), "The database could not write: the disk of its server is full."),
        (
            OperationalError("connect", {}, psycopg.OperationalError(REFUSED)),
            "The database could not write: the disk of its server is full.",
        ),
    ],
)
def test_a_full_disk_is_told_as_something_that_could_not_be_written(fault: Exception, words: str) -> None:
    assert user_message(fault) == f"{words} Make room there."


def test_a_place_that_cannot_be_written_is_named_and_a_fault_of_ours_keeps_its_traceback() -> None:
    told = user_message(OSError(errno.EROFS, "Read-only file system", "/srv/env.example"))
    assert (
        told == "/srv/env.example cannot be used (Read-only file system): name another place, or mend its permissions."
    )
    assert user_message(OSError(errno.ENOENT, "No such file or directory", "/srv/package/file")) is None
