// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Invs (Wang and others, 2016): towards the window at which the path was last saturated, and away from it beyond, the
 * faster the larger the path; a loss at an empty queue leaves the path's bandwidth-delay product. Readings as in the
 * Rust; a loss is told by min(delta, 0.9 maxbuffer).
 */
#define ALGORITHM invs
#include "cwnd.h"

/* c in 1024ths, beta in 1000ths, delta in segments, a2 in 2^16ths, RTTref in ms, BDPref in tenths of a Mbit. */
PARAMETERS(1024, 800, 30, 8192, 1000, 5000, 0, 0);
#define C(tp) PARAMETER(tp, 0)
#define BETA(tp) PARAMETER(tp, 1)
#define DELTA(tp) PARAMETER(tp, 2)
#define A2(tp) PARAMETER(tp, 3)
#define RTT_REF(tp) PARAMETER(tp, 4)
#define BDP_REF(tp) PARAMETER(tp, 5)
#define WSP_ON_CONGESTION_ONLY(tp) PARAMETER(tp, 6)
#define RTT_MIN_RESET(tp) PARAMETER(tp, 7)

#define LEAST_SPAN_US 20000
/* Windows are in 1024ths of a segment, `credit` in 2^20ths, what is known of the path in 2^16ths. */
#define ONE 1024
#define PATH_ONE 65536
#define NONE (~0u)

/* What an undone loss restores. */
struct goal {
	u32 saturation; /* Wsp */
	u32 w_max; /* segments; NONE before the first loss */
	u32 w_tcp; /* W_TCP when congestion avoidance began */
};

struct invs {
	u64 credit;
	u64 bandwidth; /* BWest, a second; 0 before the first sample */
	u64 last_ack; /* when it came, us */
	u64 since; /* when congestion avoidance began, us; 0 before it does */
	u64 since_before; /* as undone losses restore it, with the goal */
	struct goal goal;
	struct goal before;
	u32 k; /* 2^16ths; 0 before there is an estimate */
	u32 rtt_min; /* us */
	u32 round_rtt;
	u32 queue; /* buffer_est */
	u32 greatest_queue; /* maxbuffer */
	u32 begun; /* when the bandwidth sample began, us */
	u32 delivered; /* the connection's count then */
	u32 end; /* of the round trip */
	u32 measuring;
};
PRIVATE(struct invs)

INIT(tp)
{
	struct invs *ca = private_of(tp);

	ca->credit = 0;
	ca->bandwidth = 0;
	ca->since = 0;
	ca->since_before = 0;
	ca->goal.saturation = 0;
	ca->goal.w_max = NONE;
	ca->goal.w_tcp = 0;
	ca->before = ca->goal;
	ca->k = 0;
	ca->rtt_min = NONE;
	ca->round_rtt = NONE;
	ca->queue = 0;
	ca->greatest_queue = 0;
	ca->end = tp->snd_una;
	ca->last_ack = tp->tcp_mstamp;
	ca->measuring = 0;
}

/* log2 of a/b, in 2^16ths; 0 where a is not greater than b. */
static INLINE u64 log2_ratio(u64 a, u64 b)
{
	u64 ratio, log = 0;

	if (!b || a <= b)
		return 0;
	if (a >> 32) {
		a >>= 12;
		b = greatest64(b >> 12, 1);
	}
	/* The ratio in 2^31ths, halved until it is from 1 to 2; then each squaring gives a bit. */
	ratio = (a << 31) / b;
	for (int bit = 16; bit; bit >>= 1) {
		if (ratio >> (31 + bit)) {
			ratio >>= bit;
			log += bit;
		}
	}
	log <<= 16;
	for (int bit = 15; bit >= 0; bit--) {
		u64 more;

		ratio = ratio * ratio >> 31;
		/* Without a branch, of which the verifier would follow both sides each time. */
		more = ratio >> 32 & 1;
		ratio >>= more;
		log += more << bit;
	}
	return log;
}

/* BDPest. */
static INLINE u64 bdp(struct invs *ca) { return ca->bandwidth * ca->rtt_min / 1000000; }

/* k = max(c log2(RTTref/RTTmin) log2(BDPref/BDPest), 1). */
static INLINE void renew_k(struct tcp_sock *tp, struct invs *ca)
{
	u64 bits = bdp(ca) * tp->mss_cache * 8 / PATH_ONE;
	u64 rtts = log2_ratio(RTT_REF(tp) * 1000, ca->rtt_min);
	u64 bdps = log2_ratio(BDP_REF(tp) * 100000, bits);

	ca->k = greatest64(C(tp) * ((rtts * bdps) >> 16) >> 10, 1 << 16);
}

static INLINE void measure_bandwidth(struct tcp_sock *tp, struct invs *ca, s32 rtt_us)
{
	u32 span;
	u64 sample;

	if (!ca->measuring) {
		ca->measuring = 1;
		ca->begun = tp->tcp_mstamp;
		ca->delivered = tp->delivered;
		return;
	}
	span = (u32)tp->tcp_mstamp - ca->begun;
	if (rtt_us < 0 || span <= (u32)rtt_us || span <= LEAST_SPAN_US)
		return;
	sample = (u64)(tp->delivered - ca->delivered) * PATH_ONE * 1000000 / span;
	if (!ca->bandwidth)
		ca->bandwidth = sample;
	else if (sample > ca->bandwidth)
		ca->bandwidth += (sample - ca->bandwidth) * A2(tp) >> 16;
	else
		ca->bandwidth -= (ca->bandwidth - sample) * A2(tp) >> 16;
	ca->begun = tp->tcp_mstamp;
	ca->delivered = tp->delivered;
	if (ca->bandwidth && ca->rtt_min != NONE)
		renew_k(tp, ca);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct invs *ca = private_of(tp);
	u32 rtt = rtt_us;

	ca->last_ack = tp->tcp_mstamp;
	if (round_begins(tp, &ca->end)) {
		u32 limit = ca->rtt_min > NONE / 4 ? NONE : greatest(1000000, 2 * ca->rtt_min);

		if (RTT_MIN_RESET(tp) && ca->round_rtt != NONE && ca->round_rtt - ca->rtt_min > limit)
			ca->rtt_min = ca->round_rtt;
		ca->round_rtt = NONE;
	}
	measure_bandwidth(tp, ca, rtt_us);
	if (rtt_us < 0)
		return;
	ca->rtt_min = least(ca->rtt_min, rtt);
	ca->round_rtt = least(ca->round_rtt, rtt);
	ca->queue = least64((rtt - ca->rtt_min) * ca->bandwidth / 1000000, NONE);
	ca->greatest_queue = greatest(ca->greatest_queue, ca->queue);
}

/* Equation 1: segments for a window of acknowledged ones, in 2^20ths. */
static INLINE u64 growth(struct invs *ca, u32 cwnd)
{
	u64 window = (u64)cwnd * ONE, wsp = ca->goal.saturation;

	if (!ca->k)
		return 1 << 20;
	if (wsp >= window + ONE) {
		/* W/Wsp in 2^20ths, which is less than 1, and (Wsp - W)/k times that. */
		u64 share = ((u64)cwnd << 30) / wsp;

		return (share * (wsp - window) << 6) / ca->k;
	}
	if (window >= wsp + ONE)
		return ((window - wsp) << 26) / ca->k;
	return 1 << 20;
}

static INLINE void keep_up_with_reno(struct tcp_sock *tp, struct invs *ca, u32 acked, u32 cwnd)
{
	u64 now = tp->tcp_mstamp, srtt = tp->srtt_us >> 3, w_tcp;

	if (!ca->since) {
		w_tcp = (u64)cwnd * ONE;
		if (ca->goal.w_max != NONE)
			w_tcp = least64(w_tcp, ca->goal.w_max * BETA(tp) * ONE / 1000);
		ca->since = now;
		ca->goal.w_tcp = w_tcp;
	}
	if (!srtt)
		return;
	w_tcp = 3 * ONE * (1000 - BETA(tp)) * least64(now - ca->since, 1ull << 36);
	w_tcp = ca->goal.w_tcp + w_tcp / (1000 + BETA(tp)) / srtt;
	w_tcp /= ONE;
	if (w_tcp > tp->snd_cwnd)
		set_window(tp, least64(w_tcp, (u64)tp->snd_cwnd + acked));
}

CONG_AVOID(tp, acked)
{
	struct invs *ca = private_of(tp);
	u32 cwnd, saturation = ca->goal.saturation / ONE;
	bool below;

	if (!past_slow_start(tp, &acked))
		return;
	cwnd = tp->snd_cwnd;
	below = ca->goal.saturation >= ((u64)cwnd + 1) * ONE;
	increase_weighted(tp, &ca->credit, acked, growth(ca, cwnd), (u64)cwnd << 20);
	if (below && tp->snd_cwnd > saturation)
		set_window(tp, saturation);
	keep_up_with_reno(tp, ca, acked, cwnd);
}

/* The condition of equations 3 and 4; a mark is congestion, and so is all before there is an estimate. */
static INLINE bool is_congested(struct tcp_sock *tp, struct invs *ca)
{
	if (!ca->bandwidth || !tp->lost_out)
		return true;
	return ca->queue >= least64(DELTA(tp) * PATH_ONE, (u64)ca->greatest_queue * 9 / 10);
}

SSTHRESH(tp)
{
	struct invs *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd;
	bool congested = is_congested(tp, ca);

	ca->before = ca->goal;
	ca->since_before = ca->since;
	if (congested || !WSP_ON_CONGESTION_ONLY(tp)) {
		bool earlier = cwnd * ONE < ca->goal.saturation;

		ca->goal.saturation = earlier ? cwnd * ONE * (1000 + BETA(tp)) / 2000 : cwnd * ONE;
	}
	ca->goal.w_max = cwnd;
	ca->since = 0;
	ca->credit = 0;
	return threshold(congested ? cwnd * BETA(tp) / 1000 : least64(bdp(ca) / PATH_ONE, cwnd));
}

CWND_EVENT_TX_START(tp)
{
	struct invs *ca = private_of(tp);

	skip_pause(tp, &ca->since, &ca->last_ack);
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_LOSS)
		private_of(tp)->greatest_queue = 0;
	if (event == tx_start_event())
		on_cwnd_event_tx_start(tp);
}

UNDO_CWND(tp)
{
	struct invs *ca = private_of(tp);

	ca->goal = ca->before;
	ca->since = ca->since_before;
	return window_before(tp);
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event),
	   .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
