"""Simulations that are halted, looked at and changed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cwnd


def test_a_run_in_pieces_is_the_same_run() -> None:
    whole = cwnd.compare("cubic", rate="50 Mbit/s", rtt="20 ms", duration="10 s", progress=False)
    simulation = cwnd.Simulation("cubic", rate="50 Mbit/s", rtt="20 ms", duration="10 s")
    for time in ("1 s", 2.5, "2500 ms", 10):
        simulation.run_until(time)
    assert simulation.now == simulation.duration == 10
    assert simulation.outcome()["throughput_bps"] == whole.runs["throughput_bps"][0]


def test_changes_take_effect() -> None:
    simulation = cwnd.Simulation("cubic", rate="100 Mbit/s", rtt="40 ms", flows=2)
    simulation.run_until("5 s")
    before = [flow.delivered_bytes for flow in simulation.flows]
    simulation.set_rate("10 Mbit/s")
    simulation.run_until("10 s")
    delivered = sum(flow.delivered_bytes for flow in simulation.flows) - sum(before)
    assert delivered * 8 / 5 < 11e6
    assert simulation.queue() > 0
    simulation.set_delay(0.2)
    simulation.run_until("15 s")
    srtt = simulation.flow(0).srtt
    assert srtt is not None and srtt > 0.2
    simulation.stop_flow(0)
    simulation.run_until("20 s")
    assert simulation.flow(0).in_flight == 0 < simulation.flow(1).in_flight


def test_it_says_what_is_wrong() -> None:
    simulation = cwnd.Simulation("bbr3", rate="10 Mbit/s")
    assert "bottleneck" in simulation.links
    assert "max_bw" in simulation.flow(0).observables
    with pytest.raises(cwnd.InputError, match="there is no link `left`; there are"):
        simulation.queue("left")
    with pytest.raises(cwnd.InputError):
        simulation.set_rate("fast")
    with pytest.raises(cwnd.InputError):
        simulation.run_until(-1)


LINE = ("bottleneck", "bottleneck-reverse")
"""What the setting `schedule` changes: the line in both directions."""
FIXED = {"receive_window": 20_000, "access_rate": "1 Gbit/s"}
"""What would else follow from the highest rate and the longest delay of a schedule."""


def assert_same(outcome: dict[str, Any], result: cwnd.Result) -> None:
    """Asserts that all metrics are those of a comparison, to the bit."""
    shared = [name for name, value in outcome.items() if isinstance(value, (int, float)) and name in result.runs]
    assert len(shared) >= 15
    assert {name: outcome[name] for name in shared} == {name: result.runs[name][0] for name in shared}
    assert [flow["throughput_bps"] for flow in outcome["flows"]] == result.flows["throughput_bps"].tolist()


def test_the_warm_up_does_not_count() -> None:
    settings = {"rate": "20 Mbit/s", "rtt": "30 ms", "duration": "5 s", "flows": 2, "warm_up": "1.5 s"}
    simulation = cwnd.Simulation("cubic", **settings)
    for time in (1, 1.5, 2.7, 5):
        simulation.run_until(time)
    assert_same(simulation.outcome(), cwnd.compare("cubic", progress=False, **settings))


@pytest.mark.parametrize("flows", ["cubic*2,bbr3", "newreno"])
def test_the_outcome_has_every_metric_that_needs_no_samples(flows: str) -> None:
    scenario = {"mix": flows, "rate": "20 Mbit/s", "rtt": "30 ms", "duration": "5 s", "warm_up": "1 s"}
    study = cwnd.Study(title="x", scenario=scenario)
    simulation = cwnd.Simulation(study)
    simulation.run_until(5)
    outcome, runs = simulation.outcome(), study.run(progress=False).runs
    known = {metric.name for metric in cwnd.metrics()}
    values = {name: runs[name][0] for name in runs.columns if name.split(".")[-1] in known}
    measured = {name: value for name, value in values.items() if not np.isnan(value)}
    assert {"queueing_delay_mean_s", "rtt_min_s", "delivery_ratio", "cwnd_mean", "bottleneck.mean_packets"} <= set(measured)
    assert {name: outcome[name] for name in measured} == measured
    assert {outcome.get(name) for name in values if name not in measured} == {None}
    assert outcome["completion_time_s"] is None and "cwnd_max" not in outcome


def test_the_rate_of_a_trace_cannot_change(tmp_path: Path) -> None:
    trace = tmp_path / "even.trace"
    trace.write_text("1\n2\n3\n4\n")
    simulation = cwnd.Simulation("cubic", rate_trace=trace, rtt="40 ms")
    simulation.run_until(1)
    with pytest.raises(cwnd.InputError, match="rate of `bottleneck` cannot change, because the delivery trace"):
        simulation.set_rate("1 Mbit/s")
    simulation.set_delay("200 ms")
    simulation.run_until(3)
    srtt = simulation.flow(0).srtt
    assert srtt is not None and srtt > 0.2


@pytest.mark.parametrize("flows", [1, 3])
def test_a_change_counts_as_a_schedule_does(flows: int) -> None:
    settings: dict[str, Any] = {"rate": "20 Mbit/s", "rtt": "30 ms", "duration": "6 s", "buffer": 50, "flows": flows, **FIXED}
    simulation = cwnd.Simulation("cubic", warm_up="1 s", **settings)
    simulation.run_until(2)
    for link in LINE:
        simulation.set_rate("50 Mbit/s", link)
    simulation.run_until(4)
    for link in LINE:
        simulation.set_rate("5 Mbit/s", link)
    simulation.run_until(6)
    outcome = simulation.outcome()
    schedule = "2 s: 50 Mbit/s; 4 s: 5 Mbit/s"
    assert_same(outcome, cwnd.compare("cubic", warm_up="1 s", schedule=schedule, progress=False, **settings))
    assert 0.5 < outcome["utilisation"] <= 1


def test_a_change_of_the_delay_counts_as_a_schedule_does() -> None:
    settings: dict[str, Any] = {"rate": "20 Mbit/s", "delay": "10 ms", "duration": "5 s", "buffer": 50, **FIXED}
    simulation = cwnd.Simulation("cubic", **settings)
    simulation.run_until(2)
    for link in LINE:
        simulation.set_delay("30 ms", link)
    simulation.run_until(5)
    result = cwnd.compare("cubic", schedule="2 s: up, 30 ms", progress=False, **settings)
    assert_same(simulation.outcome(), result)


def test_a_study_has_its_own_settings() -> None:
    study = cwnd.Study(title="x", scenario={"algorithm": "cubic", "duration": "1 s"}, repeats=2)
    assert cwnd.Simulation(study, repeat=1).duration == 1
    for given in ({"rate": "1 Mbit/s"}, {"seed": 9}, {"seed": 1, "rate": "1 Mbit/s"}):
        with pytest.raises(cwnd.InputError, match="rate.*the study says it already|seed.*the study says it already"):
            cwnd.Simulation(study, **given)
    for wrong in ({"cell": 1}, {"cell": -1}, {"repeat": 2}, {"repeat": -1}):
        with pytest.raises(IndexError, match="the study has [12], counted from 0"):
            cwnd.Simulation(study, **wrong)


def test_times_and_rates_have_the_limits_of_the_command_line() -> None:
    simulation = cwnd.Simulation("cubic", rate="10 Mbit/s")
    for late in (1e20, "1e9 s", 140_738):
        with pytest.raises(cwnd.InputError, match=r"too large: 140737 s \(about 39 h\) is the most"):
            simulation.run_until(late)
    with pytest.raises(cwnd.InputError, match="10 Tbit/s"):
        simulation.set_rate(1e30)
    with pytest.raises(cwnd.InputError, match="140737 s"):
        simulation.set_delay(1e20)
    for wrong in (float("nan"), float("inf"), -1, True, None):
        with pytest.raises(cwnd.InputError, match='write "100 ms", or seconds'):
            simulation.run_until(wrong)  # type: ignore[arg-type]
    simulation.run_until(np.float32(0.5))
    assert simulation.now == 0.5
    for index in (1, -1, 10**30):
        with pytest.raises(IndexError, match="the simulation has 1, counted from 0"):
            simulation.flow(index)
        with pytest.raises(IndexError, match="counted from 0"):
            simulation.stop_flow(index)
    with pytest.raises(TypeError):
        simulation.flow("0")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"sack": False}, {"timestamps": False, "sack": np.bool_(True)}])
def test_switches_are_booleans(given: dict[str, Any]) -> None:
    cwnd.Simulation("cubic", **given)
    words = {key: "on" if value else "off" for key, value in given.items()}
    one, other = (cwnd.compare("cubic", duration=1, progress=False, **each) for each in (given, words))
    assert one.study.text == other.study.text


def algorithms(simulation: cwnd.Simulation) -> list[str]:
    return [flow.algorithm for flow in simulation.flows]


def test_mixes_and_flows_run_without_an_algorithm() -> None:
    network: dict[str, Any] = {"rate": "20 Mbit/s", "rtt": "40 ms", "duration": "5 s"}
    mix = cwnd.Simulation(mix="cubic*2,bbr3*2", **network)
    assert algorithms(mix) == ["cubic", "cubic", "bbr3", "bbr3"]
    mix.run_until(5)
    whole = cwnd.compare([], mix="cubic*2,bbr3*2", progress=False, **network)
    assert mix.outcome()["throughput_bps"] == whole.runs["throughput_bps"][0]
    assert algorithms(cwnd.Simulation(flow=["bbr3; start=1 s", "newreno"], **network)) == ["bbr3", "newreno"]
    assert algorithms(cwnd.Simulation(None, flow="bbr3")) == ["bbr3"]
    with pytest.raises(cwnd.InputError, match="nothing to run: name an algorithm"):
        cwnd.Simulation(**network)


def test_one_of_several_runs_must_be_chosen() -> None:
    mix = "cubic*2,bbr3*2"
    several = r"there are 2 runs \(0: `cubic`, 1: `cubic\*2,bbr3\*2`\): give the number of one, or leave out the algorithm"
    with pytest.raises(cwnd.InputError, match=several):
        cwnd.Simulation("cubic", mix=mix)
    with pytest.raises(cwnd.InputError, match="leave out the algorithm"):
        cwnd.Simulation("cubic", flow=["bbr3; start=1 s", "newreno"])
    assert algorithms(cwnd.Simulation("cubic", mix=mix, cell=0)) == ["cubic"]
    assert len(cwnd.Simulation("cubic", mix=mix, cell=1)) == 4
    study = cwnd.Study(title="x", scenario={"duration": 1}, axes={"algorithm": ["cubic", "bbr3"]})
    with pytest.raises(cwnd.InputError, match="cell: the study has 2 cells: give the number of one, counted from 0"):
        cwnd.Simulation(study)
    assert algorithms(cwnd.Simulation(study, cell=1)) == ["bbr3"]


@pytest.mark.parametrize("name", ["repeats", "sample", "save", "threads", "jobs", "memory", "progress"])
def test_arguments_without_a_meaning_for_one_simulation_are_refused(name: str) -> None:
    with pytest.raises(cwnd.InputError, match=f"{name}: a simulation does not take it, because"):
        cwnd.Simulation("cubic", **{name: 1})


def test_a_simulation_is_of_the_simulator() -> None:
    assert len(cwnd.Simulation("cubic", engine="sim")) == 1
    study = cwnd.Study(title="x", scenario={"algorithm": "cubic", "duration": 1}, run={"engine": "kernel"})
    for begin in (lambda: cwnd.Simulation("cubic", engine="kernel"), lambda: cwnd.Simulation(study)):
        with pytest.raises(cwnd.InputError, match="engine: is kernel; .* `sim`"):
            begin()
