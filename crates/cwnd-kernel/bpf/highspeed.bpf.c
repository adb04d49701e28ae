// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * HighSpeed TCP (RFC 3649): a(w) segments a round trip, b(w) of the window at a loss, both by the RFC's table.
 * Growth counts ACKs. Until the first one in congestion avoidance a loss costs a half.
 */
#define ALGORITHM highspeed
#include "cwnd.h"
#include "highspeed.h"

PARAMETERS(0);

struct highspeed {
	u64 credit;
	struct response response;
};
PRIVATE(struct highspeed)

INIT(tp)
{
	struct highspeed *ca = private_of(tp);

	ca->credit = 0;
	begin_response(&ca->response);
}

CONG_AVOID(tp, acked)
{
	struct highspeed *ca = private_of(tp);

	if (!past_slow_start(tp, &acked))
		return;
	increase_weighted(tp, &ca->credit, 1, increase_of(&ca->response, tp->snd_cwnd), tp->snd_cwnd);
}

SSTHRESH(tp)
{
	struct highspeed *ca = private_of(tp);
	u32 cwnd = tp->snd_cwnd;

	ca->credit = 0;
	return threshold(cwnd - given_up_of(&ca->response, cwnd));
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .undo_cwnd = HOOK(undo_cwnd), );
