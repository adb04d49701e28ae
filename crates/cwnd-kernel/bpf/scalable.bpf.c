// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Scalable TCP (Kelly, ACM CCR 33(2), 2003): a segment for every min(W, ai_cnt) acknowledged, and a share b of the
 * window at a loss.
 */
#define ALGORITHM scalable
#include "cwnd.h"

/* ai_cnt; b in 1024ths. */
PARAMETERS(100, 128);
#define AI_CNT(tp) PARAMETER(tp, 0)
#define B(tp) PARAMETER(tp, 1)

CONG_AVOID(tp, acked)
{
	if (!past_slow_start(tp, &acked))
		return;
	increase(tp, acked, least64(tp->snd_cwnd, AI_CNT(tp)));
}

SSTHRESH(tp) { return threshold(tp->snd_cwnd - tp->snd_cwnd * B(tp) / 1024); }

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid), .undo_cwnd = HOOK(undo_cwnd), );
