"""Studies on executors give the bytes that one machine gives, whatever happens to workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cwnd
import pytest
from cwnd import _cwnd, _executor

TEXT = """
title = "Buffers"
question = "How much does the buffer matter?"
[scenario]
rate = "20 Mbit/s"
rtt = "40 ms"
flows = 2
duration = "20 s"
[run]
repeats = 15
metrics = ["throughput_bps"]
[trace]
sample = "1 s"
repeats = 1
[[axes]]
name = "algorithm"
key = "algorithm"
values = ["cubic", "newreno", "bbr3"]
[[axes]]
name = "buffer"
key = "buffer"
values = ["0.5 BDP", "1 BDP"]
"""
RUNS = 90


def study() -> cwnd.Study:
    return cwnd.Study.parse(TEXT, name="buffers")


def canonical(directory: Path) -> str:
    """The canonical export of a directory, with the digests of its traces."""
    command = [sys.executable, "-m", "cwnd", "export", str(directory), "--canonical"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What this machine gives without an executor."""
    directory = tmp_path_factory.mktemp("alone")
    study().run(directory, progress=False)
    return canonical(directory)


def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes batches of a few runs, and reports the progress after each, so that a worker is killed while there is work left."""
    monkeypatch.setattr(_executor, "BATCH_S", 0.02)
    monkeypatch.setattr(_executor, "LOOK_S", 0.001)


class Killer:
    """Kills a worker when a fifth of the runs are stored."""

    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self.pids = pids
        self.killed: int | None = None

    def __call__(self, stored: int, total: int) -> None:
        if self.killed is None and stored >= total // 5:
            assert stored < total, "there is nothing left to be lost"
            self.killed = self.pids()[0]
            os.kill(self.killed, signal.SIGKILL)


def test_threads(tmp_path: Path, alone: str) -> None:
    with ThreadPoolExecutor(2) as executor:
        result = study().run(tmp_path, executor=executor, progress=False)
    assert len(result.runs) == RUNS
    assert canonical(tmp_path) == alone


def test_processes(tmp_path: Path, alone: str) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        study().run(tmp_path, executor=executor, progress=False)
    assert canonical(tmp_path) == alone


def test_a_result_in_memory_is_the_same() -> None:
    here = study().run(progress=False)
    there = study().run(executor="threads:2", progress=False)
    assert there.directory is None
    assert (there.runs["throughput_bps"] == here.runs["throughput_bps"]).all()
    assert there.samples.to_pylist() == here.samples.to_pylist()


def test_a_killed_process_is_replaced(
    tmp_path: Path, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    executor = cwnd.executors.ProcessExecutor(2)
    killer = Killer(lambda: [*executor._pool._processes])
    study().run(tmp_path, executor=executor, progress=killer)
    executor.shutdown()
    assert killer.killed is not None
    assert canonical(tmp_path) == alone


def test_a_broken_pool_keeps_what_is_stored(
    tmp_path: Path, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        killer = Killer(lambda: [*executor._processes])
        with pytest.raises(cwnd.RunError, match="What is stored is safe"):
            study().run(tmp_path, executor=executor, progress=killer)
    result = study().run(tmp_path, progress=False)
    done, present, _ = result._native.ran
    assert present >= RUNS // 5 and done + present == RUNS
    assert canonical(tmp_path) == alone


def test_dask_with_a_killed_worker(tmp_path: Path, alone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    small_batches(monkeypatch)
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        assert len(set(pids.values())) == 3
        killer = Killer(lambda: list(pids.values()))
        study().run(tmp_path, executor=client.get_executor(), progress=killer)
        assert killer.killed in pids.values()
    assert canonical(tmp_path) == alone


def test_the_command_line_with_dask(tmp_path: Path, alone: str) -> None:
    distributed = pytest.importorskip("distributed")
    file = tmp_path / "buffers.toml"
    file.write_text(TEXT)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        command = [sys.executable, "-m", "cwnd", "run", str(file), "--executor", address]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    directory = tmp_path / "results" / "buffers"
    assert (directory / "report.html").is_file()
    assert canonical(directory) == alone


def test_ray(tmp_path: Path, alone: str) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        study().run(tmp_path, executor=cwnd.executors.RayExecutor(), progress=False)
    finally:
        ray.shutdown()
    assert canonical(tmp_path) == alone


class Stop(Exception):
    pass


def test_a_stopped_sweep_goes_on_elsewhere(
    tmp_path: Path, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)

    def stop(stored: int, total: int) -> None:
        if stored >= total // 3:
            raise Stop

    with pytest.raises(Stop):
        study().run(tmp_path, executor="threads:2", progress=stop)
    result = study().run(tmp_path, executor="processes:1", progress=False)
    done, present, _ = result._native.ran
    assert present >= RUNS // 3 and done + present == RUNS
    assert canonical(tmp_path) == alone


def test_a_killed_driver_goes_on(tmp_path: Path, alone: str) -> None:
    file, out = tmp_path / "buffers.toml", tmp_path / "out"
    file.write_text(TEXT)
    program = f"""
import os, signal, cwnd
from cwnd import _executor
_executor.BATCH_S = 0.05
def kill(stored, total):
    if stored >= total // 3:
        os.kill(os.getpid(), signal.SIGKILL)
cwnd.Study.load({str(file)!r}).run({str(out)!r}, executor="threads:2", progress=kill)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    command = [sys.executable, "-m", "cwnd", "run", str(file), "--out", str(out), "--executor=threads:2"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert canonical(out) == alone


def batches(sweep: _cwnd.Sweep) -> Iterator[bytes]:
    while (batch := sweep.next_batch(0.05)) is not None:
        yield batch


def test_a_second_copy_is_ignored(tmp_path: Path, alone: str) -> None:
    sweep = study()._native.sweep(tmp_path, 2, None)
    for batch in batches(sweep):
        sweep.put(_cwnd.run_batch(batch, [], ""))
        sweep.put(_cwnd.run_batch(batch, [], ""))
    assert sweep.status == (RUNS, RUNS, RUNS)
    del sweep
    assert canonical(tmp_path) == alone


def test_a_worker_with_another_version_is_refused(tmp_path: Path) -> None:
    class Older(Executor):
        """Workers that have another version of cwnd, or of an algorithm."""

        def __init__(self, old: bytes, new: bytes) -> None:
            self.old, self.new = old, new

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            batch, *rest = args
            assert self.old in batch
            try:
                future.set_result(fn(batch.replace(self.old, self.new), *rest, **kwargs))
            except Exception as error:
                future.set_exception(error)
            return future

    version = cwnd.__version__.encode()
    with pytest.raises(cwnd.InputError, match="install the same version of cwnd on the driver and on all"):
        older = Older(b'"version":"' + version + b'"', b'"version":"0.0.1"')
        study().run(tmp_path, executor=older, progress=False)
    with pytest.raises(cwnd.InputError, match="of `cwnd-sim` the driver has version 9999 and this worker"):
        study().run(tmp_path, executor=Older(b'"cwnd-sim":"', b'"cwnd-sim":"9999","x":"'), progress=False)
    assert canonical(tmp_path).count("\n") >= 1
    assert study().run(tmp_path, progress=False)._native.ran[0] == RUNS, "nothing was stored"


class Lossy(Executor):
    """Loses each batch `times` times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.lost = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if args[-1] <= self.times:
            self.lost += 1
            future.set_exception(OSError("the node is gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_lost_batches_are_done_again(tmp_path: Path, alone: str) -> None:
    executor = Lossy(3)
    study().run(tmp_path, executor=executor, progress=False)
    assert executor.lost > 0
    assert canonical(tmp_path) == alone
    with pytest.raises(cwnd.RunError, match="a batch was lost 4 times, the last time by OSError: the node is gone"):
        study().run(executor=Lossy(4), progress=False)


class Aimd(cwnd.CongestionControl):
    """A class that no worker can import."""

    def __init__(self, beta: float = 0.5) -> None:
        self.beta = beta

    def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
        if ack.may_grow:
            left = window.slow_start(ack.acked) if window.in_slow_start else ack.acked
            window.increase(left, window.cwnd)

    def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
        window.ssthresh = max(2.0, self.beta * window.cwnd)


class Broken(Aimd):
    def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
        raise ValueError("there is no congestion")


def own(*classes: type[cwnd.CongestionControl]) -> cwnd.Study:
    scenario = {"rate": "5 Mbit/s", "rtt": "20 ms", "duration": "5 s"}
    return cwnd.Study(title="Mine", scenario=scenario, axes={"algorithm": [*classes, "newreno"]}, repeats=4)


def test_classes_travel_with_their_batches(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    own(Aimd).run(tmp_path / "here", progress=False)
    result = own(Aimd).run(tmp_path / "there", executor="processes:2", progress=False)
    assert result._native.ran[:2] == (8, 0)
    assert canonical(tmp_path / "there") == canonical(tmp_path / "here")


def test_a_class_without_a_source_travels_too() -> None:
    pytest.importorskip("cloudpickle")
    names: dict[str, Any] = {"Aimd": Aimd, "__name__": "__main__"}
    exec("class Made(Aimd):\n    pass", names)
    result = own(names["Made"]).run(executor="processes:1", progress=False)
    here = own(Aimd).run(progress=False)
    assert (result.runs["throughput_bps"] == here.runs["throughput_bps"]).all()


def test_what_a_class_raises_elsewhere_is_told() -> None:
    pytest.importorskip("cloudpickle")
    with pytest.raises(cwnd.RunError, match="ValueError: there is no congestion"):
        own(Broken).run(executor="processes:1", progress=False)


@pytest.mark.parametrize("url", ["", "dask", "dask://", "threads:0", "threads:-1", "processes:", "processes:x", "rays://x"])
def test_wrong_urls_are_refused(url: str) -> None:
    with pytest.raises(cwnd.InputError, match="there is no executor"):
        cwnd.executors.executor(url)


def test_the_command_line_refuses_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "buffers.toml"
    file.write_text(TEXT)

    def told(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "cwnd", "run", str(file), "--out", str(tmp_path / "out"), *words]
        ran = subprocess.run(command, capture_output=True, text=True)
        return ran.returncode, ran.stderr

    code, text = told("--executor", "slurm")
    assert code == 2 and "there is no executor `slurm`" in text
    code, text = told("--executor", "threads:1", "--threads", "2")
    assert code == 2 and "cannot be used with" in text
    code, text = told("--executor")
    assert code == 2 and "a value is required" in text
