"""What an algorithm in Python costs, beside the same in Rust: CPU time a data packet."""

import cwnd


class Aimd(cwnd.CongestionControl):
    """Reno."""

    def on_ack(self, window: cwnd.Window, ack: cwnd.Ack) -> None:
        if ack.may_grow:
            acked = window.slow_start(ack.acked) if window.in_slow_start else ack.acked
            window.increase(acked, window.cwnd)

    def on_congestion(self, window: cwnd.Window, event: cwnd.Congestion) -> None:
        window.ssthresh = window.cwnd / 2


result = cwnd.compare([Aimd, "newreno"], rate="20 Mbit/s", rtt="40 ms", duration="60 s", progress=False)
packets = result.runs["packets_sent"]
for name, cpu, count in zip(result.runs["algorithm"], result.runs["cpu_s"], packets):
    print(f"{name:12} {cpu * 1e9 / count:6.0f} ns a data packet")
own, rust = result.runs["cpu_s"] / packets
print(f"{'a call':12} {(own - rust) * 1e9 * 2:6.0f} ns, with an ACK for two packets")
