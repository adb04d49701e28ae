"""Studies: many runs, that answer a question."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _cwnd, _words
from ._algorithm import CongestionControl, Names
from ._executor import made, packed, sweep
from ._progress import Shown
from ._result import Result

Progress = bool | Callable[[int, int], object]
MOST_THREADS = 65_535

INSTEAD = {
    "trace": "`result.samples` is the table that it writes (`sample` sets the time between them)",
    "plot": "`result.plot()` draws over time, and `result.plot().savefig(FILE)` writes it",
    "sketch": "`result.plot()` draws over time",
    "pcap": "`result.packets()` is a table of the packets; the command `cwnd compare --pcap FILE` writes a capture",
    "pcap-link": "`result.packets()` is a table of the packets; the command `cwnd compare --pcap FILE` writes a capture",
    "qlog": "`result.samples` has the senders' states over time; the command `cwnd compare --qlog FILE` writes a qlog",
    "json": "`result.runs.to_pylist()` has the results as dictionaries",
    "print-study": "`result.study.text` is the study file",
    "open": "`result.report()` writes the report and returns its path",
    "quiet": "give `progress=False`",
    "jobs": "give `threads`",
    "executor": "`Study.run` takes it: make a `cwnd.Study`",
    "directory": "`save` is the directory in which a comparison keeps its results",
    "no-fast-path": "the command `cwnd compare --no-fast-path` has it; the results are the same",
    "algorithm": "give the algorithms as the first argument",
    "help": "`help(cwnd.compare)` and `cwnd.settings()` say what there is",
}
"""Flags of the command and arguments of `Study.run` that are no settings, with what takes their place."""
ARGUMENTS = ("seed", "repeats", "sample", "save", "threads", "memory", "progress", "classes")
"""Keywords of `compare` that are no settings."""


@dataclass(frozen=True)
class Cost:
    """What a study takes, estimated."""

    runs: int
    """Runs, repeats included."""
    cpu_s: float
    """CPU time, seconds."""
    memory: float
    """Memory of its largest run, bytes."""


class Study:
    """A study: scenarios, what differs between them, and what is shown. It is a study file, read.

    >>> study = cwnd.Study(
    ...     title="Buffers",
    ...     scenario={"rate": "100 Mbit/s", "rtt": "40 ms", "duration": "20 s"},
    ...     axes={"algorithm": ["cubic", "bbr3"], "buffer": ["0.1 BDP", "1 BDP", "4 BDP"]},
    ...     repeats=5,
    ... )
    >>> study.check().cpu_s
    >>> result = study.run("results/buffers")
    """

    _native: _cwnd.Study
    _classes: Sequence[type[CongestionControl]] = ()

    def __init__(
        self,
        *,
        title: str,
        scenario: Mapping[str, Any] | None = None,
        axes: Mapping[str, Sequence[Any]] | None = None,
        repeats: int = 1,
        seed: int = 1,
        metrics: Sequence[str] | None = None,
        sample: str | float | None = None,
        name: str = "study",
        classes: Sequence[type[CongestionControl]] = (),
        **tables: Any,
    ) -> None:
        """Makes a study of Python values.

        `scenario` holds settings (`cwnd.settings()`) that all runs share; `axes` those that differ, with their values: every
        combination is run. `sample` is the time between samples of all runs; without it nothing is recorded over time. `classes` are
        algorithms that texts call `Name@python`, such as a mix, or with parameters: "Name@python:beta=0.7". Other keys of
        study files (`figures`, `tables`, `claims`, …) are lists of dicts, as in the file.

        Raises `InputError` with everything that is wrong.
        """
        names = Names(classes)
        own_run = tables.pop("run", {})
        for key in ("repeats", "seed", "metrics"):
            if key in own_run:
                raise _cwnd.InputError(f"run: `{key}` is an argument of its own: write {key}={own_run[key]!r}, and not in `run`")
        if sample is not None and "trace" in tables:
            raise _cwnd.InputError("trace: `sample` says it already: give one of them")
        document: dict[str, Any] = {"title": title, "question": tables.pop("question", title)}
        document["scenario"] = {
            key: setting(key, value, names) for key, value in _words.by_key("scenario", scenario or {}).items()
        }
        run: dict[str, Any] = {"repeats": repeats, "seed": seed}
        if metrics is not None:
            run["metrics"] = _words.values("metrics", metrics)
        document["run"] = {**run, **own_run}
        if sample is not None:
            document["trace"] = {"sample": _words.word("duration", sample), "repeats": repeats}
        document["axes"] = [
            {
                "name": key.replace("-", "_"),
                "key": key,
                "values": [setting(key, value, names) for value in _words.values(f"axes: {key}", values)],
            }
            for key, values in _words.by_key("axes", axes or {}).items()
        ] or None
        document.update(tables)
        self._native = _cwnd.Study(name, f"{name}.toml", _words.toml(document), names.described())
        self._classes = [*names.classes.values()]

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, classes: Sequence[type[CongestionControl]] = ()) -> Study:
        """Reads a study file. `classes` are those that it calls `Name@python`.

        Raises `InputError` with everything that is wrong, each with its line.
        """
        return cls._wrap(_cwnd.Study.load(os.fspath(path), described(classes)), classes)

    @classmethod
    def parse(
        cls, text: str, *, name: str = "study", classes: Sequence[type[CongestionControl]] = ()
    ) -> Study:
        """Reads the text of a study file."""
        return cls._wrap(_cwnd.Study(name, f"{name}.toml", text, described(classes)), classes)

    @classmethod
    def paper(cls, name: str) -> Study:
        """Returns a study of one of the papers, such as "agile-sd/throughput"; `cwnd reproduce` lists them."""
        return cls._wrap(_cwnd.Study.paper(name))

    @classmethod
    def _wrap(cls, native: _cwnd.Study, classes: Sequence[type[CongestionControl]] = ()) -> Study:
        study = cls.__new__(cls)
        study._native = native
        study._classes = classes
        return study

    @property
    def name(self) -> str:
        """Its name."""
        return self._native.name

    @property
    def title(self) -> str:
        """Its title."""
        return self._native.title

    @property
    def text(self) -> str:
        """The study file."""
        return self._native.text

    @property
    def axes(self) -> dict[str, list[str]]:
        """What differs between runs: axes with the labels of their points."""
        return dict(self._native.axes)

    @property
    def repeats(self) -> int:
        """How many times each combination is run."""
        return self._native.repeats

    @property
    def metrics(self) -> list[str]:
        """The metrics that are shown first."""
        return self._native.metrics

    def __len__(self) -> int:
        """How many combinations there are."""
        return self._native.cells

    def __repr__(self) -> str:
        axes = " x ".join(f"{len(labels)} {name}" for name, labels in self.axes.items())
        return f"<cwnd.Study {self.name}: {axes or '1 scenario'}, {self.repeats} repeats>"

    def at_scale(self, scale: str) -> Study:
        """Returns a part of it: "paper" is all, "quick" and "sample" are what its file says of them."""
        return self._wrap(self._native.at_scale(scale), self._classes)

    def check(self) -> Cost:
        """Checks every combination, and returns what the study will cost. Raises `InputError` if one cannot be run."""
        return Cost(*self._native.check())

    def run(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        threads: int | None = None,
        memory: str | int | None = None,
        executor: Executor | str | None = None,
        progress: Progress = True,
    ) -> Result:
        """Runs what is missing, and returns all results.

        With a `directory`, runs are stored there as they are done, under the same keys as those of `cwnd run`, and only what is missing
        is run; Ctrl-C loses nothing. `progress` is True for a bar (tqdm, if it is installed, for what takes longer than a second), False
        for none, or a function of (runs done, runs in all).

        Each of `threads` (1 to 65,535) does one run, and those that are left help with large runs; one a core if not given. `memory` is what runs
        may use together, in bytes or as "4 GB"; what needs more is refused before it begins. If not given, it is 80 % of what the
        machine, or the control group, has free beyond 40 MB.

        `executor` has the runs done elsewhere: any `concurrent.futures.Executor`, such as Dask's `client.get_executor()`,
        `mpi4py.futures.MPIPoolExecutor()` or `cwnd.executors.RayExecutor()`, or a URL (`cwnd.executors.executor`). Workers need cwnd of
        the same version and nothing else. Runs travel in batches of about a second, their results are stored here, and a batch
        whose worker died is done again. The results are the same to the bit. `threads` then has no meaning: the executor has them.

        Raises `RunError` if a run failed, or what an algorithm in Python raised (elsewhere: as a `RunError` with its traceback).
        """
        where = None if directory is None else os.fspath(directory)
        if where == "":
            raise _cwnd.InputError("directory: is empty; name one, or leave it out to keep results in memory")
        if threads is not None:
            threads = _words.count("threads", threads, 1, MOST_THREADS)
        size = None if memory is None else str(memory)
        with Shown(progress, self.title) as shown:
            if executor is None:
                native = self._native.run(where, threads, size, shown.update)
            else:
                with made(executor) as workers:
                    driver = self._native.sweep(where, 1, size)
                    sweep(driver, workers, packed(self._classes), shown.update)
                native = driver.results()
        native.check()
        return Result(native, self)


def compare(
    algorithms: str | type[CongestionControl] | Sequence[str | type[CongestionControl]],
    *,
    seed: int = 1,
    repeats: int = 1,
    sample: str | float | None = None,
    save: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: Progress = True,
    classes: Sequence[type[CongestionControl]] = (),
    **settings: Any,
) -> Result:
    """Runs algorithms over the same network, and returns the results: what `cwnd compare` does.

    `algorithms` are names, perhaps with parameters ("agile-sd:lambda_max=4"), or classes; `mix="cubic*2,bbr3*2"` is a run of several. Texts
    name a class as `Name@python` if `classes` has it: `compare([], mix="Name@python*2,cubic*2", classes=[Name])`.
    Settings are the command line's: `rate`, `rtt`, `buffer`, `flows`, `duration`, … (`cwnd.settings()`). `sample` is the time between
    samples of all runs. Without it the first repeat of each is sampled at a tenth of the shortest base round-trip time, or so much less
    often that there are at most 5,000 times. Then no run is sampled if one would have more than 100,000 samples (one a flow at each time),
    or one repeat of all together more than a million. `save` is a directory in which results are kept. `threads` and `memory` are as in
    `Study.run`.

    Raises `InputError` if something is wrong, with what would be right.
    """
    named = list(algorithms) if isinstance(algorithms, Sequence) and not isinstance(algorithms, str) else [algorithms]
    if save is not None and os.fspath(save) == "":
        raise _cwnd.InputError("save: is empty; name a directory, or leave it out to keep results in memory")
    study = comparison(named, seed=seed, repeats=repeats, sample=sample, settings=settings, classes=classes)
    return study.run(save, threads=threads, memory=memory, progress=progress)


def comparison(
    algorithms: Sequence[object],
    *,
    seed: int,
    settings: Mapping[str, Any],
    repeats: int = 1,
    sample: str | float | None = None,
    arguments: Sequence[str] = ARGUMENTS,
    classes: Sequence[type[CongestionControl]] = (),
) -> Study:
    """Makes the study of a comparison, from the command line's words. `arguments` are keywords of the caller that are no settings."""
    names = Names(classes)
    words = [names.name(one) for one in algorithms]
    for key, value in settings.items():
        refuse_keyword(key, arguments)
        for one in several(key, value):
            words += [f"--{_words.key(key)}", _words.word(key, setting(key, one, names))]
    if sample is not None:
        words += ["--sample", _words.word("duration", sample)]
    words += ["--seed", str(seed), "--repeats", str(repeats)]
    native = _cwnd.Study("compare", "compare", _cwnd.comparison(words), names.described())
    return Study._wrap(native, [*names.classes.values()])


def refuse_keyword(name: str, arguments: Sequence[str]) -> None:
    """Refuses a keyword that is no setting, with what was probably meant. The command line would advise on its own flags."""
    key = _words.key(name)
    if key in INSTEAD:
        raise _cwnd.InputError(f"{name}: this is no setting: {INSTEAD[key]}")
    if key in _words.kinds():
        return
    known = [*arguments, *(one.replace("-", "_") for one in _words.kinds() if one not in INSTEAD)]
    near = _words.nearest(name, known)
    advice = f"`cwnd.settings()` lists the settings; other arguments are {', '.join(arguments)}"
    raise _cwnd.InputError(f"{name}: there is no such setting or argument: {advice if near is None else f'did you mean `{near}`?'}")


def described(classes: Sequence[type[CongestionControl]]) -> list[_cwnd.AlgorithmClass]:
    """Describes classes to the simulator."""
    return Names(classes).described()


def several(key: str, value: object) -> Sequence[object]:
    """Returns the values of a setting that are given: those of a list, or the only one."""
    if not isinstance(value, (list, tuple)):
        return [value]
    if not value:
        raise _cwnd.InputError(f"{key}: the list is empty; give a value, or leave it out to have the default")
    return value


def setting(key: str, value: object, names: Names) -> object:
    """A value of a setting as a study file has it."""
    value = _words.plain(value)
    if isinstance(value, type):
        return names.name(value)
    if isinstance(value, (bool, int)) and _words.kinds().get(_words.key(key)) in ("switch", "count", "packets"):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [setting(key, one, names) for one in several(key, value)]
    return _words.word(key, value)
