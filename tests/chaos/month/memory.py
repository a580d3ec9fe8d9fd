"""What the processes of a run hold in memory, and whether any of them grows."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

WARM_UP = 1 / 3  # of a life: what is loaded at first use
LEAST_SAMPLES = 12  # of a life that is judged
ALLOWED_SHARE, ALLOWED_KB = 0.08, 6_000  # of growth from the second third of a life to the last
Life = tuple[str, int]  # what the process does, and its id


def read_rss(pid: int) -> int | None:
    """Kilobytes; None when the process is gone. Its part of what it shares (PSS) moves with the number of sharers."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return None


@dataclass(frozen=True)
class Growth:
    """The medians of the second and the last third of a life, in kilobytes."""

    name: str
    pid: int
    samples: int
    before: float
    after: float

    @property
    def grown(self) -> float:
        return self.after - self.before

    @property
    def is_flat(self) -> bool:
        return self.grown <= max(ALLOWED_SHARE * self.before, ALLOWED_KB)

    def __str__(self) -> str:
        sizes = f"{self.before / 1024:.1f} MB, then {self.after / 1024:.1f} MB"
        return f"{self.name} ({self.pid}): {sizes}, of {self.samples} samples"


@dataclass
class Diary:
    samples: dict[Life, list[int]] = field(default_factory=lambda: defaultdict(list))

    def note(self, processes: Mapping[str, Iterable[int]]) -> None:
        for name, pids in processes.items():
            for pid in pids:
                if (size := read_rss(pid)) is not None:
                    self.samples[name, pid].append(size)

    def judge(self) -> list[Growth]:
        """Of each life that was long enough to be judged."""
        lives = sorted(self.samples.items())
        return [compare_thirds(life, sizes) for life, sizes in lives if len(sizes) >= LEAST_SAMPLES]


def find_longest_lives(lives: Iterable[Growth]) -> list[Growth]:
    """One for each name."""
    longest = {life.name: life for life in sorted(lives, key=lambda life: life.samples)}
    return [longest[name] for name in sorted(longest)]


def compare_thirds(life: Life, sizes: Sequence[int]) -> Growth:
    start, last = round(len(sizes) * WARM_UP), round(len(sizes) * 2 / 3)
    before, after = statistics.median(sizes[start:last]), statistics.median(sizes[last:])
    return Growth(*life, len(sizes), before, after)
