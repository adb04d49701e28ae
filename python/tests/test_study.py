"""Studies, comparisons and their tables."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cwnd

NETWORK = {"rate": "20 Mbit/s", "rtt": "40 ms", "duration": "5 s"}


def test_a_comparison_is_that_of_the_command_line(tmp_path: Path) -> None:
    result = cwnd.compare(["cubic", "bbr3"], seed=7, repeats=2, save=tmp_path / "a", progress=False, **NETWORK)
    flags = [word for key, value in NETWORK.items() for word in (f"--{key}", value)]
    command = ["compare", "cubic", "bbr3", *flags, "--seed", "7", "--repeats", "2", "--save", str(tmp_path / "b"), "--quiet"]
    subprocess.run([sys.executable, "-m", "cwnd", *command], check=True, capture_output=True)
    exports = [canonical(tmp_path / name) for name in "ab"]
    assert exports[0] == exports[1]
    assert result.runs["state"].tolist() == ["done"] * 4


def canonical(directory: Path) -> bytes:
    command = [sys.executable, "-m", "cwnd", "export", str(directory), "--canonical"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_numbers_are_seconds_and_bits_a_second() -> None:
    words = cwnd.compare("cubic", rate="20 Mbit/s", rtt="40 ms", duration="5 s", progress=False)
    numbers = cwnd.compare("cubic", rate=20e6, rtt=0.04, duration=5, progress=False)
    assert words.study.text == numbers.study.text.replace("20000000 bit/s", "20 Mbit/s").replace("0.04 s", "40 ms")
    assert words.runs["throughput_bps"] == numbers.runs["throughput_bps"]


def test_a_store_has_the_keys_of_the_command_line_and_is_resumed(tmp_path: Path) -> None:
    study = cwnd.Study(
        title="Buffers", scenario=NETWORK, axes={"algorithm": ["cubic", "newreno"], "buffer": ["0.5 BDP", 100]}, repeats=3
    )
    assert len(study) == 4
    assert study.check().runs == 12
    first = study.run(tmp_path / "store", progress=False)
    again = study.run(tmp_path / "store", progress=False)
    assert "12 runs done" in repr(first) and "0 runs done" in repr(again)
    file = tmp_path / "study.toml"
    file.write_text(study.text)
    command = [sys.executable, "-m", "cwnd", "run", str(file), "--out", str(tmp_path / "store"), "--quiet"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "all 12 runs were stored already" in ran.stdout
    assert first.runs["throughput_bps"].tolist() == again.runs["throughput_bps"].tolist()


def test_tables_are_taken_by_other_libraries() -> None:
    result = cwnd.compare(["cubic", "newreno"], flows=2, progress=False, **NETWORK)
    pyarrow = pytest.importorskip("pyarrow")
    for table in (result.runs, result.flows, result.samples, result.packets()):
        taken = pyarrow.table(table)
        assert taken.num_rows == len(table) > 0
        assert taken.column_names == table.columns
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result.flows)["throughput_bps"].to_list() == result.flows["throughput_bps"].tolist()
    duckdb = pytest.importorskip("duckdb")
    samples = result.samples
    assert duckdb.sql("select count(distinct flow) from samples").fetchall()[0] == (2,)
    assert samples["cwnd"].min() > 0


def test_columns_are_arrays() -> None:
    result = cwnd.compare("cubic", sample="100 ms", progress=False, **NETWORK)
    samples = result.samples
    assert samples["time_s"].dtype == np.float64
    assert np.isnan(samples["ssthresh"]).any(), "it is infinite at first"
    assert samples["state"][0] == "open"
    assert np.isclose(np.diff(samples["time_s"]), 0.1).all()
    with pytest.raises(KeyError, match="did you mean `throughput_bps`"):
        result.runs["throughput"]


def test_packets_are_those_that_the_run_counted() -> None:
    result = cwnd.compare("cubic", progress=False, **NETWORK)
    packets = result.packets()
    data = (packets["link"] == "bottleneck") & (packets["end"] == "enter")
    assert data.sum() == result.runs["bottleneck.arrived"][0]
    assert packets["dropped"][data].sum() == result.runs["bottleneck.dropped"][0]
    assert (np.diff(packets["time_s"]) >= 0).all()


def test_means_have_students_interval() -> None:
    result = cwnd.compare("cubic", repeats=3, progress=False, **NETWORK)
    values = result.runs["throughput_bps"]
    mean = result.mean("throughput_bps")[0]
    assert mean.mean == pytest.approx(values.mean())
    # Student's t at 0.975 with 2 degrees of freedom.
    assert mean.half == pytest.approx(4.302653 * values.std(ddof=1) / np.sqrt(3), rel=1e-6)


def test_claims_and_figures_of_a_paper(tmp_path: Path) -> None:
    study = cwnd.Study.paper("agile-sd/models").at_scale("sample")
    result = study.run(progress=False)
    assert {claim.verdict for claim in result.claims} <= {"reproduced", "not reproduced", "too few repeats", "not measured"}
    for name in result.figures:
        assert result.figure(name).startswith("<svg")
    page = result.report(tmp_path)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "<table>" in result._repr_html_()


def test_a_version_is_a_text() -> None:
    """The number 6.10 is 6.1."""
    for refused in (6.10, 6.12):
        with pytest.raises(cwnd.InputError, match="does not keep a zero at its end"):
            cwnd.compare("cubic", duration=0.1, linux_version=refused)
    scenario = {"algorithm": "cubic", "duration": "100 ms", "linux-version": 6.10}
    with pytest.raises(cwnd.InputError, match="linux-version"):
        cwnd.Study(title="a", scenario=scenario)
    cwnd.compare("cubic", duration=0.1, linux_version="6.10", progress=False)


def test_errors_say_what_would_be_right() -> None:
    with pytest.raises(cwnd.InputError, match="did you mean `cubic`"):
        cwnd.compare("cubik")
    with pytest.raises(cwnd.InputError, match="rat: there is no such setting or argument: did you mean `rate`"):
        cwnd.compare("cubic", rat="1 Mbit/s")
    with pytest.raises(cwnd.InputError, match="unknown unit `parsec`"):
        cwnd.compare("cubic", rate="3 parsec")
    with pytest.raises(cwnd.InputError, match="did you mean `algorithm`"):
        cwnd.Study(title="x", axes={"algoritm": ["cubic"]})
    with pytest.raises(cwnd.InputError, match="cannot read the study"):
        cwnd.Study.load("missing.toml")
    with pytest.raises(cwnd.InputError, match="no algorithm"):
        cwnd.compare(3)  # type: ignore[arg-type]
    with pytest.raises(cwnd.InputError, match="there is no study"):
        cwnd.Study.paper("agile-sd/nothing")
    with pytest.raises(cwnd.InputError, match="`paper`, `quick`"):
        cwnd.Study.paper("agile-sd/models").at_scale("tiny")


def test_progress_is_told_and_its_exception_stops_the_study() -> None:
    study = cwnd.Study(title="x", scenario={**NETWORK, "algorithm": "cubic"}, repeats=20)
    told: list[tuple[int, int]] = []
    study.run(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (20, 20)

    def stop(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        study.run(progress=stop)


def test_other_threads_run_while_a_study_runs() -> None:
    """The interpreter's lock is free while simulations run."""
    turns = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal turns
        while not ended.wait(0.001):
            turns += 1

    counter = threading.Thread(target=count)
    counter.start()
    cwnd.compare("cubic", rate="1 Gbit/s", rtt="100 ms", duration="60 s", progress=False)
    ended.set()
    counter.join()
    assert turns > 20


def test_ctrl_c_ends_a_study_and_keeps_what_is_stored(tmp_path: Path) -> None:
    program = f"""
import cwnd
study = cwnd.Study(title="x", scenario={{"rate": "100 Mbit/s", "duration": "60 s", "algorithm": "cubic"}}, repeats=2000)
try:
    study.run({str(tmp_path / "store")!r}, progress=lambda done, total: print(done, flush=True))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) >= 3:
            break
    child.send_signal(signal.SIGINT)
    rest = child.stdout.read()
    assert child.wait() == 0
    assert rest.rstrip().endswith("stopped")
    states = canonical(tmp_path / "store").decode().count(",done,")
    assert states >= 3


def test_the_command_line_is_inside() -> None:
    ran = subprocess.run([sys.executable, "-m", "cwnd", "--version"], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == f"cwnd {cwnd.__version__}"
    wrong = subprocess.run([sys.executable, "-m", "cwnd", "compare", "cubik"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean `cubic`" in wrong.stderr


def test_what_there_is() -> None:
    assert "cubic" in [algorithm.name for algorithm in cwnd.algorithms()]
    assert "throughput_bps" in [metric.name for metric in cwnd.metrics()]
    assert "rtt" in [setting.key for setting in cwnd.settings()]
    json.dumps([setting.about for setting in cwnd.settings()])


def test_plot() -> None:
    pytest.importorskip("matplotlib")
    result = cwnd.compare(["cubic", "bbr3"], flows=2, progress=False, **NETWORK)
    figure = result.plot()
    assert len(figure.axes) == 8
    assert len(figure.axes[0].lines) == 2, "a line for each flow"
    assert labels(figure.axes[0]) == ["flow 1", "flow 2"]
    with pytest.raises(ValueError, match="there are throughput"):
        result.plot(["speed"])


def test_a_pane_has_the_samples_of_its_cell_where_others_are_skipped() -> None:
    pytest.importorskip("matplotlib")
    result = cwnd.Study(
        title="x",
        scenario=NETWORK,
        axes={"algorithm": ["cubic", "bbr3"], "buffer": ["1 BDP", "2 BDP"]},
        skip=[{"algorithm": "cubic", "buffer": "2 BDP"}],
        repeats=2,
        sample="100 ms",
    ).run(progress=False)
    samples = result.samples
    panes = result.plot(["cwnd"], repeat=1).axes
    assert [pane.get_title() for pane in panes] == ["cubic, 1 BDP", "bbr3, 1 BDP", "bbr3, 2 BDP"]
    for pane, (algorithm, buffer) in zip(panes, [("cubic", "1 BDP"), ("bbr3", "1 BDP"), ("bbr3", "2 BDP")]):
        own = (samples["algorithm"] == algorithm) & (samples["buffer"] == buffer) & (samples["seed"] == 2)
        (line,) = pane.lines
        assert np.array_equal(line.get_ydata(), samples["cwnd"][own])


def labels(pane: Any) -> list[str]:
    """What the legend of a pane names."""
    legend = pane.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_a_legend_tells_algorithms_apart() -> None:
    pytest.importorskip("matplotlib")
    pane = cwnd.compare([], mix="cubic*2,bbr3*2", progress=False, **NETWORK).plot(["cwnd"]).axes[0]
    assert labels(pane) == ["cubic", "bbr3"]
    colours = [line.get_color() for line in pane.lines]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    one = cwnd.compare("cubic", progress=False, **NETWORK).plot(["cwnd"]).axes[0]
    assert labels(one) == [], "there is nothing to tell apart"
