"""The hash of all that decides what an algorithm's class does, as far as that is in the class."""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _source
from ._source import Unknown

IGNORED = frozenset(
    (
        "__abstractmethods__",
        "__annotate__",
        "__annotate_func__",
        "__annotations__",
        "__annotations_cache__",
        "__classdict__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__qualname__",
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",
    )
)
"""Attributes that Python gives each class; they say nothing of what it does, or change where the source does not."""

PYTHONS = ("abc", "builtins", "collections.abc", "enum", "typing")
"""Modules whose classes are those of the interpreter."""


def digest(cls: type, base: type) -> str | None:
    """Returns the hash of a class and those that it is derived from, up to `base`: their sources, the values of their attributes, and what
    their functions have taken from around them (closures and defaults). Where a file was changed after the import, the code that is loaded
    counts in place of the source. None if something of that is not known or has no stable hash."""
    try:
        return Digest(base).of_class(cls)
    except (Unknown, RecursionError):
        return None


class Digest:
    """Hashes values. Those that refer to themselves are hashed once."""

    def __init__(self, base: type) -> None:
        self.base = base
        self.hash = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.kept: list[object] = []

    def of_class(self, cls: type) -> str:
        """Hashes a class, and returns the hash of all so far."""
        self.add(cls)
        return self.hash.hexdigest()

    def text(self, *texts: str) -> None:
        """Adds texts, each with its length, so that no two lists of them are alike."""
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            self.hash.update(b"%d:" % len(data) + data)

    def add(self, value: Any) -> None:
        """Adds a value with its type."""
        if isinstance(value, enum.Enum):
            self.all("member", [type(value), value.name])
        elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            # A value of a derived class may be more than its text.
            if type(value) not in (type(None), bool, int, float, complex, str, bytes) and not isinstance(value, np.generic):
                self.add(type(value))
            self.text(type(value).__name__, repr(value))
        elif id(value) in self.seen:
            self.text("seen", str(self.seen[id(value)]))
        else:
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)  # No other value gets its address.
            self.add_object(value)

    def add_object(self, value: Any) -> None:
        """Adds a value that may have others."""
        # Of a derived class the type and its state would count, too: those have no stable hash.
        if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
            self.all(type(value).__name__, value)
        elif isinstance(value, (dict, types.MappingProxyType)) and type(value) in (dict, types.MappingProxyType):
            self.all("dict", (part for item in value.items() for part in item))
        elif type(value) in (set, frozenset):
            # Their order differs between processes.
            self.text("set", *sorted(self.apart(one) for one in value))
        elif isinstance(value, np.generic):
            self.text("numpy", str(value.dtype), value.tobytes().hex())
        elif type(value) is np.ndarray and not value.dtype.hasobject:
            self.text("array", str(value.dtype), str(value.shape), value.tobytes().hex())
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, types.FunctionType):
            self.add_function(value)
        elif isinstance(value, (staticmethod, classmethod)):
            self.all(type(value).__name__, [value.__func__])
        elif isinstance(value, property):
            self.all("property", [value.fget, value.fset, value.fdel])
        elif isinstance(value, functools.cached_property):
            self.all("cached", [value.func])
        elif isinstance(value, functools.partial):
            self.all("partial", [value.func, value.args, value.keywords])
        elif isinstance(value, types.MethodType):
            self.all("method", [value.__func__, value.__self__])
        elif isinstance(value, types.BuiltinFunctionType) and (value.__self__ is None or isinstance(value.__self__, types.ModuleType)):
            self.text("builtin", str(value.__module__), value.__qualname__)
        elif isinstance(value, types.ModuleType):
            self.text("module", value.__name__)
        elif isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            self.text("slot", value.__name__)
        else:
            raise Unknown(value)

    def all(self, kind: str, values: Iterable[Any]) -> None:
        """Adds a kind of value with what it has."""
        listed = list(values)
        self.text(kind, str(len(listed)))
        for value in listed:
            self.add(value)

    def apart(self, value: Any) -> str:
        """Returns the hash of a value by itself."""
        own = Digest(self.base)
        own.add(value)
        return own.hash.hexdigest()

    def add_class(self, cls: type) -> None:
        """Adds the classes of an MRO: the source and the attributes of each."""
        for one in cls.__mro__:
            # Not its module: that of a script has another name in a worker.
            self.text("class", one.__qualname__)
            if one is self.base or is_pythons(one):
                continue
            self.text(_source.of_class(one))
            if issubclass(one, enum.Enum):
                self.all("members", ((member.name, member.value) for member in one))
                self.attributes(functions(one))
            else:
                self.attributes(vars(one))

    def attributes(self, attributes: Mapping[str, Any]) -> None:
        """Adds what a class has, in the order of the names."""
        for name in sorted(attributes.keys() - IGNORED):
            self.text(name)
            self.add(attributes[name])

    def add_function(self, function: types.FunctionType) -> None:
        """Adds a function: its source, which may be elsewhere than that of its class, and what it has taken from around it."""
        try:
            inner = inspect.unwrap(function)
        except ValueError as error:
            # It wraps itself.
            raise Unknown(function) from error
        try:
            self.text("function", function.__qualname__, *_source.of_code(code_of(inner)))
        except Unknown:
            # One that was generated, as those of dataclasses are.
            self.add_code(function.__code__)
        else:
            if inner is not function:
                # A decorator's function decides what becomes of the one that it wraps.
                self.add_wrapper(function.__code__)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self.text(name)
            try:
                content = cell.cell_contents
            except ValueError:
                # It gets its value later.
                self.text("empty")
            else:
                self.add(content)

    def add_wrapper(self, code: types.CodeType) -> None:
        """Adds the code of a function that wraps another one."""
        try:
            self.text("wrapper", *_source.of_code(code))
        except Unknown:
            self.add_code(code)

    def add_code(self, code: types.CodeType) -> None:
        """Adds compiled code, with what it names and what is in it."""
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self.all("code", [code.co_name, code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_code, *names])
        if handlers := getattr(code, "co_exceptiontable", b""):
            self.add(handlers)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.add_code(constant)
            else:
                self.add(constant)


def is_pythons(cls: type) -> bool:
    """Whether a class is one of the interpreter's. Classes made by calls may have the names of such modules, too."""
    return cls.__module__ in PYTHONS and getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def code_of(function: Any) -> types.CodeType:
    """Returns the code of a function."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        raise Unknown(function)
    return code


def functions(cls: type) -> dict[str, Any]:
    """Returns the functions of an enumeration, except those that `enum` gives it."""
    found = {}
    for name, value in vars(cls).items():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType) and function.__module__ not in PYTHONS:
            found[name] = value
    return found
