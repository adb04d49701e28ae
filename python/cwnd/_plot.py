"""Pictures of results, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
PARTS = 50.0
"""Throughput is a mean over this part of the run, or over the time between samples if that is longer."""


def over_time(result: Result, quantities: list[str] | None, repeat: int) -> Figure:
    """Draws quantities over time: a row for each, a column for each combination, a line for each flow."""
    from matplotlib.figure import Figure

    samples = result.samples
    if len(samples) == 0:
        raise ValueError("nothing was sampled: give the study a `sample`, such as \"10 ms\"")
    quantities = quantities or USUAL
    for name in quantities:
        if name not in TITLES and f"state.{name}" not in samples:
            known = [*TITLES, *(one.removeprefix("state.") for one in samples.columns if one.startswith("state."))]
            raise ValueError(f"there is no quantity `{name}` over time; there are {', '.join(known)}")
    labels = result.labels
    axes_columns = [samples[name] for name in result.study.axes]
    points = list(combinations(list(result.study.axes.values())))
    seeds = samples["seed"]
    seed = int(seeds.min()) + repeat
    figure = Figure(figsize=(max(4.0, 3.4 * len(labels)), 1.9 * len(quantities)), layout="constrained")
    panes = figure.subplots(len(quantities), len(labels), squeeze=False, sharex=True, sharey="row")
    for column, (label, point) in enumerate(zip(labels, points)):
        chosen = seeds == seed
        for values, one in zip(axes_columns, point):
            chosen &= values == one
        panes[0][column].set_title(label, fontsize=10)
        panes[-1][column].set_xlabel("Time, s")
        for row, name in enumerate(quantities):
            draw(panes[row][column], result, name, np.flatnonzero(chosen))
            if column == 0:
                panes[row][0].set_ylabel(TITLES.get(name, name), fontsize=9)
    return figure


def combinations(axes: list[list[str]]) -> list[tuple[str, ...]]:
    """Every combination of the axes' points, the last varying fastest."""
    points: list[tuple[str, ...]] = [()]
    for labels in axes:
        points = [(*point, label) for point in points for label in labels]
    return points


def draw(pane: Any, result: Result, name: str, rows: Array) -> None:
    """Draws one quantity of one run: a line for each flow, or one for the queue."""
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
    for number in np.unique(flow):
        own = flow == number
        pane.plot(*line(samples, name, rows[own], time[own]), lw=0.9, label=f"flow {number}")
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
