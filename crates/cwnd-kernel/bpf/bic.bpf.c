// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * BIC (Xu, Harfoush, Rhee, INFOCOM 2004, as Linux runs it): searches for the window of the last loss by parts of the
 * distance, then beyond it. Growth is one segment for a whole number of acknowledged ones.
 */
#define ALGORITHM bic
#include "cwnd.h"

/* beta in 1024ths, s_max and s_min in 1000ths of a segment, the divisor, low_window, a switch. */
PARAMETERS(819, 16000, 200, 4, 14, 1);
#define BETA(tp) PARAMETER(tp, 0)
#define S_MAX(tp) PARAMETER(tp, 1)
#define S_MIN(tp) PARAMETER(tp, 2)
#define DIVISOR(tp) PARAMETER(tp, 3)
#define LOW_WINDOW(tp) PARAMETER(tp, 4)
#define FAST_CONVERGENCE(tp) PARAMETER(tp, 5)

/* Growth before the first loss: at least a segment for so many. */
#define FIRST_CNT 20
/* A count is held so long while the window stays the same. */
#define HOLD_MS 31
/* Segments an ACK acknowledges, in sixteenths, at first. */
#define FIRST_ACK_RATIO (2 * 16)

struct bic {
	u32 w_max; /* 0 before the first loss and after a timeout */
	u32 ack_ratio;
	/* The window and the time (ms) of the last computed count, and the count. */
	u32 held_cwnd;
	u32 held_since;
	u32 held;
	u8 state;
};
PRIVATE(struct bic)

INIT(tp)
{
	struct bic *ca = private_of(tp);

	ca->w_max = 0;
	ca->ack_ratio = FIRST_ACK_RATIO;
	ca->held_cwnd = 0;
	ca->held_since = 0;
	ca->held = 0;
	ca->state = CA_OPEN;
}

/* The state is the one before the ACK: one that ends a recovery is not counted, as it acknowledges hundreds. */
PKTS_ACKED(tp, pkts, rtt_us)
{
	struct bic *ca = private_of(tp);

	if (ca->state == CA_OPEN)
		ca->ack_ratio += pkts - ca->ack_ratio / 16;
}

/* Acknowledged segments for each of growth. */
static INLINE u64 count_at(struct tcp_sock *tp, struct bic *ca, u64 cwnd)
{
	u64 over, cnt;

	if (cwnd < ca->w_max) {
		u64 distance = (ca->w_max - cwnd) / greatest64(DIVISOR(tp), 1);

		if (distance * 1000 > S_MAX(tp))
			return cwnd * 1000 / greatest64(S_MAX(tp), 1);
		return distance <= 1 ? cwnd * 1000 / greatest64(S_MIN(tp), 1) : cwnd / distance;
	}
	over = cwnd - ca->w_max;
	if (over < DIVISOR(tp))
		cnt = cwnd * 1000 / greatest64(S_MIN(tp), 1);
	else if (over * 1000 < S_MAX(tp) * (DIVISOR(tp) - 1))
		cnt = cwnd * (DIVISOR(tp) - 1) / over;
	else
		cnt = cwnd * 1000 / greatest64(S_MAX(tp), 1);
	return ca->w_max ? cnt : least64(cnt, FIRST_CNT);
}

CONG_AVOID(tp, acked)
{
	struct bic *ca = private_of(tp);
	u32 cwnd, now = milliseconds(tp);

	if (!past_slow_start(tp, &acked))
		return;
	cwnd = tp->snd_cwnd;
	if (cwnd != ca->held_cwnd || now - ca->held_since > HOLD_MS) {
		ca->held_cwnd = cwnd;
		ca->held_since = now;
		if (cwnd <= LOW_WINDOW(tp))
			ca->held = cwnd;
		else
			ca->held = count_at(tp, ca, cwnd) * 16 / greatest(ca->ack_ratio, 1);
	}
	increase(tp, acked, ca->held);
}

SSTHRESH(tp)
{
	struct bic *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd;

	ca->w_max = cwnd < ca->w_max && FAST_CONVERGENCE(tp) ? cwnd * (1024 + BETA(tp)) / 2048 : cwnd;
	return threshold(cwnd <= LOW_WINDOW(tp) ? cwnd / 2 : cwnd * BETA(tp) / 1024);
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_LOSS) {
		private_of(tp)->w_max = 0;
		private_of(tp)->ack_ratio = FIRST_ACK_RATIO;
		private_of(tp)->held_cwnd = 0;
	}
}

SET_STATE(tp, state) { private_of(tp)->state = state; }

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), );
