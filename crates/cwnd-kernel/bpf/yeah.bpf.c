// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * YeAH-TCP (Baiocchi, Castellani, Vacirca, PFLDnet 2007): Scalable TCP while the queue is short, Reno while it is
 * long, and what it queued itself it takes back.
 */
#define ALGORITHM yeah
#include "cwnd.h"
#include "rounds.h"

/* alpha, phi and gamma in 1024ths, epsilon and delta in 1000ths, rho and zeta in round trips. */
PARAMETERS(81920, 8192, 1024, 500, 125, 16, 50);
#define ALPHA(tp) PARAMETER(tp, 0)
#define PHI(tp) PARAMETER(tp, 1)
#define GAMMA(tp) PARAMETER(tp, 2)
#define EPSILON(tp) PARAMETER(tp, 3)
#define DELTA(tp) PARAMETER(tp, 4)
#define RHO(tp) PARAMETER(tp, 5)
#define ZETA(tp) PARAMETER(tp, 6)

#define SCALABLE_SEGMENTS 100
#define LEAST_RENO_WINDOW 2

struct yeah {
	u64 queue; /* Q of the last round trip, segments */
	struct module_rounds rounds;
	u32 reno; /* W_reno */
	u32 slow_rounds;
	u32 fast_rounds;
};
PRIVATE(struct yeah)

INIT(tp)
{
	struct yeah *ca = private_of(tp);

	ca->queue = 0;
	ca->reno = LEAST_RENO_WINDOW;
	ca->slow_rounds = 0;
	ca->fast_rounds = 0;
	begin_module_rounds(tp, &ca->rounds);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	measure_module_rounds(tp, &private_of(tp)->rounds, pkts, rtt_us);
}

static INLINE void end_round(struct tcp_sock *tp, struct yeah *ca)
{
	u32 cwnd = tp->snd_cwnd, base = ca->rounds.base, rtt = ca->rounds.rtt;
	bool long_queue;

	ca->queue = (u64)cwnd * (rtt - base) / rtt;
	long_queue = ca->queue * 1024 > ALPHA(tp);
	if (!long_queue && rtt - base <= (u64)base * 1024 / PHI(tp)) {
		ca->slow_rounds = 0;
		ca->fast_rounds++;
		if (ca->fast_rounds > ZETA(tp)) {
			ca->reno = LEAST_RENO_WINDOW;
			ca->fast_rounds = 0;
		}
		return;
	}
	if (long_queue && cwnd > ca->reno) {
		u64 taken = least64(ca->queue * 1024 / GAMMA(tp), (u64)cwnd * EPSILON(tp) / 1000);

		set_window(tp, greatest64(cwnd - least64(taken, cwnd), ca->reno));
		tp->snd_ssthresh = threshold(tp->snd_cwnd);
	}
	if (ca->reno <= LEAST_RENO_WINDOW)
		ca->reno = greatest(tp->snd_cwnd / 2, LEAST_RENO_WINDOW);
	else
		ca->reno++;
	ca->slow_rounds++;
}

CONG_AVOID(tp, acked)
{
	struct yeah *ca = private_of(tp);

	if (!is_limited(tp))
		return;
	if (in_slow_start(tp))
		acked = slow_start(tp, acked);
	if (acked)
		increase(tp, acked, ca->slow_rounds ? tp->snd_cwnd : least(tp->snd_cwnd, SCALABLE_SEGMENTS));
	if (!is_after(tp->snd_una, ca->rounds.end))
		return;
	if (ca->rounds.samples >= LEAST_SAMPLES)
		end_round(tp, ca);
	restart_module_rounds(tp, &ca->rounds);
}

SSTHRESH(tp)
{
	struct yeah *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd, given_up = cwnd / 2;

	if (ca->slow_rounds < RHO(tp))
		given_up = greatest64(least64(ca->queue, given_up), cwnd * DELTA(tp) / 1000);
	ca->fast_rounds = 0;
	ca->reno = greatest(ca->reno / 2, LEAST_RENO_WINDOW);
	return threshold(cwnd - given_up);
}

/* Nothing was in flight, so that the path may be another one. */
CWND_EVENT_TX_START(tp)
{
	struct module_rounds *rounds = &private_of(tp)->rounds;

	rounds->base = ~0u;
	restart_module_rounds(tp, rounds);
}

SET_STATE(tp, state)
{
	if (state == CA_OPEN)
		restart_module_rounds(tp, &private_of(tp)->rounds);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state),
	   .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
