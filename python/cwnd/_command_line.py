"""The command line, which is the same program as the one that cargo builds, and can run studies on executors."""

from __future__ import annotations

import signal
import sys

from . import _cwnd
from ._executor import made, sweep
from ._progress import Shown


def main() -> None:
    """Runs the command line with the arguments of this process, and exits with its code."""
    arguments = ["cwnd", *sys.argv[1:]]
    if asks_for_executor(arguments):
        code = elsewhere(arguments)
        if code is not None:
            sys.exit(code)
        arguments = without_executor(arguments)
    # Python turns Ctrl-C into an exception that only Python code sees; the command line has its own way to stop.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_cwnd.command_line(arguments))


FLAG = "--executor"


def asks_for_executor(arguments: list[str]) -> bool:
    """Whether this is a command with `--executor`."""
    return any(word == FLAG or word.startswith(f"{FLAG}=") for word in arguments)


def without_executor(arguments: list[str]) -> list[str]:
    """The command without the flag and its value."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == FLAG:
            next(words, None)
        elif not word.startswith(f"{FLAG}="):
            kept.append(word)
    return kept


def elsewhere(arguments: list[str]) -> int | None:
    """Has the missing runs of a study done by an executor. Returns the exit code, or None if all is stored: what is left to do, such as
    the report, is the same command without the flag."""
    try:
        found = _cwnd.elsewhere(arguments, 1)
        if found is None:
            # It is refused, or explained.
            return _cwnd.command_line(arguments)
        url, quiet, native = found
        if native is None:
            return None
        with made(url) as executor, Shown(not quiet, "cwnd run") as shown:
            sweep(native, executor, None, shown.update)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped: what is done is stored; run the same command again to continue\n")
        return 130
    except _cwnd.CwndError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2 if isinstance(error, _cwnd.InputError) else 1
    return None
