"""The report card of algorithms."""

import random

import pytest

import cwnd


@pytest.mark.parametrize("name", [algorithm.name for algorithm in cwnd.algorithms()])
def test_registered_algorithms_pass(name: str) -> None:
    card = cwnd.conformance(name)
    assert card.passed, str(card)


def test_a_class_passes(aimd: type[cwnd.CongestionControl]) -> None:
    card = cwnd.conformance(aimd)
    assert card.passed, str(card)
    assert "Aimd" in card._repr_html_()


def test_mistakes_are_found(aimd: type[cwnd.CongestionControl]) -> None:
    class Dice(aimd):  # type: ignore[valid-type,misc]
        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            window.ssthresh = window.cwnd * random.uniform(0.3, 0.9)

    class Frozen(aimd):  # type: ignore[valid-type,misc]
        def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
            window.cwnd = 2

    class Broken(aimd):  # type: ignore[valid-type,misc]
        def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
            raise LookupError("of no use")

    def failed(algorithm: type[cwnd.CongestionControl]) -> list[str]:
        return [check.name for check in cwnd.conformance(algorithm).checks if not check.passed]

    assert "the same seed gives the same run" in failed(Dice)
    assert "one flow uses the link" in failed(Frozen)
    card = cwnd.conformance(Broken)
    assert not card.passed and any("of no use" in check.measured for check in card.checks)


def test_a_wrong_name_is_an_error_and_no_failed_check() -> None:
    with pytest.raises(cwnd.InputError, match="did you mean `cubic`"):
        cwnd.conformance("cubik")
