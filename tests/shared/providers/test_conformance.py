"""What holds for every source, over its fake server: each kind of answer becomes a reading."""

import logging
from typing import Any

import pytest

from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import Reading
from shared.redis import connect
from tests.shared.providers.fakes import EXPECTED, INJECTION, Fake, fakes
from tests.shared.providers.fakes.server import QUOTA_SECONDS, Pretend
from tests.support.fake_seats import reading_of

every = pytest.mark.parametrize("fake", fakes(), ids=lambda fake: fake.name)
LIVE = [p for p in registry.providers().values() if p.data_mode == "live"]


def asked(fake: Fake, **more: Any) -> Reading[Any]:
    async def connection(_provider: str) -> str | None:
        return fake.connection

    return reading_of(Ask(7, connections=connection, **more), fake.provider, fake.verb, fake.question)


def test_every_verb_of_every_source_has_a_fake_server() -> None:
    wanted = {f"{p.name}-{verb}" for p in LIVE for verb in p.answers}
    assert {f.name for f in fakes()} == wanted


@pytest.mark.parametrize("kind", EXPECTED)
@every
@pytest.mark.spec("s1.5.outage_is_said")
def test_whatever_a_source_says_becomes_the_right_reading(
    pretend: Pretend, fake: Fake, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    pretend(fake.provider, **{fake.provider: kind})
    reading = asked(fake, budget=0.5 if kind == "slow" else 20)
    assert (reading.status, reading.reason) == fake.expects(kind)
    assert reading.has_answer == (reading.status in ("ok", "no_data"))
    assert bool(reading.value) == (reading.status == "ok")
    assert reading.source == fake.provider
    told = caplog.text + repr(reading)
    assert fake.secret not in told
    assert INJECTION not in told


@every
def test_a_source_that_names_its_reset_is_believed(pretend: Pretend, fake: Fake) -> None:
    pretend(fake.provider, **{fake.provider: "quota"})
    reading = asked(fake)
    assert QUOTA_SECONDS - 5 <= (reading.retry_after or 0) <= QUOTA_SECONDS


@every
def test_a_redirect_is_not_followed(pretend: Pretend, fake: Fake) -> None:
    world = pretend(fake.provider, **{fake.provider: "redirect"})
    asked(fake)
    assert world.asked
    assert not [a for a in world.asked if "elsewhere" in a.path]


@every
def test_whoever_stops_waiting_ends_the_request(pretend: Pretend, fake: Fake) -> None:
    world = pretend(fake.provider, **{fake.provider: "slow"})
    asked(fake, budget=0.5)
    assert world.dropped.wait(3)


@every
def test_a_key_is_never_part_of_an_address(pretend: Pretend, fake: Fake) -> None:
    world = pretend(fake.provider)
    assert asked(fake).status == "ok"
    sent = [f"{a.path} {a.query}" for a in world.asked]
    assert fake.key_in_query or not [text for text in sent if fake.secret in text]


@every
def test_a_good_answer_is_kept_and_comes_back_the_same(pretend: Pretend, fake: Fake) -> None:
    world = pretend(fake.provider)
    first = asked(fake)
    count = len(world.asked)
    again = asked(fake)
    assert (again.value, again.cached, len(world.asked)) == (first.value, True, count)
    assert fake.secret not in repr([connect().get(name) for name in connect().keys("*reading*")])


@every
def test_a_failure_is_not_kept(pretend: Pretend, fake: Fake) -> None:
    pretend(fake.provider, **{fake.provider: "broken"})
    assert asked(fake).status == "down"
    pretend(**{fake.provider: "good"})
    assert asked(fake).status == "ok"


@every
def test_without_its_key_a_source_is_not_asked(pretend: Pretend, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    card = registry.providers()[fake.provider]
    world = pretend(fake.provider)
    for name in fake.environment:
        monkeypatch.setenv(name, "")
    pretend()

    reading = reading_of(Ask(7), fake.provider, fake.verb, fake.question)
    expected = {"none": "ok", "operator": "not_configured"}.get(card.credential, "connection_required")
    assert reading.status == expected
    assert bool(world.asked) == (card.credential == "none")
