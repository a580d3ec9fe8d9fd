"""Public keys of mail signatures (RFC 6376, 3.6), looked up in the DNS within bounds and remembered for an hour."""

import logging
import re

import dns.exception
import dns.rdatatype
import dns.resolver

from shared.redis import call_redis, connect, key
from shared.secrets import digest

log = logging.getLogger(__name__)
MAX_LOOKUPS = 5  # of one mail
MAX_SECONDS = 2.0  # of one look-up
MAX_RECORD_BYTES = 4096  # the record of a key of 4,096 bits has less than 1,000
MAX_NAME_CHARACTERS = 253
_REMEMBERED_SECONDS = 3600
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+", re.I)


class KeyUnanswered(Exception):
    """The DNS did not answer, or the mail asks for more keys than are looked up."""


class KeyFinder:
    """Looks up the keys of one mail."""

    def __init__(self) -> None:
        self.lookups = 0

    def find_key(self, name: str) -> bytes | None:
        """The record at `SELECTOR._domainkey.DOMAIN.`; None when there is no key that can be used.

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
    """The first TXT record of a name; None when it has none. Raises KeyUnanswered."""
    try:
        answer = dns.resolver.resolve(name, dns.rdatatype.TXT, lifetime=MAX_SECONDS, search=False)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return None
    except (dns.exception.DNSException, OSError) as error:
        log.warning("inbox: the key of a mail's signature was not looked up (%s)", type(error).__name__)
        raise KeyUnanswered from None
    return b"".join(next(iter(answer)).strings)


def _is_usable(record: bytes) -> bool:
    """Neither too long, nor withdrawn (an empty p=), nor published for trial (t=y)."""
    tags = {n.strip(): v.strip() for n, _, v in (part.partition(b"=") for part in record.split(b";"))}
    flags = tags.get(b"t", b"").split(b":")
    return len(record) <= MAX_RECORD_BYTES and bool(tags.get(b"p")) and b"y" not in [f.strip() for f in flags]
