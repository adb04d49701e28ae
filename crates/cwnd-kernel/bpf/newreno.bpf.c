// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * NewReno (RFC 5681): one segment a round trip, and half of the window at a loss. The plainest of all, as which it is
 * what the others are held against.
 */
#define ALGORITHM newreno
#include "cwnd.h"

PARAMETERS(0);

CONG_AVOID(tp, acked) { grow_as_reno(tp, acked); }

SSTHRESH(tp) { return threshold(tp->snd_cwnd / 2); }

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid), .undo_cwnd = HOOK(undo_cwnd), );
