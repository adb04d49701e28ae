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
	struct module_rounds rounds;
	u8 state;
};
PRIVATE(struct vegas)

INIT(tp)
{
	begin_module_rounds(tp, &private_of(tp)->rounds);
	private_of(tp)->state = CA_OPEN;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	measure_module_rounds(tp, &private_of(tp)->rounds, pkts, rtt_us);
}

static INLINE void end_round(struct tcp_sock *tp, struct module_rounds *rounds, u32 acked)
{
	u64 cwnd = tp->snd_cwnd, base = rounds->base, rtt = rounds->rtt;
	u64 diff = cwnd * (rtt - base) / greatest64(base, 1) * 1000;

	if (in_slow_start(tp) && diff <= GAMMA(tp)) {
		slow_start(tp, acked);
	} else if (in_slow_start(tp)) {
		set_window(tp, least64(cwnd, cwnd * base / greatest64(rtt, 1) + 1));
		tp->snd_ssthresh = least(tp->snd_ssthresh, tp->snd_cwnd);
	} else if (diff > BETA(tp)) {
		set_window(tp, cwnd - 1);
		tp->snd_ssthresh = least(tp->snd_ssthresh, tp->snd_cwnd);
	} else if (diff < ALPHA(tp)) {
		set_window(tp, cwnd + 1);
	}
	set_window(tp, greatest(tp->snd_cwnd, 2));
	tp->snd_ssthresh = greatest(tp->snd_ssthresh, tp->snd_cwnd / 2 + tp->snd_cwnd / 4);
}

CONG_AVOID(tp, acked)
{
	struct vegas *ca = private_of(tp);
	struct module_rounds *rounds = &ca->rounds;

	if (ca->state != CA_OPEN) {
		grow_as_reno(tp, acked);
	} else if (is_after(tp->snd_una, rounds->end)) {
		if (rounds->samples >= LEAST_SAMPLES)
			end_round(tp, rounds, acked);
		else
			grow_as_reno(tp, acked);
		restart_module_rounds(tp, rounds);
	} else if (in_slow_start(tp)) {
		slow_start(tp, acked);
	}
}

SSTHRESH(tp) { return threshold(tp->snd_cwnd * KEPT(tp) / 1000); }

/* Nothing was in flight, so that the path may be another one. */
CWND_EVENT_TX_START(tp)
{
	struct module_rounds *rounds = &private_of(tp)->rounds;

	rounds->base = ~0u;
	restart_module_rounds(tp, rounds);
}

SET_STATE(tp, state)
{
	struct vegas *ca = private_of(tp);

	ca->state = state;
	if (state == CA_OPEN)
		restart_module_rounds(tp, &ca->rounds);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state),
	   .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
