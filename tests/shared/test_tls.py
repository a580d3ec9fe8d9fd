"""A private certificate authority: trusted by CA_BUNDLE on every way out, and told as the fault where it is not."""

import asyncio
import io
import os
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import pytest

from auth_server.accounts import provider_documents
from deploy.cli import main
from deploy.doctor import report, stores
from deploy.errors import CommandError
from deploy.local.private_servers import free_port
from shared import http
from shared import redis as queue
from shared.settings import SettingsError, settings
from shared.telemetry import traces
from shared.tls import explain_tls_fault
from tests.support.certificates import Authority, authority
from tests.support.fake_programs import FakeProgram, fake_program
from tests.support.mail_server import Mailbox, mail_server
from tests.support.settings_and_clock import Configure

__all__ = ["authority"]
MEND = "name the file of that authority in CA_BUNDLE"


@pytest.fixture
def program(authority: Authority) -> Iterator[FakeProgram]:
    """It answers over TLS with a certificate of the private authority."""
    with fake_program(authority.build_server_context()) as state:
        yield state


def _get(url: str) -> None:
    with http.sync_client() as client:
        client.get(url)


def _get_async(url: str) -> None:
    async def ask() -> None:
        async with http.client() as client:
            await http.get(client, url)

    anyio.run(ask)


def _get_as_stranger(url: str) -> None:
    async def ask() -> None:
        async with http.public_client(allow=lambda _: True) as client:
            await client.get(url)

    anyio.run(ask)


@pytest.mark.parametrize("ask", [_get, _get_async, _get_as_stranger])
def test_every_client_trusts_the_bundle_and_names_it_where_it_is_missing(
    program: FakeProgram, authority: Authority, configure: Configure, ask: Callable[[str], None]
) -> None:
    with pytest.raises(httpx.ConnectError) as fault:
        ask(f"{program.address}/readyz")
    words = explain_tls_fault(fault.value)
    assert words == f"its certificate is from an authority that this machine does not trust: {MEND}"
    configure(CA_BUNDLE=f'"{authority.bundle}"')  # as an env file of a container hands it over
    ask(f"{program.address}/readyz")


def test_a_collector_of_traces_is_reached_with_the_bundle(
    program: FakeProgram, authority: Authority, configure: Configure
) -> None:
    configure(OTEL_EXPORTER_OTLP_ENDPOINT=program.address, CA_BUNDLE=authority.bundle)
    provider = traces._build_provider("tests", program.address)
    with provider.get_tracer("tests").start_as_current_span("a piece of work"):
        pass
    assert provider.force_flush(10_000)
    provider.shutdown()
    assert program.hosts == [urlsplit(program.address).netloc]


def test_the_certificates_of_this_machine_count_too(
    program: FakeProgram, authority: Authority, configure: Configure
) -> None:
    configure(SSL_CERT_FILE=authority.bundle)
    _get(f"{program.address}/readyz")
    assert len(program.hosts) == 1


def test_silence_is_no_fault_of_tls() -> None:
    with pytest.raises(httpx.ConnectError) as fault:
        _get(f"https://127.0.0.1:{free_port()}/")
    assert explain_tls_fault(fault.value) is None


def test_an_address_without_tls_is_told_so() -> None:
    with fake_program() as plain, pytest.raises(httpx.ConnectError) as fault:
        _get(plain.address.replace("http:", "https:"))
    assert explain_tls_fault(fault.value) == (
        "it does not speak TLS there: look at the port, and whether TLS is meant at all"
    )


def test_a_fault_inside_a_group_of_tasks_is_told() -> None:
    cut = ssl.SSLCertVerificationError(1, "refused")
    cut.verify_code = 10
    group = ExceptionGroup("tasks", [ValueError("other"), ExceptionGroup("inner", [cut])])
    assert explain_tls_fault(group) == "its certificate has expired: renew it"


def test_a_provider_of_sign_in_with_an_unknown_certificate_is_told_as_one(
    program: FakeProgram, configure: Configure
) -> None:
    provider_documents.forget_documents()
    issuers = f'{{"{program.address}": {{"jwks_url": "{program.address}/keys"}}}}'
    configure(ENTERPRISE_ISSUERS=issuers)
    with pytest.raises(CommandError, match=rf"{program.address}/keys \(its certificate is .*: {MEND}\) cannot be read"):
        report.check_sign_in()
    provider_documents.forget_documents()


def test_the_command_line_names_the_mend_and_trusts_the_bundle(
    program: FakeProgram,
    authority: Authority,
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    words = ["login", "--url", program.address, "--key", "awt_key"]
    assert main(words) == 4
    assert f"{program.address} answers, but its certificate is from" in capsys.readouterr().err
    configure(CA_BUNDLE=authority.bundle)
    assert main(words) == 0
    assert capsys.readouterr().out.startswith(f"Logged in to {program.address}")


def test_the_attempt_of_an_assistant_names_the_mend_without_a_traceback(
    program: FakeProgram,
    configure: Configure,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("password\n"))
    settings = {"SECRET_KEYS": "k" * 40, "SERVICE_CLIENT_SECRET": "s" * 40, "WEB_URL": program.address}
    configure(**settings, MCP_URL=f"{program.address}/mcp")
    assert main(["try", "--email", "ada@example.test", "--password-stdin", "--home", str(tmp_path)]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("award-travel: The service answers, but its certificate is from an authority")
    assert errors.count("\n") == 1


def test_a_bundle_that_cannot_be_read_is_told_at_the_start_and_by_a_command(
    configure: Configure, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for file in (tmp_path / "missing.pem", tmp_path):
        configure(CA_BUNDLE=file)
        with pytest.raises(SettingsError, match=f"CA_BUNDLE: {file} is no readable file of certificates in PEM form"):
            settings()
    assert main(["login", "--url", "https://127.0.0.1:9", "--key", "awt_key"]) == 1
    assert (
        capsys.readouterr().err
        == f"award-travel: CA_BUNDLE: {tmp_path} is no readable file of certificates in PEM form.\n"
    )
    configure(CA_BUNDLE="")
    assert settings().ca_bundle is None


@pytest.fixture
def tls_queue(authority: Authority) -> Iterator[str]:
    """The address of the queue behind a proxy that speaks TLS."""
    inner = urlsplit(os.environ["REDIS_URL"])

    async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while part := await source.read(4096):
                    sink.write(part)
                    await sink.drain()
        finally:
            sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(inner.hostname, inner.port)
        await asyncio.gather(copy(reader, inner_writer), copy(inner_reader, writer))

    loop = asyncio.new_event_loop()
    context = authority.build_server_context()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    port = server.sockets[0].getsockname()[1]
    password = f":{inner.password}@" if inner.password else ""
    try:
        yield inner._replace(scheme="rediss", netloc=f"{password}127.0.0.1:{port}").geturl()
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.run_until_complete(_end(asyncio.all_tasks(loop)))
        loop.close()


async def _end(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_queue_over_tls_is_reached_with_the_bundle_alone(
    tls_queue: str, authority: Authority, configure: Configure
) -> None:
    configure(REDIS_URL=tls_queue)
    queue.connect.cache_clear()
    try:
        with pytest.raises(CommandError, match=f"the server answers, but its certificate is from .*: {MEND}"):
            stores.check_queue()
        configure(CA_BUNDLE=authority.bundle)
        queue.connect.cache_clear()
        assert stores.check_queue().endswith("answers")

        async def ping() -> bool:
            async with queue.connect_async() as client:
                return bool(await client.ping())

        assert anyio.run(ping)
    finally:
        queue.connect.cache_clear()


def test_mail_goes_out_over_tls_from_the_first_byte(authority: Authority, configure: Configure) -> None:
    with mail_server(ssl_context=authority.build_server_context(lasts=timedelta(days=2))) as box:
        assert isinstance(box, Mailbox)
        configure(MAIL_BACKEND="smtp", SMTP_PORT=box.port, SMTP_SECURITY="tls")
        with pytest.raises(CommandError, match=MEND):
            report.check_outgoing_mail()
        configure(CA_BUNDLE=authority.bundle)
        assert report.check_outgoing_mail() == f"127.0.0.1:{box.port} takes mail by TLS"
