"""Algorithms that are Python classes."""

from pathlib import Path

import numpy as np
import pytest

import cwnd

NETWORK = {"rate": "20 Mbit/s", "rtt": "40 ms", "duration": "10 s"}


def test_reno_in_python_is_reno(aimd: type[cwnd.CongestionControl]) -> None:
    """The same rules give the same run, to the bit."""
    result = cwnd.compare([aimd, "newreno"], progress=False, **NETWORK)
    for metric in ("throughput_bps", "rtt_mean_s", "packets_dropped", "retransmissions"):
        own, registered = result.runs[metric]
        assert own == registered, metric
    cwnds = [result.samples["cwnd"][result.samples["algorithm"] == name] for name in ("Aimd@python", "newreno")]
    assert np.array_equal(*cwnds)


def test_parameters_are_arguments(aimd: type[cwnd.CongestionControl]) -> None:
    study = cwnd.Study.parse(
        """
        title = "Betas"
        question = "x"
        [scenario]
        rate = "20 Mbit/s"
        rtt = "40 ms"
        duration = "10 s"
        buffer = 20
        [[axes]]
        name = "algorithm"
        key = "algorithm"
        values = ["Aimd@python:beta=0.5", "Aimd@python:beta=0.9"]
        """,
        classes=[aimd],
    )
    half, most = study.run(progress=False).mean("throughput_bps")
    assert most.mean > half.mean


def test_it_runs_beside_others(aimd: type[cwnd.CongestionControl]) -> None:
    study = cwnd.Study.parse(
        'title = "x"\nquestion = "x"\n[scenario]\nmix = "Aimd@python*2,cubic*2"\nrate = "20 Mbit/s"\nduration = "5 s"\n',
        classes=[aimd],
    )
    flows = study.run(progress=False).flows
    assert flows["algorithm"].tolist() == ["Aimd@python"] * 2 + ["cubic"] * 2


def test_its_state_is_recorded(aimd: type[cwnd.CongestionControl]) -> None:
    result = cwnd.compare(aimd, buffer=20, progress=False, **NETWORK)
    epochs = result.samples["state.epochs"]
    assert epochs[0] == 0 and epochs[-1] > 1
    assert (np.diff(epochs) >= 0).all()


def test_exceptions_come_with_their_traceback(aimd: type[cwnd.CongestionControl]) -> None:
    class Broken(aimd):  # type: ignore[valid-type,misc]
        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            raise LookupError("of no use")

    with pytest.raises(LookupError, match="of no use") as caught:
        cwnd.compare(Broken, progress=False, **NETWORK)
    assert "on_congestion" in [entry.name for entry in caught.traceback]
    simulation = cwnd.Simulation(Broken, **NETWORK)
    with pytest.raises(LookupError):
        simulation.run_until("10 s")
    with pytest.raises(cwnd.CwndError, match="has ended"):
        simulation.flow(0)


def test_a_window_takes_no_nonsense(aimd: type[cwnd.CongestionControl]) -> None:
    class Negative(aimd):  # type: ignore[valid-type,misc]
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            window.cwnd = float("nan")

    with pytest.raises(ValueError, match="must be a number over 0"):
        cwnd.compare(Negative, progress=False, **NETWORK)


def test_an_abstract_class_is_refused() -> None:
    class Half(cwnd.CongestionControl):
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None: ...

    with pytest.raises(cwnd.InputError, match="on_congestion"):
        cwnd.compare(Half)


def test_results_are_kept_under_the_source(aimd: type[cwnd.CongestionControl], tmp_path: Path) -> None:
    again = cwnd.compare(aimd, save=tmp_path / "a", progress=False, **NETWORK)
    assert "1 runs done" in repr(again)
    again = cwnd.compare(aimd, save=tmp_path / "a", progress=False, **NETWORK)
    assert "0 runs done" in repr(again)
    other = type("Aimd", (aimd,), {"on_ack": aimd.on_ack})
    assert "1 runs done" in repr(cwnd.compare(other, save=tmp_path / "a", progress=False, **NETWORK))
    assert "1 runs done" in repr(cwnd.compare(other, save=tmp_path / "a", progress=False, **NETWORK)), "its source is not known"


def test_all_events_come(aimd: type[cwnd.CongestionControl]) -> None:
    seen: set[str] = set()

    class Watching(aimd):  # type: ignore[valid-type,misc]
        rate_samples = True

        def init(self, window: cwnd.Window, init: cwnd.Init) -> None:
            seen.add("init")
            assert window.cwnd == 10 and init.sack

        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            super().on_ack(window, ack)
            seen.add("rate" if ack.rate is not None and ack.rate.segments_per_second > 0 else "ack")
            assert ack.srtt >= 0.04 and ack.in_flight <= ack.prior_in_flight + 100

        def on_dup_ack(self, window: cwnd.Window, dup: cwnd.DupAck) -> None:
            seen.add("dup")

        def on_recovery_exit(self, window: cwnd.Window, now: float) -> None:
            seen.add("exit")

        def on_packet_lost(self, window: cwnd.Window, lost: cwnd.LostPacket) -> None:
            seen.add("lost")
            assert lost.sent < lost.now

        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            super().on_congestion(window, event)
            seen.add(event.kind)

    cwnd.compare(Watching, buffer=20, progress=False, **NETWORK)
    assert {"init", "rate", "dup", "exit", "lost", "loss"} <= seen
