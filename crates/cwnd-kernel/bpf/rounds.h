/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What delay a round trip met: the least sample of each, beside the least of the connection's data, and Vegas's
 * estimate of what stands in queues, W (1 - baseRTT/RTT).
 */
#ifndef CWND_ROUNDS_H
#define CWND_ROUNDS_H

/* Fewer samples may all be of delayed ACKs. */
#define LEAST_SAMPLES 3

struct rounds {
	u32 end; /* where the round trip ends, a sequence number */
	u32 base; /* least of the connection, us; ~0 before the first sample */
	u32 rtt; /* least of this round trip, us */
	u32 samples;
	/* The round trip that the last ACK ended; no samples if it ended none. */
	u32 ended_base;
	u32 ended_rtt;
	u32 ended_samples;
};

static INLINE void restart_rounds(struct rounds *rounds)
{
	rounds->rtt = ~0u;
	rounds->samples = 0;
}

static INLINE void begin_rounds(struct tcp_sock *tp, struct rounds *rounds)
{
	rounds->end = tp->snd_una;
	rounds->base = ~0u;
	rounds->ended_samples = 0;
	restart_rounds(rounds);
}

/* Measure an ACK. True if it begins a round trip. */
static INLINE bool measure_rounds(struct tcp_sock *tp, struct rounds *rounds, s32 rtt_us)
{
	bool begins = round_begins(tp, &rounds->end);

	rounds->ended_samples = 0;
	if (begins) {
		rounds->ended_samples = rounds->samples;
		rounds->ended_rtt = rounds->rtt;
		rounds->ended_base = rounds->base;
		restart_rounds(rounds);
	}
	if (rtt_us >= 0) {
		u32 rtt = rtt_us;

		rounds->base = least(rounds->base, rtt);
		rounds->rtt = least(rounds->rtt, rtt);
		rounds->samples++;
	}
	return begins;
}

/*
 * Round trips as Linux's own modules follow them: one ends with the first ACK beyond what was sent at its beginning that
 * lets the window grow. The first ACK begins one, and so does the state when it becomes open. Times are in us plus one.
 */
struct module_rounds {
	u32 end; /* a sequence number */
	u32 base; /* least of the connection; ~0 before the first sample */
	u32 rtt; /* least of this round trip */
	u32 samples;
	u8 has_begun;
};

static INLINE void restart_module_rounds(struct tcp_sock *tp, struct module_rounds *rounds)
{
	rounds->end = tp->snd_nxt;
	rounds->rtt = ~0u;
	rounds->samples = 0;
}

static INLINE void begin_module_rounds(struct tcp_sock *tp, struct module_rounds *rounds)
{
	rounds->base = ~0u;
	rounds->has_begun = 0;
	restart_module_rounds(tp, rounds);
}

static INLINE void measure_module_rounds(struct tcp_sock *tp, struct module_rounds *rounds, u32 pkts,
					  s32 rtt_us)
{
	if (rtt_us >= 0) {
		u32 rtt = (u32)rtt_us + 1;

		rounds->base = least(rounds->base, rtt);
		rounds->rtt = least(rounds->rtt, rtt);
		rounds->samples++;
	}
	if (!rounds->has_begun)
		restart_module_rounds(tp, rounds);
	rounds->has_begun |= pkts > 0;
}

/* Of a window of so many segments those in queues, in 2^20ths. */
static INLINE u64 queued(u32 cwnd, u32 base, u32 rtt)
{
	if (!rtt || base >= rtt)
		return 0;
	return ((u64)cwnd * (rtt - base) << 20) / rtt;
}

static INLINE u64 ended_queued(struct rounds *rounds, u32 cwnd)
{
	return queued(cwnd, rounds->ended_base, rounds->ended_rtt);
}

/* Give up a part of the window without an episode: two segments stay, and slow start does not win it back. */
static INLINE void lower_window(struct tcp_sock *tp, u64 segments)
{
	u32 cwnd = tp->snd_cwnd;

	if (segments < cwnd)
		set_window(tp, greatest64(segments, least(2, cwnd)));
	if (in_slow_start(tp))
		tp->snd_ssthresh = threshold(tp->snd_cwnd);
}

#endif
