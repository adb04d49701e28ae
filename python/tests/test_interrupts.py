"""Signals stay with the program, and threads do not wait for each other for ever."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import cwnd


def test_an_evaluation_leaves_the_signals_to_the_program(tmp_path: Path) -> None:
    """In a program of its own: a signal that were caught would end it at the second time."""
    script = f"""
import os, signal, time, cwnd
cwnd.evaluate("newreno", quick=True, section="5.2.1", out={str(tmp_path / "out")!r})
for _ in range(3):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except KeyboardInterrupt:
        print("interrupted")
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(5)
print("still there")
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["interrupted"] * 3, ran.stderr
    assert ran.returncode == -signal.SIGTERM


def test_an_interrupted_evaluation_ends_soon_and_is_continued(tmp_path: Path) -> None:
    """All of it takes a minute and more."""
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            cwnd.evaluate("newreno", out=tmp_path / "out", threads=1)
    finally:
        timer.cancel()
    assert time.monotonic() - begin < 15, "it went on"
    assert not (tmp_path / "out" / "ledger.json").exists()
    ledger = cwnd.evaluate("newreno", quick=True, section="5.2.1", out=tmp_path / "out")
    assert [row["section"] for row in ledger["rows"]] == ["5.2.1"]


def test_an_interrupt_ends_an_algorithm_in_an_endless_loop(tmp_path: Path) -> None:
    """In a program of its own: a thread that went on would abort it at its end, and take CPU time until then."""
    script = f"""
import os, signal, threading, time, cwnd

class Endless(cwnd.CongestionControl):
    def on_ack(self, window, ack):
        while True:
            pass

    def on_congestion(self, window, event):
        pass

for run in [
    lambda: cwnd.compare(Endless, rate="10 Mbit/s", rtt="20 ms", progress=False),
    lambda: cwnd.evaluate(Endless, quick=True, section="5.2.1", out={str(tmp_path / "out")!r}),
]:
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        run()
    except KeyboardInterrupt:
        print("interrupted")
begin = time.process_time()
time.sleep(1)
print(time.process_time() - begin < 0.5)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ran.stdout.split() == ["interrupted", "interrupted", "True"], ran.stderr
    assert ran.returncode == 0, ran.stderr


def test_an_interrupt_ends_the_command_for_a_class_in_an_endless_loop(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("""
import pathlib
import cwnd

class Endless(cwnd.CongestionControl):
    def on_ack(self, window, ack):
        pathlib.Path("begun").touch()
        while True:
            pass

    def on_congestion(self, window, event):
        pass
""")
    words = ["-m", "cwnd", "evaluate", "own.py:Endless", "--quick", "--section", "5.2.1", "--out", "out"]
    program = subprocess.Popen([sys.executable, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        begin = time.monotonic()
        while not (tmp_path / "begun").exists():
            assert program.poll() is None and time.monotonic() - begin < 60
            time.sleep(0.1)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=60)
    finally:
        program.kill()
    assert program.returncode == 130 and "Fatal" not in said, said


def cpu_seconds(process: int) -> float:
    """The CPU time of all processes that a process has started."""
    seconds = 0.0
    for about in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name may have spaces.
            fields = about.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            child = int(about.parent.name)
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + cpu_seconds(child)
    return seconds


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_program_ends_soon_after_an_interrupted_study_on_processes(tmp_path: Path) -> None:
    script = tmp_path / "study.py"
    script.write_text("""
import cwnd
if __name__ == "__main__":
    scenario = {"algorithm": "cubic", "rate": "1 Gbit/s", "rtt": "40 ms", "duration": "8000 s"}
    try:
        cwnd.Study(title="Long", scenario=scenario).run(executor="processes:1", progress=False)
    except KeyboardInterrupt:
        print("interrupted")
""")
    program = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        begin = time.monotonic()
        # More than a worker needs to import the package.
        while cpu_seconds(program.pid) < 3:
            assert program.poll() is None and time.monotonic() - begin < 120
            time.sleep(0.1)
        begin = time.monotonic()
        program.send_signal(signal.SIGINT)
        said, _ = program.communicate(timeout=60)
        assert said == "interrupted\n"
        assert time.monotonic() - begin < 10, "it waited for the run"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


def test_an_executor_that_is_made_gives_the_error_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's executors have no other argument of `shutdown`."""

    class Bare(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True) -> None:  # type: ignore[override]
            super().shutdown(wait)

    monkeypatch.setattr(cwnd.executors, "executor", lambda url: Bare(1))
    study = cwnd.Study(title="Short", scenario={"algorithm": "cubic", "rate": "1 Mbit/s", "rtt": "40 ms", "duration": "1 s"})

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(executor="dask://HOST:1", progress=interrupted)


def test_packets_that_are_recorded_end_with_an_interrupt() -> None:
    result = cwnd.compare("cubic", rate="500 Mbit/s", rtt="20 ms", duration="200 s", progress=False)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        result.packets()
    took = time.monotonic() - begin
    part = cwnd.compare("cubic", rate="500 Mbit/s", rtt="20 ms", duration="10 s", progress=False)
    begin = time.monotonic()
    part.packets()
    assert took < 10 * (time.monotonic() - begin), "all packets were recorded first"


def test_a_simulation_is_looked_at_while_another_thread_runs_it() -> None:
    """In a program of its own, which can be ended if its threads wait for each other."""
    script = """
import threading, cwnd

class Aimd(cwnd.CongestionControl):
    def on_ack(self, window, ack):
        window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, window, event):
        window.ssthresh = window.cwnd / 2

simulation = cwnd.Simulation(Aimd, rate="20 Mbit/s", rtt="40 ms")
thread = threading.Thread(target=simulation.run_until, args=("60 s",), daemon=True)
thread.start()
seen = set()
while thread.is_alive():
    seen.add(simulation.now)
    simulation.flow(0)
    thread.join(0.001)
assert seen <= {float(second) for second in range(61)}, seen
print(simulation.now)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ran.stdout == "60.0\n", ran.stderr


def test_an_algorithm_that_looks_at_its_own_simulation_is_refused(aimd: type[cwnd.CongestionControl]) -> None:
    class Peek(aimd):  # type: ignore[valid-type,misc]
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            _ = simulation.now

    simulation = cwnd.Simulation(Peek, rate="20 Mbit/s", rtt="40 ms")
    with pytest.raises(cwnd.CwndError, match="cannot look at or change the simulation that calls it"):
        simulation.run_until("1 s")
    with pytest.raises(cwnd.CwndError, match="has ended"):
        _ = simulation.now


def test_an_algorithm_that_fails_elsewhere_tells_its_traceback(aimd: type[cwnd.CongestionControl]) -> None:
    class Boom(aimd):  # type: ignore[valid-type,misc]
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            raise RuntimeError("boom")

    study = cwnd.Study(title="Two boxes", scenario={"rate": "50 Mbit/s", "rtt": "40 ms", "duration": "10 s", "algorithm": Boom})
    with pytest.raises(cwnd.RunError) as raised:
        study.run(executor="threads:1", progress=False)
    text = str(raised.value)
    assert text.startswith("Two boxes (seed 1): Traceback"), text
    assert "in on_ack" in text and text.endswith("RuntimeError: boom"), text


def test_an_axis_leaves_the_names_of_samples_to_them() -> None:
    flows = [["cubic", "bbr3"], ["cubic", "cubic; start=1 s"]]
    scenario = {"rate": "10 Mbit/s", "rtt": "20 ms", "duration": "3 s"}
    result = cwnd.Study(title="T", scenario=scenario, axes={"flow": flows}, sample="100 ms").run(progress=False)
    samples = result.samples
    assert samples.columns[0] == "axis_flow" and samples.columns.count("flow") == 1
    assert set(samples["flow"]) == {1, 2}
    figure = result.plot(["cwnd"])
    assert [len(pane.get_lines()) for pane in figure.axes] == [2, 2]
