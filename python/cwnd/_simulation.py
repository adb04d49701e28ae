"""A run that can be halted, looked at and changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import _cwnd, _words
from ._algorithm import CongestionControl
from ._cwnd import Flow, InputError
from ._study import Study, comparison


WITHOUT_MEANING = {
    "repeats": "it is one run: give `seed`, or use `cwnd.compare`",
    "sample": "it records nothing over time: halt it with `run_until` and read `flow` and `queue`, or use `cwnd.compare`",
    "save": "its results are not stored: use `cwnd.compare`",
    "directory": "its results are not stored: use `cwnd.compare`",
    "executor": "it runs in the thread that calls it",
    "threads": "it runs in the thread that calls it",
    "jobs": "it runs in the thread that calls it",
    "memory": "only `cwnd.compare` and `Study.run` have a limit",
    "progress": "`now` is the time that it has reached",
}
"""Arguments of `cwnd.compare` and `Study.run` that one simulation cannot follow, with the reason."""
ARGUMENTS = ("seed", "cell", "repeat", "classes")
"""Keywords of a simulation that are no settings."""


class Simulation:
    """One run of the simulator, halted at a time. It starts at 0.

    >>> simulation = cwnd.Simulation("cubic", rate="100 Mbit/s", rtt="40 ms", flows=2)
    >>> simulation.run_until("5 s")
    >>> simulation.flow(0).cwnd
    >>> simulation.set_rate("10 Mbit/s")
    >>> simulation.run_until("10 s")
    >>> simulation.outcome()["throughput_bps"]

    A change at a time comes before whatever happens then. It is a step of `schedule` if both directions of the bottleneck change at that
    time ("bottleneck" and "bottleneck-reverse"), and if the settings that follow from the greatest rate of a schedule are stated:
    `receive_window`, `access_rate` and a `buffer` in packets or bytes. However a run is cut, its outcome is the same to the bit. An algorithm that
    raises an exception ends the simulation.
    """

    def __init__(
        self,
        algorithm: str | type[CongestionControl] | Study | None = None,
        *,
        seed: int | None = None,
        cell: int | None = None,
        repeat: int = 0,
        classes: Sequence[type[CongestionControl]] = (),
        **settings: Any,
    ) -> None:
        """Begins a run of an algorithm with settings as `cwnd.compare` takes them and a seed (1 if not given), or a cell and repeat of a
        study, counted from 0, with the study's own settings and seeds. Without an algorithm, `mix`, `flow` or `short_flows` has the flows:
        `cwnd.Simulation(mix="cubic*2,bbr3*2")`. `cell` may be left out if there is only one. `classes` are algorithms that texts call
        `Name@python`.

        Raises `InputError` if there is no such algorithm, setting or network, if an argument has no meaning for one simulation, or if
        there are several cells and none is chosen; and `IndexError` if there is no such cell or repeat.
        """
        for name in settings:
            if (reason := WITHOUT_MEANING.get(_words.key(name))) is not None:
                raise InputError(f"{name}: a simulation does not take it, because {reason}")
        if isinstance(algorithm, Study):
            given = [*settings, *(["seed"] if seed is not None else []), *(["classes"] if classes else [])]
            if given:
                raise InputError(
                    f"{', '.join(given)}: the study says it already; give its `cell` and `repeat` alone, or an algorithm with settings"
                )
            study = algorithm
        else:
            named = [] if algorithm is None else [algorithm]
            study = comparison(named, seed=1 if seed is None else seed, settings=settings, arguments=ARGUMENTS, classes=classes)
        if cell is None and len(study) > 1:
            raise InputError(ambiguous(study, algorithm))
        self._native = _cwnd.Simulation(study._native, 0 if cell is None else cell, repeat)

    @property
    def now(self) -> float:
        """The time at which it is halted, seconds."""
        return self._native.now

    @property
    def duration(self) -> float:
        """The duration of the scenario, seconds; a simulation may go on beyond it."""
        return self._native.duration

    @property
    def links(self) -> list[str]:
        """The names of the network's links."""
        return self._native.links

    def __len__(self) -> int:
        """How many flows there are."""
        return len(self._native)

    def run_until(self, time: float | str) -> None:
        """Does all that happens before a time ("5 s", or seconds; at most 140,737 s), and nothing at it or later."""
        self._native.run_until(time)

    def flow(self, index: int) -> Flow:
        """The state of a flow, counted from 0: window, round-trip time, what is in flight, and what its algorithm shows.

        Raises `IndexError` if there is no such flow.
        """
        return self._native.flow(index)

    @property
    def flows(self) -> list[Flow]:
        """The state of all flows."""
        return [self.flow(index) for index in range(len(self))]

    def queue(self, link: str | None = None) -> int:
        """Packets that wait at a link; the bottleneck if none is named."""
        return self._native.queue(link)

    def set_rate(self, rate: float | str, link: str | None = None) -> None:
        """Changes a link's rate ("10 Mbit/s", or bit/s); the bottleneck's if none is named.

        It is one direction: of the bottleneck "bottleneck", and "bottleneck-reverse" stays as it is. The setting `schedule` changes both.
        Raises `InputError` if a delivery trace (`rate_trace`) sets the link's rate.
        """
        self._native.set_rate(rate, link)

    def set_delay(self, delay: float | str, link: str | None = None) -> None:
        """Changes a link's propagation delay ("20 ms", or seconds) for packets that leave it from now on; see `set_rate`."""
        self._native.set_delay(delay, link)

    def stop_flow(self, index: int) -> None:
        """Stops a flow, counted from 0: it sends no new data from now on. Raises `IndexError` if there is no such flow."""
        self._native.stop_flow(index)

    def outcome(self) -> dict[str, Any]:
        """The metrics of the run up to now: of all flows together, with `flows` and `queues` for each flow and link (SI units).

        They are those of `cwnd.compare` to the bit, by the names that `Result.runs` has: `queueing_delay_mean_s`,
        `flow2.throughput_bps`, `bottleneck.mean_packets`. None stands for what cannot be measured. Metrics that are made from samples over
        time are left out, because a simulation takes none: `cwnd_max`, `rtt_p95_s`, `queue_delay_p95_s`, `jain_10s` and the others
        under "from samples over time" in `docs/metrics.md`, and `link_queue_delay_p50_s`, `…_p95_s` and `…_p99_s`.

        They count from the end of the warm-up (`warm_up`), once that has come. After `set_rate`, the utilisation is of the mean rate
        that the bottleneck had in the counted time, as with a schedule.
        """
        metrics: dict[str, Any] = json.loads(self._native.metrics())
        return metrics


def ambiguous(study: Study, algorithm: object) -> str:
    """Says that a cell must be chosen, and what there is to choose from."""
    if isinstance(algorithm, Study):
        return f"cell: the study has {len(study)} cells: give the number of one, counted from 0"
    runs = ", ".join(f"{number}: `{label}`" for number, label in enumerate(study.axes["algorithm"]))
    instead = "" if algorithm is None else ", or leave out the algorithm to run the mix or the flows"
    return f"cell: there are {len(study)} runs ({runs}): give the number of one{instead}"
