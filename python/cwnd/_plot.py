"""Pictures of results, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _words
from ._cwnd import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._result import Result

Array = np.ndarray[Any, np.dtype[Any]]

USUAL = ["throughput", "rtt", "cwnd", "queue"]
TITLES = {
    "throughput": "Throughput, Mbit/s",
    "rtt": "RTT, ms",
    "cwnd": "cwnd, segments",
    "queue": "Bottleneck queue, packets",
}
MOST_NAMED = 10
"""The most lines that a legend names: colours repeat after that."""
PARTS = 50.0
"""Throughput is a mean over this part of the run, or over the time between samples if that is longer."""


def over_time(result: Result, quantities: list[str] | None, repeat: int) -> Figure:
    """Draws quantities over time: a row for each, a column for each combination, a line for each flow."""
    from matplotlib.figure import Figure

    samples, runs = result.samples, result.runs
    if len(samples) == 0:
        raise ValueError("nothing was sampled: give the study a `sample`, such as \"10 ms\"")
    repeat = _words.count("repeat", repeat, 0, result.study.repeats - 1)
    seed = runs["seed"][runs["repeat"] == repeat][0]
    seeds = samples["seed"]
    if not (seeds == seed).any():
        raise InputError(f"repeat {repeat}: it was not sampled; give `sample`, such as \"10 ms\", to sample all repeats")
    quantities = USUAL if quantities is None else _words.values("quantities", quantities)
    known = [*TITLES, *(one.removeprefix("state.") for one in samples.columns if one.startswith("state."))]
    for name in quantities:
        if name not in known:
            raise ValueError(f"there is no quantity `{name}` over time; there are {', '.join(known)}")
    labels = result.labels
    points = points_of_cells(result)
    flows = result.flows
    if not quantities:
        raise InputError(f"quantities: the list is empty; there are {', '.join(known)}")
    figure = Figure(figsize=(max(4.0, 3.4 * len(labels)), 1.9 * len(quantities)), layout="constrained")
    panes = figure.subplots(len(quantities), len(labels), squeeze=False, sharex=True, sharey="row")
    for column, (label, point) in enumerate(zip(labels, points, strict=True)):
        chosen = of_run(samples, result, seed, point)
        of_flows = of_run(flows, result, seed, point)
        algorithms = dict(zip(flows["flow"][of_flows].tolist(), flows["algorithm"][of_flows].tolist()))
        panes[0][column].set_title(label, fontsize=10)
        panes[-1][column].set_xlabel("Time, s")
        for row, name in enumerate(quantities):
            draw(panes[row][column], result, name, np.flatnonzero(chosen), algorithms)
            if column == 0:
                panes[row][0].set_ylabel(TITLES.get(name, name), fontsize=9)
        legend(panes[:, column])
    return figure


def of_run(table: Any, result: Result, seed: int, point: tuple[str, ...]) -> Array:
    """Which rows of a table are of one run."""
    chosen: Array = table["seed"] == seed
    for name, one in zip(result.study.axes, point):
        chosen &= axis(table, name) == one
    return chosen


def axis(table: Any, name: str) -> Array:
    """The column of an axis. In the table of flows an axis leaves the name `algorithm` to what each flow has."""
    column: Array = table[f"axis_{name}" if f"axis_{name}" in table else name]
    return column


def legend(panes: Any) -> None:
    """Names the lines of one run, in the first of its panes that has any to tell apart."""
    for pane in panes:
        lines, labels = pane.get_legend_handles_labels()
        if 1 < len(lines) <= MOST_NAMED:
            # A thin line is hard to tell by its colour.
            for line in pane.legend(lines, labels, fontsize=7, framealpha=0.7).get_lines():
                line.set_linewidth(1.8)
            return


def points_of_cells(result: Result) -> list[tuple[str, ...]]:
    """For each cell its points on the axes. They are those of the runs, since `skip` leaves out some of all combinations."""
    first = np.flatnonzero(result.runs["repeat"] == 0)
    columns = [axis(result.runs, name)[first] for name in result.study.axes]
    return [tuple(column[cell] for column in columns) for cell in range(len(first))]


def draw(pane: Any, result: Result, name: str, rows: Array, algorithms: dict[int, str]) -> None:
    """Draws one quantity of one run: a line for each flow, or one for the queue. Flows have colours of their own if all have the same
    algorithm, and else those of their algorithms."""
    samples = result.samples
    time = samples["time_s"][rows]
    flow = samples["flow"][rows]
    pane.margins(x=0)
    pane.grid(alpha=0.25)
    if name == "queue":
        first = flow == flow.min() if len(flow) else flow
        column = next((one for one in samples.columns if one in ("queue_bottleneck", "queue_hop-1")), None)
        if column is not None:
            pane.plot(time[first], samples[column][rows][first], lw=0.8, color="0.3")
        pane.set_ylim(bottom=0)
        return
    numbers = np.unique(flow).tolist()
    kinds = list(dict.fromkeys(algorithms.get(number, "") for number in numbers))
    named: set[str] = set()
    for place, number in enumerate(numbers):
        own = flow == number
        kind = algorithms.get(number, "")
        label, colour = (kind, kinds.index(kind)) if len(kinds) > 1 else (f"flow {number}", place)
        # Names that begin with an underscore are not in the legend: each algorithm is there once.
        shown = label if label not in named else f"_{label}"
        named.add(label)
        pane.plot(*line(samples, name, rows[own], time[own]), lw=0.9, color=f"C{colour % 10}", label=shown)
    if name != "rtt":
        pane.set_ylim(bottom=0)


def line(samples: Any, name: str, rows: Array, time: Array) -> tuple[Array, Array]:
    """The points of a flow's line."""
    if name == "rtt":
        return time, samples["rtt_s"][rows] * 1e3
    if name == "cwnd":
        return time, samples["cwnd"][rows]
    if name != "throughput":
        return time, samples[f"state.{name}"][rows]
    if len(time) < 2:
        return time[:0], time[:0]
    window = max((time[-1] - time[0]) / PARTS, float(np.diff(time).max()))
    before = np.searchsorted(time, time - 0.999 * window, side="right") - 1
    there = before >= 0
    bits = 8.0 * samples["delivered_bytes"][rows].astype(float)
    rate = (bits[there] - bits[before[there]]) / (time[there] - time[before[there]])
    return time[there], rate / 1e6
