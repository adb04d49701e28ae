"""Simulations that are halted, looked at and changed."""

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
    with pytest.raises(cwnd.InputError, match="there are 1"):
        simulation.flow(1)
    with pytest.raises(cwnd.InputError, match="there is no link `left`; there are"):
        simulation.queue("left")
    with pytest.raises(cwnd.InputError):
        simulation.set_rate("fast")
    with pytest.raises(cwnd.InputError):
        simulation.run_until(-1)
