// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * CLTCP (Jiang, Jin, IEEE Communications Letters 19(8), 2015): N Renos in one, N coming to rest at alpha^-1/2 of the
 * share alpha of marks. A mark alone does not cut the window, so the way through a recovery is here
 * (`cong_control`): the kernel's own would hold the window for a round trip at each mark.
 */
#define ALGORITHM cltcp
#include "cwnd.h"
#include "echo.h"
#include "recovery.h"

/* g in 2^16ths; n_period in ms; the greatest N; two switches. */
PARAMETERS(4096, 0, 1000000, 0, 0);
#define G(tp) PARAMETER(tp, 0)
#define N_PERIOD(tp) PARAMETER(tp, 1)
#define N_MAX(tp) PARAMETER(tp, 2)
#define N_IN_RECOVERY(tp) PARAMETER(tp, 3)
#define ECN_CUT(tp) PARAMETER(tp, 4)

/* N and weights are in 2^16ths. */
#define ONE 65536

struct cltcp {
	u64 credit;
	u64 flows; /* N */
	u64 alpha; /* 2^32ths */
	u64 level; /* its root of the last time, 2^16ths */
	u64 updated; /* when N was, us */
	struct echo echo;
	u32 una; /* what was acknowledged at the last ACK */
	struct recovery recovery;
	u8 state;
	u8 marking; /* marks can be echoed */
	u8 cutting; /* this reduction is one of the window */
	u8 renewed; /* the last ACK renewed alpha */
};
PRIVATE(struct cltcp)

INIT(tp)
{
	struct cltcp *ca = private_of(tp);

	ca->credit = 0;
	ca->flows = ONE;
	ca->alpha = 0;
	ca->level = 0;
	ca->updated = tp->tcp_mstamp;
	begin_echo(tp, &ca->echo);
	ca->una = tp->snd_una;
	begin_recovery(tp, &ca->recovery);
	ca->state = CA_OPEN;
	ca->marking = tp->ecn_flags & ECN_OK;
	ca->cutting = 0;
	ca->renewed = 0;
}

/* N + 1 - alpha^1/2 N. */
static INLINE void update_flows(struct tcp_sock *tp, struct cltcp *ca)
{
	bool moves = ca->state == CA_RECOVERY ? N_IN_RECOVERY(tp) != 0
					      : ca->state != CA_LOSS && !in_slow_start(tp);
	u64 fewer;

	if (ca->state == CA_CWR && ca->cutting)
		moves = false;
	if (!ca->marking || !moves || tp->tcp_mstamp - ca->updated < N_PERIOD(tp) * 1000)
		return;
	ca->updated = tp->tcp_mstamp;
	ca->level = root_near(ca->alpha, ca->level);
	fewer = (ca->level * ca->flows) >> 16;
	ca->flows = least64(ca->flows + ONE - fewer, N_MAX(tp) * ONE);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct cltcp *ca = private_of(tp);

	ca->renewed = measure_marks(tp, &ca->echo, &ca->alpha, G(tp));
}

CONG_CONTROL(tp, rs)
{
	struct cltcp *ca = private_of(tp);
	bool advanced = is_after(tp->snd_una, ca->una);
	u32 acked = rs->acked_sacked;

	ca->una = tp->snd_una;
	if (ca->renewed)
		update_flows(tp, ca);
	ca->renewed = 0;
	if (ca->cutting && (ca->state == CA_RECOVERY || ca->state == CA_CWR)) {
		recover(tp, &ca->recovery, acked);
		return;
	}
	if (!acked || !advanced || !is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		acked = slow_start(tp, acked);
		if (!acked)
			return;
	}
	increase_weighted(tp, &ca->credit, acked, ca->flows, (u64)tp->snd_cwnd * ONE);
}

/* A mark leaves all as it is; a loss leaves W (1 - 2/(3N + 1)). */
SSTHRESH(tp)
{
	struct cltcp *ca = private_of(tp);
	u32 cwnd = tp->snd_cwnd;

	ca->cutting = tp->lost_out || ECN_CUT(tp);
	if (!ca->cutting)
		return tp->snd_ssthresh;
	ca->credit = 0;
	begin_recovery(tp, &ca->recovery);
	return threshold(cwnd * (3 * ca->flows - ONE) / (3 * ca->flows + ONE));
}

SET_STATE(tp, state)
{
	struct cltcp *ca = private_of(tp);

	/* Recovery is over. */
	if (state < CA_CWR && ca->cutting && (ca->state == CA_RECOVERY || ca->state == CA_CWR))
		set_window(tp, tp->snd_ssthresh);
	ca->state = state;
	if (state < CA_CWR)
		ca->cutting = 0;
}

CWND_EVENT(tp, event)
{
	struct cltcp *ca = private_of(tp);

	if (event == EVENT_LOSS)
		ca->flows = ONE;
	if (event == EVENT_ECN_IS_CE || event == EVENT_ECN_NO_CE)
		echo_exactly(tp, &ca->echo, event == EVENT_ECN_IS_CE);
}

UNDO_CWND(tp)
{
	private_of(tp)->cutting = 0;
	return window_before(tp);
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), .flags = NEEDS_ECN, );
OPERATIONS_TWO(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control_two),
	       .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	       .undo_cwnd = HOOK(undo_cwnd), .flags = NEEDS_ECN, );
