"""What the runs of a study gave."""

from __future__ import annotations

import html
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _cwnd
from ._cwnd import Table
from ._registry import metrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._study import Study


@dataclass(frozen=True)
class Claim:
    """A claim with its verdict."""

    text: str
    source: str | None
    """Where a publication says it; None for our own."""
    stated: str | None
    """What it states, as it prints it."""
    measured: float | None
    """The mean over the repeats."""
    half: float | None
    """Half the width of its 95 % interval."""
    verdict: str
    """ "reproduced", "not reproduced", …"""
    ground: str
    """What the rule found."""
    note: str | None


@dataclass(frozen=True)
class Mean:
    """The mean of a metric over the repeats of a combination."""

    mean: float
    half: float | None
    """Half the width of the 95 % interval (Student's t); None for a single repeat."""
    count: int


class Result:
    """The results of a study.

    Tables are for other libraries: `polars.DataFrame(result.runs)`, `pandas.DataFrame.from_arrow(…)`, `pyarrow.table(…)` and DuckDB
    take them without copying; `result.runs["throughput_bps"]` is a NumPy array.
    """

    def __init__(self, native: _cwnd.Results, study: Study) -> None:
        self._native = native
        self.study = study
        """The study."""

    @cached_property
    def runs(self) -> Table:
        """One row a run: a column for each axis, `repeat`, `seed`, `state`, all metrics of runs (SI units; `cwnd.metrics()`; NaN where
        there is none), those of flows and links as far as runs have them (`flow1.rtt_mean_s`, `bottleneck.mean_packets`), and the settings that
        have a value. A quantity has a second column with its number, in the unit in which it is shown (`rate_value` is in Mbit/s). Settings
        that no run states and that have no value then, such as `jitter`, have no column."""
        return self._native.runs()

    @cached_property
    def flows(self) -> Table:
        """One row a flow of each run, short flows included: axes, `seed`, `flow` (from 1), `algorithm`, `size_bytes`, `start_s`,
        `completion_time_s`, `throughput_bps`, …"""
        return self._native.flows()

    @cached_property
    def samples(self) -> Table:
        """One row a flow at each sample time: axes, `seed`, `time_s`, `flow`, `cwnd` and `ssthresh` (segments), `rtt_s`,
        `delivered_bytes`, `in_flight`, `state`, `queue_<link>` (packets), `state.<observable>`. Empty if nothing was sampled."""
        return self._native.samples()

    def packets(self, cell: int = 0, repeat: int = 0) -> Table:
        """One row a packet that enters or leaves the bottleneck, or the link against it, in one run: `time_s`, `link`, `end`, `flow`,
        `is_ack`, `segment`, `size_bytes`, `marked`, `dropped`. The run is simulated once more for it, which changes nothing. Cells and repeats
        count from 0; raises `IndexError` if there is no such run."""
        return self._native.packets(cell, repeat)

    @property
    def labels(self) -> list[str]:
        """The combinations, in words."""
        return self._native.labels()

    @property
    def directory(self) -> Path | None:
        """Where it is stored; None if in memory."""
        directory = self._native.directory
        return None if directory is None else Path(directory)

    @cached_property
    def claims(self) -> list[Claim]:
        """The study's claims with their verdicts."""
        return [Claim(*row) for row in self._native.claims()]

    def mean(self, metric: str) -> list[Mean]:
        """The mean of a metric for each combination, with its interval."""
        values = self.runs[metric].astype(float).reshape(len(self.study), -1)
        return [interval(of_cell[~np.isnan(of_cell)]) for of_cell in values]

    @property
    def figures(self) -> dict[str, str]:
        """The study's own figures: names and titles."""
        return dict(self._native.figures())

    def figure(self, name: str) -> str:
        """Draws a figure of the study, as SVG."""
        return self._native.figure(name)

    def report(self, directory: str | os.PathLike[str] | None = None) -> Path:
        """Writes the report, a page that needs no other file, and returns its path. The directory is created if it does not exist."""
        where = directory or self.directory or tempfile.mkdtemp(prefix="cwnd-")
        return Path(self._native.write_report(os.fspath(where)))

    def plot(self, quantities: list[str] | None = None, *, repeat: int = 0) -> Figure:
        """Draws samples over time, a column for each combination: throughput, round-trip time, window and queue, or some of
        `["throughput", "rtt", "cwnd", "queue"]` and observables. A legend names the flows, or the algorithms if several share a run. `repeat`
        counts from 0, and must be sampled. Needs matplotlib (`pip install "cwnd[plot]"`)."""
        from ._plot import over_time

        return over_time(self, quantities, repeat)

    def __repr__(self) -> str:
        done, present, cpu = self._native.ran
        return f"<cwnd.Result of {self.study!r}: {done} runs done in {cpu:.2f} s of CPU, {present} were stored>"

    def _repr_html_(self) -> str:
        """The means of what the study shows first, as a table."""
        units = {metric.name: (metric.title, metric.unit) for metric in metrics()}
        names = [name for name in self.study.metrics if name in self.runs and not is_empty(self.runs[name])]
        heads = "".join(f"<th>{html.escape(heading(*units.get(name, (name, ''))))}</th>" for name in names)
        columns = [self.mean(name) for name in names]
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(label)}</th>"
            + "".join(f"<td>{shown(column[index], units.get(name, ('', ''))[1])}</td>" for name, column in zip(names, columns))
            + "</tr>"
            for index, label in enumerate(self.labels)
        )
        title = html.escape(self.study.title)
        return f"<table><caption>{title}</caption><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def is_empty(column: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether no run has this metric."""
    return bool(np.isnan(column.astype(float)).all())


SCALES = {"bit/s": ("Mbit/s", 1e-6), "s": ("ms", 1e3)}


def heading(title: str, unit: str) -> str:
    """The head of a column."""
    unit = SCALES.get(unit, (unit, 1.0))[0]
    return f"{title}, {unit}" if unit else title


def shown(mean: Mean, unit: str) -> str:
    """A mean with its interval."""
    if mean.count == 0:
        return ""
    factor = SCALES.get(unit, (unit, 1.0))[1]
    half = "" if mean.half is None else f" ± {mean.half * factor:.2g}"
    return f"{mean.mean * factor:.4g}{half}"


def interval(values: np.ndarray[Any, np.dtype[np.float64]]) -> Mean:
    """The mean of some values, with Student's interval."""
    count = len(values)
    if count == 0:
        return Mean(float("nan"), None, 0)
    mean = float(values.mean())
    if count == 1:
        return Mean(mean, None, 1)
    return Mean(mean, _cwnd.half_width([float(value) for value in values]), count)
