// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * CUBIC as Linux runs it (RFC 8312, with HyStart): with NewReno what the others' cost is held against. K and time
 * are in 1024ths of a second, the count of segments for one of growth is whole.
 */
#define ALGORITHM cubic
#include "cwnd.h"

/* C and beta in 1024ths; three switches. */
PARAMETERS(410, 717, 1, 1, 1);
#define C(tp) PARAMETER(tp, 0)
#define BETA(tp) PARAMETER(tp, 1)
#define FAST_CONVERGENCE(tp) PARAMETER(tp, 2)
#define TCP_FRIENDLINESS(tp) PARAMETER(tp, 3)
#define HYSTART(tp) PARAMETER(tp, 4)

#define FIRST_CNT 20
#define LEAST_CNT 2
/* While the window stays the same, the count is renewed only after more than this, ms. */
#define HOLD_MS 31
/* Samples this soon after the epoch's beginning do not count for RTTmin, us. */
#define SETTLING_US 1000000
/* HyStart: from this window on, in segments; ACKs closer than this are a train; so many samples make a round trip known. */
#define LEAST_WINDOW 16
#define TRAIN_GAP_US 2000
#define LEAST_SAMPLES 8
#define LEAST_DELAY_US 4000
#define MOST_DELAY_US 16000
/* Four bursts of 64 KiB, and the longest that they are taken to last. */
#define BURST_BYTES (4 * 65536)
#define MOST_BURST_US 1000

struct cubic {
	u64 start; /* when the epoch began, us; 0 until the first ACK after a loss */
	u64 last_ack; /* when it came, us */
	u32 w_max; /* 0 before the first loss and after a timeout */
	u32 origin; /* the window of the curve's middle */
	u32 k; /* 1024ths of a second */
	u32 friendly; /* the Reno-friendly window */
	u32 acked; /* segments that it has not counted */
	u32 delay_min; /* us; 0 if not known */
	u32 cnt;
	u32 updated_cwnd;
	u32 updated_ms;
	u32 round_end; /* the sequence number with which the round trip ends */
	u32 round_start; /* us */
	u32 train_end; /* when the last ACK of the train came, us */
	u32 round_rtt; /* the least of the round trip, us */
	u8 samples; /* of it, up to LEAST_SAMPLES */
	u8 found; /* a reason to leave slow start */
	u8 begun; /* the epoch has just begun */
};
PRIVATE(struct cubic)

static INLINE void forget(struct cubic *ca)
{
	ca->start = 0;
	ca->w_max = 0;
	ca->delay_min = 0;
	ca->cnt = 0;
	ca->updated_cwnd = 0;
	ca->updated_ms = 0;
	ca->begun = 0;
	ca->found = 0;
}

static INLINE void begin_round(struct tcp_sock *tp, struct cubic *ca)
{
	ca->round_start = tp->tcp_mstamp;
	ca->train_end = tp->tcp_mstamp;
	ca->round_rtt = ~0u;
	ca->samples = 0;
}

INIT(tp)
{
	struct cubic *ca = private_of(tp);

	forget(ca);
	begin_round(tp, ca);
	ca->round_end = tp->snd_una;
	ca->last_ack = tp->tcp_mstamp;
}

/* How long a train of ACKs may last before it fills the path: half the least round-trip time, or all of it if paced. */
static INLINE u32 longest_train(struct tcp_sock *tp, struct cubic *ca)
{
	u64 window = 2ull * tp->snd_cwnd * greatest(tp->mss_cache, 1);
	u64 burst = least64((u64)BURST_BYTES * (tp->srtt_us >> 3) / window, MOST_BURST_US);
	u32 longest = ca->delay_min + burst;

	return tp->inet_conn.icsk_inet.sk.sk_pacing_status ? longest : longest / 2;
}

static INLINE void look_for_a_full_path(struct tcp_sock *tp, struct cubic *ca, u32 rtt)
{
	u32 now = tp->tcp_mstamp;

	if (tp->snd_cwnd < LEAST_WINDOW || !ca->delay_min)
		return;
	if (now - ca->train_end <= TRAIN_GAP_US) {
		ca->train_end = now;
		ca->found = now - ca->round_start > longest_train(tp, ca);
	}
	ca->round_rtt = least(ca->round_rtt, rtt);
	if (ca->samples < LEAST_SAMPLES)
		ca->samples++;
	else if (ca->round_rtt > ca->delay_min + greatest(LEAST_DELAY_US, least(MOST_DELAY_US, ca->delay_min / 8)))
		ca->found = 1;
	if (ca->found)
		tp->snd_ssthresh = tp->snd_cwnd;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct cubic *ca = private_of(tp);
	bool begins = round_begins(tp, &ca->round_end);

	ca->last_ack = tp->tcp_mstamp;
	if (rtt_us >= 0 && !(ca->start && tp->tcp_mstamp - ca->start < SETTLING_US))
		if (!ca->delay_min || (u32)rtt_us < ca->delay_min)
			ca->delay_min = greatest(rtt_us, 1);
	if (!HYSTART(tp) || ca->found || !in_slow_start(tp))
		return;
	if (begins)
		begin_round(tp, ca);
	if (rtt_us >= 0)
		look_for_a_full_path(tp, ca, rtt_us);
}

static INLINE void begin_epoch(struct tcp_sock *tp, struct cubic *ca)
{
	u32 cwnd = tp->snd_cwnd;

	ca->start = tp->tcp_mstamp;
	ca->origin = greatest(ca->w_max, cwnd);
	/* 1024 cbrt((W_max - W)/C), of a difference under 2^24. */
	ca->k = ca->w_max > cwnd ? cube_root(((u64)(ca->w_max - cwnd) << 40) / C(tp)) : 0;
	ca->acked = 0;
	ca->friendly = cwnd;
	ca->begun = 1;
}

/* W(t + RTTmin). */
static INLINE u64 target(struct tcp_sock *tp, struct cubic *ca, u32 now_ms)
{
	u64 elapsed = now_ms - (u32)(ca->start / 1000) + (ca->delay_min + 999) / 1000;
	u64 t = elapsed * 1024 / 1000, k = ca->k;
	/* At 128 s the term passes every window. */
	u64 offset = least64(t < k ? k - t : t - k, 1 << 17);
	u64 term = (C(tp) * offset * offset * offset) >> 40;

	if (t < k)
		return term < ca->origin ? ca->origin - term : 0;
	return ca->origin + term;
}

static INLINE void keep_up_with_reno(struct tcp_sock *tp, struct cubic *ca, u32 cwnd)
{
	/* Segments for each of Reno's, divided by the window: (1 + beta)/(3 (1 - beta)), in eighths. */
	u64 divisor = 8 * (1024 + BETA(tp)) / 3 / (1024 - BETA(tp));
	u32 each = greatest64(cwnd * divisor >> 3, 1);

	if (ca->acked > each) {
		/* A step for each while more than that are left. */
		u32 steps = (ca->acked - 1) / each;

		ca->acked -= steps * each;
		ca->friendly += steps;
	}
	if (ca->friendly > cwnd)
		ca->cnt = least(ca->cnt, cwnd / (ca->friendly - cwnd));
}

static INLINE void renew_count(struct tcp_sock *tp, struct cubic *ca, u32 acked)
{
	u32 cwnd = tp->snd_cwnd, now_ms = milliseconds(tp);

	ca->acked += acked;
	if (ca->updated_cwnd == cwnd && now_ms - ca->updated_ms <= HOLD_MS && !ca->begun)
		return;
	if (now_ms != ca->updated_ms || ca->begun) {
		u64 to = target(tp, ca, now_ms);

		ca->begun = 0;
		ca->updated_cwnd = cwnd;
		ca->updated_ms = now_ms;
		ca->cnt = to > cwnd ? cwnd / (to - cwnd) : 100 * cwnd;
		if (!ca->w_max)
			ca->cnt = least(ca->cnt, FIRST_CNT);
	}
	if (TCP_FRIENDLINESS(tp))
		keep_up_with_reno(tp, ca, cwnd);
	ca->cnt = greatest(ca->cnt, LEAST_CNT);
}

CONG_AVOID(tp, acked)
{
	struct cubic *ca = private_of(tp);

	if (!past_slow_start(tp, &acked))
		return;
	if (!ca->start)
		begin_epoch(tp, ca);
	renew_count(tp, ca, acked);
	increase(tp, acked, ca->cnt);
}

SSTHRESH(tp)
{
	struct cubic *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd;

	ca->w_max = cwnd < ca->w_max && FAST_CONVERGENCE(tp) ? cwnd * (1024 + BETA(tp)) / 2048 : cwnd;
	ca->start = 0;
	return threshold(cwnd * BETA(tp) / 1024);
}

CWND_EVENT_TX_START(tp)
{
	struct cubic *ca = private_of(tp);

	skip_pause(tp, &ca->start, &ca->last_ack);
}

CWND_EVENT(tp, event)
{
	if (event == tx_start_event())
		on_cwnd_event_tx_start(tp);
}

/* Each timeout of a row. */
SET_STATE(tp, state)
{
	struct cubic *ca = private_of(tp);

	if (state == CA_LOSS) {
		forget(ca);
		begin_round(tp, ca);
	}
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
