// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Hybla (Caini, Firrincieli, IJSCN 22(5), 2004): a long path grows as fast as one of RTT0 would. In eighths of rho =
 * SRTT/RTT0 and 128ths of a segment, an ACK at a time; outside of the Open state it is Reno.
 */
#define ALGORITHM hybla
#include "cwnd.h"

/* RTT0 in us; the greatest exponent of slow start's step; a switch. */
PARAMETERS(25000, 6, 1);
#define RTT0(tp) PARAMETER(tp, 0)
#define MAX_EXPONENT(tp) PARAMETER(tp, 1)
#define SCALE_START(tp) PARAMETER(tp, 2)

#define PARTS 128

/* 2^(i/8) in 128ths, i from 0 to 7: 128, 139, 152, 165, 181, 197, 215 and 234, a byte each. */
#define POWERS 0xead7c5b5a5988b80ull
#define POWER(eighths) (POWERS >> 8 * ((eighths) & 7) & 255)

struct hybla {
	u64 rho8; /* eighths */
	u64 parts; /* 128ths of a segment */
	u32 least_srtt; /* eighths of a us */
	u32 idle; /* ACKs since the last step that were worth less than a 128th each */
	u8 state;
};
PRIVATE(struct hybla)

static INLINE void renew_rho(struct tcp_sock *tp, struct hybla *ca)
{
	u32 srtt = tp->srtt_us;

	if (!srtt || srtt >= ca->least_srtt)
		return;
	ca->least_srtt = srtt;
	ca->rho8 = greatest64(srtt / RTT0(tp), 8);
}

INIT(tp)
{
	struct hybla *ca = private_of(tp);

	ca->rho8 = 8;
	ca->parts = 0;
	ca->least_srtt = ~0u;
	ca->idle = 0;
	ca->state = CA_OPEN;
	renew_rho(tp, ca);
	if (SCALE_START(tp))
		set_window(tp, ca->rho8 / 8);
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	renew_rho(tp, private_of(tp));
}

CONG_AVOID(tp, acked)
{
	struct hybla *ca = private_of(tp);
	u32 cwnd = tp->snd_cwnd, ssthresh = tp->snd_ssthresh;
	bool start = in_slow_start(tp);
	u64 growth, grown;

	if (!is_limited(tp))
		return;
	if (ca->state != CA_OPEN) {
		grow_as_reno(tp, acked);
		return;
	}
	if (start) {
		growth = (POWER(ca->rho8) << least64(ca->rho8 / 8, MAX_EXPONENT(tp) & 31)) - PARTS;
	} else {
		growth = 2 * ca->rho8 * ca->rho8 / greatest(cwnd, 1);
		if (growth < PARTS)
			ca->idle++;
	}
	grown = cwnd + growth / PARTS;
	ca->parts += growth % PARTS;
	if (ca->parts >= PARTS) {
		grown += ca->parts / PARTS;
		ca->parts %= PARTS;
		ca->idle = 0;
	}
	if (!growth && ca->idle >= cwnd) {
		grown++;
		ca->idle = 0;
	}
	set_window(tp, start ? least64(grown, ssthresh) : grown);
}

SSTHRESH(tp)
{
	private_of(tp)->idle = 0;
	return threshold(tp->snd_cwnd - tp->snd_cwnd / 2);
}

SET_STATE(tp, state) { private_of(tp)->state = state; }

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .undo_cwnd = HOOK(undo_cwnd), );
