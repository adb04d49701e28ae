"""What an algorithm in Python costs, next to the same in Rust: CPU time a data packet.

Each is run several times in turn, and the least time counts: other programs only add to it. Measure the package as `pip install` builds
it; that of `cargo xtask python` is not optimised.
"""

import cwnd

RUNS = 9


class Aimd(cwnd.CongestionControl):
    """Reno."""

    def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
        if ack.may_grow:
            acked = window.slow_start(ack.acked) if window.in_slow_start else ack.acked
            window.increase(acked, window.cwnd)

    def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
        window.ssthresh = window.cwnd / 2


def cost(algorithm: "str | type[cwnd.CongestionControl]") -> float:
    """CPU nanoseconds a data packet of one run."""
    runs = cwnd.compare(algorithm, rate="20 Mbit/s", rtt="40 ms", duration="120 s", threads=1, progress=False).runs
    return float(runs["cpu_s"][0] * 1e9 / runs["packets_sent"][0])


times = [(cost(Aimd), cost("newreno")) for _ in range(RUNS)]
own, rust = (min(column) for column in zip(*times))
print(f"{'in Python':10} {own:6.0f} ns a data packet")
print(f"{'in Rust':10} {rust:6.0f} ns a data packet")
print(f"{'a call':10} {(own - rust) * 2:6.0f} ns, with an ACK for two packets")
print(f"{'ratio':10} {own / rust:6.1f}")
