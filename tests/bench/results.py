"""What was measured, as it is kept in a file and as two runs are compared. Nothing here starts or times anything."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

WORSE = 0.9  # of the ratio of before: below a tenth the figures of one machine differ from run to run


@dataclass(frozen=True)
class Figure:
    """One scenario at one concurrency in one round."""

    cpu_us: float
    per_second: float
    p50_ms: float
    p99_ms: float
    requests: int


Figures = dict[tuple[str, int], list[Figure]]


def median(figures: list[Figure], of: str) -> float:
    return statistics.median(getattr(figure, of) for figure in figures)


def ratio(ours: list[Figure], theirs: list[Figure]) -> float:
    """Above 1 ours takes less of the processor. Each round is compared with itself."""
    return statistics.median(other.cpu_us / one.cpu_us for one, other in zip(ours, theirs, strict=True))


@dataclass(frozen=True)
class Result:
    """One run: when, on what, each figure of each round, next to which scenario each counts, and costs by the piece."""

    taken_at: str
    machine: dict[str, Any]
    figures: Figures
    beside: dict[str, str]
    costs: dict[str, float]

    def ratio(self, name: str, concurrency: int) -> float | None:
        """Processor time of a request against the scenario it counts next to; None where that was not measured."""
        theirs = self.figures.get((self.beside.get(name, ""), concurrency))
        return ratio(self.figures[name, concurrency], theirs) if theirs else None

    def save(self, path: Path) -> None:
        figures = [
            {"name": name, "concurrency": concurrency, "rounds": [asdict(figure) for figure in of_rounds]}
            for (name, concurrency), of_rounds in self.figures.items()
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(vars(self) | {"figures": figures}, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Result:
    told = json.loads(path.read_text(encoding="utf-8"))
    figures = {
        (row["name"], row["concurrency"]): [Figure(**figure) for figure in row["rounds"]] for row in told["figures"]
    }
    return Result(**told | {"figures": figures})


@dataclass(frozen=True)
class Change:
    """One ratio, or one cost, in two runs; `factor` above 1 is better."""

    words: str
    before: float
    now: float
    factor: float

    @property
    def is_worse(self) -> bool:
        return self.factor < WORSE


def compare(now: Result, before: Result) -> Iterator[Change]:
    """What both runs measured. Ratios are compared, so that a slower machine is no slower program."""
    for name, concurrency in now.figures:
        if (name, concurrency) not in before.figures:
            continue
        ratios = before.ratio(name, concurrency), now.ratio(name, concurrency)
        if ratios[0] and ratios[1]:
            yield Change(f"{name} at {concurrency}", ratios[0], ratios[1], ratios[1] / ratios[0])
    for words in now.costs.keys() & before.costs.keys():
        yield Change(words, before.costs[words], now.costs[words], before.costs[words] / now.costs[words])
