// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * CUBIC of RFC 9438, with the slow start of RFC 9406 (HyStart++). Interpretations as in the Rust code.
 */
#define ALGORITHM cubic9438
#include "cwnd.h"

/* C in 2^16ths; beta in 1000ths; a switch. */
PARAMETERS(26214, 700, 1);
#define C(tp) PARAMETER(tp, 0)
#define BETA(tp) PARAMETER(tp, 1)
#define FAST_CONVERGENCE(tp) PARAMETER(tp, 2)

/* Windows are in 2^16ths of a segment, W_est in 2^32ths, K in 2^16ths of a second. */
#define ONE 65536ull
#define MOST_OFFSET (64 << 16)

/* RFC 9406, section 4.3. */
#define LEAST_THRESHOLD_US 4000
#define MOST_THRESHOLD_US 16000
#define SAMPLES 8
#define CSS_GROWTH_DIVISOR 4
#define CSS_ROUNDS 5
#define UNPACED_LIMIT 8

struct epoch {
	u64 start; /* us; 0 before the first ACK of congestion avoidance */
	u64 w_est;
	u64 w_max; /* 0 before the first loss and after a timeout */
	u64 origin; /* W_max of this stage */
	u64 cwnd_prior;
	u64 k;
};

enum { SLOW_START, CONSERVATIVE, OVER };

struct cubic9438 {
	struct epoch epoch;
	struct epoch before; /* what was before the last reduction */
	u64 credit;
	u64 last_ack; /* in congestion avoidance, us */
	u32 round_end; /* a sequence number */
	u32 last_rtt; /* the least of the last round trip, us; ~0 if not known */
	u32 round_rtt; /* of this one */
	u32 baseline; /* with which conservative slow start began */
	u8 samples;
	u8 rounds;
	u8 phase;
};
STORAGE(struct cubic9438)

INIT(tp)
{
	struct cubic9438 *ca = new_private(tp);

	if (!ca)
		return;
	clear(ca, sizeof(*ca));
	ca->last_ack = tp->tcp_mstamp;
	ca->round_end = tp->snd_una;
	ca->last_rtt = ~0u;
	ca->round_rtt = ~0u;
}

static INLINE void measure_start(struct tcp_sock *tp, struct cubic9438 *ca, bool begins, s32 rtt_us)
{
	if (ca->phase == OVER)
		return;
	if (begins) {
		ca->last_rtt = ca->round_rtt;
		ca->round_rtt = ~0u;
		ca->samples = 0;
		if (ca->phase == CONSERVATIVE && ++ca->rounds >= CSS_ROUNDS) {
			tp->snd_ssthresh = threshold(tp->snd_cwnd);
			ca->phase = OVER;
			return;
		}
	}
	if (rtt_us < 0)
		return;
	ca->round_rtt = least(ca->round_rtt, rtt_us);
	if (ca->samples < SAMPLES)
		ca->samples++;
	if (ca->samples < SAMPLES)
		return;
	if (ca->phase == CONSERVATIVE) {
		if (ca->round_rtt < ca->baseline)
			ca->phase = SLOW_START;
	} else if (ca->last_rtt != ~0u) {
		u32 more = greatest(LEAST_THRESHOLD_US, least(MOST_THRESHOLD_US, ca->last_rtt / 8));

		if (ca->round_rtt >= ca->last_rtt + more) {
			ca->phase = CONSERVATIVE;
			ca->baseline = ca->round_rtt;
			ca->rounds = 0;
		}
	}
}

/* Time in which the application limits the flow does not count. */
PKTS_ACKED(tp, pkts, rtt_us)
{
	struct cubic9438 *ca = private_of(tp);
	bool begins;

	if (!ca)
		return;
	begins = round_begins(tp, &ca->round_end);
	if (in_slow_start(tp)) {
		measure_start(tp, ca, begins, rtt_us);
		return;
	}
	if (is_limited(tp))
		ca->last_ack = tp->tcp_mstamp;
	else
		skip_pause(tp, &ca->epoch.start, &ca->last_ack);
}

/* What is left of the acknowledged segments for congestion avoidance. */
static INLINE u32 start(struct tcp_sock *tp, struct cubic9438 *ca, u32 acked)
{
	u32 limit = tp->inet_conn.icsk_inet.sk.sk_pacing_status ? ~0u : UNPACED_LIMIT;

	if (ca->phase == OVER)
		return slow_start(tp, acked);
	if (ca->phase == SLOW_START)
		return slow_start(tp, least(acked, limit));
	increase(tp, least(acked, limit), CSS_GROWTH_DIVISOR);
	return 0;
}

/* cbrt((W_max - W)/C): the cube root of 2^36 times it, and the next four binary places by a step of Newton's method. */
static INLINE u64 time_to(struct tcp_sock *tp, u64 distance)
{
	u64 cube = least64((distance << 16) / C(tp), (1ull << 43) - 1) << 20, root = cube_root(cube);

	return (root << 4) + ((cube - root * root * root) << 4) / greatest64(3 * root * root, 1);
}

static INLINE void begin_stage(struct tcp_sock *tp, struct epoch *epoch)
{
	u64 cwnd = tp->snd_cwnd * ONE;

	epoch->start = tp->tcp_mstamp;
	epoch->w_est = cwnd << 16;
	epoch->origin = greatest64(epoch->w_max, cwnd);
	epoch->k = epoch->w_max > cwnd ? time_to(tp, epoch->w_max - cwnd) : 0;
	if (!epoch->w_max)
		epoch->cwnd_prior = greatest64(epoch->cwnd_prior, cwnd);
}

/* W_cubic, t_us after the stage began. */
static INLINE u64 w_cubic(struct tcp_sock *tp, struct epoch *epoch, u64 t_us)
{
	u64 t = least64(t_us, 1ull << 40) * ONE / 1000000, k = epoch->k;
	u64 offset = least64(t < k ? k - t : t - k, MOST_OFFSET);
	/* The square and the cube are in 2^20ths. */
	u64 term = ((offset * offset >> 12) * offset >> 16) * C(tp) >> 20;

	if (t >= k)
		return epoch->origin + term;
	return epoch->origin > term ? epoch->origin - term : 0;
}

/* alpha_cubic = 3 (1 - beta)/(1 + beta) until W_est reaches cwnd_prior. */
static INLINE u64 alpha(struct tcp_sock *tp, struct epoch *epoch)
{
	if (epoch->w_est >> 16 >= epoch->cwnd_prior)
		return 1ull << 32;
	return (3 * (1000 - BETA(tp)) << 32) / (1000 + BETA(tp));
}

CONG_AVOID(tp, acked)
{
	struct cubic9438 *ca = private_of(tp);
	struct epoch *epoch;
	u64 cwnd, t, target;

	if (!ca || !is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		acked = start(tp, ca, acked);
		if (!acked)
			return;
		ca->last_ack = tp->tcp_mstamp;
	}
	epoch = &ca->epoch;
	if (!epoch->start)
		begin_stage(tp, epoch);
	cwnd = greatest(tp->snd_cwnd, 1) * ONE;
	t = tp->tcp_mstamp - epoch->start;
	epoch->w_est += alpha(tp, epoch) * acked / (cwnd / ONE);
	if (w_cubic(tp, epoch, t) < epoch->w_est >> 16) {
		if (epoch->w_est >> 16 > cwnd)
			set_window(tp, epoch->w_est >> 32);
		return;
	}
	target = w_cubic(tp, epoch, t + (tp->srtt_us >> 3));
	if (target > cwnd)
		increase_weighted(tp, &ca->credit, acked, least64(target - cwnd, cwnd / 2), cwnd);
}

SSTHRESH(tp)
{
	struct cubic9438 *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd * ONE;
	struct epoch *epoch;

	if (!ca)
		return threshold(tp->snd_cwnd / 2);
	epoch = &ca->epoch;
	ca->before = *epoch;
	ca->credit = 0;
	ca->phase = OVER;
	epoch->w_max = cwnd < epoch->w_max && FAST_CONVERGENCE(tp) ? cwnd * (1000 + BETA(tp)) / 2000 : cwnd;
	epoch->cwnd_prior = cwnd;
	epoch->start = 0;
	return threshold(least(tp->snd_cwnd, tp->packets_out) * BETA(tp) / 1000);
}

CWND_EVENT_TX_START(tp)
{
	struct cubic9438 *ca = private_of(tp);

	if (ca)
		skip_pause(tp, &ca->epoch.start, &ca->last_ack);
}

CWND_EVENT(tp, event)
{
	struct cubic9438 *ca = private_of(tp);

	if (event == tx_start_event())
		on_cwnd_event_tx_start(tp);
	if (ca && event == EVENT_LOSS)
		ca->epoch.w_max = 0;
}

UNDO_CWND(tp)
{
	struct cubic9438 *ca = private_of(tp);

	if (ca)
		ca->epoch = ca->before;
	return window_before(tp);
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event),
	   .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
