"""Measures what executors cost: python python/benches/executors.py [threads] [processes] [dask] [ray]

Prints the driver's CPU time for a batch and for a run, then for each executor the time of an empty call, and the time of a study with one
and with two workers.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import cwnd
from cwnd import _cwnd, _executor


def study(repeats: int, duration: str) -> cwnd.Study:
    """Runs of three algorithms over two buffers."""
    return cwnd.Study(
        title="Overhead",
        scenario={"rate": "20 Mbit/s", "rtt": "40 ms", "flows": 2, "duration": duration},
        axes={"algorithm": ["cubic", "newreno", "bbr3"], "buffer": ["0.5 BDP", "1 BDP"]},
        repeats=repeats,
    )


def driver(directory: str) -> None:
    """The driver's share, by the number of runs in a batch."""
    rows = []
    for runs in (1, 100):
        sweep = study(40 if runs == 1 else 2000, "0.2 s")._native.sweep(f"{directory}/{runs}", 1)
        _cwnd_most(sweep, runs)
        made = taken = 0.0
        count = size = back = 0
        while True:
            began = time.process_time()
            batch = sweep.next_batch(seconds_of(runs))
            made += time.process_time() - began
            if batch is None:
                break
            results = _cwnd.run_batch(batch, [], "")
            began = time.process_time()
            sweep.put(results)
            taken += time.process_time() - began
            count, size, back = count + 1, size + len(batch), back + len(results)
        done = sweep.status[0]
        rows.append((done / count, (made + taken) / count))
        print(
            f"driver: {done / count:6.1f} runs a batch: make {made / count * 1e6:6.0f} us, store {taken / count * 1e6:6.0f} us, "
            f"{size / count / 1e3:.1f} KB out, {back / count / 1e3:.1f} KB back"
        )
    (few, short), (many, long) = rows
    a_run = (long - short) / (many - few)
    print(f"driver: {a_run * 1e6:.0f} us a run, and {(short - a_run * few) * 1e6:.0f} us a batch")


def seconds_of(runs: int) -> float:
    return 1e-9 if runs == 1 else 1e9


def _cwnd_most(sweep: _cwnd.Sweep, runs: int) -> None:
    """Sizes the batches: half of the remaining runs, shared between the workers, is about `runs`."""
    total = sweep.status[1]
    sweep.set_workers(1 if runs == 1 else max(1, total // (2 * runs)))


def empty(batch: bytes, parcel: None, unknown: str, tries: int) -> bytes:
    """A call that does nothing, with results of a usual size."""
    return bytes(60_000)


def calls(executor: Executor, count: int) -> tuple[float, float]:
    """Elapsed time and the driver's CPU time of an empty call, six at a time."""
    batch = bytes(6_000)
    pending = [executor.submit(empty, batch, None, "", -k - 1) for k in range(6)]
    [future.result() for future in pending]
    wall, cpu = time.perf_counter(), time.process_time()
    pending = []
    for k in range(count):
        pending.append(executor.submit(empty, batch, None, "", k))
        if len(pending) == 6:
            pending.pop(0).result()
    [future.result() for future in pending]
    return (time.perf_counter() - wall) / count, (time.process_time() - cpu) / count


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


@contextmanager
def ray(workers: int) -> Iterator[Executor]:
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        yield cwnd.executors.RayExecutor()
    finally:
        ray.shutdown()


def processes(workers: int) -> Any:
    return ProcessPoolExecutor(workers, get_context("spawn"))


EXECUTORS: dict[str, Callable[[int], Any]] = {
    "threads": ThreadPoolExecutor,
    "processes": processes,
    "dask": dask,
    "ray": ray,
}


def main() -> None:
    import tempfile

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as directory:
        driver(directory)
    for name in sys.argv[1:] or EXECUTORS:
        times = []
        for workers in (1, 2):
            with EXECUTORS[name](workers) as executor:
                wall, cpu = calls(executor, 500)
                # Workers are up; this is about them.
                study(1, "1 s").run(executor=executor, progress=False)
                began, used = time.perf_counter(), time.process_time()
                result = study(REPEATS, "20 s").run(executor=executor, progress=False)
                took, driver_s = time.perf_counter() - began, time.process_time() - used
            ran, _, cpu_s = result._native.ran
            times.append(took)
            print(
                f"{name:10}{workers} workers: an empty call {wall * 1e3:.2f} ms, of the driver's CPU {cpu * 1e3:.2f} ms; "
                f"{ran} runs of {cpu_s:.2f} CPU s in {took:.2f} s, {cpu_s / took:.2f} cores' worth, driver {driver_s:.2f} CPU s "
                f"(load {os.getloadavg()[0]:.1f})"
            )
        print(f"{name:10}speed-up {times[0] / times[1]:.2f}")


REPEATS = 150

if __name__ == "__main__":
    main()
