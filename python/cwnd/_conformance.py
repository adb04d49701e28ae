"""What every algorithm of the library does, as a report card for any algorithm."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._algorithm import CongestionControl
from ._cwnd import InputError
from ._result import Result
from ._study import compare

Named = str | type[CongestionControl]
Run = Callable[..., Result]
"""Runs the algorithm over the usual path, with some settings changed."""
PATH = {"rate": "20 Mbit/s", "rtt": "40 ms"}
"""The usual path."""


@dataclass(frozen=True)
class Check:
    """One line of a report card."""

    name: str
    """What is asked."""
    passed: bool
    measured: str
    """What was found."""
    wanted: str
    """What passes."""


@dataclass(frozen=True)
class ReportCard:
    """What an algorithm does of what every algorithm of the library does."""

    algorithm: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [
            f"{'pass' if check.passed else 'FAIL'}  {check.name:{width}}  {check.measured} (wanted: {check.wanted})"
            for check in self.checks
        ]
        return "\n".join([self.algorithm, *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'pass' if check.passed else '<b>FAIL</b>'}</td><td>{html.escape(check.name)}</td>"
            f"<td>{html.escape(check.measured)}</td><td>{html.escape(check.wanted)}</td></tr>"
            for check in self.checks
        )
        head = "<tr><th></th><th>check</th><th>measured</th><th>wanted</th></tr>"
        return f"<table><caption>{html.escape(self.algorithm)}</caption>{head}{rows}</table>"


def conformance(algorithm: Named, *, classes: Sequence[type[CongestionControl]] = ()) -> ReportCard:
    """Checks an algorithm over eight small scenarios: a class, a name with parameters, `policy:file=…`, or `name@kernel`. With parameters a
    class of `classes` is "Name@python:beta=0.7".

    Each check is one that all registered algorithms pass (the tests of this package see to that). They find mistakes, such as windows that
    are no numbers, choices that a seed does not repeat, and flows that never recover; they do not tell whether an algorithm is good. It takes
    about a second for an algorithm in Rust. An exception of the algorithm fails the check in which it is raised, with its message.
    """

    def run(**settings: Any) -> Result:
        return compare(algorithm, progress=False, classes=classes, **{**PATH, "duration": "20 s", **settings})

    checks = tuple(done(check, run) for check in CHECKS)
    name = algorithm if isinstance(algorithm, str) else algorithm.__name__
    return ReportCard(name, checks)


def done(check: Callable[[Run], Check], run: Run) -> Check:
    """Does a check; what is wrong with the question itself is raised."""
    try:
        return check(run)
    except InputError:
        raise
    except Exception as error:
        return Check(check.__name__.replace("_", " "), False, f"{type(error).__name__}: {error}", "no exception")


def the_same_seed_gives_the_same_run(run: Run) -> Check:
    """Two runs have the same windows, to the bit."""
    one, other = (run(buffer="0.5 BDP", per="1e-3", seed=3).samples["cwnd"] for _ in range(2))
    same = np.array_equal(one, other)
    return Check("the same seed gives the same run", same, "equal" if same else "windows differ", "equal windows")


def windows_are_numbers_of_at_least_one_segment(run: Run) -> Check:
    """Over a path with losses in which everything happens."""
    cwnd = run(buffer=10, per="1e-2", flows=3).samples["cwnd"]
    good = bool(np.isfinite(cwnd).all() and (cwnd >= 1).all())
    return Check("windows are numbers of at least one segment", good, f"{cwnd.min():.3g} to {cwnd.max():.3g}", "1 or more, finite")


def one_flow_uses_the_link(run: Run) -> Check:
    """With a buffer of a bandwidth-delay product."""
    used = run(warm_up="5 s").runs["utilisation"][0]
    return Check("one flow uses the link", bool(used >= 0.5), f"{used:.1%}", "50 % or more")


def it_survives_a_hundredfold_drop_of_the_rate(run: Run) -> Check:
    """Timeouts come, and the flow goes on when the rate is back."""
    result = run(duration="40 s", schedule="5 s: 200 kbit/s; 15 s: 20 Mbit/s", sample="100 ms")
    time, bytes_ = result.samples["time_s"], result.samples["delivered_bytes"].astype(float)
    rate = 8 * (bytes_[-1] - bytes_[np.searchsorted(time, 30.0)]) / 10
    return Check("it recovers from a hundredfold drop of the rate", bool(rate > 1e6), f"{rate / 1e6:.1f} Mbit/s 15 s later", "over 1 Mbit/s")


def it_gets_through_heavy_loss(run: Run) -> Check:
    """One packet in ten is lost."""
    rate = run(per="0.1", duration="30 s").runs["goodput_bps"][0]
    return Check("it gets through a loss of 10 %", bool(rate > 20e3), f"{rate / 1e3:.0f} kbit/s", "over 20 kbit/s")


def a_file_arrives_over_a_tiny_buffer(run: Run) -> Check:
    """Four packets of buffer at 1 Mbit/s."""
    time = run(rate="1 Mbit/s", buffer=4, bytes="500 KB", duration="120 s").runs["completion_time_s"][0]
    shown = "not at all" if np.isnan(time) else f"{time:.1f} s"
    return Check("a file arrives over a tiny buffer", bool(time < 60), shown, "under 60 s, where 4 s are needed")


def two_flows_both_live(run: Run) -> Check:
    """Neither of two flows of it starves."""
    rates = run(flows=2, duration="60 s").flows["throughput_bps"]
    share = float(rates.min() / rates.sum())
    return Check("two flows of it both live", share > 0.02, f"the slower has {share:.1%}", "over 2 %")


def losses_are_answered(run: Run) -> Check:
    """What is lost is a small part of what is sent, with a buffer of a bandwidth-delay product."""
    ratio = run(flows=4, warm_up="5 s").runs["loss_ratio"][0]
    return Check("losses stay a small part", bool(ratio < 0.2), f"{ratio:.2%}", "under 20 %")


CHECKS = (
    the_same_seed_gives_the_same_run,
    windows_are_numbers_of_at_least_one_segment,
    one_flow_uses_the_link,
    it_survives_a_hundredfold_drop_of_the_rate,
    it_gets_through_heavy_loss,
    a_file_arrives_over_a_tiny_buffer,
    two_flows_both_live,
    losses_are_answered,
)
