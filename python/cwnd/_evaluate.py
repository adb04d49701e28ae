"""RFC 9743: what a new congestion control should show."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from . import _cwnd, _words
from ._algorithm import CongestionControl, Names

References = str | type[CongestionControl] | Sequence[str | type[CongestionControl]]


def evaluate(
    algorithm: str | type[CongestionControl],
    *,
    section: str | None = None,
    quick: bool = False,
    against: References = ("cubic", "reno", "bbr3"),
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    classes: Sequence[type[CongestionControl]] = (),
) -> dict[str, Any]:
    """Evaluates an algorithm by RFC 9743, as `cwnd evaluate` does, and returns the ledger.

    `algorithm` is a name, perhaps with parameters, or a class; with parameters a class of `classes` is "Name@python:beta=0.7". `section` limits it to a section of the RFC ("5.2.1"), `quick` to a part
    of the cells and fewer repeats. `against` is an algorithm or a list of them: verdicts compare with the first, and the others are shown
    alongside it. The page (`index.html`), the ledger (`ledger.json`) and the results are kept in `out`, by default
    `results/rfc9743/ALGORITHM`; what is there is not run again. With a section, or with other references, the names of both
    files say so (`ledger-5.2.1.json`).

    `ledger["rows"]` has the sections, each with its verdict and criteria (docs/reference/evaluation.schema.json).

    Evaluations of several threads run one after the other.

    Raises `InputError` if something is wrong, `RunError` if a run failed, or what a class raised.
    """
    names = Names(classes)
    arguments = [names.name(algorithm), "--quiet", "--against", ",".join(references(against, names))]
    if section is not None:
        arguments += ["--section", section]
    if quick:
        arguments += ["--quick"]
    if out is not None:
        arguments += ["--out", os.fspath(out)]
    if threads is not None:
        arguments += ["--threads", str(threads)]
    ledger: dict[str, Any] = json.loads(_cwnd.evaluation(arguments, names.described()))
    return ledger


def references(against: References, names: Names) -> list[str]:
    """Returns the names of the references: of one algorithm, or of a list."""
    if isinstance(against, (str, type)):
        return [names.name(against)]
    found = [names.name(one) for one in _words.values("against", against)]
    if not found:
        raise _cwnd.InputError("against: the list is empty; name an algorithm, or leave it out to have the default")
    return found
