"""Executors for `Study.run(executor=…)`, from URLs and for Ray.

Any `concurrent.futures.Executor` will do. `executor` makes one of a text, as `cwnd run --executor` takes it.
"""

from __future__ import annotations

import importlib
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from ._cwnd import InputError

__all__ = ["ProcessExecutor", "RayExecutor", "executor"]

T = TypeVar("T")

KNOWN = "`dask://HOST:PORT`, `ray`, `ray://HOST:PORT`, `mpi`, `processes:N` or `threads:N`"


def executor(url: str) -> Executor:
    """Makes an executor.

    | URL | what |
    |---|---|
    | `dask://HOST:PORT` (or `tcp://`, `tls://`) | the workers of a Dask scheduler |
    | `ray` | the Ray cluster of this node, or a Ray of its own on this machine |
    | `ray://HOST:PORT` | a Ray cluster, by its client server |
    | `mpi` | the ranks of `mpiexec -n N python -m mpi4py.futures …` |
    | `processes:N`, `threads:N` | on this machine |

    Raises `InputError` if the text is another, or the library is not installed.
    """
    scheme, _, rest = url.partition(":")
    if scheme in ("dask", "tcp", "tls") and rest.startswith("//") and len(rest) > 2:
        return dask(("tcp" if scheme == "dask" else scheme) + ":" + rest)
    if scheme == "ray" and (not rest or rest.startswith("//")):
        return RayExecutor(url if rest else None)
    if url == "mpi":
        return mpi()
    if scheme in ("processes", "threads") and rest.isascii() and rest.isdigit() and 0 < int(rest) <= 4096:
        return (ProcessExecutor if scheme == "processes" else ThreadPoolExecutor)(int(rest))
    raise InputError(f"there is no executor `{url}`: give {KNOWN}")


def dask(address: str) -> Executor:
    """The workers of a Dask scheduler."""
    distributed = library("distributed", "cwnd[dask]")
    try:
        client = distributed.Client(address, timeout="30s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"there is no Dask scheduler at {address}: {error}") from error
    made: Executor = client.get_executor(pure=False)
    return made


def mpi() -> Executor:
    """The other ranks of this MPI job."""
    made: Executor = library("mpi4py.futures", "mpi4py").MPIPoolExecutor()
    return made


def library(name: str, install: str) -> Any:
    """A library that need not be installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"`{name}` cannot be imported ({error}): pip install '{install}'") from error


class RayExecutor(Executor):
    """The workers of Ray, one CPU for each call."""

    def __init__(self, address: str | None = None, **options: Any) -> None:
        """Connects to a Ray cluster unless this process has already; without an address to that of this node, or a new one here.

        `options` are those of Ray's tasks: `num_cpus`, `resources`, `max_retries`, …
        """
        self._ray = library("ray", "cwnd[ray]")
        self._own = not self._ray.is_initialized()
        if self._own:
            self._ray.init(address=address, log_to_driver=False)
        self._options = {"num_cpus": 1, **options}
        self._calls: dict[Callable[..., Any], Any] = {}

    @property
    def workers(self) -> int:
        """CPUs of the cluster, now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1) // self._options["num_cpus"]))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Calls a function at a worker."""
        if fn not in self._calls:
            self._calls[fn] = self._ray.remote(**self._options)(fn)
        future: Future[T] = self._calls[fn].remote(*args, **kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnects from Ray, if this object connected to it."""
        del wait, cancel_futures
        if self._own:
            self._ray.shutdown()


class ProcessExecutor(Executor):
    """Processes on this machine. Unlike `ProcessPoolExecutor`, it goes on when one of them was killed: with new ones."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = threading.Lock()
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        # A fork of a process with threads may be dead at once.
        return ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Calls a function in one of the processes."""
        with self._lock:
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False)
                self._pool = self._made()
                return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def terminate(self) -> None:
        """Ends the processes in the middle of what they do."""
        processes: dict[int, Any] = getattr(self._pool, "_processes", None) or {}
        for process in list(processes.values()):
            process.terminate()
