// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Westwood+ (Mascolo and others, MobiCom 2001; Grieco, Mascolo, ACM CCR 34(2), 2004): Reno that after a loss keeps
 * the window that the measured bandwidth needs. The threshold may be over the window, the window is never raised.
 */
#define ALGORITHM westwood
#include "cwnd.h"
#include "bandwidth.h"

PARAMETERS(0);

struct westwood {
	struct bandwidth bandwidth;
	u32 cwnd_at_loss; /* 0 where nothing is recovered from */
};
PRIVATE(struct westwood)

INIT(tp)
{
	struct westwood *ca = private_of(tp);

	begin_bandwidth(&ca->bandwidth);
	ca->cwnd_at_loss = 0;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	measure_bandwidth(tp, &private_of(tp)->bandwidth);
}

CONG_AVOID(tp, acked) { grow_as_reno(tp, acked); }

/* BWE RTTmin; half of the window before there is an estimate. */
SSTHRESH(tp)
{
	struct westwood *ca = private_of(tp);
	u32 rtt = tp->rtt_min.s[0].v;

	ca->cwnd_at_loss = tp->snd_cwnd;
	if (!ca->bandwidth.fine || rtt == ~0u)
		return threshold(tp->snd_cwnd / 2);
	return threshold((ca->bandwidth.fine * rtt / 1000000) >> 16);
}

CWND_EVENT(tp, event)
{
	struct westwood *ca = private_of(tp);

	if (event == EVENT_COMPLETE_CWR && ca->cwnd_at_loss && tp->snd_cwnd > ca->cwnd_at_loss)
		set_window(tp, ca->cwnd_at_loss);
	if (event == EVENT_COMPLETE_CWR || event == EVENT_LOSS)
		ca->cwnd_at_loss = 0;
}

UNDO_CWND(tp)
{
	private_of(tp)->cwnd_at_loss = 0;
	return window_before(tp);
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
