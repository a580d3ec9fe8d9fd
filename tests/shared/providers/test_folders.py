"""What holds for every provider folder, anyone who adds the next one."""

import inspect
from datetime import timedelta
from typing import Any, get_type_hints

import anyio
import pytest

from shared.domain.source_names import NAMES
from shared.providers import registry
from shared.providers.contract import VERBS, Provider
from shared.settings import Settings

CARDS = list(registry.providers().values())
each = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)


def client_of(card: Provider) -> Any:
    async def go() -> Any:
        async with card.build("key" if card.credential != "none" else None) as client:
            return client

    return anyio.run(go)


def test_the_sandbox_is_found_without_a_list_of_providers() -> None:
    assert "sandbox" in registry.providers()


def test_a_folder_added_is_found_by_itself(acme: None) -> None:
    assert {"acme", "sandbox"} <= set(registry.providers())
    assert "acme" in [p.name for p in registry.providers_of("award_seats")]


@each
def test_a_card_is_of_a_source_with_a_name_that_people_know(card: Provider) -> None:
    assert card.name in NAMES


@each
def test_a_card_answers_verbs_that_exist_with_async_methods(card: Provider) -> None:
    client = client_of(card)
    assert card.answers
    for verb in card.answers:
        assert verb in VERBS
        method = getattr(client, verb)
        assert inspect.iscoroutinefunction(method)
        assert get_type_hints(method) == {"question": VERBS[verb].question, "return": VERBS[verb].answer}


@each
def test_a_card_states_sensible_limits(card: Provider) -> None:
    assert timedelta(0) <= card.fresh_for <= timedelta(days=1)
    assert 1 <= card.concurrency <= 250
    assert 0 < card.timeout < 25


@each
def test_an_operators_key_is_a_secret_setting(card: Provider) -> None:
    assert (card.credential in ("operator", "either")) == (card.setting is not None)
    if card.setting:
        assert "SecretStr" in str(Settings.model_fields[card.setting].annotation)


@each
def test_only_the_sandbox_is_invented(card: Provider) -> None:
    assert (card.data_mode == "sandbox") == (card.name == "sandbox")
