// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * MulTCP (Crowcroft, Oechslin, ACM SIGCOMM CCR 28(3), 1998): one flow that behaves like N Renos. Slow start triples up to
 * 3^(log N/(log 3 - log 2)), a loss costs 1/(2N) of the window, and half of it in slow start.
 */
#define ALGORITHM multcp
#include "cwnd.h"
#include "exponential.h"

/* N in 1000ths. */
PARAMETERS(4000);
#define N(tp) PARAMETER(tp, 0)

/* log 3/(log 3 - log 2) in 2^16ths. */
#define EXPONENT 177570

struct multcp {
	u64 credit; /* 1000ths of a segment */
	u64 tripling; /* the window up to which slow start triples, 1000ths */
};
PRIVATE(struct multcp)

/* N^EXPONENT: up to 2^27. */
static INLINE u64 tripling(u64 n)
{
	u64 log = (log2_of((n << 32) / 1000) * EXPONENT) >> 16;
	u64 whole = (log >> 32) + 1;

	return (power_of_half((whole << 32) - log) * 1000) >> (32 - least64(whole, 32));
}

INIT(tp)
{
	struct multcp *ca = private_of(tp);

	ca->credit = 0;
	ca->tripling = tripling(N(tp));
}

/* The second segment of growth comes first, for the acknowledged segments up to the limit in steps of two. */
static INLINE u32 triple(struct tcp_sock *tp, struct multcp *ca, u32 acked)
{
	u64 cwnd = tp->snd_cwnd * 1000ull;

	if (ca->tripling > cwnd) {
		slow_start(tp, least64(acked, (ca->tripling - cwnd + 1999) / 2000));
		if (!in_slow_start(tp))
			return acked;
	}
	return slow_start(tp, acked);
}

CONG_AVOID(tp, acked)
{
	struct multcp *ca = private_of(tp);

	if (!is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		acked = triple(tp, ca, acked);
		if (!acked)
			return;
	}
	increase_weighted(tp, &ca->credit, acked, N(tp), tp->snd_cwnd * 1000ull);
}

SSTHRESH(tp)
{
	u64 cwnd = tp->snd_cwnd;

	private_of(tp)->credit = 0;
	return threshold(cwnd - (in_slow_start(tp) ? cwnd / 2 : cwnd * 500 / N(tp)));
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .undo_cwnd = HOOK(undo_cwnd), );
