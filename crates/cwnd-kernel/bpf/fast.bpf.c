// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * FAST TCP (Wei, Jin, Low, Hegde, IEEE/ACM ToN 14(6), 2006): each second round trip the window moves towards
 * baseRTT/RTT W + alpha, which keeps alpha segments in queues.
 */
#define ALGORITHM fast
#include "cwnd.h"
#include "rounds.h"

/* alpha in 1000ths of a segment; g in 1024ths; mi_threshold in us; round trips between two updates, in 1000ths. */
PARAMETERS(100000, 512, 750, 2000);
#define ALPHA(tp) PARAMETER(tp, 0)
#define GAIN(tp) PARAMETER(tp, 1)
#define MI_THRESHOLD(tp) PARAMETER(tp, 2)
#define UPDATE_EVERY(tp) PARAMETER(tp, 3)

/* Windows of the equation are in 2^20ths of a segment, RTT in 2^16ths of a us. */
#define ONE (1ull << 20)

struct fast {
	u64 credit;
	u64 rtt; /* RTT; 0 before the first sample */
	u32 base; /* baseRTT, us */
	u32 end; /* where the round trip ends, a sequence number */
	u32 last_window; /* the window when it began */
	u32 rounds; /* round trips since the last update */
	u32 target; /* of an increase under way; 0 if there is none */
	u32 rise; /* its segments, */
	u32 over; /* and the acknowledged ones over which they are spread */
	u8 begins; /* the ACK begins a round trip */
};
PRIVATE(struct fast)

/* Leave a round trip out, since the delay that is known is not yet that of this window. */
static INLINE void rest(struct tcp_sock *tp, struct fast *ca)
{
	ca->last_window = tp->snd_cwnd;
	ca->rounds = 0;
	ca->target = 0;
}

INIT(tp)
{
	struct fast *ca = private_of(tp);

	ca->credit = 0;
	ca->rtt = 0;
	ca->base = ~0u;
	ca->end = tp->snd_una;
	ca->begins = 0;
	rest(tp, ca);
	ca->last_window = 0;
}

/* RTT += min(3/W, 1/4) (sample - RTT). */
PKTS_ACKED(tp, pkts, rtt_us)
{
	struct fast *ca = private_of(tp);
	u64 sample = (u64)rtt_us << 16, weight = tp->snd_cwnd > 12 ? 3 : 1;
	u64 parts = tp->snd_cwnd > 12 ? tp->snd_cwnd : 4;

	ca->begins = round_begins(tp, &ca->end);
	if (rtt_us < 0)
		return;
	ca->base = least(ca->base, rtt_us);
	if (!ca->rtt)
		ca->rtt = sample;
	else if (sample > ca->rtt)
		ca->rtt += (sample - ca->rtt) * weight / parts;
	else
		ca->rtt -= (ca->rtt - sample) * weight / parts;
}

/* min(2 W, (1 - g) W + g (baseRTT/RTT W_old + alpha)). */
static INLINE u64 equation(struct tcp_sock *tp, struct fast *ca, u32 old)
{
	u64 cwnd = tp->snd_cwnd * ONE, gain = GAIN(tp);
	u64 ratio = ca->rtt ? least64(((u64)ca->base << 36) / ca->rtt, ONE) : ONE;
	u64 settled = ratio * old + ALPHA(tp) * ONE / 1000;

	return least64(((1024 - gain) * cwnd + gain * settled) / 1024, 2 * cwnd);
}

static INLINE void end_round(struct tcp_sock *tp, struct fast *ca)
{
	u32 cwnd = tp->snd_cwnd, old = ca->last_window;
	u64 target;

	ca->last_window = cwnd;
	ca->rounds++;
	if (ca->rounds * 1000 < UPDATE_EVERY(tp))
		return;
	target = equation(tp, ca, old) / ONE;
	rest(tp, ca);
	if (target < cwnd || in_slow_start(tp))
		lower_window(tp, target);
	target = least64(target, tp->snd_cwnd_clamp);
	if (target > cwnd) {
		ca->target = target;
		ca->rise = target - cwnd;
		ca->over = cwnd;
	}
}

CONG_AVOID(tp, acked)
{
	struct fast *ca = private_of(tp);
	bool starts = ca->rtt < ((u64)ca->base << 16) + (MI_THRESHOLD(tp) << 16);
	u32 cwnd = tp->snd_cwnd;

	if (!is_limited(tp))
		return;
	if (in_slow_start(tp) && (starts || tp->snd_ssthresh < 0x7fffffff)) {
		slow_start(tp, acked);
		rest(tp, ca);
		return;
	}
	if (starts) {
		set_window(tp, (u64)cwnd + acked);
		rest(tp, ca);
		return;
	}
	if (in_slow_start(tp))
		lower_window(tp, cwnd);
	if (ca->begins)
		end_round(tp, ca);
	if (ca->target) {
		increase_weighted(tp, &ca->credit, acked, ca->rise, ca->over);
		if (tp->snd_cwnd >= ca->target) {
			set_window(tp, ca->target);
			ca->target = 0;
		}
	}
}

SSTHRESH(tp)
{
	struct fast *ca = private_of(tp);

	ca->credit = 0;
	rest(tp, ca);
	return threshold(tp->snd_cwnd / 2);
}

/* Each timeout of a series. */
SET_STATE(tp, state)
{
	if (state == CA_LOSS)
		rest(tp, private_of(tp));
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_COMPLETE_CWR)
		rest(tp, private_of(tp));
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .undo_cwnd = HOOK(undo_cwnd), );
