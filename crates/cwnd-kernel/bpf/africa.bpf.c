// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * TCP-Africa (King, Baraniuk, Riedi, INFOCOM 2005): HighSpeed TCP while fewer than alpha segments are queued, Reno
 * otherwise. A timeout and a loss in slow start halve.
 */
#define ALGORITHM africa
#include "cwnd.h"
#include "highspeed.h"

/* alpha in 1000ths of a segment. */
PARAMETERS(1641);
#define ALPHA(tp) PARAMETER(tp, 0)

struct africa {
	u64 credit;
	struct response response;
	u32 fast; /* the mode of the last ACK in congestion avoidance */
};
PRIVATE(struct africa)

INIT(tp)
{
	struct africa *ca = private_of(tp);

	ca->credit = 0;
	begin_response(&ca->response);
	ca->fast = 0;
}

/* W (SRTT - RTTmin)/SRTT < alpha. */
static INLINE bool is_fast(struct tcp_sock *tp)
{
	u64 srtt = tp->srtt_us, base = (u64)tp->rtt_min.s[0].v * 8;

	if (!srtt)
		return false;
	return base >= srtt || tp->snd_cwnd * (srtt - base) * 1000 < ALPHA(tp) * srtt;
}

CONG_AVOID(tp, acked)
{
	struct africa *ca = private_of(tp);

	if (!past_slow_start(tp, &acked))
		return;
	ca->fast = is_fast(tp);
	if (ca->fast)
		increase_weighted(tp, &ca->credit, acked, increase_of(&ca->response, tp->snd_cwnd), tp->snd_cwnd);
	else
		increase(tp, acked, tp->snd_cwnd);
}

SSTHRESH(tp)
{
	struct africa *ca = private_of(tp);
	u32 cwnd = tp->snd_cwnd;
	bool fast = ca->fast && !in_slow_start(tp);

	ca->credit = 0;
	ca->fast = 0;
	return threshold(cwnd - (fast ? given_up_of(&ca->response, cwnd) : cwnd / 2));
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_LOSS)
		tp->snd_ssthresh = threshold(tp->snd_cwnd - tp->snd_cwnd / 2);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
