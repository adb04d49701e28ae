"""What tests share."""

import pytest

import cwnd


class Aimd(cwnd.CongestionControl):
    """Reno, with a parameter."""

    observables = {"epochs": "1"}

    def __init__(self, beta: float = 0.5) -> None:
        self.beta = beta
        self.epochs = 0

    def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
        if not ack.may_grow:
            return
        acked = window.slow_start(ack.acked) if window.in_slow_start else ack.acked
        window.increase(acked, window.cwnd)

    def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
        self.epochs += 1
        window.ssthresh = self.beta * window.cwnd


@pytest.fixture
def aimd() -> type[cwnd.CongestionControl]:
    return Aimd
