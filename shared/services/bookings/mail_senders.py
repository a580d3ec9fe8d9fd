"""Senders of forwarded mails: each is judged before anything in the mail is filed."""

import logging
import re
from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from typing import Any

import dkim
import dns.exception
import dns.rdatatype
import dns.resolver
from dkim.util import InvalidTagValueList, parse_tag_value

from shared.db.base import transaction
from shared.db.forwarding_addresses import is_own_address
from shared.db.inbound_mail import InboundMail, was_signed_before
from shared.domain.senders import (
    Judgement,
    Signatures,
    find_company,
    is_signer,
    judge_sender,
    read_passing_domains,
    read_sender,
)
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded
from shared.redis import call_redis, connect, key
from shared.reference.reference import Reference
from shared.secrets import digest
from shared.settings import settings

# Public keys of mail signatures (RFC 6376, 3.6), looked up in the DNS within bounds and remembered for an hour.

log = logging.getLogger(__name__)
MAX_LOOKUPS = 5  # of one mail
MAX_SECONDS = 2.0  # of one look-up
MAX_RECORD_BYTES = 4096  # the record of a key of 4,096 bits has less than 1,000
MAX_NAME_CHARACTERS = 253
_REMEMBERED_SECONDS = 3600
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+", re.I)


class KeyUnanswered(Exception):
    """The DNS did not answer, or the mail needs too many keys."""


class KeyFinder:
    """Looks up the keys of one mail."""

    def __init__(self) -> None:
        self.lookups = 0

    def find_key(self, name: str) -> bytes | None:
        """The record at `SELECTOR._domainkey.DOMAIN.`; None without a usable key.

        Raises KeyUnanswered.
        """
        if len(name) > MAX_NAME_CHARACTERS or not _NAME.fullmatch(name):
            return None
        cache_key = key("mail-key", digest(name.lower())[:40])
        remembered = call_redis(lambda: connect().get(cache_key))
        if isinstance(remembered, bytes):
            return remembered or None
        self.lookups += 1
        if self.lookups > MAX_LOOKUPS:
            raise KeyUnanswered
        record = read_txt_record(name)
        usable = record if record is not None and _is_usable(record) else b""
        call_redis(lambda: connect().set(cache_key, usable, ex=_REMEMBERED_SECONDS))
        return usable or None


def read_txt_record(name: str) -> bytes | None:
    """The first TXT record of a name; None if it has none. Raises KeyUnanswered."""
    try:
        answer = dns.resolver.resolve(name, dns.rdatatype.TXT, lifetime=MAX_SECONDS, search=False)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return None
    except (dns.exception.DNSException, OSError) as error:
        log.warning("inbox: the key of a mail's signature was not looked up (%s)", type(error).__name__)
        raise KeyUnanswered from None
    return b"".join(next(iter(answer)).strings)


def _is_usable(record: bytes) -> bool:
    """Whether a key is usable: not too long, withdrawn (an empty p=) or on trial (t=y)."""
    tags = {n.strip(): v.strip() for n, _, v in (part.partition(b"=") for part in record.split(b";"))}
    flags = tags.get(b"t", b"").split(b":")
    return len(record) <= MAX_RECORD_BYTES and bool(tags.get(b"p")) and b"y" not in [f.strip() for f in flags]


# Signatures of a mail: DKIM (RFC 6376) of a domain that speaks for its sender, or ARC (RFC 8617) of a forwarder.

FindKey = Callable[[str], bytes | None]
IsSigner = Callable[[str], bool]
MAX_SIGNATURES = 3  # checked in one mail, and sets of ARC headers
MAX_HEADERS_BYTES = 256 << 10
MAX_HEADER_BYTES = 8 << 10  # of one signature
MAX_LINES = 300_000
CHECKING_BUDGET = Budget(processor_seconds=4, seconds=20, memory_bytes=256 << 20)  # five look-ups take ten seconds
_ALGORITHMS = {b"rsa-sha256", b"ed25519-sha256"}
# The library's patterns are quadratic in a run of blanks: at most half a second of processor per signature.
MAX_BLANK_STEPS = 500_000_000
_BLANKS = re.compile(rb"[ \t]{20,}")
_LONG_FOLD = re.compile(rb"\s{40}")
_ARC = (b"arc-seal", b"arc-message-signature", b"arc-authentication-results")
_LOG = logging.getLogger("inbox.signatures")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False  # the library would write parts of the mail into the log


class _Message:
    """A parsed mail, and the results of its look-ups."""

    def __init__(self, raw: bytes, find_key: FindKey) -> None:
        self.dkim = dkim.DKIM(raw, logger=_LOG)
        self.arc = dkim.ARC(None, logger=_LOG)
        self.arc.headers, self.arc.body = self.dkim.headers, self.dkim.body
        self.find_key = find_key
        self.has_key = False
        self.unanswered = False

    def list_headers(self, *names: bytes) -> list[bytes]:
        return [bytes(value) for name, value in self.dkim.headers if name.lower() in names]

    def look_up(self, name: bytes, timeout: float = 0) -> bytes | None:  # noqa: ARG002 - the library passes its own
        """The library's hook for the DNS."""
        self.has_key = False
        try:
            record = self.find_key(name.decode("ascii", "replace"))
        except KeyUnanswered:
            self.unanswered = True
            return None
        self.has_key = record is not None
        return record


def list_from_headers(raw: bytes) -> list[str]:
    """The From headers as signature checks read them; empty if the mail's head is too long or malformed."""
    try:
        headers, _ = dkim.rfc822_parse(_cut_head(raw))
    except (dkim.DKIMException, IndexError):
        return []
    return [value.decode("utf-8", "replace").strip() for name, value in headers if name.lower() == b"from"]


def _cut_head(raw: bytes) -> bytes:
    end = re.search(rb"\r?\n\r?\n", raw[:MAX_HEADERS_BYTES])
    return raw[: end.start()] + b"\r\n\r\n" if end else b""


def check_signatures(
    raw: bytes, is_signer: IsSigner, forwarders: Collection[str], now: datetime, find_key: FindKey
) -> Signatures:
    """Checks a mail's signatures for the relevant domains; ARC seals of `forwarders` are trusted."""
    if not _is_checkable(raw):
        return Signatures()
    try:
        message = _Message(raw, find_key)
        valid, broken = _check_dkim(message, is_signer, now)
        if not valid and not broken:
            valid = _check_arc(message, is_signer, forwarders)
    except Exception as bug:  # the edge: a mail that confuses the library counts as unsigned
        _LOG.debug("a mail confused the library (%s)", type(bug).__name__)
        return Signatures()
    return Signatures(frozenset(valid), frozenset(broken), message.unanswered)


def _is_checkable(raw: bytes) -> bool:
    if not _cut_head(raw) or raw.count(b"\n") > MAX_LINES:
        return False
    return sum(len(run) ** 2 for run in _BLANKS.findall(raw)) <= MAX_BLANK_STEPS


def _read_tags(value: bytes) -> dict[bytes, bytes]:
    """The tags of a signature, empty if malformed or too long."""
    if len(value) > MAX_HEADER_BYTES or _LONG_FOLD.search(value):
        return {}
    try:
        tags: dict[bytes, bytes] = parse_tag_value(value)
    except InvalidTagValueList:
        return {}
    return tags


def _check_dkim(message: _Message, is_signer: IsSigner, now: datetime) -> tuple[set[str], set[str]]:
    """Domains with a valid signature, until the first, and those with an invalid one whose key exists."""
    broken: set[str] = set()
    looked_at = 0
    for index, value in enumerate(message.list_headers(b"dkim-signature")):
        tags = _read_tags(value)
        domain = tags.get(b"d", b"").decode("ascii", "replace").lower()
        if not is_signer(domain) or looked_at >= MAX_SIGNATURES:
            continue
        looked_at += 1
        message.has_key = False
        try:
            holds = message.dkim.verify(index, dnsfunc=message.look_up)
        except dkim.DKIMException:
            holds = False
        if holds and _covers_mail(tags, now):
            return {domain}, set()
        broken |= {domain} if message.has_key else set()
    return set(), broken


def _covers_mail(tags: dict[bytes, bytes], now: datetime) -> bool:
    """Whether a valid signature says anything: it signs the sender, all of the text (no l=), with SHA-256
    (RFC 8301, RFC 8463), and has not expired."""
    signed = [name.strip().lower() for name in tags.get(b"h", b"").split(b":")]
    expires = int(tags[b"x"]) if tags.get(b"x", b"").isdigit() else None
    fresh = expires is None or expires > now.timestamp()
    return b"from" in signed and b"l" not in tags and tags.get(b"a") in _ALGORITHMS and fresh


def _check_arc(message: _Message, is_signer: IsSigner, forwarders: Collection[str]) -> set[str]:
    """Domains that the last forwarder saw signing. Each forwarder in the chain must be trusted: a seal proves only
    what its sealer claims."""
    seals, letters = (message.list_headers(name) for name in _ARC[:2])
    tags = [_read_tags(value) for value in (*seals, *letters)]
    count = len(seals)
    steps = sorted(t.get(b"i", b"") for t in tags[:count])
    if not 0 < count <= MAX_SIGNATURES or steps != [b"%d" % n for n in range(1, count + 1)]:
        return set()
    if len(letters) != count or not all(
        t.get(b"d", b"").decode("ascii", "replace").lower() in forwarders for t in tags
    ):
        return set()
    if not all(b"from" in t.get(b"h", b"").lower().replace(b" ", b"").split(b":") for t in tags[count:]):
        return set()
    if any(b"l" in t for t in tags):
        return set()
    status, results, _ = message.arc.verify(dnsfunc=message.look_up)
    if status != dkim.CV_Pass:
        return set()
    return _list_passing(results[0], is_signer)


def _list_passing(result: dict[str, Any], is_signer: IsSigner) -> set[str]:
    """The relevant domains that pass in the newest step's results."""
    text = bytes(result["aar-value"]).decode("ascii", "replace")
    results = text.partition(";")[2]  # without the number of the step
    return {domain for domain in read_passing_domains(results) if is_signer(domain)}


def judge_mail(reference: Reference, mail: InboundMail, raw: bytes) -> Judgement:
    """What the mail may do by itself. Keys are looked up in the DNS, so no transaction is open during it."""
    address = read_sender(list_from_headers(raw))
    if address is None:
        return judge_sender(None, is_own=False, is_company=False, signatures=Signatures())
    with transaction() as session:
        is_own = is_own_address(session, mail.account_id, address)
        signed_before = is_own and was_signed_before(session, mail.account_id, address)
    company = None if is_own else find_company(address, _list_domains(reference, "mail_senders.csv"))
    signatures = Signatures(checked=settings().mail_signatures)
    if signatures.checked and (is_own or company):
        counts = partial(is_signer, address=address, company=company)
        forwarders = _list_domains(reference, "mail_forwarders.csv")
        signatures = _check_apart(raw, counts, forwarders, mail.received_at)
    return judge_sender(
        address,
        is_own=is_own,
        is_company=company is not None,
        signatures=signatures,
        signed_before=signed_before,
    )


def _check_apart(raw: bytes, counts: IsSigner, forwarders: Collection[str], now: datetime) -> Signatures:
    """The same in a process that can be ended, with the look-ups: a mail over its budget counts as unsigned."""
    try:
        return read_bounded(
            CHECKING_BUDGET, check_signatures, raw, counts, forwarders, now, KeyFinder().find_key, inherit=True
        )
    except ReaderEnded as ended:
        log.warning("inbox: the signatures of a mail were not checked (%s)", ended)
        return Signatures()


def _list_domains(reference: Reference, file: str) -> frozenset[str]:
    return frozenset(row.domain for row in reference.rows(file))
