"""Who may file a booking by mail: the sender, judged by the address a mail names and by the signatures that hold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?")
_NAMED = re.compile(r"(?P<name>[^<>]*)<\s*(?P<address>[^<>\s]+)\s*>\s*")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT = re.compile(r"\([^()]*\)")
MAX_CHARACTERS = 2000  # of a From header
MAX_COMMENT_DEPTH = 8


class Trust(Enum):
    """What a mail may do automatically. Everything else waits for a person."""

    FULL = "it imports, changes and cancels bookings"
    NEW = "it imports bookings that are new"
    NONE = "it does nothing"


@dataclass(frozen=True)
class Signatures:
    """What the signatures of a mail prove about its sender's domains.

    `valid`: domains whose own signature holds, or that a forwarder we believe saw holding. `broken`: domains that
    publish the key of a signature that does not hold. `unanswered`: a key could not be looked up. `checked`: false
    where this installation looks at no signatures.
    """

    valid: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()
    unanswered: bool = False
    checked: bool = True


@dataclass(frozen=True)
class Judgement:
    """`fault` is a key of `FAULTS` for what the mail may not do automatically; empty if nothing."""

    trust: Trust
    sender: str = ""
    fault: str = ""

    @property
    def is_verified(self) -> bool:
        return self.trust is Trust.FULL

    @property
    def reason(self) -> str:
        """A sentence for the person who looks at the mail, with its address in it."""
        return f"{FAULTS[self.fault].format(sender=self.sender)} {_NEXT_STEP}" if self.fault else ""


FAULTS = {
    "no_sender": "It does not name one single sender.",
    "unknown": "It came from {sender}, which we do not know.",
    "company_unsigned": "It names {sender} as its sender, but no signature proves that it came from there.",
    "own_broken": "It names your address {sender}, but its signature does not hold, so someone else may have written"
    " it.",
    "own_unsigned": "It names your address {sender}, but it is not signed as your earlier mails were.",
    "own_unproven": "It names your address {sender}, but nothing proves that it came from there, so it changes no"
    " stored booking by itself.",
    "unanswered": "It names {sender} as its sender, but the key of its signature could not be looked up.",
}
_NEXT_STEP = "Look at it, then import or discard it. Other addresses of yours can be added on the settings page."


def read_sender(headers: Sequence[str]) -> str | None:
    """The one address of the one From header (RFC 5322, 3.6.2), in lower case; None in any doubt.

    A display name may look like an address; it is ignored, unless a program could take it for a second sender.
    """
    if len(headers) != 1 or len(headers[0]) > MAX_CHARACTERS:
        return None
    text = re.sub(r"\r?\n(?=[ \t])", "", headers[0]).strip()
    bare = strip_comments(_QUOTED.sub(" ", text.replace("\t", " "))).strip()
    if not bare.isprintable() or any(sign in bare for sign in '"()'):
        return None
    if _ADDRESS.fullmatch(bare):
        return bare.lower()
    match = _NAMED.fullmatch(bare)
    if match is None or not _ADDRESS.fullmatch(match["address"]):
        return None
    name, address = match["name"].strip(), match["address"].lower()
    return None if ("@" in name and name.lower() != address) or ":" in name or ";" in name else address


def strip_comments(text: str) -> str:
    """Removes text in parentheses, which may be nested (RFC 5322, 3.2.2)."""
    for _ in range(MAX_COMMENT_DEPTH):
        shorter = _COMMENT.sub(" ", text)
        if shorter == text:
            break
        text = shorter
    return text


def is_within(name: str, domain: str) -> bool:
    """Whether a domain is that one or below it. A domain of one label, such as `com`, is no one's."""
    return "." in domain and (name == domain or name.endswith(f".{domain}"))


def find_company(address: str, companies: Iterable[str]) -> str | None:
    """The domain of `companies` that the address belongs to."""
    domain = address.rpartition("@")[2]
    return max((c for c in companies if is_within(domain, c)), key=len, default=None)


def is_signer(domain: str, address: str, company: str | None) -> bool:
    """Whether a signature of this domain speaks for the address (relaxed alignment, RFC 7489, 3.1.1).

    The address's own domain and those above it do, and any below a company's. Below another domain
    there may be strangers: `co.uk` is above many.
    """
    return is_within(address.rpartition("@")[2], domain) or (company is not None and is_within(domain, company))


def judge_sender(
    address: str | None,
    *,
    is_own: bool,
    is_company: bool,
    signatures: Signatures,
    signed_before: bool = False,
) -> Judgement:
    """Decides what a mail may do automatically.

    `is_own`: the account has confirmed the address. `is_company`: it is of a domain that sends confirmations.
    `signed_before`: an earlier mail of the address was signed.
    """
    if address is None:
        return Judgement(Trust.NONE, fault="no_sender")
    if not is_own and not is_company:
        return Judgement(Trust.NONE, address, "unknown")
    if signatures.valid:
        return Judgement(Trust.FULL, address)
    if not is_own:
        return Judgement(Trust.NONE, address, "unanswered" if signatures.unanswered else "company_unsigned")
    if signatures.broken:
        return Judgement(Trust.NONE, address, "own_broken")
    if signed_before and signatures.checked:
        return Judgement(Trust.NONE, address, "unanswered" if signatures.unanswered else "own_unsigned")
    return Judgement(Trust.NEW, address, "own_unproven")


def read_passing_domains(results: str) -> frozenset[str]:
    """The domains whose DKIM signature held, by an Authentication-Results header (RFC 8601).

    Quoted strings and comments hold what strangers wrote, so they are taken out before anything is read.
    """
    bare = strip_comments(_QUOTED.sub(" ", results))
    if any(sign in bare for sign in '"()'):
        return frozenset()
    domains = set()
    for statement in bare.split(";")[1:]:
        words = statement.split()
        if words[:1] == ["dkim=pass"]:
            identities = [w.partition("=")[2] for w in words[1:] if w.startswith(("header.d=", "header.i="))]
            domains |= {n.rpartition("@")[2].lower() for n in identities[:1]}
    return frozenset(domains)
