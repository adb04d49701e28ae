// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * H-TCP (Leith, Shorten, PFLDnet 2004): alpha grows with the time since the last congestion event, and beta gives up
 * what the queue held while the throughput is steady. In milliseconds and 128ths.
 */
#define ALGORITHM htcp
#include "cwnd.h"

/* delta_l in ms; two switches. */
PARAMETERS(1000, 1, 0);
#define DELTA_L(tp) PARAMETER(tp, 0)
#define ADAPTIVE_BACKOFF(tp) PARAMETER(tp, 1)
#define RTT_SCALING(tp) PARAMETER(tp, 2)

#define ONE 128
#define HALF 64
#define MOST_KEPT 102
#define LEAST_RTT_MS 10
#define MOST_RTT_RISE_MS 20
/* After an event, throughput is not averaged within this number of RTTmin. */
#define FRESH_ROUNDS 3

/* What an undone event restores. */
struct epoch {
	u32 since; /* the last event, the end of its recovery or the begin of the connection, ms */
	u32 rtt_max; /* ms */
	u32 last_peak; /* segments a second */
};

struct htcp {
	struct epoch epoch;
	struct epoch before;
	u32 alpha;
	u32 beta;
	u32 rtt_min; /* ms; 0 before the first sample */
	u32 acked; /* what an ACK counts as */
	u32 progress; /* what is counted towards the next step */
	u32 counted; /* segments acknowledged since `counted_from`, ms */
	u32 counted_from;
	u32 average; /* segments a second */
	u32 peak;
	u8 steady;
	u8 state;
	u8 is_pending; /* the last event has neither ended nor been undone */
};
PRIVATE(struct htcp)

INIT(tp)
{
	struct htcp *ca = private_of(tp);

	ca->epoch.since = milliseconds(tp);
	ca->epoch.rtt_max = 0;
	ca->epoch.last_peak = 0;
	ca->before = ca->epoch;
	ca->alpha = ONE;
	ca->beta = HALF;
	ca->rtt_min = 0;
	ca->acked = 1;
	ca->progress = 0;
	ca->counted = 0;
	ca->counted_from = 0;
	ca->average = 0;
	ca->peak = 0;
	ca->steady = 0;
	ca->state = CA_OPEN;
	ca->is_pending = 0;
}

static INLINE bool is_fresh(struct htcp *ca, u32 now)
{
	return (now - ca->epoch.since) / greatest(ca->rtt_min, 1) <= FRESH_ROUNDS;
}

static INLINE void measure_throughput(struct tcp_sock *tp, struct htcp *ca, u32 now, u32 pkts)
{
	u32 alpha = greatest(ca->alpha / ONE, 1), cwnd = tp->snd_cwnd, span, sample;

	if (ca->state != CA_OPEN && ca->state != CA_DISORDER) {
		ca->counted = 0;
		ca->counted_from = now;
		return;
	}
	ca->counted += pkts;
	span = now - ca->counted_from;
	if (cwnd < alpha || ca->counted < cwnd - alpha || !ca->rtt_min || span < ca->rtt_min)
		return;
	sample = (u64)ca->counted * 1000 / greatest(span, 1);
	if (is_fresh(ca, now)) {
		ca->average = sample;
		ca->peak = sample;
	} else {
		ca->average = (3 * (u64)ca->average + sample) / 4;
		ca->peak = greatest(ca->peak, ca->average);
	}
	ca->counted = 0;
	ca->counted_from = now;
}

/* Follow RTTmin and RTTmax by a sample, ms. */
static INLINE void measure_rtt(struct htcp *ca, u32 rtt)
{
	u32 most;

	if (ca->rtt_min > rtt || !ca->rtt_min)
		ca->rtt_min = rtt;
	if (ca->state != CA_OPEN)
		return;
	most = greatest(ca->epoch.rtt_max, ca->rtt_min);
	ca->epoch.rtt_max = most < rtt && rtt <= most + MOST_RTT_RISE_MS ? rtt : most;
}

/* The state is still the one before the ACK. */
PKTS_ACKED(tp, pkts, rtt_us)
{
	struct htcp *ca = private_of(tp);

	if (ca->state == CA_OPEN)
		ca->acked = pkts;
	if (rtt_us > 0)
		measure_rtt(ca, ((u32)rtt_us + 999) / 1000);
	measure_throughput(tp, ca, milliseconds(tp), pkts);
}

/* 2 (1 - beta) f(D), in 128ths of a segment. */
static INLINE u32 alpha_at(struct tcp_sock *tp, struct htcp *ca, u32 now)
{
	u64 past = now - ca->epoch.since, factor;

	past = past > DELTA_L(tp) ? past - DELTA_L(tp) : 0;
	factor = 1 + (10 * past + (past / 2) * (past / 2) / 1000) / 1000;
	if (RTT_SCALING(tp) && ca->rtt_min) {
		u64 scale = greatest64(least64(800 / ca->rtt_min, 80), 4);

		factor = greatest64(8 * factor / scale, 1);
	}
	return least64(2 * factor * (ONE - ca->beta), ~0u);
}

CONG_AVOID(tp, acked)
{
	struct htcp *ca = private_of(tp);

	if (!is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		slow_start(tp, acked);
		return;
	}
	/* A step takes an ACK of its own, and renews alpha. */
	if ((u64)ca->progress * ca->alpha / ONE >= tp->snd_cwnd) {
		set_window(tp, (u64)tp->snd_cwnd + 1);
		ca->progress = 0;
		ca->alpha = alpha_at(tp, ca, milliseconds(tp));
	} else {
		ca->progress += ca->acked;
	}
	ca->acked = 1;
}

/* The fraction to keep: a half until the throughput has been steady twice. */
static INLINE u32 backoff(struct htcp *ca)
{
	u64 last = ca->epoch.last_peak, peak = ca->peak;
	u8 was_steady = ca->steady;

	ca->epoch.last_peak = ca->peak;
	ca->steady = 5 * peak >= 4 * last && 5 * peak <= 6 * last;
	if (!ca->steady || !was_steady || ca->rtt_min <= LEAST_RTT_MS || !ca->epoch.rtt_max)
		return HALF;
	return greatest(least(ca->rtt_min * ONE / ca->epoch.rtt_max, MOST_KEPT), HALF);
}

SSTHRESH(tp)
{
	struct htcp *ca = private_of(tp);

	ca->beta = ADAPTIVE_BACKOFF(tp) ? backoff(ca) : HALF;
	ca->alpha = alpha_at(tp, ca, milliseconds(tp));
	if (ca->rtt_min && ca->epoch.rtt_max > ca->rtt_min)
		ca->epoch.rtt_max = ca->rtt_min + (ca->epoch.rtt_max - ca->rtt_min) * 95 / 100;
	ca->progress = 0;
	return threshold((u64)tp->snd_cwnd * ca->beta / ONE);
}

static INLINE void end_event(struct tcp_sock *tp, struct htcp *ca)
{
	if (ca->is_pending)
		ca->epoch.since = milliseconds(tp);
	ca->is_pending = 0;
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_COMPLETE_CWR)
		end_event(tp, private_of(tp));
}

SET_STATE(tp, state)
{
	struct htcp *ca = private_of(tp);

	ca->state = state;
	if (state == CA_OPEN) {
		end_event(tp, ca);
	} else if (state != CA_DISORDER) {
		ca->before = ca->epoch;
		ca->epoch.since = milliseconds(tp);
		ca->is_pending = 1;
	}
}

UNDO_CWND(tp)
{
	struct htcp *ca = private_of(tp);

	ca->epoch = ca->before;
	ca->is_pending = 0;
	return window_before(tp);
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), );
