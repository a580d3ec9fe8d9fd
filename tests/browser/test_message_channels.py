"""The pages of channels in a real browser: one is added, proved, adjusted and removed, and every state can be read."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from jobs import deliver
from shared import clock
from shared.db.base import transaction
from shared.db.message_channels import MessageChannel
from shared.db.messages import Delivery
from tests.browser.judges import WIDTHS, look_everywhere
from tests.browser.test_pages import signed_in
from tests.support.browser import Tab
from tests.support.fake_receiver import Receiver, receiver
from tests.support.settings_and_clock import Configure

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

FIRST_FIELDS = {"ntfy": "topic", "telegram": "bot", "slack": "url", "discord": "url", "pushover": "user"}


@pytest.fixture
def hook(configure: Configure) -> Iterator[Receiver]:
    with receiver() as state:
        configure(CHANNEL_NETWORKS="127.0.0.1/32", SANDBOX_ALLOW_MESSAGES="1")
        yield state


def look(tab: Tab, folder: Path, state: str) -> list[str]:
    """What is wrong with the page in this state; a picture of each width stays in the folder."""
    for width in WIDTHS:
        tab.look(width)
        tab.picture(folder / f"channels-{state}-{width}.png")
    return [f"{state}: {fault}" for fault in look_everywhere(tab)]


def read_code(hook: Receiver) -> str:
    with transaction() as session:
        waiting = (Delivery.event == "channel_code", Delivery.status == "pending")
        change = update(Delivery).where(*waiting).values(created_at=clock.now())
        (id,) = session.scalars(change.returning(Delivery.id))
    deliver.wake(str(id))
    code = re.match(r"\d{6}", hook.read_bodies()[-1]["data"]["text"])
    assert code is not None
    return code[0]


def test_a_channel_is_proved_adjusted_and_removed_by_hand(
    tab: Tab, places: tuple[str, str], hook: Receiver, tmp_path: Path
) -> None:
    base, _ = places
    signed_in(tab, base)
    tab.go(f"{base}/dashboard/settings")
    tab.wait("document.querySelector('a[href=\"/dashboard/settings/channels\"]')")
    tab.press('a[href="/dashboard/settings/channels"]')
    tab.wait("document.title.startsWith('Channels')")
    wrong = look(tab, tmp_path, "new")
    for kind, field in {
        "ntfy": "topic",
        "telegram": "bot",
        "slack": "url",
        "discord": "url",
        "pushover": "user",
    }.items():
        tab.go(f"{base}/dashboard/settings/channels/new?kind={kind}")
        tab.wait(f"document.querySelector('#{field}')")
        wrong += look(tab, tmp_path, kind)
    tab.go(f"{base}/dashboard/settings/channels/new?kind=webhook")
    tab.wait("document.querySelector('#url')")
    tab.fill("url", "https://10.0.0.1/hooks")
    tab.press("main button.primary")
    tab.wait("document.querySelector('#url-fault')")
    assert tab.run("document.querySelector('#url').value") == "https://10.0.0.1/hooks"
    wrong += look(tab, tmp_path, "fault")
    tab.fill("url", f"{hook.address}/hooks/a-long-name")
    tab.press("main button.primary")
    tab.wait("document.querySelector('[name=code]')")
    wrong += look(tab, tmp_path, "code")
    tab.fill("code", read_code(hook))
    tab.press("form[action$=prove] button")
    tab.wait("document.querySelector('[name=quiet_from]')")
    wrong += look(tab, tmp_path, "edit")
    tab.press("main button.primary")
    tab.wait("document.body.innerText.includes('The channel is saved.')")
    wrong += look(tab, tmp_path, "proved")
    tab.press("a[href*='channels/delete']")
    tab.wait("document.title.startsWith('Remove')")
    wrong += look(tab, tmp_path, "remove")
    tab.press("main button.danger")
    tab.wait("document.body.innerText.includes('The channel is removed.')")
    assert wrong == []
    with transaction() as session:
        assert session.scalars(select(MessageChannel)).all() == []
