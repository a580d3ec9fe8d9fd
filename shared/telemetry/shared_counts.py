"""The counts of all processes of a program: each writes its own file, and a scraper reads their sum."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prometheus_client import Metric, values
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

_ENVIRONMENT = "PROMETHEUS_MULTIPROC_DIR"  # where prometheus-client looks, also in processes this one starts
_parent: int | None = None  # of a short-lived process that counts under its parent's name


def share_counts(folder: Path) -> None:
    """From here on this process and those it starts count in files of this folder, which starts empty."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        file.unlink(missing_ok=True)
    os.environ[_ENVIRONMENT] = str(folder)  # noqa: TID251 - it is set here, not read
    values.ValueClass = values.MultiProcessValue(_name_process)  # type: ignore[no-untyped-call]


def count_for_parent() -> None:
    """Lets a one-job process count for its worker: all of them write the same file, one after the other."""
    global _parent
    _parent = os.getppid()


def _name_process() -> str:
    return str(os.getpid()) if _parent is None else f"{_parent}-job"


class SharedCounts(Collector):
    """The counts of all processes in a folder, without gauges of ended processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def collect(self) -> Iterable[Metric]:
        for attempt in (1, 2):
            try:
                return self._merge()
            except FileNotFoundError:  # a program has restarted since
                if attempt == 2:
                    raise
        raise AssertionError

    def _merge(self) -> Iterable[Metric]:
        files = sorted(str(file) for file in self.folder.rglob("*.db"))
        merge: Callable[[list[str]], Iterable[Metric]] = MultiProcessCollector.merge
        return merge(list(_drop_dead(files)))


def _drop_dead(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        name = Path(file).stem
        if name.startswith("gauge_live") and not _is_alive(int(name.rpartition("_")[2].partition("-")[0])):
            with contextlib.suppress(OSError):
                Path(file).unlink()
        else:
            yield file


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
