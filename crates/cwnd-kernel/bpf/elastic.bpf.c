// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Elastic-TCP (Alrshah, Al-Maqri, Othman, IEEE Systems Journal 13(2), 2019): the window grows by
 * sqrt(RTTmax/RTTcur W) a round trip. Interpretations as in the Rust code, whose parameters have the same names.
 */
#define ALGORITHM elastic
#include "cwnd.h"

/* beta in 1024ths; two switches. */
PARAMETERS(512, 0, 1);
#define BETA(tp) PARAMETER(tp, 0)
#define RTTMAX_RESET_ON_RTO(tp) PARAMETER(tp, 1)
#define SAMPLE_IN_SLOW_START(tp) PARAMETER(tp, 2)

/* Weights are in 2^15ths of a segment. */
#define ONE 32768

struct elastic {
	u64 credit;
	u64 ratio; /* RTTmax/RTTcur in 2^20ths; 0 before the first sample */
	u64 weight; /* of the last ACK: a near guess of the next */
	u32 rtt_max;
};
PRIVATE(struct elastic)

INIT(tp)
{
	struct elastic *ca = private_of(tp);

	ca->credit = 0;
	ca->ratio = 0;
	ca->weight = 0;
	ca->rtt_max = 0;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct elastic *ca = private_of(tp);
	u32 rtt = rtt_us;

	if (rtt_us < 0 || (in_slow_start(tp) && !SAMPLE_IN_SLOW_START(tp)))
		return;
	rtt = greatest(rtt, 1);
	ca->rtt_max = greatest(ca->rtt_max, rtt);
	ca->ratio = ((u64)ca->rtt_max << 20) / rtt;
}

/* WWF = sqrt(ratio W), in 2^15ths of a segment: the root of 2^30 times it. */
static INLINE u64 weight(struct tcp_sock *tp, struct elastic *ca)
{
	u64 product = (ca->ratio ? ca->ratio : 1 << 20) * tp->snd_cwnd;

	/* What is greater would not fit: 2^34 segments. */
	product = least64(product, (1ull << 54) - 1);
	ca->weight = root_near(product << 10, ca->weight);
	return ca->weight;
}

CONG_AVOID(tp, acked)
{
	struct elastic *ca = private_of(tp);

	if (!past_slow_start(tp, &acked))
		return;
	increase_weighted(tp, &ca->credit, acked, weight(tp, ca), (u64)tp->snd_cwnd * ONE);
}

SSTHRESH(tp)
{
	private_of(tp)->credit = 0;
	return threshold(tp->snd_cwnd * BETA(tp) / 1024);
}

/* Each timeout of a row. */
SET_STATE(tp, state)
{
	struct elastic *ca = private_of(tp);

	if (state == CA_LOSS && RTTMAX_RESET_ON_RTO(tp)) {
		ca->ratio = 0;
		ca->rtt_max = 0;
	}
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .undo_cwnd = HOOK(undo_cwnd), );
