"""The hash of a class is that of the code that runs, also where its file was edited after the import."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import cwnd
from cwnd._algorithm import digest_of

BASE = """
import functools, cwnd

class Base(cwnd.CongestionControl):
    def on_ack(self, window, ack):
        if ack.may_grow:
            window.increase(window.slow_start(ack.acked) if window.in_slow_start else ack.acked, window.cwnd)

def scaled(method):
    @functools.wraps(method)
    def inner(self, window, event):
        method(self, window, event)
        window.ssthresh *= 0.9
    return inner

def table(fast):
    return (lambda beta: beta) if fast else (lambda beta: beta / 3)

def sum_of():
    return (lambda beta: beta
            + 0.015625)
"""

OWN = """
import enum
from base import Base, scaled, sum_of, table

class Mode(enum.Enum):
    FAST = 1
    def factor(self):
        return 1.0

class Own(Base):
    mode = Mode.FAST
    choice = staticmethod(table(True))
    total = staticmethod(sum_of())

    class Inner:
        def least(self):
            return 2.5

    @scaled
    def on_congestion(self, window, event):
        def reduced(beta):
            try:
                return beta * self.mode.factor()
            except ValueError:
                return 0.125
        window.ssthresh = max(reduced(0.5) * window.cwnd, self.Inner().least())
"""

Load = Callable[[], type[cwnd.CongestionControl]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports the class of the file as a new process would."""
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    # Its times have a resolution of a second, in which these tests edit several times.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("base", "own", "helper"):
        # So that they are removed again.
        monkeypatch.setitem(sys.modules, name, ModuleType(name))

    def loaded() -> type[cwnd.CongestionControl]:
        for name in ("base", "own", "helper"):
            sys.modules.pop(name, None)
        cls: type[cwnd.CongestionControl] = importlib.import_module("own").Own
        return cls

    return loaded


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("own.py", "reduced(0.5)", "reduced(0.75)"),
        ("own.py", "return 0.125", "return 0.0625"),
        ("own.py", "except ValueError", "except TypeError"),
        ("own.py", "max(", "min("),
        ("own.py", "return 2.5", "return 4.25"),
        ("own.py", "return 1.0", "return 1.25"),
        ("base.py", "if ack.may_grow:", "if not ack.may_grow:"),
        ("base.py", "*= 0.9", "*= 0.75"),
        ("base.py", "if fast else", "if not fast else"),
        ("base.py", "+ 0.015625", "+ 0.03125"),
    ],
)
def test_code_that_was_edited_after_the_import_has_another_hash(
    load: Load, tmp_path: Path, file: str, before: str, after: str
) -> None:
    own = load()
    first = digest_of(own)
    assert first is not None and digest_of(load()) == first
    edit(tmp_path / file, before, after)
    stale, new = digest_of(own), digest_of(load())
    assert stale is not None and new is not None
    # What is loaded is still the old code, perhaps under a hash of its own.
    assert new not in (first, stale)
    assert digest_of(own) == stale
    edit(tmp_path / file, after, before)
    assert digest_of(own) == first == digest_of(load())


def test_lines_that_move_do_not_matter_to_a_new_process(load: Load, tmp_path: Path) -> None:
    own = load()
    first = digest_of(own)
    edit(tmp_path / "base.py", "def scaled", "# Lambdas and functions below are elsewhere now.\n\n\ndef scaled")
    assert digest_of(own) is not None
    assert digest_of(load()) == first


@pytest.mark.parametrize("text", ["", "class Own(:\n", OWN.replace("def on_congestion", "def on_congestion(("), "\0", '"""'])
def test_a_file_that_is_no_program_any_more_is_no_error(load: Load, tmp_path: Path, text: str) -> None:
    own = load()
    first = digest_of(own)
    (tmp_path / "own.py").write_text(text)
    assert digest_of(own) is None or digest_of(own) != first


def test_results_of_old_code_are_not_those_of_the_new_source(load: Load, tmp_path: Path) -> None:
    def ran(cls: type[cwnd.CongestionControl]) -> tuple[bool, float]:
        network = {"rate": "20 Mbit/s", "rtt": "40 ms", "duration": "10 s", "buffer": 20}
        result = cwnd.compare(cls, save=tmp_path / "store", progress=False, **network)
        return "1 runs done" in repr(result), result.runs["throughput_bps"][0]

    own = load()
    edit(tmp_path / "own.py", "reduced(0.5)", "reduced(0.125)")
    old, new = ran(own), ran(load())
    assert old[0] and new[0] and old[1] != new[1]
    assert ran(own) == (False, old[1])
    assert ran(load()) == (False, new[1])


def test_a_hash_is_the_same_in_all_versions_of_python(tmp_path: Path, load: Load) -> None:
    """It is that of the source, so that results that were stored by earlier versions are found."""
    (tmp_path / "own.py").write_text(
        "from base import Base\n"
        "class Own(Base):\n"
        "    factor = 0.5\n"
        "    def on_congestion(self, window, event):\n"
        "        window.ssthresh = self.factor * window.cwnd\n"
    )
    assert digest_of(load()) == "8f604fc7b80f92b6a534b502570c6f14fa01e3c3f65900a87e684d8d2ac1557d"


def test_functions_of_other_modules_in_an_enumeration_count(load: Load, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def factor(self):\n    return 1.0\n")
    (tmp_path / "own.py").write_text(
        "import enum\n"
        "from base import Base\n"
        "from helper import factor\n"
        "class Mode(enum.Enum):\n"
        "    FAST = 1\n"
        "    factor = factor\n"
        "class Own(Base):\n"
        "    mode = Mode.FAST\n"
        "    def on_congestion(self, window, event):\n"
        "        window.ssthresh = self.mode.factor() * window.cwnd\n"
    )
    first = digest_of(load())
    edit(tmp_path / "helper.py", "1.0", "2.0")
    assert first is not None and digest_of(load()) not in (None, first)


def test_a_function_that_wraps_itself_has_no_hash(aimd: type[cwnd.CongestionControl]) -> None:
    class Own(aimd):  # type: ignore[valid-type,misc]
        def init(self, window: cwnd.Window) -> None:
            pass

    Own.init.__wrapped__ = Own.init
    assert digest_of(Own) is None
