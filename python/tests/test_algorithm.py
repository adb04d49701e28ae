"""Algorithms that are Python classes."""

import enum
import functools
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cwnd
from cwnd._algorithm import digest_of

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


def test_a_name_with_parameters_goes_beside_its_class(aimd: type[cwnd.CongestionControl]) -> None:
    half, most = cwnd.compare([aimd, "Aimd@python:beta=0.9"], buffer=20, progress=False, **NETWORK).runs["throughput_bps"]
    assert most > half
    axes = {"algorithm": [aimd, "Aimd@python:beta=0.9"]}
    study = cwnd.Study(title="x", scenario={**NETWORK, "buffer": 20}, axes=axes)
    assert study.run(progress=False).runs["throughput_bps"].tolist() == [half, most]
    with pytest.raises(cwnd.InputError, match="there is no algorithm `aimd`"):
        cwnd.compare([aimd, "Aimd:beta=0.9"], progress=False, **NETWORK)


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


@pytest.mark.parametrize("field", ["cwnd", "recovery_cwnd", "restart_cwnd"])
def test_a_window_is_not_infinite(aimd: type[cwnd.CongestionControl], field: str) -> None:
    class Infinite(aimd):  # type: ignore[valid-type,misc]
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            window.ssthresh = window.pacing_rate = float("inf")
            setattr(window, field, float("inf"))

    with pytest.raises(ValueError, match=f"^{field} is infinite; it must be a finite number over 0"):
        cwnd.compare(Infinite, progress=False, **NETWORK)


def test_an_observable_is_a_number_during_the_run(aimd: type[cwnd.CongestionControl]) -> None:
    class Phases(aimd):  # type: ignore[valid-type,misc]
        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            self.epochs = 0
            super().on_congestion(window, event)
            self.epochs = self.later

    class Text(Phases):
        later = "avoidance"

    class Unknown(Phases):
        later = None

    wrong = "Text@python: the observable `epochs` is 'avoidance'; it must be a number, or None"
    with pytest.raises(cwnd.InputError, match=wrong):
        cwnd.compare(Text, buffer=20, progress=False, **NETWORK)
    simulation = cwnd.Simulation(Text, buffer=20, **NETWORK)
    simulation.run_until("10 s")
    with pytest.raises(cwnd.InputError, match=wrong):
        simulation.flow(0)
    assert simulation.queue() >= 0
    samples = cwnd.compare(Unknown, buffer=20, progress=False, **NETWORK).samples["state.epochs"]
    assert samples[0] == 0 and np.isnan(samples[-1])


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


def made(beta: float) -> type[cwnd.CongestionControl]:
    """A class that takes a number from around it."""

    class Made(cwnd.CongestionControl):
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            if ack.may_grow:
                window.increase(window.slow_start(ack.acked) if window.in_slow_start else ack.acked, window.cwnd)

        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            window.ssthresh = beta * window.cwnd

    return Made


def test_results_of_another_class_are_not_taken(aimd: type[cwnd.CongestionControl], tmp_path: Path) -> None:
    """Whatever differs: a closure, an attribute, that of a base, a default."""

    class Attribute(aimd):  # type: ignore[valid-type,misc]
        factor = 0.5

        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            window.ssthresh = self.factor * window.cwnd

    class Derived(Attribute):
        pass

    def runs(cls: type[cwnd.CongestionControl]) -> tuple[bool, float]:
        result = cwnd.compare(cls, save=tmp_path / cls.__name__, buffer=20, progress=False, **NETWORK)
        return "1 runs done" in repr(result), result.runs["throughput_bps"][0]

    closures = [runs(made(beta)) for beta in (0.5, 0.9, 0.9)]
    assert [done for done, _ in closures] == [True, True, False]
    assert closures[0][1] != closures[1][1] == closures[2][1]
    for cls in (Attribute, Derived):
        Attribute.factor = 0.5
        first = runs(cls)
        Attribute.factor = 0.9
        other, again = runs(cls), runs(cls)
        assert first[0] and other[0] and not again[0]
        assert first[1] != other[1] == again[1]
    known = digest_of(aimd)
    assert known is not None
    aimd.__init__.__defaults__ = (0.9,)  # type: ignore[misc]
    try:
        assert digest_of(aimd) != known
    finally:
        aimd.__init__.__defaults__ = (0.5,)  # type: ignore[misc]
    assert digest_of(aimd) == known


def with_attributes(**attributes: object) -> str | None:
    cls = made(0.5)
    for name, value in attributes.items():
        setattr(cls, name, value)
    return digest_of(cls)


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


def test_a_digest_is_that_of_values_and_not_of_their_addresses() -> None:
    values: list[object] = [
        1, True, 1.0, "1", b"1", None, (1,), [1], {1: 2}, {"a", "b", "c"}, np.float32(1), np.arange(3), np.arange(3.0),
        Mode.FAST, Mode.SLOW, Mode, math.sqrt, math, functools.partial(made, 0.5), lambda x: x + 1, made, property(made), staticmethod(made),
    ]  # fmt: skip
    digests = [with_attributes(value=value) for value in values]
    assert None not in digests and len(set(digests)) == len(values)
    assert digests == [with_attributes(value=value) for value in values]
    assert with_attributes(value=object()) is None, "an object's address says nothing"
    itself: list[object] = []
    itself.append(itself)
    assert with_attributes(value=itself) == with_attributes(value=itself) is not None


def test_a_digest_is_the_same_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import dataclasses, cwnd\n"
        "@dataclasses.dataclass\n"
        "class Own(cwnd.CongestionControl):\n"
        "    beta: float = 0.5\n"
        "    kinds = {'loss', 'ecn', 'timeout'}\n"
        "    def on_ack(self, window, ack): ...\n"
        "    def on_congestion(self, window, event): ...\n"
    )
    program = "from own import Own; from cwnd._algorithm import digest_of; print(digest_of(Own))"
    texts = [
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(set(texts)) == 1 and len(texts[0].strip()) == 64


def test_an_exception_of_the_constructor_comes_with_its_traceback(aimd: type[cwnd.CongestionControl]) -> None:
    class Unready(aimd):  # type: ignore[valid-type,misc]
        def __init__(self) -> None:
            raise LookupError("no table")

    study = cwnd.Study(title="x", scenario={"algorithm": Unready, **NETWORK})
    compare = functools.partial(cwnd.compare, Unready, progress=False, **NETWORK)
    simulate = functools.partial(cwnd.Simulation, Unready, **NETWORK)
    for call in (compare, simulate, study.check, lambda: study.run(progress=False)):
        with pytest.raises(LookupError, match="no table") as caught:
            call()
        assert "__init__" in [entry.name for entry in caught.traceback]


def test_an_observable_that_is_no_attribute_is_refused(aimd: type[cwnd.CongestionControl]) -> None:
    class Misspelt(aimd):  # type: ignore[valid-type,misc]
        observables = ("epoch",)

    class Later(aimd):  # type: ignore[valid-type,misc]
        observables = ("base",)

        def init(self, window: cwnd.Window, init: cwnd.Init) -> None:
            self.base = None

        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            super().on_congestion(window, event)
            self.base = window.cwnd

    class Never(aimd):  # type: ignore[valid-type,misc]
        observables = ("base",)

        def init(self, window: cwnd.Window, init: cwnd.Init) -> None: ...

    with pytest.raises(cwnd.InputError, match="`epoch`, which is no attribute .*did you mean `epochs`"):
        cwnd.compare(Misspelt, progress=False, **NETWORK)
    with pytest.raises(cwnd.InputError, match="`base`, which is no attribute"):
        cwnd.compare(Never, progress=False, **NETWORK)
    values = cwnd.compare(Later, buffer=20, progress=False, **NETWORK).samples["state.base"]
    assert np.isnan(values[0]) and values[-1] > 0


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


def test_no_run_goes_on_after_a_stop() -> None:
    """An exception of `progress` ends the runs in progress, those in Python and those of the simulator alone."""

    class Slow(cwnd.CongestionControl):
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            time.sleep(0.001)

        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            window.ssthresh = 0.5 * window.cwnd

    class Enough(Exception):
        pass

    def stops(_done: int, _total: int) -> None:
        raise Enough

    path = {"rate": "1 Gbit/s", "rtt": "10 ms", "duration": "1000 s", "sample": "1 s"}
    for algorithm in (Slow, "cubic"):
        with pytest.raises(Enough):
            cwnd.compare(algorithm, **path, progress=stops)
        before = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - before < 0.25


def test_texts_name_a_class_that_is_given(tmp_path: Path) -> None:
    """With parameters, in a mix, in a study, in a simulation, in an evaluation."""

    class Factor(cwnd.CongestionControl):
        def __init__(self, beta: float = 0.5) -> None:
            self.beta = beta

        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            window.cwnd += ack.acked / (1 if window.in_slow_start else window.cwnd)

        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            window.ssthresh = self.beta * window.cwnd

    path: dict[str, Any] = {"rate": "10 Mbit/s", "rtt": "20 ms", "duration": "5 s"}
    gentle = "Factor@python:beta=0.9"
    alone = cwnd.compare([Factor, gentle], progress=False, classes=[Factor], **path)
    assert alone.labels == ["Factor@python", "Factor@python:beta=0.9"]
    assert alone.runs["congestion_events"][0] < alone.runs["congestion_events"][1]
    mix = "Factor@python*2,cubic"
    mixed = cwnd.compare([], mix=mix, progress=False, classes=[Factor], **path)
    assert list(mixed.flows["algorithm"]) == ["Factor@python", "Factor@python", "cubic"]
    study = cwnd.Study(title="Mixed", scenario={**path, "mix": mix}, classes=[Factor])
    assert study.run(progress=False).runs["goodput_bps"][0] == mixed.runs["goodput_bps"][0]
    simulation = cwnd.Simulation(mix=mix, classes=[Factor], **path)
    simulation.run_until("5 s")
    assert simulation.outcome()["goodput_bps"] == mixed.runs["goodput_bps"][0]
    assert cwnd.conformance(gentle, classes=[Factor]).algorithm == gentle
    ledger = cwnd.evaluate(gentle, section="5.2.1", quick=True, out=tmp_path / "out", classes=[Factor])
    assert ledger["candidate"] == gentle
    with pytest.raises(cwnd.InputError, match=r"give the class to the call there, `classes=\[Factor\]`"):
        cwnd.compare(gentle, progress=False, **path)
    with pytest.raises(cwnd.InputError, match="classes: the study says it already"):
        cwnd.Simulation(study, classes=[Factor])


@pytest.mark.parametrize(
    ("attribute", "value", "valid"),
    [
        ("rate_samples", "yes", "is 'yes'; it can be True or False"),
        ("pacing", 1, "is 1; it can be True or False"),
        ("owns_recovery", None, "is None; it can be True or False"),
        ("ecn", True, "is True; it can be None, \"classic\" or \"exact\""),
        ("ecn", "accurate", "is 'accurate'; it can be None, \"classic\" or \"exact\""),
        ("observables", [1], r"is \[1\]; it must be names of attributes, or names with their units"),
        ("observables", {"epochs": 1}, r"is {'epochs': 1}; it must be names"),
    ],
)
def test_a_wrong_attribute_of_a_class_is_named(aimd: type[cwnd.CongestionControl], attribute: str, value: object, valid: str) -> None:
    wrong = type("Wrong", (aimd,), {attribute: value})
    with pytest.raises(TypeError, match=f"^Wrong.{attribute} {valid}"):
        cwnd.compare(wrong, progress=False, **NETWORK)
