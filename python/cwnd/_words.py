"""Python values as the words of the command line and of study files."""

from __future__ import annotations

import difflib
import json
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from . import _cwnd

TIMES = ("ns", "us", "ms", "s")
RATES = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s")


@cache
def kinds() -> dict[str, str]:
    """For each setting what it takes."""
    return {key: takes for key, takes, _, _ in _cwnd.settings()}


def key(name: str) -> str:
    """Returns a keyword argument as a setting's key."""
    return name.replace("_", "-")


def by_key(place: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings by their keys. Two spellings of one key are refused, since one of the values would have no effect."""
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for name, value in given.items():
        own = key(name)
        if own in found:
            raise _cwnd.InputError(f"{place}: `{spelled[own]}` and `{name}` are the same setting: give one of them")
        found[own], spelled[own] = value, name
    return found


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the keyword that a name was probably meant to be; None if none is near."""
    # Words of other meanings, such as `bandwidth` and `candidate`, reach 0.7.
    found = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), 1, 0.72)
    return found[0] if found else None


def plain(value: object) -> object:
    """Returns a number or a switch of another library, such as NumPy's, as Python's own; anything else as it is."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return value


def values(name: str, given: Iterable[Any]) -> list[Any]:
    """Returns what a list has. A text is refused, since its letters would be taken one by one."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise _cwnd.InputError(f"{name}: is {given!r}; it must be a list, such as [{given!r}]")
    return list(given)


def count(name: str, value: object, least: int, most: int) -> int:
    """Returns a whole number within limits."""
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise _cwnd.InputError(f"{name}: is {value!r}; it must be a whole number from {least:,} to {most:,}")
    return number


def word(name: str, value: object) -> str:
    """Returns the value of a setting as it is written: numbers are seconds, bit/s, or what the setting counts."""
    value = plain(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        takes = kinds().get(key(name), "text")
        refuse_number(name, value)
        if takes in TIMES:
            return f"{decimal(value)} s"
        if takes in RATES:
            return f"{decimal(value)} bit/s"
        return decimal(value)
    return str(value)


def refuse_number(name: str, value: object) -> None:
    """Refuses a fractional number where digits count that it does not keep: the version 6.10 is the number 6.1."""
    if kinds().get(key(name)) == "form" and isinstance(value, float):
        raise _cwnd.InputError(f"{name}: {value!r} is a number, which does not keep a zero at its end: give a text, such as \"6.12\"")


def decimal(value: float) -> str:
    """Returns a number without an exponent, with all its digits."""
    if isinstance(value, int) or value.is_integer():
        return str(int(value))
    if not math.isfinite(value):
        return str(value)
    return f"{Decimal(repr(value)):f}"


def toml(document: Mapping[str, Any]) -> str:
    """Writes a document as TOML: plain values first, then tables and lists of tables."""
    lines: list[str] = []
    write_table(lines, (), document)
    return "\n".join(lines).lstrip("\n") + "\n"


def write_table(lines: list[str], path: tuple[str, ...], table: Mapping[str, Any]) -> None:
    """Writes a table with what is in it."""
    later: list[tuple[str, Any]] = []
    for name, value in table.items():
        if value is None:
            continue
        if isinstance(value, Mapping) or is_tables(value):
            later.append((name, value))
        else:
            lines.append(f"{quoted(name)} = {inline(value)}")
    for name, value in later:
        inner = (*path, name)
        heading = ".".join(quoted(part) for part in inner)
        for one in [value] if isinstance(value, Mapping) else value:
            lines.append(f"\n[{heading}]" if isinstance(value, Mapping) else f"\n[[{heading}]]")
            write_table(lines, inner, one)


def is_tables(value: object) -> bool:
    """Whether this is a list of tables."""
    return isinstance(value, Sequence) and bool(value) and all(isinstance(one, Mapping) for one in value)


def inline(value: object) -> str:
    """Writes a value that is no table, or a table in a line."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{quoted(k)} = {inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(inline(one) for one in value) + "]"
    raise TypeError(f"{value!r} cannot be written into a study: give a text, a number, a switch, a list or a dict")


def quoted(name: str) -> str:
    """Writes a key, in quotes if it needs them."""
    plain = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if plain else text(name)


def text(value: str) -> str:
    """Writes a text as a basic string of TOML. It has the escapes of JSON except surrogate pairs, and may not have U+007F as it is."""
    surrogate = next((c for c in value if "\ud800" <= c <= "\udfff"), None)
    if surrogate is not None:
        raise _cwnd.InputError(f"{value!r} has a lone surrogate, U+{ord(surrogate):04X}: it is no character, and UTF-8 cannot have it")
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
