"""The source of code that is loaded, where the file still has it."""

from __future__ import annotations

import __future__
import hashlib
import inspect
import tokenize
import types
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

FEATURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names} - {inspect.CO_NESTED, 0})
"""Flags of code that is compiled with features of `__future__`. A notebook's cell has them from earlier cells."""
UNREADABLE = (OSError, TypeError, SyntaxError, ValueError, tokenize.TokenError)
"""What `inspect` raises if there is no source, or a file that is no program any more."""


class Unknown(Exception):
    """Something has no stable hash."""


def of_class(cls: type) -> str:
    """Returns the source of a class, as the file has it now: its functions may be others than those that are loaded."""
    try:
        return inspect.getsource(cls)
    except UNREADABLE as error:
        raise Unknown(cls) from error


def of_code(code: types.CodeType) -> tuple[str, ...]:
    """Returns the source of loaded code. If the file has other code there now, or the text does not tell all of it, returns a hash of the
    code instead: that depends on the version of Python."""
    try:
        lines, first = inspect.findsource(code)
        block = inspect.getblock(lines[first:])
    except UNREADABLE as error:
        raise Unknown(code) from error
    # The text of a lambda ends with its first line if the expression around it goes on.
    is_whole = first < code.co_firstlineno and last_line(code) <= first + len(block)
    own = fingerprint(code)
    there = in_file("".join(lines), code.co_flags & FEATURES).get((code.co_firstlineno, code.co_name))
    return ("".join(block),) if is_whole and there == {own} else ("loaded", own)


@lru_cache(maxsize=16)
def in_file(text: str, features: int) -> dict[tuple[int, str], set[str]]:
    """Returns the hashes of all code that a file has, by first line and name. Lambdas of one line share both."""
    found: dict[tuple[int, str], set[str]] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile(text, "<source>", "exec", flags=features, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return found
    for code in within(whole):
        found.setdefault((code.co_firstlineno, code.co_name), set()).add(fingerprint(code))
    return found


def within(code: types.CodeType) -> Iterator[types.CodeType]:
    """Returns code and all code inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from within(constant)


def last_line(code: types.CodeType) -> int:
    """Returns the last line that code was compiled from."""
    return max((line for one in within(code) for _, _, line in one.co_lines() if line is not None), default=code.co_firstlineno)


def fingerprint(code: types.CodeType) -> str:
    """Returns a hash of all that decides what code does. Its place in the file does not count."""
    return hashlib.sha256(repr(shape(code)).encode("utf-8", "surrogatepass")).hexdigest()


def shape(value: Any) -> tuple[Any, ...]:
    """Returns a constant as a tuple that is the same in each process, and for no other constant."""
    if isinstance(value, types.CodeType):
        counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        handlers = getattr(value, "co_exceptiontable", b"")  # From Python 3.11 on; it was part of the code before.
        return "code", value.co_name, counts, names, value.co_code, handlers, shape(value.co_consts)
    if isinstance(value, tuple):
        return "tuple", *map(shape, value)
    if isinstance(value, frozenset):
        return "frozenset", *sorted(repr(shape(one)) for one in value)
    return type(value).__name__, repr(value)
