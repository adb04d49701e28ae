"""Progress of runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any


class Shown:
    """Shows how many runs are done, if they take longer than a second."""

    def __init__(self, progress: bool | Callable[[int, int], object], title: str) -> None:
        self.progress = progress
        self.title = title
        self.began = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> Shown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.close()

    def update(self, done: int, total: int) -> None:
        """Shows the progress; it is called some times a second."""
        if callable(self.progress):
            self.progress(done, total)
        elif self.progress and time.monotonic() - self.began > 1.0:
            self.bar = self.bar or bar(total, self.title)
            self.bar.n = done
            self.bar.refresh()


def bar(total: int, title: str) -> Any:
    """A bar of tqdm, in a notebook its widget; lines on standard error where tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Lines(total, title)
    return tqdm(total=total, desc=title[:40], unit="run")


class Lines:
    """A counter on standard error."""

    def __init__(self, total: int, title: str) -> None:
        self.total = total
        self.title = title
        self.n = 0

    def refresh(self) -> None:
        """Writes how far it is."""
        sys.stderr.write(f"\r{self.title}: {self.n} of {self.total} runs")
        sys.stderr.flush()

    def close(self) -> None:
        """Ends the line."""
        sys.stderr.write("\n")
