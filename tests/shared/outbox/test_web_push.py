"""Web push: encrypted as the example of RFC 8291 is, signed, bounded, and read by a fake of a browser."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jwt
from joserfc.jwk import ECKey

from shared import clock
from shared.db.accounts import ServiceFact
from shared.db.base import transaction
from shared.db.push_keys import NAME, encode_point, get_push_key
from shared.outbox.channels import Letter, NotSent, personal
from shared.outbox.channels.web_push import MAX_CONTENT, RECORD_BYTES, decode, encode, encrypt
from shared.outbox.wording.messages import Message
from tests.support.fake_push_browser import PushBrowser
from tests.support.fake_receiver import Receiver, receiver
from tests.support.settings_and_clock import Configure

LINK = "https://award.example/dashboard/watches/route?id=7"
ID = "0d4f3c3e-6f6c-4b0e-9d58-1d2b7f6a9c11"
Send = Callable[[Message], Receiver]

# RFC 8291 section 5 and appendix A.
RFC_TEXT = b"When I grow up, I want to be a watermelon"
RFC_OWN = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RFC_BROWSER = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
RFC_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
RFC_SECRET, RFC_SALT = "BTBZMqHH6r4Tts7J_aSIgg", "DGv6ra1nlYgDCS1FRnbzlw"
RFC_BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


@pytest.fixture
def browser() -> PushBrowser:
    return PushBrowser()


@pytest.fixture
def send(clean: None, configure: Configure, browser: PushBrowser) -> Send:
    """send(message) -> a fake push service that got it for the browser."""
    configure(CHANNEL_NETWORKS="127.0.0.1/32", SANDBOX_ALLOW_MESSAGES="1")

    def post(message: Message) -> Receiver:
        with receiver() as state:
            address = browser.describe(f"{state.address}/push/a-secret")
            personal.SENDERS["web_push"](Letter(ID, json.dumps(address), message, clock.now()), lambda: None)
        return state

    return post


def build(**more: object) -> Message:
    values = {"subject": "LHR to JFK", "text": "A seat opened.", "html": "", "link": LINK, "kind": "route_monitors"}
    return Message(**values | more)  # type: ignore[arg-type]


def load_private(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decode(text), "big"), ec.SECP256R1())


def test_the_example_of_the_standard_is_encrypted_byte_by_byte_and_read_back() -> None:
    body = encrypt(RFC_TEXT, decode(RFC_POINT), decode(RFC_SECRET), load_private(RFC_OWN), decode(RFC_SALT))
    assert encode(body) == RFC_BODY
    assert PushBrowser(load_private(RFC_BROWSER), decode(RFC_SECRET)).decrypt(body) == RFC_TEXT


def test_content_fills_one_record_and_not_more(browser: PushBrowser) -> None:
    own, address = ec.generate_private_key(ec.SECP256R1()), browser.describe("")
    parts = (decode(address["p256dh"]), decode(address["auth"]), own, b"s" * 16)
    assert len(encrypt(b"x" * MAX_CONTENT, *parts)) == RECORD_BYTES
    with pytest.raises(ValueError, match="too long"):
        encrypt(b"x" * (MAX_CONTENT + 1), *parts)


def test_a_browser_reads_title_text_and_a_path(send: Send, browser: PushBrowser) -> None:
    state = send(build())
    ((headers, body),) = state.received
    assert json.loads(browser.decrypt(body)) == {
        "id": ID,
        "title": "LHR to JFK",
        "text": "A seat opened.",
        "link": "/dashboard/watches/route?id=7",
    }
    assert (headers["TTL"], headers["Urgency"]) == ("86400", "normal")
    assert headers["Topic"] == ID.replace("-", "")
    assert headers["Content-Encoding"] == "aes128gcm"
    assert b"seat" not in body


def test_no_two_messages_share_a_key_or_salt(send: Send) -> None:
    first, second = (send(build()).received[0][1] for _ in range(2))
    assert first[:16] != second[:16]
    assert first[21:86] != second[21:86]


@pytest.mark.parametrize(
    ("kind", "kept", "urgency"),
    [("channel_code", "600", "high"), ("delay_alerts", "3600", "high"), ("deadlines", "86400", "normal")],
)
def test_what_is_soon_of_no_use_is_kept_for_a_short_time(send: Send, kind: str, kept: str, urgency: str) -> None:
    ((headers, _),) = send(build(kind=kind)).received
    assert (headers["TTL"], headers["Urgency"]) == (kept, urgency)


def test_the_first_message_leads_to_the_page_that_reads_its_code(send: Send, browser: PushBrowser) -> None:
    state = send(build(kind="channel_code", is_code=True, blanks=("123456",)))
    assert json.loads(browser.decrypt(state.received[0][1]))["link"] == "/dashboard/settings/channels/browser#123456"


@pytest.mark.parametrize("letter", ["a", "\n", '"', "ü", "𝛼"])
def test_the_longest_message_is_cut_and_fits(send: Send, browser: PushBrowser, letter: str) -> None:
    message = build(subject=letter * 4000, text=letter * 4000, link=f"https://award.example/{'a' * 4000}")
    ((_, body),) = send(message).received
    assert len(body) <= RECORD_BYTES
    content = json.loads(browser.decrypt(body))
    assert content["link"] == "/dashboard"
    assert content["text"].endswith("…")


@pytest.mark.parametrize(
    ("set_up", "contact"),
    [
        ({"OPERATOR_EMAIL": "ops@example.test"}, "mailto:ops@example.test"),
        ({"WEB_URL": "https://award.example"}, "https://award.example"),
        ({}, None),
    ],
)
def test_the_push_service_is_told_who_sends(
    send: Send, configure: Configure, set_up: dict[str, str], contact: str | None
) -> None:
    configure(**set_up)
    state = send(build())
    scheme, _, parts = state.received[0][0]["Authorization"].partition(" ")
    values = dict(part.split("=", 1) for part in parts.split(", "))
    with transaction() as session:
        key = get_push_key(session).public_key()
    assert (scheme, decode(values["k"])) == ("vapid", encode_point(key))
    token = jwt.decode(values["t"], ECKey.import_key(key), ["ES256"])
    assert token.claims["aud"] == state.address
    assert token.claims["exp"] == int(clock.now().timestamp()) + 12 * 3600
    assert token.claims.get("sub") == contact


def test_the_key_is_made_once_and_sealed(clean: None) -> None:
    numbers = []
    for _ in range(2):
        with transaction() as session:
            numbers.append(get_push_key(session).private_numbers().private_value)
    assert numbers[0] == numbers[1]
    with transaction() as session:
        assert f"{numbers[0]:064x}" not in session.get_one(ServiceFact, NAME).value


def test_programs_that_need_the_first_key_at_once_get_the_same(clean: None) -> None:
    barrier = threading.Barrier(4)

    def read_number(_: int) -> int:
        with transaction() as session:
            barrier.wait(10)
            return get_push_key(session).private_numbers().private_value

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(read_number, range(4)))) == 1


def test_a_key_that_nothing_opens_is_replaced(clean: None) -> None:
    with transaction() as session:
        session.add(ServiceFact(name=NAME, value="deadbeef:00"))
    with transaction() as session:
        first = get_push_key(session).private_numbers()
    with transaction() as session:
        assert get_push_key(session).private_numbers() == first


@pytest.mark.parametrize("url", ["http://192.0.2.1/push", "https://10.0.0.1/push", "https://[::1]/push"])
def test_neither_unencrypted_nor_private_addresses_are_posted_to(
    clean: None, configure: Configure, browser: PushBrowser, url: str
) -> None:
    configure(CHANNEL_NETWORKS="", SANDBOX_ALLOW_MESSAGES="1")
    letter = Letter(ID, json.dumps(browser.describe(url)), build(), clock.now())
    with pytest.raises(NotSent) as refusal:
        personal.SENDERS["web_push"](letter, lambda: pytest.fail(urlsplit(url).netloc))
    assert refusal.value.permanent
