"""Message channels besides mail: the input of each kind, its checks, and names."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec

NAMES = {
    "web_push": "Browser",
    "ntfy": "ntfy",
    "telegram": "Telegram",
    "slack": "Slack",
    "discord": "Discord",
    "pushover": "Pushover",
    "webhook": "Webhook",
}
MAX_URL_CHARACTERS = 1000
_NTFY_SERVER = "https://ntfy.sh"
_URL = re.compile(r"[!-~]+")
# The path of Slack's and Discord's addresses: ids and a secret.
_SLACK = re.compile(r"https://hooks\.slack\.com/services/([A-Z0-9]{3,32}/[A-Z0-9]{3,32}/[A-Za-z0-9]{8,64})")
_DISCORD = re.compile(r"https://discord(?:app)?\.com/api/webhooks/([0-9]{5,32}/[-_A-Za-z0-9]{16,128})")
_BOT = re.compile(r"[0-9]{5,20}:[-_A-Za-z0-9]{20,64}")
_CHAT = re.compile(r"-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{3,31}")
_PUSHOVER = re.compile(r"[A-Za-z0-9]{30}")
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
_TOKEN = re.compile(r"[!-~]{1,128}")
# A point of P-256 without compression, 65 bytes, and 16 random bytes (RFC 8291 3.1 and 3.2), both in base64url.
_PUSH_KEY, _PUSH_SECRET = re.compile(r"[-_A-Za-z0-9]{87}"), re.compile(r"[-_A-Za-z0-9]{22}")
_MAX_SUBSCRIPTION = 2000
_SHOWN, _MIN_SHOWN = 3, 8  # characters of a name to show, if it is at least that long
NO_URL = "Please enter an address that begins with https://, without a user name and without a # part."
NO_SUBSCRIPTION = "Your browser gave no subscription that can be written to. Please try again, or with another browser."
_NO_RECEIVER = ("token", "secret", "p256dh", "auth", "browser")  # parts of an address other than its target
NO_TOKEN = "An access token has at most 128 characters and no blanks."  # noqa: S105 - a sentence


@dataclass(frozen=True)
class TypedAddress:
    """The typed address of a channel by field, or its faults by field."""

    address: dict[str, str]
    faults: dict[str, str]


def read_address(kind: str, fields: Mapping[str, str]) -> TypedAddress:
    """`fields` are the fields of the kind's form; a kind that is not in NAMES is a KeyError."""
    return _READERS[kind]({name: value.strip() for name, value in fields.items()})


def _read_webhook(fields: Mapping[str, str]) -> TypedAddress:
    return _build_reading({"url": fields["url"]}, {} if is_receiver_url(fields["url"]) else {"url": NO_URL})


def _read_ntfy(fields: Mapping[str, str]) -> TypedAddress:
    server, topic, token = (fields["server"] or _NTFY_SERVER).rstrip("/"), fields["topic"], fields["token"]
    faults = {}
    if not is_receiver_url(server) or urlsplit(server).query:
        faults["server"] = NO_URL
    if not _TOPIC.fullmatch(topic):
        faults["topic"] = "A topic has 1 to 64 letters, digits, dashes and underscores."
    if token and not _TOKEN.fullmatch(token):
        faults["token"] = NO_TOKEN
    return _build_reading({"server": server, "topic": topic, "token": token}, faults)


def _read_slack(fields: Mapping[str, str]) -> TypedAddress:
    parts = _SLACK.fullmatch(fields["url"])
    return _read_path(parts, "Please enter the webhook's address: https://hooks.slack.com/services/…")


def _read_discord(fields: Mapping[str, str]) -> TypedAddress:
    parts = _DISCORD.fullmatch(fields["url"])
    return _read_path(parts, "Please enter the webhook's address: https://discord.com/api/webhooks/…")


def _read_path(parts: re.Match[str] | None, fault: str) -> TypedAddress:
    """Keeps only the part of the address that the service made; we set the host."""
    return TypedAddress({"path": parts[1]}, {}) if parts else TypedAddress({}, {"url": fault})


def _read_telegram(fields: Mapping[str, str]) -> TypedAddress:
    faults = {}
    if not _BOT.fullmatch(fields["bot"]):
        faults["bot"] = "A bot's token has a number, a colon and some 35 letters, as @BotFather shows it."
    if not _CHAT.fullmatch(fields["chat"]):
        faults["chat"] = "A chat is a number, which may begin with a minus, or the @name of a channel."
    return _build_reading({"bot": fields["bot"], "chat": fields["chat"]}, faults)


def _read_pushover(fields: Mapping[str, str]) -> TypedAddress:
    names = {"user": "A user key", "token": "An application's token"}
    wrong = [field for field in names if not _PUSHOVER.fullmatch(fields[field])]
    faults = {field: f"{names[field]} has 30 letters and digits." for field in wrong}
    return _build_reading({"user": fields["user"], "token": fields["token"]}, faults)


def _read_web_push(fields: Mapping[str, str]) -> TypedAddress:
    """What `PushSubscription.toJSON()` says, and the name of the browser for its owner."""
    if (keys := _read_subscription(fields["subscription"])) is None:
        return TypedAddress({}, {"subscription": NO_SUBSCRIPTION})
    return TypedAddress({**keys, "browser": fields["browser"]}, {})


def _read_subscription(text: str) -> dict[str, str] | None:
    """`url`, `p256dh` and `auth`; None for anything that is not exactly a subscription."""
    try:
        match json.loads(text) if len(text) <= _MAX_SUBSCRIPTION else None:
            case {"endpoint": str(url), "keys": {"p256dh": str(point), "auth": str(secret), **others}, **rest} if (
                not others and not rest
            ):
                is_good = url.startswith("https://") and is_receiver_url(url) and _PUSH_SECRET.fullmatch(secret)
                return {"url": url, "p256dh": point, "auth": secret} if is_good and _is_point(point) else None
    except (ValueError, RecursionError):
        pass  # no JSON, or nested too deeply for a browser's
    return None


def _is_point(text: str) -> bool:
    """Whether it is a point of the curve; with any other the key of a message could be guessed."""
    if not _PUSH_KEY.fullmatch(text):
        return False
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), base64.urlsafe_b64decode(text + "="))
    except ValueError:
        return False
    return True


def _build_reading(address: dict[str, str], faults: dict[str, str]) -> TypedAddress:
    return TypedAddress({} if faults else address, faults)


_READERS = {
    "ntfy": _read_ntfy,
    "telegram": _read_telegram,
    "slack": _read_slack,
    "discord": _read_discord,
    "pushover": _read_pushover,
    "webhook": _read_webhook,
    "web_push": _read_web_push,
}


def is_receiver_url(url: str) -> bool:
    """Whether the address has the form of a receiver; its target is checked elsewhere."""
    if len(url) > MAX_URL_CHARACTERS or not _URL.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_web = parts.scheme in ("https", "http") and bool(parts.hostname) and port != 0
    return is_web and "@" not in parts.netloc and "#" not in url and "\\" not in url


def name_channel(kind: str, address: Mapping[str, str]) -> str:
    """The name of a channel on pages and in notices: its host, and the last characters that distinguish it."""
    host = urlsplit(find_receiver(address) or "").hostname
    match kind:
        case "ntfy":
            return f"ntfy topic{_show_end(address['topic'])} at {host}"
        case "webhook":
            return f"Webhook{_show_end(urlsplit(address['url']).path.strip('/'))} at {host}"
        case "web_push":
            return f"{address['browser']}{_show_end(urlsplit(address['url']).path)}"
        case "telegram":
            return f"Telegram chat {address['chat']}"
        case _:
            return NAMES[kind] + _show_end(address.get("path") or address["user"])


def _show_end(name: str) -> str:
    return f" ending in {name[-_SHOWN:]}" if len(name) >= _MIN_SHOWN else ""


def find_receiver(address: Mapping[str, str]) -> str | None:
    """The address to post messages to, if the person named it; None for a known service."""
    return address.get("url") or address.get("server")


def identify(kind: str, address: Mapping[str, str]) -> str:
    """The key that makes two channels the same; another token or secret makes no other receiver."""
    return "\0".join([kind, *(address[name] for name in sorted(address) if name not in _NO_RECEIVER)])
