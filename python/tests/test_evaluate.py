"""Evaluation by RFC 9743."""

import pathlib

import pytest

import cwnd


def test_a_class_is_evaluated(aimd: type[cwnd.CongestionControl], tmp_path: pathlib.Path) -> None:
    ledger = cwnd.evaluate(aimd, section="6.3", quick=True, against=["reno"], out=tmp_path)
    assert ledger["candidate"] == "Aimd@python" and ledger["reference"] == "newreno"
    (row,) = ledger["rows"]
    # The class is Reno's rules.
    assert row["section"] == "6.3" and row["verdict"] == "as"
    assert (tmp_path / "index.html").is_file() and (tmp_path / "ledger.json").is_file()


def test_what_is_wrong_is_raised(aimd: type[cwnd.CongestionControl], tmp_path: pathlib.Path) -> None:
    class Broken(aimd):  # type: ignore[valid-type,misc]
        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            raise LookupError("of no use")

    with pytest.raises(LookupError, match="of no use"):
        cwnd.evaluate(Broken, section="6.3", quick=True, against=["reno"], out=tmp_path)
    with pytest.raises(cwnd.InputError, match="no section"):
        cwnd.evaluate("cubic", section="9.9", out=tmp_path)
