"""What a check is, and what it may say besides a fault."""

from collections.abc import Callable

from deploy.errors import CommandError
from shared.tls import explain_tls_fault

ANSWER_SECONDS = 10  # a program that takes longer serves no one


class SwitchedOff(str):
    """What a check says of a part that no one asked for: neither good nor bad."""


Check = Callable[[], str]  # its text; what it raises is a fault


def build_fault(address: str, error: Exception, mend: str) -> CommandError:
    """No one answers there, with what to do about that; or TLS failed, with what to do about that instead."""
    fault = explain_tls_fault(error)
    return CommandError(f"{address} answers, but {fault}" if fault else f"{address} does not answer: {mend}")
