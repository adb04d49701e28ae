"""The command line, which is the same program as the one that cargo builds, and can run studies on executors."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import signal
import sys
import traceback
from types import ModuleType

from . import _cwnd
from ._algorithm import CongestionControl, Names, described, is_algorithm
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
    named = _cwnd.class_of_file(arguments)
    if named is not None:
        sys.exit(evaluate_class(arguments, *named))
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


def evaluate_class(arguments: list[str], file: str, name: str) -> int:
    """Does `cwnd evaluate FILE.py:CLASS`. Returns the exit code."""
    try:
        algorithm = described(class_of_file(file, name))
    except _cwnd.InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _cwnd.evaluate_class(arguments, algorithm)
    except Exception:
        traceback.print_exc()
        return 1


def class_of_file(file: str, name: str) -> type[CongestionControl]:
    """Imports a file and returns the class of this name. The file may import what is next to it.

    Raises `InputError` if the file cannot be imported, or has no such algorithm.
    """
    path = pathlib.Path(file)
    if not path.is_file():
        raise _cwnd.InputError(f"there is no file `{file}`")
    module = imported(path)
    found = getattr(module, name, None)
    if not isinstance(found, type) or not is_algorithm(found):
        own = [key for key, value in vars(module).items() if is_algorithm(value) and value is not CongestionControl]
        there = f"it has {', '.join(own)}" if own else "it has no subclass of cwnd.CongestionControl"
        raise _cwnd.InputError(f"`{file}` has no algorithm `{name}`: {there}")
    # A class that lacks a method is refused.
    Names().name(found)
    return found


def imported(path: pathlib.Path) -> ModuleType:
    """Imports a file as a module."""
    place = os.fspath(path.resolve().parent)
    if place not in sys.path:
        sys.path.insert(0, place)
    # No module of another package is replaced.
    name = f"_cwnd_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _cwnd.InputError(f"`{path}` is no file of Python")
    module = importlib.util.module_from_spec(spec)
    # `inspect.getsource` finds the source of a class by its module.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _cwnd.InputError(f"`{path}` cannot be imported:\n{traceback.format_exc().rstrip()}") from error
    return module
