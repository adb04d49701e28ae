// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * D2TCP (Vamanan, Hasan, Vijaykumar, SIGCOMM 2012): DCTCP whose mark costs alpha^d/2 of the window, d the urgency of the flow's
 * deadline. A flow without hints is DCTCP's.
 */
#define ALGORITHM d2tcp
#include "cwnd.h"
#include "echo.h"
#include "exponential.h"

/* g in 2^16ths; the first alpha in 1024ths; the least and the greatest d in 1000ths. */
PARAMETERS(4096, 1024, 500, 2000);
#define G(tp) PARAMETER(tp, 0)
#define INITIAL_ALPHA(tp) PARAMETER(tp, 1)
#define LEAST_URGENCY(tp) PARAMETER(tp, 2)
#define GREATEST_URGENCY(tp) PARAMETER(tp, 3)

/* What is more to send counts as that, so that products fit. */
#define MOST_BYTES (1ull << 38)

HINTS()

struct d2tcp {
	u64 alpha; /* 2^32ths */
	struct echo echo;
};
PRIVATE(struct d2tcp)

INIT(tp)
{
	struct d2tcp *ca = private_of(tp);

	ca->alpha = INITIAL_ALPHA(tp) << 22;
	begin_echo(tp, &ca->echo);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct d2tcp *ca = private_of(tp);

	measure_marks(tp, &ca->echo, &ca->alpha, G(tp));
}

CONG_AVOID(tp, acked) { grow_as_reno(tp, acked); }

/* d in 1000ths: how long what is left takes at 3/4 W a round trip, by how long there is. */
static INLINE u64 urgency(struct tcp_sock *tp)
{
	struct flow_hints *hints = hints_of(tp);
	u64 mss = tp->mss_cache, done = tp->delivered * mss, left, needed, remaining;

	if (!hints)
		return 1000;
	left = hints->bytes > done ? least64(hints->bytes - done, MOST_BYTES) : 0;
	needed = left * (tp->srtt_us >> 3) / greatest64(3 * tp->snd_cwnd * mss, 1) * 4;
	remaining = hints->deadline > tp->tcp_mstamp ? hints->deadline - tp->tcp_mstamp : 0;
	if (needed * 1000 >= GREATEST_URGENCY(tp) * remaining)
		return GREATEST_URGENCY(tp);
	return greatest64(needed * 1000 / remaining, LEAST_URGENCY(tp));
}

/* An episode in which nothing was lost began with a mark. */
SSTHRESH(tp)
{
	u64 cwnd = tp->snd_cwnd, penalty;

	if (tp->lost_out)
		return threshold(cwnd / 2);
	penalty = power_of_share(private_of(tp)->alpha, urgency(tp));
	return threshold(cwnd - ((cwnd * penalty) >> 33));
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
