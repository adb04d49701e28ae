// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * TCP-Fusion (Kaneko and others, PFLDnet 2007): grows by what Westwood's bandwidth delivers in growth_time while
 * less than Dmin is queued, shrinks from three times that on, and never falls behind Reno.
 */
#define ALGORITHM fusion
#include "cwnd.h"
#include "rounds.h"
#include "bandwidth.h"

/* d_min and growth_time in us. */
PARAMETERS(4000, 1000);
#define D_MIN(tp) PARAMETER(tp, 0)
#define GROWTH_TIME(tp) PARAMETER(tp, 1)

/* `credit`, `growth` and `reno` are in 2^20ths of a segment. */
#define BITS 20

struct fusion {
	u64 credit;
	u64 growth; /* in this round trip */
	u64 reno; /* W_reno */
	struct bandwidth bandwidth;
	struct rounds rounds;
	u32 last_rtt; /* us */
};
PRIVATE(struct fusion)

INIT(tp)
{
	struct fusion *ca = private_of(tp);

	ca->credit = 0;
	ca->growth = 0;
	ca->reno = 0;
	ca->last_rtt = 0;
	begin_bandwidth(&ca->bandwidth);
	begin_rounds(tp, &ca->rounds);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct fusion *ca = private_of(tp);

	measure_bandwidth(tp, &ca->bandwidth);
	measure_rounds(tp, &ca->rounds, rtt_us);
	if (rtt_us >= 0)
		ca->last_rtt = rtt_us;
}

static INLINE void end_round(struct tcp_sock *tp, struct fusion *ca)
{
	u64 rtt = ca->rounds.ended_rtt, queueing = rtt - ca->rounds.ended_base;

	ca->growth = 0;
	if (queueing < D_MIN(tp)) {
		ca->growth = (ca->bandwidth.fine * GROWTH_TIME(tp) << (BITS - 16)) / 1000000;
	} else if (queueing > 3 * D_MIN(tp)) {
		u64 kept = tp->snd_cwnd * (rtt - (queueing - D_MIN(tp))) / rtt;

		lower_window(tp, greatest64(kept, ca->reno >> BITS));
	}
}

CONG_AVOID(tp, acked)
{
	struct fusion *ca = private_of(tp);
	u32 cwnd;

	if (!is_limited(tp))
		return;
	if (in_slow_start(tp)) {
		acked = slow_start(tp, acked);
		ca->reno = (u64)tp->snd_cwnd << BITS;
		if (!acked)
			return;
	}
	if (ca->rounds.ended_samples)
		end_round(tp, ca);
	cwnd = tp->snd_cwnd;
	ca->reno += ((u64)acked << BITS) / greatest(cwnd, 1);
	if (ca->growth)
		increase_weighted(tp, &ca->credit, acked, ca->growth, (u64)cwnd << BITS);
	if (ca->reno >> BITS > tp->snd_cwnd) {
		ca->reno = least64(ca->reno, (u64)tp->snd_cwnd_clamp << BITS);
		set_window(tp, ca->reno >> BITS);
	}
}

static INLINE u32 reduce_to(struct fusion *ca, u64 segments)
{
	u32 ssthresh = threshold(segments);

	ca->credit = 0;
	ca->reno = (u64)ssthresh << BITS;
	return ssthresh;
}

/* max(RTTmin/RTT, 1/2) W. */
SSTHRESH(tp)
{
	struct fusion *ca = private_of(tp);
	u64 cwnd = tp->snd_cwnd, rtt = ca->last_rtt, base = ca->rounds.base;

	restart_rounds(&ca->rounds);
	ca->growth = 0;
	if (!rtt || base > rtt)
		return reduce_to(ca, cwnd / 2);
	return reduce_to(ca, greatest64(cwnd * base / rtt, cwnd / 2));
}

CWND_EVENT(tp, event)
{
	struct fusion *ca = private_of(tp);

	if (event == EVENT_LOSS)
		tp->snd_ssthresh = reduce_to(ca, tp->snd_cwnd / 2);
	if (event == EVENT_COMPLETE_CWR)
		restart_rounds(&ca->rounds);
}

/* Each timeout of a row. */
SET_STATE(tp, state)
{
	struct fusion *ca = private_of(tp);

	if (state != CA_LOSS)
		return;
	restart_rounds(&ca->rounds);
	ca->growth = 0;
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), );
