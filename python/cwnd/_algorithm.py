"""Algorithms that are Python classes."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from . import _cwnd, _words
from ._cwnd import Ack, Congestion, Window
from ._digest import digest


class CongestionControl(ABC):
    """A congestion control algorithm of one flow.

    Subclass it, and pass the class wherever the name of an algorithm goes:

    >>> class Aimd(cwnd.CongestionControl):
    ...     observables = {"epochs": "1"}
    ...     def __init__(self, beta=0.5):
    ...         self.beta = beta
    ...         self.epochs = 0
    ...     def on_ack(self, window, ack):
    ...         if not ack.may_grow:
    ...             return
    ...         acked = window.slow_start(ack.acked) if window.in_slow_start else ack.acked
    ...         window.increase(acked, window.cwnd)
    ...     def on_congestion(self, window, event):
    ...         self.epochs += 1
    ...         window.ssthresh = self.beta * window.cwnd
    >>> cwnd.compare([Aimd, "newreno"], rate="20 Mbit/s", rtt="40 ms")

    The transport makes an instance for each flow, tells it each event, and passes the flow's window; windows are in segments and times
    in seconds. Arguments of `__init__` are parameters of the name `Aimd@python`, which is known where the class is given, too:
    `cwnd.compare([Aimd, "Aimd@python:beta=0.7"])`. The window and the event are the same objects at each call: copy what is to be kept.
    An exception ends the run, and is raised where the run was asked for.

    A data packet takes about half a microsecond of CPU, some three times as much as with an algorithm in Rust
    (`docs/how-to/python.md` has the numbers). Results are stored under a hash of the class: its source, the values of its attributes, the
    defaults of its methods and what they have taken from around them (closures), and the same of its base classes. Global names that it
    uses are not part of that. Where a file was edited after the import, the code that is loaded counts in place of the source.
    A class whose source is not known (made by `exec`, for example), or that has values without a stable hash, is run again each time.

    Optional methods: `init(window, init)`, `on_recovery_exit(window, now)`, `on_undo(window, now)`,
    `on_idle_restart(window, now, idle)`, `on_dup_ack(window, dup)` and `on_packet_lost(window, lost)`.
    """

    observables: ClassVar[Iterable[str] | Mapping[str, str]] = ()
    """Attributes that are recorded over time as `state.<name>`: their names, or a dict of names and units."""
    rate_samples: ClassVar[bool] = False
    """Whether `ack.rate` is computed."""
    pacing: ClassVar[bool] = False
    """Whether packets are spaced by `window.pacing_rate`."""
    owns_recovery: ClassVar[bool] = False
    """Whether the algorithm moves `cwnd` itself during recovery, as BBR does."""
    ecn: ClassVar[str | None] = None
    """None, "classic" (an echo a round trip) or "exact" (all marks, as DCTCP needs)."""

    @abstractmethod
    def on_ack(self, window: Window, ack: Ack) -> None:
        """Handles an ACK that acknowledged or SACKed segments, or carried marks. Grow only if `ack.may_grow`."""

    @abstractmethod
    def on_congestion(self, window: Window, event: Congestion) -> None:
        """Handles the beginning of a congestion episode: set `window.ssthresh`; the transport moves `cwnd` there."""


EVENTS = (
    "init",
    "on_ack",
    "on_congestion",
    "on_recovery_exit",
    "on_undo",
    "on_idle_restart",
    "on_dup_ack",
    "on_packet_lost",
)


def is_algorithm(thing: object) -> bool:
    """Whether this is a class that can run flows."""
    return isinstance(thing, type) and issubclass(thing, CongestionControl)


def described(cls: type[CongestionControl], *known: str | None) -> _cwnd.AlgorithmClass:
    """Describes a class to the simulator, with its digest if another process has computed it."""
    source = known[0] if known else digest_of(cls)
    shown = cls.observables
    if not isinstance(shown, Mapping):
        shown = _words.values(f"{cls.__name__}.observables", shown)
    observables = list(shown.items()) if isinstance(shown, Mapping) else [(name, "") for name in shown]
    for texts in observables:
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"{cls.__name__}.observables is {cls.observables!r}; it must be names of attributes, or names with their units")
    methods = [name for name in EVENTS if callable(getattr(cls, name, None))]
    return _cwnd.AlgorithmClass(cls, name_of(cls), source, observables, methods)


def name_of(cls: type[CongestionControl]) -> str:
    """The name by which studies call a class."""
    return f"{cls.__name__}@python"


def digest_of(cls: type[CongestionControl]) -> str | None:
    """The hash of a class, under which results are stored; None if there is none."""
    return digest(cls, CongestionControl)


class Names:
    """Replaces classes by names, and collects them."""

    def __init__(self, classes: Sequence[type[CongestionControl]] = ()) -> None:
        """Begins with classes that texts name: `Name@python`."""
        self.classes: dict[str, type[CongestionControl]] = {}
        for cls in classes:
            self.name(cls)

    def name(self, thing: object) -> str:
        """Returns the name of an algorithm: a text stays as it is, and a class gets its name."""
        if isinstance(thing, type) and issubclass(thing, CongestionControl):
            if inspect.isabstract(thing):
                missing = ", ".join(sorted(thing.__abstractmethods__))
                raise _cwnd.InputError(f"{thing.__name__} has not all that an algorithm needs: {missing}")
            name = name_of(thing)
            if self.classes.setdefault(name, thing) is not thing:
                raise _cwnd.InputError(f"two classes are called {thing.__name__}: give one another name")
            return name
        if isinstance(thing, str):
            return thing
        raise _cwnd.InputError(f"{thing!r} is no algorithm: give a name (`cwnd.algorithms()`) or a subclass of cwnd.CongestionControl")

    def described(self) -> list[_cwnd.AlgorithmClass]:
        """The classes, for the simulator."""
        return [described(cls) for cls in self.classes.values()]
