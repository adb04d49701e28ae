"""What there is: algorithms, metrics and settings."""

from __future__ import annotations

from dataclasses import dataclass

from . import _cwnd


@dataclass(frozen=True)
class Algorithm:
    """A registered algorithm."""

    name: str
    """Its name, as it is written everywhere."""
    title: str
    year: int
    """When it was published."""
    signals: tuple[str, ...]
    """What it listens to: loss, delay, ecn, rate."""
    parameters: tuple[str, ...]
    """The names of its parameters: `"agile-sd:lambda_max=4"`."""
    reference: str
    """The publication."""
    summary: str


@dataclass(frozen=True)
class Metric:
    """A metric of a run, a flow or a link, or one that compares two results."""

    name: str
    title: str
    unit: str
    """Empty for a ratio or a count."""
    formula: str
    about: str


@dataclass(frozen=True)
class Setting:
    """A setting of a scenario: a keyword argument of `compare`, a flag, a key of study files."""

    key: str
    takes: str
    """ "switch", "count", "form" (a text such as the default), "text", or the unit in which a quantity is shown."""
    default: str
    about: str


def algorithms() -> list[Algorithm]:
    """Returns the registered algorithms."""
    return [
        Algorithm(name, title, year, tuple(signals), tuple(parameters), reference, summary)
        for (name, title, reference, summary), year, signals, parameters in _cwnd.algorithms()
    ]


def metrics() -> list[Metric]:
    """Returns the metrics.

    Those of runs are columns of `Result.runs` by their names (`metric.name in result.runs`). Those of flows and links have the name of the
    flow or the link before theirs: `flow1.throughput_share`, `bottleneck.mean_packets`. Some have both (`throughput_bps`,
    `flow1.throughput_bps`). Those that compare two results, such as `harm` ("of two results" in `docs/metrics.md`), are no columns.
    """
    return [Metric(*row) for row in _cwnd.metrics()]


def settings() -> list[Setting]:
    """Returns the settings of scenarios."""
    return [Setting(*row) for row in _cwnd.settings()]
