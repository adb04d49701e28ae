// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * TCP Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP with a fractional window, growth at unmarked segments
 * only, a reference round-trip time and pacing. Marks are echoed exactly by the receiver that runs it. Interpretations as in
 * the Rust code.
 */
#define ALGORITHM prague
#include "cwnd.h"
#include "echo.h"
#include "recovery.h"

/* g in 2^16ths; rtt_ref in us; round trips before it applies; the pacing gain in 1000ths. */
PARAMETERS(4096, 25000, 500, 1000);
#define G(tp) PARAMETER(tp, 0)
#define RTT_REF(tp) PARAMETER(tp, 1)
#define TRANSITION(tp) PARAMETER(tp, 2)
#define PACING_GAIN(tp) PARAMETER(tp, 3)

/* The window, alpha and the increase are in 2^32ths. */
#define ONE (1ull << 32)
#define LEAST_WINDOW 2
#define SLOW_START_PACING_GAIN 2000

struct prague {
	u64 window; /* W */
	u64 alpha;
	u64 increase; /* 1/M^2 */
	u64 reduced; /* when the last reduction was, us */
	u64 updated; /* when alpha was, us */
	struct echo echo; /* its counts are those of the last update of alpha */
	u32 delivered; /* the connection's counts at the last ACK */
	u32 delivered_ce;
	u32 una; /* what was acknowledged then */
	u32 reduced_at; /* what had been sent at the last reduction */
	u32 published; /* the window as set here; if it is another, the kernel has changed it */
	u32 rounds; /* round trips since slow start */
	struct recovery recovery;
	u8 state;
	u8 scalable; /* marks can be echoed */
	u8 marked; /* a mark has been seen */
};
STORAGE(struct prague)

static INLINE void follow(struct tcp_sock *tp, struct prague *ca)
{
	if (tp->snd_cwnd == ca->published)
		return;
	ca->published = tp->snd_cwnd;
	ca->window = tp->snd_cwnd * ONE;
}

/* Set the window, rounded up. */
static INLINE void publish(struct tcp_sock *tp, struct prague *ca)
{
	set_window(tp, (ca->window + ONE - 1) / ONE);
	ca->published = tp->snd_cwnd;
}

static INLINE void pace(struct tcp_sock *tp, struct prague *ca)
{
	u64 gain = 2ull * tp->snd_cwnd < tp->snd_ssthresh ? SLOW_START_PACING_GAIN : PACING_GAIN(tp);
	/* In 1024ths; the smoothed round-trip time is in eighths. */
	u64 segments = greatest64(ca->window >> 22, (u64)in_flight(tp) << 10), srtt = tp->srtt_us;

	if (srtt)
		set_pacing_rate(tp, gain * segments * tp->mss_cache / 128 * 1000 / srtt);
}

INIT(tp)
{
	struct prague *ca = new_private(tp);

	if (!ca)
		return;
	ca->alpha = ONE;
	ca->increase = ONE;
	ca->reduced = 0;
	ca->updated = tp->tcp_mstamp;
	begin_echo(tp, &ca->echo);
	ca->delivered = tp->delivered;
	ca->delivered_ce = tp->delivered_ce;
	ca->una = tp->snd_una;
	ca->reduced_at = tp->snd_una;
	ca->published = 0;
	ca->rounds = 0;
	begin_recovery(tp, &ca->recovery);
	ca->state = CA_OPEN;
	ca->scalable = tp->ecn_flags & ECN_OK;
	ca->marked = 0;
	begin_pacing(tp);
	follow(tp, ca);
	pace(tp, ca);
}

static INLINE bool is_rtt_independent(struct tcp_sock *tp, struct prague *ca)
{
	return ca->scalable && ca->rounds >= TRANSITION(tp);
}

static INLINE void update_alpha(struct tcp_sock *tp, struct prague *ca)
{
	u32 acked = tp->delivered - ca->echo.delivered;
	u64 marked = tp->delivered_ce - ca->echo.delivered_ce;

	if (ca->marked && acked) {
		ca->alpha -= (ca->alpha * G(tp)) >> 16;
		ca->alpha += (((marked << 32) / acked) * G(tp)) >> 16;
	}
	ca->echo.delivered = tp->delivered;
	ca->echo.delivered_ce = tp->delivered_ce;
	ca->updated = tp->tcp_mstamp;
}

static INLINE void end_round(struct tcp_sock *tp, struct prague *ca)
{
	u64 srtt = tp->srtt_us, reference = greatest64(8 * RTT_REF(tp), srtt), share;
	bool independent;

	if (!in_slow_start(tp))
		ca->rounds++;
	independent = is_rtt_independent(tp, ca);
	ca->increase = ONE;
	if (independent && srtt) {
		share = (srtt << 31) / reference;
		ca->increase = (share * share) >> 30;
	}
	if (!independent || tp->tcp_mstamp - ca->updated >= RTT_REF(tp))
		update_alpha(tp, ca);
}

/* A mark, unless the window was reduced less than a round trip ago. */
static INLINE void reduce(struct tcp_sock *tp, struct prague *ca)
{
	u64 given_up;

	if (ca->state >= CA_RECOVERY || !is_after(tp->snd_una, ca->reduced_at))
		return;
	if (is_rtt_independent(tp, ca) && tp->tcp_mstamp - ca->reduced < RTT_REF(tp))
		return;
	ca->reduced_at = tp->snd_nxt;
	ca->reduced = tp->tcp_mstamp;
	ca->marked = 1;
	given_up = (ca->window >> 16) * (ca->alpha >> 1) >> 16;
	ca->window = greatest64(ca->window - given_up, least64(LEAST_WINDOW * ONE, ca->window));
	publish(tp, ca);
	tp->snd_ssthresh = threshold(ca->window / ONE);
	tp->snd_cwnd_cnt = 0;
}

/* The window grows by 1/(M^2 W) for each unmarked segment. */
static INLINE void grow(struct tcp_sock *tp, struct prague *ca, u32 unmarked)
{
	if (in_slow_start(tp)) {
		unmarked = slow_start(tp, unmarked);
		ca->window = tp->snd_cwnd * ONE;
		ca->published = tp->snd_cwnd;
	}
	if (!unmarked)
		return;
	ca->window += (unmarked * ca->increase << 10) / greatest64(ca->window >> 22, 1);
	ca->window = least64(ca->window, tp->snd_cwnd_clamp * ONE);
	publish(tp, ca);
}

CONG_CONTROL(tp, rs)
{
	struct prague *ca = private_of(tp);
	u32 acked = rs->acked_sacked, marked;
	bool advanced;

	if (!ca)
		return;
	advanced = is_after(tp->snd_una, ca->una);
	marked = ca->scalable ? least(tp->delivered_ce - ca->delivered_ce, acked) : 0;
	ca->una = tp->snd_una;
	ca->delivered = tp->delivered;
	ca->delivered_ce = tp->delivered_ce;
	follow(tp, ca);
	if (round_begins(tp, &ca->echo.end))
		end_round(tp, ca);
	if (marked)
		reduce(tp, ca);
	if (ca->state == CA_RECOVERY)
		recover(tp, &ca->recovery, acked);
	else if (advanced && acked > marked && is_limited(tp))
		grow(tp, ca, acked - marked);
	pace(tp, ca);
}

/* Marks are answered above: the episode that the kernel begins at one leaves the window as it is. */
SSTHRESH(tp)
{
	struct prague *ca = private_of(tp);

	if (!ca || !tp->lost_out)
		return tp->snd_ssthresh;
	follow(tp, ca);
	begin_recovery(tp, &ca->recovery);
	return threshold(ca->window / 2 / ONE);
}

SET_STATE(tp, state)
{
	struct prague *ca = private_of(tp);

	if (!ca)
		return;
	/* Recovery is over. */
	if (state < CA_CWR && ca->state == CA_RECOVERY)
		set_window(tp, tp->snd_ssthresh);
	ca->state = state;
}

CWND_EVENT(tp, event)
{
	struct prague *ca = private_of(tp);

	if (ca && (event == EVENT_ECN_IS_CE || event == EVENT_ECN_NO_CE))
		echo_exactly(tp, &ca->echo, event == EVENT_ECN_IS_CE);
}

UNDO_CWND(tp)
{
	struct prague *ca = private_of(tp);

	if (ca)
		ca->state = CA_OPEN;
	return window_before(tp);
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control),
	   .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd),
	   .flags = NEEDS_ECN, );
OPERATIONS_TWO(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control_two),
	       .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd),
	       .flags = NEEDS_ECN, );
