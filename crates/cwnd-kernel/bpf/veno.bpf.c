// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Veno (Fu, Liew, IEEE JSAC 21(2), 2003): Reno that takes a loss at a short queue for one of the link. The backlog is
 * counted in halves of a segment, from whole microseconds that are never nothing.
 */
#define ALGORITHM veno
#include "cwnd.h"

/* beta and kept in 1000ths. */
PARAMETERS(3000, 800);
#define BETA(tp) PARAMETER(tp, 0)
#define KEPT(tp) PARAMETER(tp, 1)

#define LEAST_SAMPLES 3

struct veno {
	u64 halves; /* twice the backlog at the last ACK that let the window grow */
	u32 base; /* least RTT, us */
	u32 rtt; /* the latest */
	u32 samples;
	u8 steps_next; /* the next count of a window is a step */
	u8 state;
};
PRIVATE(struct veno)

INIT(tp)
{
	struct veno *ca = private_of(tp);

	ca->halves = 0;
	ca->base = ~0u;
	ca->rtt = 0;
	ca->samples = 0;
	ca->steps_next = 0;
	ca->state = CA_OPEN;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct veno *ca = private_of(tp);

	if (rtt_us < 0)
		return;
	ca->rtt = rtt_us + 1;
	ca->base = least(ca->base, ca->rtt);
	ca->samples++;
}

static INLINE bool is_congested(struct tcp_sock *tp, struct veno *ca)
{
	return ca->halves * 1000 >= 2 * BETA(tp);
}

/* While congested each second window of acknowledged segments is a step; an ACK that finds it full is not counted. */
static INLINE void increase_slowly(struct tcp_sock *tp, struct veno *ca, u32 acked)
{
	if (tp->snd_cwnd_cnt < tp->snd_cwnd) {
		tp->snd_cwnd_cnt += acked;
		return;
	}
	tp->snd_cwnd_cnt = 0;
	if (ca->steps_next)
		set_window(tp, (u64)tp->snd_cwnd + 1);
	ca->steps_next = !ca->steps_next;
}

CONG_AVOID(tp, acked)
{
	struct veno *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd;

	if (!is_limited(tp))
		return;
	if (ca->state != CA_OPEN || ca->samples < LEAST_SAMPLES) {
		grow_as_reno(tp, acked);
		return;
	}
	ca->halves = 2 * cwnd - 2 * cwnd * ca->base / ca->rtt;
	if (in_slow_start(tp)) {
		acked = slow_start(tp, acked);
		if (!acked)
			return;
	}
	if (is_congested(tp, ca))
		increase_slowly(tp, ca, acked);
	else
		increase(tp, acked, tp->snd_cwnd);
}

SSTHRESH(tp)
{
	u64 cwnd = tp->snd_cwnd;

	return threshold(is_congested(tp, private_of(tp)) ? cwnd / 2 : cwnd * KEPT(tp) / 1000);
}

SET_STATE(tp, state) { private_of(tp)->state = state; }

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .undo_cwnd = HOOK(undo_cwnd), );
