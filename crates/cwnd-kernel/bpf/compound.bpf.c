// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Compound TCP (Tan and others, INFOCOM 2006; gamma tuned as in PFLDnet 2008): Reno's window, and beside it one that
 * grows by alpha W^3/4 a round trip while fewer than gamma segments are queued, and gives way to what is queued.
 */
#define ALGORITHM compound
#include "cwnd.h"
#include "rounds.h"

/* alpha in 1024ths, beta in 1000ths, zeta, gamma in 1024ths, segments, the tuning's weight in 1024ths. */
PARAMETERS(128, 500, 1024, 30720, 38, 256);
#define ALPHA(tp) PARAMETER(tp, 0)
#define BETA(tp) PARAMETER(tp, 1)
#define ZETA(tp) PARAMETER(tp, 2)
#define GAMMA(tp) PARAMETER(tp, 3)
#define W_LOW(tp) PARAMETER(tp, 4)
#define TUNING_GAIN(tp) PARAMETER(tp, 5)

/* Within which gamma is tuned. */
#define LEAST_GAMMA (5 << 20)
#define MOST_GAMMA (30 << 20)

struct compound {
	u64 gamma; /* 2^20ths of a segment, as all that is queued */
	u64 reno_queued; /* what the loss window had in queues since the last loss */
	u32 reno_measured;
	u32 dwnd; /* the delay window; the rest of the window is the loss window */
	struct rounds rounds;
};
PRIVATE(struct compound)

INIT(tp)
{
	struct compound *ca = private_of(tp);

	ca->gamma = GAMMA(tp) << 10;
	ca->reno_queued = 0;
	ca->reno_measured = 0;
	ca->dwnd = 0;
	begin_rounds(tp, &ca->rounds);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	measure_rounds(tp, &private_of(tp)->rounds, rtt_us);
}

/* alpha W^3/4 - 1, whole segments. */
static INLINE u32 delay_growth(u32 cwnd, u64 alpha)
{
	/* Both roots are of 2^20 times their argument, and so in 1024ths. */
	u64 root = root_near((u64)cwnd << 20, 64 * 1024);
	u64 power = root_near(cwnd * root << 10, root);
	u64 growth = alpha * power;

	return growth > 1 << 20 ? (growth >> 20) - 1 : 0;
}

static INLINE void end_round(struct tcp_sock *tp, struct compound *ca)
{
	u32 cwnd = tp->snd_cwnd, target;
	u64 diff;

	if (in_slow_start(tp) || cwnd < W_LOW(tp))
		return;
	ca->dwnd = least(ca->dwnd, cwnd);
	diff = ended_queued(&ca->rounds, cwnd);
	ca->reno_queued = ended_queued(&ca->rounds, cwnd - ca->dwnd);
	ca->reno_measured = 1;
	if (diff < ca->gamma) {
		target = ca->dwnd + delay_growth(cwnd, ALPHA(tp));
		set_window(tp, (u64)cwnd + target - ca->dwnd);
	} else {
		u64 less = (ZETA(tp) * diff + (1 << 30) - 1) >> 30;

		target = ca->dwnd > less ? ca->dwnd - less : 0;
		if (target < ca->dwnd)
			lower_window(tp, cwnd - (ca->dwnd - target));
	}
	ca->dwnd = target;
}

CONG_AVOID(tp, acked)
{
	struct compound *ca = private_of(tp);

	if (!is_limited(tp))
		return;
	if (ca->rounds.ended_samples)
		end_round(tp, ca);
	if (in_slow_start(tp)) {
		acked = slow_start(tp, acked);
		if (!acked)
			return;
	}
	increase(tp, acked, tp->snd_cwnd);
}

/* Towards 3/4 of what the loss window alone kept in queues before this loss. */
static INLINE void tune(struct compound *ca, u64 gain)
{
	u64 gamma;

	if (!ca->reno_measured)
		return;
	ca->reno_measured = 0;
	if (!gain)
		return;
	gamma = ((1024 - gain) * ca->gamma + gain * ca->reno_queued * 3 / 4) / 1024;
	ca->gamma = greatest64(least64(gamma, MOST_GAMMA), LEAST_GAMMA);
}

/* cwnd/2, and dwnd so that both are W (1 - beta). */
SSTHRESH(tp)
{
	struct compound *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd, loss_window = cwnd - least64(ca->dwnd, cwnd), kept;

	restart_rounds(&ca->rounds);
	tune(ca, TUNING_GAIN(tp));
	kept = 2 * cwnd * (1000 - BETA(tp));
	ca->dwnd = kept > 1000 * loss_window ? (kept - 1000 * loss_window) / 2000 : 0;
	return threshold(ca->dwnd + loss_window / 2);
}

CWND_EVENT(tp, event)
{
	struct compound *ca = private_of(tp);

	if (event == EVENT_LOSS) {
		ca->dwnd = 0;
		tp->snd_ssthresh = threshold(tp->snd_cwnd / 2);
	}
	if (event == EVENT_COMPLETE_CWR)
		restart_rounds(&ca->rounds);
}

SET_STATE(tp, state)
{
	if (state == CA_LOSS)
		restart_rounds(&private_of(tp)->rounds);
}

UNDO_CWND(tp)
{
	struct compound *ca = private_of(tp);
	u32 cwnd = window_before(tp);

	ca->dwnd = least(ca->dwnd, cwnd);
	return cwnd;
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), );
