// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Agile-SD (Alrshah and others, JNCA 55, 2015): lambda/W for each acknowledged segment, lambda the greater the
 * further the window is under the last loss. Interpretations as in the Rust code.
 */
#define ALGORITHM agile_sd
#include "cwnd.h"

/* lambda_max and lambda_min in 1000ths, beta1 and beta2 in 1000ths; segments. */
PARAMETERS(3000, 1000, 900, 950, 1, 2);
#define LAMBDA_MAX(tp) PARAMETER(tp, 0)
#define LAMBDA_MIN(tp) PARAMETER(tp, 1)
#define BETA1(tp) PARAMETER(tp, 2)
#define BETA2(tp) PARAMETER(tp, 3)
#define SSTHRESH_MARGIN(tp) PARAMETER(tp, 4)
#define RESTART_CWND(tp) PARAMETER(tp, 5)

/* Weights are in 2^20ths of a segment, which 1000ths become by this. */
#define ONE (1 << 20)
#define FROM_1000THS(x) ((x)*ONE / 1000)

struct agile_sd {
	u64 credit;
	u32 cwnd_loss; /* 0 before the first loss */
	u32 cwnd_degraded;
};
PRIVATE(struct agile_sd)

INIT(tp)
{
	struct agile_sd *ca = private_of(tp);

	ca->credit = 0;
	ca->cwnd_loss = 0;
	ca->cwnd_degraded = 0;
}

/* Equations 1 to 3; above the last loss the gap is nothing. */
static INLINE u64 lambda(struct tcp_sock *tp, struct agile_sd *ca)
{
	u32 cwnd = tp->snd_cwnd, loss = ca->cwnd_loss;
	u64 lambda, least_lambda = FROM_1000THS(LAMBDA_MIN(tp)), most_lambda = FROM_1000THS(LAMBDA_MAX(tp));

	if (cwnd >= loss)
		return least_lambda;
	lambda = most_lambda * (loss - cwnd) / greatest(loss - ca->cwnd_degraded, 1);
	return greatest64(least64(lambda, most_lambda), least_lambda);
}

CONG_AVOID(tp, acked)
{
	struct agile_sd *ca = private_of(tp);

	if (!past_slow_start(tp, &acked))
		return;
	increase_weighted(tp, &ca->credit, acked, lambda(tp, ca), (u64)tp->snd_cwnd * ONE);
}

SSTHRESH(tp)
{
	struct agile_sd *ca = private_of(tp);
	u32 cwnd = tp->snd_cwnd;
	u64 kept = cwnd * (in_slow_start(tp) ? BETA1(tp) : BETA2(tp)) / 1000;

	kept = greatest64(least64(kept, cwnd - 1), 2);
	ca->credit = 0;
	ca->cwnd_loss = cwnd;
	ca->cwnd_degraded = kept;
	return threshold(kept - SSTHRESH_MARGIN(tp));
}

SET_STATE(tp, state)
{
	if (state == CA_LOSS && tp->snd_cwnd < RESTART_CWND(tp))
		set_window(tp, RESTART_CWND(tp));
}

CWND_EVENT(tp, event)
{
	struct agile_sd *ca = private_of(tp);

	if (event == EVENT_COMPLETE_CWR && tp->snd_cwnd == tp->snd_ssthresh)
		set_window(tp, greatest(tp->snd_cwnd, ca->cwnd_degraded));
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
