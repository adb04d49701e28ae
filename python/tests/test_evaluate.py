"""Evaluation by RFC 9743."""

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import cwnd


def test_a_class_is_evaluated(aimd: type[cwnd.CongestionControl], tmp_path: pathlib.Path) -> None:
    ledger = cwnd.evaluate(aimd, section="6.3", quick=True, against=["reno"], out=tmp_path)
    assert ledger["candidate"] == "Aimd@python" and ledger["reference"] == "newreno"
    (row,) = ledger["rows"]
    # The class is Reno's rules.
    assert row["section"] == "6.3" and row["verdict"] == "as"
    assert (tmp_path / "index-against-newreno-6.3.html").is_file()
    assert (tmp_path / "ledger-against-newreno-6.3.json").is_file()


def test_what_is_wrong_is_raised(aimd: type[cwnd.CongestionControl], tmp_path: pathlib.Path) -> None:
    class Broken(aimd):  # type: ignore[valid-type,misc]
        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            raise LookupError("of no use")

    with pytest.raises(LookupError, match="of no use"):
        cwnd.evaluate(Broken, section="6.3", quick=True, against=["reno"], out=tmp_path)
    with pytest.raises(cwnd.InputError, match="no section"):
        cwnd.evaluate("cubic", section="9.9", out=tmp_path)


def test_references_are_one_algorithm_or_a_list(aimd: type[cwnd.CongestionControl], tmp_path: pathlib.Path) -> None:
    def reference(against: Any) -> str:
        name: str = cwnd.evaluate("cubic", section="6.3", quick=True, against=against, out=tmp_path)["reference"]
        return name

    assert reference("reno") == reference(("reno", "bbr3")) == "newreno"
    assert reference(aimd) == reference([aimd]) == "Aimd@python"
    with pytest.raises(cwnd.InputError, match="against: the list is empty"):
        reference([])
    for wrong in (3, b"reno", None):
        with pytest.raises(cwnd.InputError, match="against: is .* it must be a list"):
            reference(wrong)
    with pytest.raises(cwnd.InputError, match="3 is no algorithm"):
        reference(["reno", 3])


CLASS = """
import cwnd

class Mine(cwnd.CongestionControl):
    def __init__(self, beta=0.5):
        self.beta = beta

    def on_ack(self, window, ack):
        if not ack.may_grow:
            return
        acked = window.slow_start(ack.acked) if window.in_slow_start else ack.acked
        window.increase(acked, window.cwnd)

    def on_congestion(self, window, event):
        window.ssthresh = self.beta * window.cwnd

class Broken(Mine):
    def on_congestion(self, window, event):
        raise LookupError("of no use")
"""


def evaluated(folder: pathlib.Path, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Runs the command for a class of the file `mine.py`."""
    (folder / "mine.py").write_text(CLASS)
    command = [sys.executable, "-m", "cwnd", "evaluate", f"./mine.py:{name}", "--section", "6.3", "--quick"]
    command += ["--against", "reno", "--out", "out", *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_evaluates_a_class_in_a_file(tmp_path: pathlib.Path) -> None:
    done = evaluated(tmp_path, "Mine")
    assert done.returncode == 0, done.stderr
    assert "Mine@python" in done.stdout
    ledger = json.loads((tmp_path / "out/ledger-against-newreno-6.3.json").read_text())
    assert ledger["command"].startswith("cwnd evaluate ./mine.py:Mine")
    # The class is Reno's rules.
    assert [row["verdict"] for row in ledger["rows"]] == ["as"]
    # All other flags are the command's.
    again = evaluated(tmp_path, "Mine", "--diff", "out/ledger-against-newreno-6.3.json", "--fail-on", "regression")
    assert again.returncode == 0 and "Nothing has changed" in again.stdout, again.stderr

    with_parameters = evaluated(tmp_path, "Mine:beta=0.9", "--json")
    assert json.loads(with_parameters.stdout)["candidate"] == "Mine@python:beta=0.9", with_parameters.stderr


def test_the_command_says_what_is_wrong_with_a_class(tmp_path: pathlib.Path) -> None:
    missing = evaluated(tmp_path, "Other")
    assert missing.returncode == 2 and "it has Mine, Broken" in missing.stderr
    raised = evaluated(tmp_path, "Broken")
    assert raised.returncode == 1 and "LookupError: of no use" in raised.stderr
    none = subprocess.run(
        [sys.executable, "-m", "cwnd", "evaluate", "./none.py:Mine"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert none.returncode == 2 and "there is no file" in none.stderr
