"""A run that can be halted, looked at and changed."""

from __future__ import annotations

import json
from typing import Any

from . import _cwnd
from ._algorithm import CongestionControl
from ._cwnd import Flow, InputError
from ._study import Study, comparison


class Simulation:
    """One run of the simulator, halted at a time. It starts at 0.

    >>> simulation = cwnd.Simulation("cubic", rate="100 Mbit/s", rtt="40 ms", flows=2)
    >>> simulation.run_until("5 s")
    >>> simulation.flow(0).cwnd
    >>> simulation.set_rate("10 Mbit/s")
    >>> simulation.run_until("10 s")
    >>> simulation.outcome()["throughput_bps"]

    A change at a time comes before whatever happens then. However a run is cut, its outcome is the same to the bit. An algorithm that
    raises an exception ends the simulation.
    """

    def __init__(
        self,
        algorithm: str | type[CongestionControl] | Study,
        *,
        seed: int | None = None,
        cell: int = 0,
        repeat: int = 0,
        **settings: Any,
    ) -> None:
        """Begins a run of an algorithm with settings as `cwnd.compare` takes them and a seed (1 if not given), or a cell and repeat of a
        study, counted from 0, with the study's own settings and seeds.

        Raises `InputError` if there is no such algorithm, setting or network, and `IndexError` if there is no such cell or repeat.
        """
        if isinstance(algorithm, Study):
            given = [*settings, *(["seed"] if seed is not None else [])]
            if given:
                raise InputError(
                    f"{', '.join(given)}: the study says it already; give its `cell` and `repeat` alone, or an algorithm with settings"
                )
            study = algorithm
        else:
            study = comparison([algorithm], seed=1 if seed is None else seed, settings=settings)
        self._native = _cwnd.Simulation(study._native, cell, repeat)

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
        """Changes a link's rate ("10 Mbit/s", or bit/s); the bottleneck's if none is named."""
        self._native.set_rate(rate, link)

    def set_delay(self, delay: float | str, link: str | None = None) -> None:
        """Changes a link's propagation delay ("20 ms", or seconds) for packets that leave it from now on."""
        self._native.set_delay(delay, link)

    def stop_flow(self, index: int) -> None:
        """Stops a flow, counted from 0: it sends no new data from now on. Raises `IndexError` if there is no such flow."""
        self._native.stop_flow(index)

    def outcome(self) -> dict[str, Any]:
        """The metrics of the run up to now: of all flows together, with `flows` and `queues` for each flow and link (SI units).

        They are those of `cwnd.compare`. They count from the end of the warm-up (`warm_up`), once that has come. After `set_rate`, the
        utilisation is of the mean rate that the bottleneck had in the counted time, as with a schedule.
        """
        metrics: dict[str, Any] = json.loads(self._native.metrics())
        return metrics
