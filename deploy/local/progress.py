"""The progress of a start: on a terminal one line that changes, elsewhere a line for each step."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

NOTE = "note: "


class StartProgress:
    """Messages of a start and of the running service; a closed terminal does not end the service."""

    def __init__(self) -> None:
        self._started_at = time.monotonic()
        self._line: Progress | None = None

    def say(self, text: str) -> None:
        """Shows a message: steps of the start replace the terminal's line; notes and later ones stay."""
        with contextlib.suppress(OSError, ValueError):
            if self._line is None or text.startswith(NOTE):
                self.print(f"[{time.monotonic() - self._started_at:5.1f} s] {text}")
            else:
                self._line.update(self._line.task_ids[0], description=text, refresh=True)

    def print(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._line is None:
                print(text, flush=True)
            else:
                self._line.console.print(text, soft_wrap=True)

    @contextlib.contextmanager
    def moving(self) -> Iterator[None]:
        """Shows on a terminal what is being done and since when; afterwards the line is gone.

        It changes with each step only: what moves by itself is a thread, beside which no program can be forked.
        """
        if not sys.stdout.isatty():
            yield
            return
        from rich.progress import Progress, TextColumn, TimeElapsedColumn

        from deploy.terminal import open_console

        columns = (TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
        options: dict[str, Any] = {"auto_refresh": False, "transient": True, "redirect_stderr": False}
        with Progress(*columns, console=open_console(), **options) as line:
            line.add_task("starting", total=None)
            self._line = line
            try:
                yield
            finally:
                self._line = None
