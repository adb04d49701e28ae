// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * TCP-Illinois (Liu, Basar, Srikant, VALUETOOLS 2006): the mean queueing delay of a round trip, beside the greatest,
 * says how fast to grow (alpha) and how much to give up (beta). Delays in whole microseconds.
 */
#define ALGORITHM illinois
#include "cwnd.h"

/* alpha_max and alpha_min in 128ths of a segment, beta_min and beta_max in 64ths, eta1 to eta3 in 1000ths, theta. */
PARAMETERS(1280, 38, 8, 32, 10, 100, 800, 5);
#define ALPHA_MAX(tp) PARAMETER(tp, 0)
#define ALPHA_MIN(tp) PARAMETER(tp, 1)
#define BETA_MIN(tp) PARAMETER(tp, 2)
#define BETA_MAX(tp) PARAMETER(tp, 3)
#define ETA1(tp) PARAMETER(tp, 4)
#define ETA2(tp) PARAMETER(tp, 5)
#define ETA3(tp) PARAMETER(tp, 6)
#define THETA(tp) PARAMETER(tp, 7)

#define ALPHA_ONE 128
#define BETA_ONE 64
/* Windows under this are Reno's. */
#define W_THRESH 15

struct illinois {
	u64 rtt_sum; /* of this round trip's samples, us */
	u64 counted; /* segments acknowledged since the last step */
	u32 samples;
	u32 alpha;
	u32 beta;
	u32 base; /* least RTT, us */
	u32 greatest_rtt;
	u32 end; /* of the round trip */
	u32 cumulative; /* segments that the last ACK acknowledged */
	u32 low_rounds; /* round trips at little delay since there was more */
	u8 above; /* the delay has been above d1 since alpha was last alpha_max */
};
PRIVATE(struct illinois)

INIT(tp)
{
	struct illinois *ca = private_of(tp);

	ca->rtt_sum = 0;
	ca->counted = 0;
	ca->samples = 0;
	ca->alpha = ALPHA_MAX(tp);
	ca->beta = BETA_ONE / 2;
	ca->base = ~0u;
	ca->greatest_rtt = 0;
	ca->end = tp->snd_una;
	ca->cumulative = 0;
	ca->low_rounds = 0;
	ca->above = 0;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct illinois *ca = private_of(tp);

	if (rtt_us >= 0) {
		ca->base = least(ca->base, rtt_us);
		ca->greatest_rtt = greatest(ca->greatest_rtt, rtt_us);
		ca->rtt_sum += rtt_us;
		ca->samples++;
	}
	ca->cumulative = pkts;
}

static INLINE u32 alpha_at(struct tcp_sock *tp, struct illinois *ca, u64 delay, u64 most)
{
	u64 d1 = most * ETA1(tp) / 1000;

	if (delay <= d1) {
		if (ca->above) {
			ca->low_rounds++;
			if (ca->low_rounds < THETA(tp))
				return ca->alpha;
			ca->low_rounds = 0;
			ca->above = 0;
		}
		return ALPHA_MAX(tp);
	}
	ca->above = 1;
	delay -= d1;
	most -= d1;
	return most * ALPHA_MAX(tp) /
	       (most + delay * (ALPHA_MAX(tp) - ALPHA_MIN(tp)) / greatest64(ALPHA_MIN(tp), 1));
}

static INLINE u32 beta_at(struct tcp_sock *tp, u64 delay, u64 most)
{
	u64 d2 = most * ETA2(tp) / 1000, d3 = most * ETA3(tp) / 1000;

	if (delay <= d2)
		return BETA_MIN(tp);
	if (delay >= d3 || d3 <= d2)
		return BETA_MAX(tp);
	return (BETA_MIN(tp) * d3 + (BETA_MAX(tp) - BETA_MIN(tp)) * delay - BETA_MAX(tp) * d2) / (d3 - d2);
}

static INLINE void end_round(struct tcp_sock *tp, struct illinois *ca)
{
	if (tp->snd_cwnd < W_THRESH) {
		ca->alpha = ALPHA_ONE;
		ca->beta = BETA_ONE / 2;
	} else if (ca->samples) {
		u64 delay = ca->rtt_sum / ca->samples - ca->base, most = ca->greatest_rtt - ca->base;

		ca->alpha = alpha_at(tp, ca, delay, most);
		ca->beta = beta_at(tp, delay, most);
	}
	ca->rtt_sum = 0;
	ca->samples = 0;
}

CONG_AVOID(tp, acked)
{
	struct illinois *ca = private_of(tp);
	u32 cwnd;
	u64 grown;

	if (round_begins(tp, &ca->end))
		end_round(tp, ca);
	if (!is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		slow_start(tp, acked);
		return;
	}
	cwnd = greatest(tp->snd_cwnd, 1);
	ca->counted += ca->cumulative;
	grown = ca->counted * ca->alpha / ALPHA_ONE;
	if (grown >= cwnd) {
		set_window(tp, cwnd + grown / cwnd);
		ca->counted = 0;
	}
}

SSTHRESH(tp)
{
	struct illinois *ca = private_of(tp);

	ca->counted = 0;
	return threshold(tp->snd_cwnd - (u64)tp->snd_cwnd * ca->beta / BETA_ONE);
}

CWND_EVENT(tp, event)
{
	struct illinois *ca = private_of(tp);

	if (event != EVENT_LOSS)
		return;
	ca->alpha = ALPHA_ONE;
	ca->beta = BETA_ONE / 2;
	ca->above = 0;
	ca->low_rounds = 0;
	ca->rtt_sum = 0;
	ca->samples = 0;
	ca->end = tp->snd_nxt;
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
