"""What commands read from stdin: a password as one line, and the word yes."""

import sys

from deploy.errors import CommandError


def read_password() -> str:
    """One line. The line break that a terminal or a file adds is no part of the password."""
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise CommandError("No password came on stdin: pass it as one line, for example with < FILE.")
    return password


def confirm(question: str) -> bool:
    print(question, end="", flush=True)
    return sys.stdin.readline().strip() == "yes"
