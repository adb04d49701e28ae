"""Sweeps on the workers of an executor."""

from __future__ import annotations

import importlib
import pickle
import queue
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from . import _algorithm, _cwnd

BATCH_S = 1.0
"""CPU seconds of a batch, about."""
BATCHES_PER_S = 100.0
"""Batches a second of all workers together: with many workers each batch is longer, since it costs the driver and a scheduler some
milliseconds however long it is."""
LOOK_S = 0.25
"""How often the driver looks at Ctrl-C, the progress and the number of workers, seconds."""
AHEAD = 2
"""Batches that are handed out for each worker: one that runs, and one that waits at the worker."""
TRIES = 4
"""How many times a batch is handed out at most."""

FINAL = (_cwnd.CwndError, ImportError, AttributeError, TypeError, pickle.PickleError)
"""What is not tried again: a worker without cwnd, or with another version, is not better the next time."""


def sweep(
    native: _cwnd.Sweep,
    executor: Executor,
    parcel: bytes | None,
    progress: Callable[[int, int], object],
) -> None:
    """Has all batches done by an executor, and stores their results as they come.

    A batch whose worker died is handed out again. When this ends early, by an exception or Ctrl-C, what was stored is safe.
    """
    driver = Driver(native, executor, parcel, progress)
    try:
        driver.run()
    finally:
        for future in driver.pending:
            future.cancel()


class Driver:
    """Hands out batches, and takes results."""

    def __init__(
        self,
        native: _cwnd.Sweep,
        executor: Executor,
        parcel: bytes | None,
        progress: Callable[[int, int], object],
    ) -> None:
        self.native = native
        self.executor = executor
        self.parcel = parcel
        self.progress = progress
        self.batch_s = BATCH_S
        self.pending: dict[Future[bytes], tuple[bytes, int]] = {}
        """What is out: the batch, and how many times it was handed out."""
        self.done: queue.SimpleQueue[Future[bytes]] = queue.SimpleQueue()
        self.looked = 0.0
        self.workers = 1

    def run(self) -> None:
        """Until all is stored."""
        self.look()
        more = True
        while more or self.pending:
            more = more and self.fill()
            for future in self.some_done():
                self.take(future, *self.pending.pop(future))
            if time.monotonic() - self.looked >= LOOK_S:
                self.look()
        self.look()

    def some_done(self) -> list[Future[bytes]]:
        """Waits for a result, and returns all that have come in by then; none after a while, in which something else may be due."""
        found: list[Future[bytes]] = []
        try:
            found.append(self.done.get(timeout=LOOK_S))
            while True:
                found.append(self.done.get_nowait())
        except queue.Empty:
            return found

    def fill(self) -> bool:
        """Hands out batches until each worker has enough. Returns whether there are more."""
        while len(self.pending) < AHEAD * self.workers:
            batch = self.native.next_batch(self.batch_s)
            if batch is None:
                return False
            self.submit(batch, 1)
        return True

    def submit(self, batch: bytes, tries: int) -> None:
        """Hands out a batch. The number tells tries apart where equal calls are one (Dask)."""
        try:
            future = self.executor.submit(run_batch, batch, self.parcel, self.native.unknown, tries)
        except BrokenExecutor as error:
            message = f"the executor takes no more work, since a worker of it died: {error}"
            advice = "`cwnd.executors.ProcessExecutor` (`processes:N`) goes on with new processes"
            raise _cwnd.RunError(f"{message}. What is stored is safe: run the study again to continue; {advice}") from error
        self.pending[future] = (batch, tries)
        # `concurrent.futures.wait` would look at each of some thousand futures for each that is done.
        future.add_done_callback(self.done.put)

    def take(self, future: Future[bytes], batch: bytes, tries: int) -> None:
        """Stores results, or hands out the batch again if they were lost."""
        try:
            results = future.result()
        except FINAL:
            raise
        except Exception as error:
            if tries == TRIES:
                message = f"a batch was lost {TRIES} times, the last time by {type(error).__name__}: {error}"
                raise _cwnd.RunError(f"{message}. What is stored is safe: run the study again to continue") from error
            self.submit(batch, tries + 1)
            return
        self.native.put(results)

    def look(self) -> None:
        """Reports the progress, and looks for workers that have joined or left."""
        self.looked = time.monotonic()
        stored, total, _ = self.native.status
        self.progress(stored, total)
        self.workers = workers(self.executor)
        self.native.set_workers(self.workers)
        self.batch_s = max(BATCH_S, self.workers / BATCHES_PER_S)


def run_batch(batch: bytes, parcel: bytes | None, unknown: str, tries: int) -> bytes:
    """What a worker does."""
    del tries
    return _cwnd.run_batch(batch, [] if parcel is None else opened(parcel), unknown)


def packed(classes: Sequence[type[_algorithm.CongestionControl]]) -> bytes | None:
    """Classes as they travel with batches; None if there are none.

    With cloudpickle, which Dask and Ray install, they travel with their code and with those that they are derived from. Without it a
    worker must be able to import them, and the digest of what it imports must be that of the driver.
    """
    if not classes:
        return None
    try:
        cloudpickle: Any = importlib.import_module("cloudpickle")
    except ImportError:
        return pickle.dumps([(cls, None) for cls in classes])
    modules = {one.__module__ for cls in classes for one in own(cls)} - {"__main__"}
    added = [sys.modules[name] for name in modules if name in sys.modules]
    added = [module for module in added if module.__name__ not in cloudpickle.list_registry_pickle_by_value()]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        parcel: bytes = cloudpickle.dumps([(cls, (_algorithm.digest_of(cls),)) for cls in classes])
        return parcel
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)


def own(cls: type) -> Iterator[type]:
    """A class and those that it is derived from, up to cwnd's."""
    for one in cls.__mro__:
        if one is _algorithm.CongestionControl:
            return
        yield one


@lru_cache(maxsize=16)
def opened(parcel: bytes) -> list[_cwnd.AlgorithmClass]:
    """Reads what `packed` wrote, once in a process."""
    found: list[tuple[type[_algorithm.CongestionControl], tuple[str | None] | None]] = pickle.loads(parcel)
    return [_algorithm.described(cls, *(known or ())) for cls, known in found]


def workers(executor: Executor) -> int:
    """How many calls an executor does at once, now; at least 1."""
    client: Any = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        # A cluster that is still being started may have none.
        threads: dict[str, int] = client.nthreads()
        return max(1, sum(threads.values()))
    for name in ("num_workers", "workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return 16


@contextmanager
def made(executor: Executor | str) -> Iterator[Executor]:
    """An executor, or one that is made from a URL and shut down at the end."""
    from .executors import ProcessExecutor
    from .executors import executor as of_url

    if not isinstance(executor, str):
        yield executor
        return
    own_one = of_url(executor)
    try:
        yield own_one
    except BaseException:
        # What its workers still do is no longer needed, and the interpreter would wait for it at its end. Threads end with their batches.
        if isinstance(own_one, ProcessExecutor):
            own_one.terminate()
        own_one.shutdown(wait=False)
        raise
    own_one.shutdown(wait=False)
