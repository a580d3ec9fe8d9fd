"""Questions of further watches in place of those in the database."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from shared.providers.contract import SeatsQuestion


@dataclass
class Spare:
    """What it was asked for stands in `scopes`, what was answered in `forward`."""

    near: Sequence[SeatsQuestion] = ()
    oldest: Sequence[SeatsQuestion] = ()
    forward: list[SeatsQuestion] = field(default_factory=list)
    scopes: set[str] = field(default_factory=set)

    def list_near(self, scope: str, _questions: Sequence[SeatsQuestion]) -> Sequence[SeatsQuestion]:
        self.scopes.add(scope)
        return self.near

    def list_oldest(self, _scope: str) -> Sequence[SeatsQuestion]:
        return self.oldest

    def bring_forward(self, questions: Collection[SeatsQuestion]) -> None:
        self.forward += questions
