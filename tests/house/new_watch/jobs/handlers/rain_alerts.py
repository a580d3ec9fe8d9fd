"""The runs of rain alerts."""

from collections.abc import Callable
from functools import partial

from shared.services.watches.rain_alerts import settle
from sqlalchemy.orm import Session

from shared.db.runs import Claim, RunResult


def check(claim: Claim) -> Callable[[Session], RunResult]:
    return partial(settle, claim=claim)
