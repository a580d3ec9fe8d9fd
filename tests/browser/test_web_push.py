"""A browser becomes a channel in Chromium: its real worker shows what was encrypted; its push service is a fake."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from jobs import deliver
from shared import clock
from shared.db.base import transaction
from shared.db.message_channels import MessageChannel, open_address, seal_address
from shared.db.messages import Delivery
from tests.browser.test_message_channels import look
from tests.browser.test_pages import signed_in
from tests.support.browser import Chromium, Tab
from tests.support.fake_push_browser import PushBrowser
from tests.support.fake_receiver import Receiver, receiver
from tests.support.settings_and_clock import Configure

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

PAGE = "/dashboard/settings/channels/browser"
# Headless Chromium has no push service: what its push manager would give is put in its place.
_FAKE_MANAGER = """
window.asked = [];
PushManager.prototype.getSubscription = async () => (EARLIER);
PushManager.prototype.subscribe = async (options) => {
  window.asked.push(options);
  return { toJSON: () => ({ ...SUBSCRIPTION, expirationTime: null }) };
};
"""
_EARLIER = (
    "{ options: { applicationServerKey: new Uint8Array(65).buffer }, unsubscribe: async () => window.asked.push(0) }"
)


@pytest.fixture
def push_service(configure: Configure) -> Iterator[Receiver]:
    with receiver() as state:
        state.status = 201
        configure(CHANNEL_NETWORKS="127.0.0.1/32", SANDBOX_ALLOW_MESSAGES="1")
        yield state


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    """Its own browser, in its lasting profile: a private context has no push messages."""
    browser = Chromium(tmp_path / "profile", whole=True)
    opened = Tab(browser, private=False)
    yield opened
    browser.close()


def replace_manager(tab: Tab, subscription: object, earlier: str = "null") -> None:
    script = _FAKE_MANAGER.replace("SUBSCRIPTION", json.dumps(subscription)).replace("EARLIER", earlier)
    tab._ask("Page.addScriptToEvaluateOnNewDocument", source=script)


def read_message(push_service: Receiver, push: PushBrowser) -> str:
    """What the browser decrypts of the first message. The fake speaks HTTP, so the encrypted address leads there."""
    with transaction() as session:
        (row,) = session.scalars(select(MessageChannel))
        address = open_address(row) or {}
        row.address_sealed = seal_address(address | {"url": address["url"].replace("https://", "http://")})
        (id,) = session.scalars(update(Delivery).values(created_at=clock.now()).returning(Delivery.id))
    deliver.wake(str(id))
    return push.decrypt(push_service.received[-1][1]).decode()


def ask_worker(tab: Tab, expression: str) -> Any:
    """The value of an expression in the running service worker."""
    targets = tab._ask("Target.getTargets")["targetInfos"]
    (worker,) = [target for target in targets if target["type"] == "service_worker"]
    page = tab._session
    tab._session = tab._ask("Target.attachToTarget", targetId=worker["targetId"], flatten=True)["sessionId"]
    try:
        return tab.run_promise(expression)
    finally:
        tab._session = page


def push_to_worker(tab: Tab, data: str) -> Any:
    """The notification that the worker shows of a push message, which the browser hands over once decrypted."""
    origin = str(tab.run("location.origin"))
    state = "navigator.serviceWorker.getRegistration('/static/').then((r) => r.active?.state)"
    tab.run(f"setInterval(async () => (window.workerState = await {state}), 50)")
    tab.wait("window.workerState === 'activated'")  # a message to one that still starts is lost
    tab._ask("ServiceWorker.enable")
    notices = "navigator.serviceWorker.getRegistration('/static/').then((r) => r.getNotifications())"
    tab.run(f"setInterval(async () => (window.notices = await {notices}), 50)")
    for _ in range(20):  # on a busy machine the browser loses a message that is handed over in this way
        tab._ask("ServiceWorker.deliverPushMessage", origin=origin, registrationId="0", data=data)
        if tab.comes("window.notices?.length", 5):
            break
    links = tab.run("window.notices.map((n) => n.data.link)")
    words = tab.run("window.notices.map((n) => [n.title, n.body, n.tag])")
    pages = ask_worker(tab, f"Promise.resolve({json.dumps(links)}.map(findPage))")
    return [[*texts, page] for texts, page in zip(words, pages, strict=True)][:1]  # the others are the same once more


def test_a_browser_subscribes_is_written_to_and_is_proved_by_a_click(
    tab: Tab, places: tuple[str, str], push_service: Receiver, tmp_path: Path
) -> None:
    base, _ = places
    push = PushBrowser()
    tab._ask("Browser.grantPermissions", permissions=["notifications"], origin=base)
    replace_manager(tab, push.subscribe(f"https://127.0.0.1:{push_service.port}/push/a-name"))
    signed_in(tab, base)
    tab.go(base + "/dashboard/settings/channels")
    tab.wait(f"document.querySelector('a[href=\"{PAGE}\"]')")
    tab.press(f'a[href="{PAGE}"]')
    tab.wait("document.querySelector('form[data-push]:not([hidden])')")
    wrong = look(tab, tmp_path, "browser")
    tab.press("form[data-push] button")
    tab.wait("document.querySelector('[data-push-proof]')")
    wrong += look(tab, tmp_path, "browser-sent")
    text = read_message(push_service, push)
    ((title, body, tag, page),) = push_to_worker(tab, text)
    message = json.loads(text)
    assert (title, body, tag) == (message["title"], message["text"], message["id"])
    assert page == base + message["link"]
    tab.go("about:blank")
    tab.go(page)
    tab.wait("document.body.innerText.includes('The channel is proved.')")
    assert "#" not in str(tab.run("location.href"))
    assert wrong == []


def test_the_worker_opens_pages_of_its_own_host_alone(
    tab: Tab, places: tuple[str, str], push_service: Receiver
) -> None:
    base, _ = places
    tab._ask("Browser.grantPermissions", permissions=["notifications"], origin=base)
    replace_manager(tab, PushBrowser().subscribe(f"https://127.0.0.1:{push_service.port}/a"))
    signed_in(tab, base)
    tab.go(base + PAGE)
    tab.wait("document.querySelector('form[data-push]:not([hidden])')")
    tab.press("form[data-push] button")
    tab.wait("document.querySelector('[data-push-proof]')")
    links = ["/dashboard/trips", "//example.com/a", "https://example.com/", "javascript:alert(1)", 5, None]
    found = ask_worker(tab, f"Promise.resolve({json.dumps(links)}.map(findPage))")
    assert found == [f"{base}/dashboard/trips", *[f"{base}/dashboard"] * 5]
    ((title, body, _tag, page),) = push_to_worker(tab, "no JSON")
    assert (title, body, page) == ("New message", "Open the dashboard to read it.", f"{base}/dashboard")


def test_a_subscription_to_another_key_is_replaced(tab: Tab, places: tuple[str, str], push_service: Receiver) -> None:
    base, _ = places
    tab._ask("Browser.grantPermissions", permissions=["notifications"], origin=base)
    replace_manager(tab, PushBrowser().subscribe("https://10.0.0.1/a"), _EARLIER)
    signed_in(tab, base)
    tab.go(base + PAGE)
    tab.wait("document.querySelector('form[data-push]:not([hidden])')")
    tab.run("HTMLFormElement.prototype.submit = () => (window.isSent = true)")
    tab.press("form[data-push] button")
    tab.wait("window.isSent")
    assert tab.run("window.asked.length") == 2
    assert tab.run("window.asked[0]") == 0
    assert tab.run("window.asked[1].userVisibleOnly && window.asked[1].applicationServerKey.length") == 65


def test_who_does_not_allow_notifications_reads_what_to_do(
    tab: Tab, places: tuple[str, str], push_service: Receiver, tmp_path: Path
) -> None:
    base, _ = places
    signed_in(tab, base)
    tab.go(base + PAGE)
    tab.wait("document.querySelector('form[data-push]:not([hidden])')")
    tab.run("Notification.requestPermission = async () => 'denied'")
    tab.press("form[data-push] button")
    tab.wait("document.querySelector('[data-fault]').innerText.includes('allow')")
    assert look(tab, tmp_path, "browser-refused") == []
    assert tab.run("document.querySelector('form[data-push] button').disabled") is False


def test_a_browser_without_push_reads_what_else_there_is(
    tab: Tab, places: tuple[str, str], push_service: Receiver, tmp_path: Path
) -> None:
    base, _ = places
    tab._ask("Page.addScriptToEvaluateOnNewDocument", source="delete window.PushManager")
    signed_in(tab, base)
    tab.go(base + PAGE)
    tab.wait("document.querySelector('[data-without-push]')")
    assert tab.run("document.querySelector('[data-without-push]').hidden") is False
    assert tab.run("document.querySelector('form[data-push]').hidden") is True
    assert look(tab, tmp_path, "browser-without") == []
