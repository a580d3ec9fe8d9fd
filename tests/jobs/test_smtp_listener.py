"""The mail listener, talked to by a real mail client: what it takes, what it refuses, and what a crash leaves."""

import os
import re
import select
import signal
import smtplib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from deploy.local.private_servers import free_port
from jobs import smtp_listener
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.inbound_mail import InboundMail
from shared.domain.plans import Plan
from shared.services.bookings import inbound_mail, secret_links
from tests.shared.domain.confirmations.mails import mail
from tests.support.people import account
from tests.support.service import wait_for

SENDER = "someone@example.test"
ELSEWHERE = {"MAIL_BACKEND": "smtp"}  # what this program never uses


@pytest.fixture
def address(clean: None) -> str:
    alice = account("alice", Plan.PREMIUM)
    with transaction(alice.account_id) as session:
        return str(inbound_mail.address_of(secret_links.get_link(session, alice.account_id, "inbox").secret))


@contextmanager
def listener(port: int) -> Iterator["subprocess.Popen[str]"]:
    told = os.environ | ELSEWHERE | {"INBOUND_SMTP_PORT": str(port)}
    process = subprocess.Popen([sys.executable, "-m", "jobs", "inbox"], env=told, stderr=subprocess.PIPE, text=True)
    try:
        wait_for("the listener", lambda: process.poll() is not None or _greets(port))
        assert process.poll() is None
        yield process
    finally:
        process.terminate()
        process.wait(90)
        assert process.stderr is not None
        process.stderr.close()


def _greets(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as there:
            return there.recv(3) == b"220"
    except OSError:
        return False


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    number = free_port()
    with listener(number):
        yield number


@pytest.fixture
def client(port: int) -> Iterator[smtplib.SMTP]:
    with smtplib.SMTP("127.0.0.1", port, timeout=90) as made:
        yield made


def kept() -> list[bytes]:
    with transaction() as session:
        return [bytes(raw or b"") for raw in session.scalars(sa.select(InboundMail.raw))]


def test_a_mail_is_committed_before_it_is_answered(client: smtplib.SMTP, address: str) -> None:
    raw = mail("Grüße").replace(b"\n", b"\r\n")
    assert client.sendmail(SENDER, [address], raw) == {}
    assert kept() == [raw]
    assert client.sendmail("", [address.upper()], mail("from no one", id="two@a.test")) == {}
    assert len(kept()) == 2


def test_it_relays_nothing_and_knows_only_living_addresses(client: smtplib.SMTP, address: str) -> None:
    local = address.split("@")[0]
    client.ehlo()
    client.mail(SENDER)
    for wrong in ("bob@example.test", f"{local}@example.test", "nobody@inbox.localhost"):
        code, words = client.rcpt(wrong)
        assert (code, words) == (550, b"5.1.1 No such mailbox here")
    assert client.rcpt(address)[0] == 250
    assert "auth" not in client.esmtp_features


def test_one_that_guesses_addresses_is_cut_off(port: int, address: str) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=90) as guesser:
        guesser.ehlo()
        guesser.mail(SENDER)
        codes = [guesser.rcpt(f"{n:040x}@inbox.localhost")[0] for n in range(smtp_listener.MAX_UNKNOWN_MAILBOXES)]
        assert codes == [550] * (smtp_listener.MAX_UNKNOWN_MAILBOXES - 1) + [421]
        wait_for("the end of the connection", lambda: not _alive(guesser))


def test_a_relay_that_comes_to_closed_mailboxes_guesses_nothing(client: smtplib.SMTP, address: str) -> None:
    with transaction() as session:
        session.execute(sa.update(Account).values(plan=Plan.FREE.slug, inbox_trial_ends_on=None))
    client.ehlo()
    client.mail(SENDER)
    replies = [client.rcpt(address) for _ in range(smtp_listener.MAX_UNKNOWN_MAILBOXES + 1)]
    assert set(replies) == {(550, b"5.7.1 This mailbox takes no mail at present")}
    with transaction() as session:
        session.execute(sa.update(Account).values(plan=Plan.PREMIUM.slug))
    assert client.rcpt(address)[0] == 250


def _alive(client: smtplib.SMTP) -> bool:
    try:
        return client.noop()[0] == 250
    except smtplib.SMTPException:
        return False


def test_sizes_and_numbers_are_bounded(client: smtplib.SMTP, address: str) -> None:
    client.ehlo()
    assert client.esmtp_features["size"] == str(inbound_mail.MAX_MAIL_BYTES)
    assert client.mail(SENDER, [f"size={inbound_mail.MAX_MAIL_BYTES + 1}"])[0] == 552
    client.rset()
    line = b"a" * 70 + b"\r\n"
    client.mail(SENDER)
    client.rcpt(address)
    assert client.data(line * (inbound_mail.MAX_MAIL_BYTES // len(line) + 10))[0] == 552
    assert kept() == []
    client.mail(SENDER)
    codes = [client.rcpt(address)[0] for _ in range(smtp_listener.MAX_RECIPIENTS + 1)]
    assert codes == [250] * smtp_listener.MAX_RECIPIENTS + [452]


def test_a_line_beyond_the_standard_is_taken(client: smtplib.SMTP, address: str) -> None:
    raw = b"Subject: x\r\nMessage-ID: <l@a.test>\r\n\r\n" + b"a" * 60_000 + b"\r\n"
    assert client.sendmail(SENDER, [address], raw) == {}
    assert kept() == [raw]


def _told(there: socket.socket, line: bytes | None = None) -> bytes:
    """The whole reply to a line, or the greeting."""
    if line is not None:
        there.sendall(line + b"\r\n")
    got = b""
    while not re.search(rb"(?:^|\n)\d{3} [^\n]*\n$", got):
        more = there.recv(4096)
        assert more, got
        got += more
    return got


def _as_far_as_data(there: socket.socket, address: str) -> None:
    _told(there)
    for line in (b"EHLO x", b"MAIL FROM:<a@b.test>", b"RCPT TO:<" + address.encode() + b">", b"DATA"):
        assert _told(there, line)[:1] in (b"2", b"3")


def test_a_second_mail_cannot_be_smuggled_in_behind_a_bare_line_feed(port: int, address: str) -> None:
    with socket.create_connection(("127.0.0.1", port), 20) as raw:
        _as_far_as_data(raw, address)
        raw.sendall(b"Subject: one\r\n\r\nx\n.\nMAIL FROM:<evil@b.test>\r\n")
        assert _told(raw, b".")[:3] == b"250"
    assert len(kept()) == 1
    assert b"MAIL FROM" in kept()[0]


def test_a_connection_cut_in_the_middle_leaves_nothing(port: int, address: str) -> None:
    with socket.create_connection(("127.0.0.1", port), 20) as raw:
        _as_far_as_data(raw, address)
        raw.sendall(b"Subject: half\r\n\r\nnever finished\r\n")
    assert _greets(port)
    assert kept() == []


def test_more_connections_from_one_place_than_allowed_are_turned_away(port: int, address: str) -> None:
    held = [
        socket.create_connection(("127.0.0.1", port), 20)
        for _ in range(smtp_listener.MAX_CONNECTIONS_OF_ONE_ADDRESS + 1)
    ]
    try:
        greetings = [one.recv(100)[:3] for one in held]
    finally:
        for one in held:
            one.close()
    assert greetings.count(b"220") == smtp_listener.MAX_CONNECTIONS_OF_ONE_ADDRESS
    assert greetings.count(b"421") == 1
    wait_for("room again", lambda: _greets(port))


def _connect_from(address: str, port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 20, (address, 0))


def test_a_crowd_from_many_places_leaves_room_for_somebody_else(port: int, address: str) -> None:
    crowd = [
        _connect_from(f"127.0.2.{n + 1}", port)
        for n in range(smtp_listener.MAX_CONNECTIONS // smtp_listener.MAX_CONNECTIONS_OF_ONE_ADDRESS)
        for _ in range(smtp_listener.MAX_CONNECTIONS_OF_ONE_ADDRESS)
    ]
    try:
        assert all(one.recv(100)[:3] == b"220" for one in crowd)
        with smtplib.SMTP("127.0.0.1", port, timeout=90) as client:
            assert client.sendmail(SENDER, [address], mail("x")) == {}
        turned_away = [one for one in crowd if select.select([one], [], [], 0)[0]]
        assert [one.recv(3) for one in turned_away] == [b"421"]
    finally:
        for one in crowd:
            one.close()
    wait_for("room again", lambda: _greets(port))


def test_a_connection_that_only_makes_mistakes_is_ended(port: int, address: str) -> None:
    with socket.create_connection(("127.0.0.1", port), 20) as there:
        _told(there)
        there.sendall(b"\r\n" * (smtp_listener.MAX_MISTAKES + 10))
        replies = b""
        while piece := there.recv(65536):
            replies += piece
    assert replies.count(b"500 ") == smtp_listener.MAX_MISTAKES
    assert replies.endswith(b"421 4.7.0 Too many mistakes\r\n")


@pytest.mark.slow  # starts programs
def test_a_line_without_end_is_not_kept(address: str) -> None:
    port = free_port()
    with listener(port) as process, socket.create_connection(("127.0.0.1", port), 20) as there:
        _as_far_as_data(there, address)
        before = _memory(process.pid, "VmRSS")
        for _ in range(60):
            there.sendall(b"a" * 1_000_000)
        assert _told(there, b"\r\n.")[:3] == b"500"
        assert _memory(process.pid, "VmHWM") - before < 30_000
    assert kept() == []


def _memory(pid: int, name: str) -> int:
    """Kilobytes that a process has now (VmRSS), or had at most (VmHWM)."""
    return int(re.findall(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))[0])


@pytest.mark.slow  # the listener starts twice
def test_a_listener_killed_between_storing_and_answering_leaves_one_mail(address: str) -> None:
    port, raw = free_port(), mail("hello")
    with listener(port) as first, socket.create_connection(("127.0.0.1", port), 20) as sender:
        _as_far_as_data(sender, address)
        sender.sendall(raw.replace(b"\n", b"\r\n") + b"\r\n.\r\n")
        wait_for("the row", kept)
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    with listener(port), smtplib.SMTP("127.0.0.1", port, timeout=90) as again:  # it never saw the answer
        assert again.sendmail(SENDER, [address], raw) == {}
    assert len(kept()) == 1


@pytest.mark.slow  # the listener starts with a database that is down
def test_without_the_database_the_sender_is_told_to_come_again(address: str) -> None:
    port = free_port()
    code = (
        "import sys; from jobs import smtp_listener as inbox; from sqlalchemy.exc import OperationalError\n"
        "def away(*_): raise OperationalError('x', None, Exception('away'))\n"
        "inbox.store = away; inbox.run()"
    )
    told = os.environ | {"INBOUND_SMTP_PORT": str(port)}
    process = subprocess.Popen([sys.executable, "-c", code], env=told, stderr=subprocess.DEVNULL)
    try:
        wait_for("the listener", lambda: _greets(port))
        with smtplib.SMTP("127.0.0.1", port, timeout=90) as client, pytest.raises(smtplib.SMTPDataError) as late:
            client.sendmail(SENDER, [address], mail("x"))
        assert late.value.smtp_code == 451
    finally:
        process.terminate()
        process.wait(90)


@pytest.mark.slow  # starts programs
def test_a_listener_that_is_not_told_where_to_listen_says_so_and_ends() -> None:
    told = {k: v for k, v in os.environ.items() if k != "INBOUND_SMTP_PORT"} | ELSEWHERE
    done = subprocess.run(
        [sys.executable, "-m", "jobs", "inbox"], env=told, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 1
    assert "INBOUND_SMTP_PORT" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow  # starts programs
def test_a_listener_whose_port_is_taken_says_so_in_one_line_and_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        told = os.environ | ELSEWHERE | {"INBOUND_SMTP_PORT": port}
        done = subprocess.run(
            [sys.executable, "-m", "jobs", "inbox"], env=told, capture_output=True, text=True, timeout=90, check=False
        )
    first, *rest = done.stderr.splitlines()
    assert " starts: " in first
    words = f"127.0.0.1:{port} cannot be listened at (Address already in use)"
    assert (done.returncode, rest) == (1, [f"{words}: see INBOUND_SMTP_HOST and INBOUND_SMTP_PORT"])


def test_a_text_of_short_lines_ends_the_connection_and_one_of_whole_lines_does_not(port: int, address: str) -> None:
    many = smtp_listener.MAX_SHORT_LINES + 3000
    with smtplib.SMTP("127.0.0.1", port, timeout=90) as client:
        for text in ("a line of some words\r\n" * many, "\r\n" * 500):
            assert client.sendmail(SENDER, [address], f"Subject: x\r\n\r\n{text}") == {}
    with socket.create_connection(("127.0.0.1", port), 20) as there:
        _told(there)
        for command in (b"EHLO x", b"MAIL FROM:<a@example.test>", f"RCPT TO:<{address}>".encode(), b"DATA"):
            _told(there, command)
        there.sendall(b"\r\n" * many)
        replies = b""
        with suppress(ConnectionResetError):
            while piece := there.recv(65536):
                replies += piece
    assert replies in (b"421 4.7.0 Too many short lines\r\n", b"")  # a reset may overtake the words
