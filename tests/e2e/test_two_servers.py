"""What is changed at one pair of servers reaches the other pair: they share a database and a queue, no more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from deploy.cli import main
from shared.db import base
from shared.settings import settings
from tests.chaos.programs import EMAIL, Servers, serving, sign_in
from tests.support.service import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.e2e]  # starts both programs twice
KNOWN_WITHIN = 20.0  # without an event a token is forgotten after 30 s; tests.bench.two_machines measures how soon
GOLD = ("slug=us-amex-gold", "annual_fee=375", "source_url=https://www.americanexpress.com/us/gold")
WHY = ("--reason", "test")


@dataclass
class Pairs:
    """Two web hosts and two tool servers, and the token of a person."""

    servers: Servers
    database: str
    token: str

    def revoke_at_first(self) -> None:
        with psycopg.connect(self.database) as session:
            row = session.execute("select client_id from oauth_families").fetchone()
        form = {"client_id": row and row[0], "token": self.token}
        answer = httpx.post(f"{self.servers.web[0].url}/oauth/revoke", data=form, trust_env=False, timeout=90)
        assert answer.status_code == 200, answer.text

    def ask_second(self, name: str, **arguments: Any) -> str:
        """The status and the words of a call at the second tool server."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        head = {"Authorization": f"Bearer {self.token}", "Host": urlsplit(self.servers.mcp_url).netloc}
        head |= {"Accept": "application/json, text/event-stream"}
        answer = httpx.post(f"{self.servers.tools[1].url}/mcp", json=body, headers=head, trust_env=False, timeout=90)
        return f"{answer.status_code} {answer.text}"

    def await_second(self, words: str, name: str = "list_my_cards", **arguments: Any) -> None:
        wait_for(words, lambda: words in self.ask_second(name, **arguments), KNOWN_WITHIN)


@contextmanager
def using_database(url: str) -> Iterator[None]:
    """The commands of this process act on it; afterwards all is as before."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DATABASE_URL", url)
            forget_connections()
            yield
    finally:
        forget_connections()


def forget_connections() -> None:
    base.engine().dispose()
    base.engine.cache_clear()
    settings.cache_clear()


@pytest.fixture
def pairs(clean: None, fresh_database: str, tmp_path: Path) -> Iterator[Pairs]:
    with serving(tmp_path, fresh_database, os.environ["REDIS_URL"], copies=2) as servers:
        token = sign_in(servers, fresh_database)
        with using_database(fresh_database):
            yield Pairs(servers, fresh_database, token)


def test_what_is_changed_at_one_pair_reaches_the_other(pairs: Pairs) -> None:
    card = {"query": "us-amex-gold"}
    assert '"annual_fee":325' in pairs.ask_second("search_card_catalog", **card)
    assert main(["fact", "set", "cards.csv", *GOLD, *WHY]) == 0
    pairs.await_second('"annual_fee":375', "search_card_catalog", **card)
    for turn, words in (("on", "temporarily_unavailable"), ("off", '"status":"ok"')):
        assert main(["maintenance", turn]) == 0
        pairs.await_second(words)
    for turn, words in (("suspend", "401 "), ("restore", '"status":"ok"')):
        assert main(["user", turn, EMAIL, *WHY]) == 0
        pairs.await_second(words)
    pairs.revoke_at_first()
    pairs.await_second("401 ")
