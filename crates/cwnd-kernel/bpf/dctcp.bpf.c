// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * DCTCP (RFC 8257): a mark costs alpha/2 of the window, alpha the share of marks; a loss costs a half. Marks are
 * echoed exactly by the receiver that runs it.
 */
#define ALGORITHM dctcp
#include "cwnd.h"
#include "echo.h"

/* g in 2^16ths; the first alpha in 1024ths. */
PARAMETERS(4096, 1024);
#define G(tp) PARAMETER(tp, 0)
#define INITIAL_ALPHA(tp) PARAMETER(tp, 1)

struct dctcp {
	u64 alpha; /* 2^32ths */
	struct echo echo;
};
PRIVATE(struct dctcp)

INIT(tp)
{
	struct dctcp *ca = private_of(tp);

	ca->alpha = INITIAL_ALPHA(tp) << 22;
	begin_echo(tp, &ca->echo);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct dctcp *ca = private_of(tp);

	measure_marks(tp, &ca->echo, &ca->alpha, G(tp));
}

CONG_AVOID(tp, acked) { grow_as_reno(tp, acked); }

/* An episode in which nothing was lost began with a mark. */
SSTHRESH(tp)
{
	u64 cwnd = tp->snd_cwnd;

	if (tp->lost_out)
		return threshold(cwnd / 2);
	return threshold(cwnd - ((cwnd * private_of(tp)->alpha) >> 33));
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_ECN_IS_CE || event == EVENT_ECN_NO_CE)
		echo_exactly(tp, &private_of(tp)->echo, event == EVENT_ECN_IS_CE);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd),
	   .flags = NEEDS_ECN, );
