/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What algorithms share: growth of a window in integers, round trips, roots. Windows are in segments, times in
 * microseconds.
 */
#ifndef CWND_WINDOW_H
#define CWND_WINDOW_H

/* Set the bytes of a state to zero, a multiple of 8. BPF has no memset, which an assignment may become. */
static INLINE void clear(void *state, u32 bytes)
{
	volatile u64 *words = state;

	for (u32 i = 0; i < bytes / 8; i++)
		words[i] = 0;
}

static INLINE u32 least(u32 a, u32 b) { return a < b ? a : b; }
static INLINE u32 greatest(u32 a, u32 b) { return a > b ? a : b; }
static INLINE u64 least64(u64 a, u64 b) { return a < b ? a : b; }
static INLINE u64 greatest64(u64 a, u64 b) { return a > b ? a : b; }

/* A slow-start threshold is at least two segments (RFC 5681, equation 4). */
static INLINE u32 threshold(u64 segments) { return segments < 2 ? 2 : least64(segments, 0x7fffffff); }

static INLINE bool in_slow_start(struct tcp_sock *tp) { return tp->snd_cwnd < tp->snd_ssthresh; }

/* Whether the window is what limits the flow; in slow start half of it in use is enough. */
static INLINE bool is_limited(struct tcp_sock *tp)
{
	if (in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out)
		return true;
	return window_was_full(tp);
}

static INLINE void set_window(struct tcp_sock *tp, u64 segments)
{
	u64 most = tp->snd_cwnd_clamp;

	if (segments < 1)
		segments = 1;
	tp->snd_cwnd = segments < most ? segments : most;
}

/* One segment for each acknowledged one, up to the threshold. Answers what is left for congestion avoidance. */
static INLINE u32 slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 cwnd = tp->snd_cwnd, room = tp->snd_ssthresh - cwnd;

	if (acked <= room) {
		set_window(tp, (u64)cwnd + acked);
		return 0;
	}
	set_window(tp, (u64)cwnd + room);
	return acked - room;
}

/*
 * One segment for every `per_segment` acknowledged ones, counted in snd_cwnd_cnt, which keeps the remainder. What
 * was counted for a larger divisor is worth one segment at most.
 */
static INLINE void increase(struct tcp_sock *tp, u32 acked, u32 per_segment)
{
	u32 counted = tp->snd_cwnd_cnt, steps = 0;

	if (per_segment < 1)
		per_segment = 1;
	if (counted >= per_segment) {
		counted = 0;
		steps = 1;
	}
	counted += acked;
	if (counted >= per_segment) {
		steps += counted / per_segment;
		counted %= per_segment;
	}
	tp->snd_cwnd_cnt = counted;
	if (steps)
		set_window(tp, (u64)tp->snd_cwnd + steps);
}

/*
 * `weight` segments for every `per_segment` acknowledged ones, both in the same part of a segment. The credit that
 * makes no step yet stays, in that part too.
 */
static INLINE void increase_weighted(struct tcp_sock *tp, u64 *credit, u32 acked, u64 weight, u64 per_segment)
{
	u64 sum = *credit + acked * weight;

	if (sum >= per_segment && per_segment) {
		u64 steps = sum / per_segment;

		sum -= steps * per_segment;
		set_window(tp, tp->snd_cwnd + steps);
	}
	*credit = sum;
}

/*
 * Whether an ACK reaches congestion avoidance: not where the window was not in use, nor where slow start takes all of
 * `acked`, of which the rest is left.
 */
static INLINE bool past_slow_start(struct tcp_sock *tp, u32 *acked)
{
	if (!is_limited(tp))
		return false;
	if (!in_slow_start(tp))
		return true;
	*acked = slow_start(tp, *acked);
	return *acked;
}

/* Reno's way with an ACK. */
static INLINE void grow_as_reno(struct tcp_sock *tp, u32 acked)
{
	if (past_slow_start(tp, &acked))
		increase(tp, acked, tp->snd_cwnd);
}

/* After a reduction that proved wrong: the window of before it. */
static INLINE u32 window_before(struct tcp_sock *tp) { return greatest(tp->snd_cwnd, tp->prior_cwnd); }

/* Segments in flight. */
static INLINE u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/*
 * Space packets from now on, by the rate that set_pacing_rate() sets. Both need cong_control: without it the kernel sets a rate of
 * its own.
 */
static INLINE void begin_pacing(struct tcp_sock *tp)
{
	if (!tp->inet_conn.icsk_inet.sk.sk_pacing_status)
		tp->inet_conn.icsk_inet.sk.sk_pacing_status = PACING_NEEDED;
}

/* In bytes a second. */
static INLINE void set_pacing_rate(struct tcp_sock *tp, u64 rate)
{
	tp->inet_conn.icsk_inet.sk.sk_pacing_rate = least64(rate, tp->inet_conn.icsk_inet.sk.sk_max_pacing_rate);
}

static INLINE u32 milliseconds(struct tcp_sock *tp) { return tp->tcp_mstamp / 1000; }

/*
 * Sending goes on after a pause: the time since the last ACK, or since the last pause where none came, does not count
 * for what began at `since` (0 if nothing did). All in us.
 */
static INLINE void skip_pause(struct tcp_sock *tp, u64 *since, u64 *last_ack)
{
	u64 now = tp->tcp_mstamp;

	if (*since)
		*since = least64(*since + (now - *last_ack), now);
	*last_ack = now;
}

static INLINE bool is_after(u32 a, u32 b) { return (s32)(b - a) < 0; }

/* Whether an ACK begins a round trip: it acknowledges more than had been sent when the last one began. */
static INLINE bool round_begins(struct tcp_sock *tp, u32 *end)
{
	if (!is_after(tp->snd_una, *end))
		return false;
	*end = tp->snd_nxt;
	return true;
}

/*
 * The cube root of x under 2^63, rounded down. Each bit is found without a branch: the verifier would follow both ways of all
 * of them.
 */
static INLINE u32 cube_root(u64 x)
{
	u64 root = 0;

	for (int bit = 20; bit >= 0; bit--) {
		u64 next = root | 1ull << bit, over = (x - next * next * next) >> 63;

		OPAQUE(over);
		root = next - (over << bit);
	}
	return root;
}

/* The root of x, rounded down, by Newton's method; a guess that is near makes it two divisions. */
static INLINE u64 root_near(u64 x, u64 guess)
{
	u64 root = guess ? guess : 1;

	if (!x)
		return 0;
	for (int step = 0; step < 40; step++) {
		u64 next = (root + x / root) / 2;
		u64 moved = next > root ? next - root : root - next;

		root = next;
		if (moved <= 1)
			break;
	}
	return root * root > x ? root - 1 : root;
}

#endif
