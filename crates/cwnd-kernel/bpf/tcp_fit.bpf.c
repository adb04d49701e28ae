// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * TCP-FIT (Wang and others, INFOCOM 2011): N Renos in one, and once a period N = max(1, N + 1 - N Q/(a W)).
 */
#define ALGORITHM tcp_fit
#include "cwnd.h"

/* a in 1000ths; the period in ms. */
PARAMETERS(1000, 500);
#define A(tp) PARAMETER(tp, 0)
#define PERIOD(tp) PARAMETER(tp, 1)

/* N and weights are in 2^16ths. */
#define ONE 65536

struct tcp_fit {
	u64 credit;
	u64 flows; /* N */
	u64 begun; /* when the period began, us; 0 before the first ACK */
	u64 rtt_sum; /* of the period's samples, us */
	u32 samples;
	u32 base; /* RTTmin, us */
};
PRIVATE(struct tcp_fit)

static INLINE void begin_period(struct tcp_fit *ca, u64 now)
{
	ca->begun = now;
	ca->rtt_sum = 0;
	ca->samples = 0;
}

INIT(tp)
{
	struct tcp_fit *ca = private_of(tp);

	ca->credit = 0;
	ca->flows = ONE;
	ca->base = ~0u;
	begin_period(ca, 0);
}

static INLINE void end_period(struct tcp_sock *tp, struct tcp_fit *ca)
{
	u64 sum = ca->rtt_sum, samples = ca->samples, rtt, queueing, fewer = 0;

	begin_period(ca, tp->tcp_mstamp);
	if (!samples || !is_limited(tp))
		return;
	rtt = sum / samples;
	/* The mean has parts of a microsecond. */
	queueing = sum > samples * ca->base ? sum - samples * ca->base : 0;
	if (rtt)
		fewer = ca->flows * (queueing * 1000 / samples) / (rtt * A(tp));
	ca->flows = ca->flows + ONE > fewer ? greatest64(ca->flows + ONE - fewer, ONE) : ONE;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct tcp_fit *ca = private_of(tp);
	u64 now = tp->tcp_mstamp, span;

	if (rtt_us >= 0) {
		ca->base = least(ca->base, rtt_us);
		ca->rtt_sum += rtt_us;
		ca->samples++;
	}
	if (!ca->begun)
		ca->begun = now;
	span = now - ca->begun;
	if (span >= PERIOD(tp) * 1000 && span >= tp->srtt_us >> 3)
		end_period(tp, ca);
}

CONG_AVOID(tp, acked)
{
	struct tcp_fit *ca = private_of(tp);

	if (!past_slow_start(tp, &acked))
		return;
	increase_weighted(tp, &ca->credit, acked, ca->flows, (u64)tp->snd_cwnd * ONE);
}

/* W (1 - 2/(3N + 1)). */
SSTHRESH(tp)
{
	struct tcp_fit *ca = private_of(tp);

	ca->credit = 0;
	return threshold(tp->snd_cwnd * (3 * ca->flows - ONE) / (3 * ca->flows + ONE));
}

CWND_EVENT(tp, event)
{
	struct tcp_fit *ca = private_of(tp);

	if (event != EVENT_LOSS)
		return;
	ca->flows = ONE;
	begin_period(ca, tp->tcp_mstamp);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
