// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Vegas (Brakmo, Peterson, IEEE JSAC 13(8), 1995): keeps alpha to beta segments in queues; slow start ends over
 * gamma, at what the path delivers.
 */
#define ALGORITHM vegas
#include "cwnd.h"
#include "rounds.h"

/* alpha, beta and gamma in 1000ths of a segment; kept in 1000ths. */
PARAMETERS(2000, 4000, 1000, 500);
#define ALPHA(tp) PARAMETER(tp, 0)
#define BETA(tp) PARAMETER(tp, 1)
#define GAMMA(tp) PARAMETER(tp, 2)
#define KEPT(tp) PARAMETER(tp, 3)

struct vegas {
	struct rounds rounds;
};
PRIVATE(struct vegas)

INIT(tp) { begin_rounds(tp, &private_of(tp)->rounds); }

PKTS_ACKED(tp, pkts, rtt_us)
{
	measure_rounds(tp, &private_of(tp)->rounds, rtt_us);
}

CONG_AVOID(tp, acked)
{
	struct rounds *rounds = &private_of(tp)->rounds;
	u32 cwnd = tp->snd_cwnd, samples = rounds->ended_samples;
	/* W (RTT - baseRTT) against so many segments times RTT, in 1000ths. */
	u64 rtt = rounds->ended_rtt, base = rounds->ended_base;
	u64 diff = samples && rtt > base ? cwnd * (rtt - base) * 1000 : 0;

	if (!is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		if (samples >= LEAST_SAMPLES && diff > GAMMA(tp) * rtt)
			lower_window(tp, cwnd * least64(base, rtt) / greatest64(rtt, 1) + 1);
		else
			slow_start(tp, acked);
	} else if (samples) {
		if (samples < LEAST_SAMPLES || diff < ALPHA(tp) * rtt)
			set_window(tp, (u64)cwnd + 1);
		else if (diff > BETA(tp) * rtt)
			lower_window(tp, cwnd - 1);
	}
}

SSTHRESH(tp)
{
	restart_rounds(&private_of(tp)->rounds);
	return threshold(tp->snd_cwnd * KEPT(tp) / 1000);
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_COMPLETE_CWR)
		restart_rounds(&private_of(tp)->rounds);
}

SET_STATE(tp, state)
{
	if (state == CA_LOSS)
		restart_rounds(&private_of(tp)->rounds);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), );
