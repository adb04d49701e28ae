"""Signals stay with the program, and threads do not wait for each other for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import cwnd


class Aimd(cwnd.CongestionControl):
    """Grows slowly."""

    def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
        window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
        window.ssthresh = window.cwnd / 2


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


def test_an_interrupted_evaluation_is_continued(tmp_path: Path) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            cwnd.evaluate("newreno", quick=True, section="5.1.1", out=tmp_path / "out")
    timer.join()
    assert cwnd.evaluate("newreno", quick=True, section="5.2.1", out=tmp_path / "other") is not None


def test_a_program_ends_soon_after_an_interrupted_study_on_processes(tmp_path: Path) -> None:
    script = tmp_path / "study.py"
    script.write_text("""
import cwnd
if __name__ == "__main__":
    scenario = {"algorithm": "cubic", "rate": "1 Gbit/s", "rtt": "40 ms", "duration": "8000 s"}
    try:
        cwnd.Study(title="Long", scenario=scenario).run(executor="processes:1", progress=lambda done, all: print(done, flush=True))
    except KeyboardInterrupt:
        print("interrupted")
""")
    program = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert program.stdout is not None and program.stdout.readline() == "0\n"
    # The worker has begun.
    time.sleep(2)
    begin = time.monotonic()
    program.send_signal(signal.SIGINT)
    said, _ = program.communicate(timeout=60)
    assert said.endswith("interrupted\n")
    assert time.monotonic() - begin < 10, "it waited for the run"


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
    simulation = cwnd.Simulation(Aimd, rate="20 Mbit/s", rtt="40 ms")
    thread = threading.Thread(target=simulation.run_until, args=("60 s",), daemon=True)
    thread.start()
    seen = set()
    while thread.is_alive():
        seen.add(simulation.now)
        simulation.flow(0)
        thread.join(0.001)
    assert simulation.now == 60.0
    assert seen <= {float(second) for second in range(61)}


def test_an_algorithm_that_looks_at_its_own_simulation_is_refused() -> None:
    class Peek(Aimd):
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            _ = simulation.now

    simulation = cwnd.Simulation(Peek, rate="20 Mbit/s", rtt="40 ms")
    with pytest.raises(cwnd.CwndError, match="cannot look at or change the simulation that calls it"):
        simulation.run_until("1 s")
    with pytest.raises(cwnd.CwndError, match="has ended"):
        _ = simulation.now


def test_an_algorithm_that_fails_elsewhere_tells_its_traceback() -> None:
    class Boom(Aimd):
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
