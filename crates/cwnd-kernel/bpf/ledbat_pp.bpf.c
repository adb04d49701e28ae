// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): grows slower than Reno, yields to a queueing delay over TARGET, and slows
 * down from time to time to see the base delay. Interpretations as in the Rust code.
 */
#define ALGORITHM ledbat_pp
#include "cwnd.h"
#include "time_min.h"

/* TARGET in us; C in 1024ths; slowdowns; the greatest divisor in 1000ths. */
PARAMETERS(60000, 1024, 1, 16000);
#define TARGET(tp) PARAMETER(tp, 0)
#define CONSTANT(tp) PARAMETER(tp, 1)
#define SLOWDOWNS(tp) PARAMETER(tp, 2)
#define GREATEST_DIVISOR(tp) PARAMETER(tp, 3)

/* Fractions of a segment and of TARGET are in 2^32ths. */
#define ONE (1ull << 32)
#define LEAST_WINDOW 2
#define BASE_SPANS 10
#define BASE_SPAN_NS 60000000000ull
#define CURRENT 4
/* To the next slowdown, as a multiple of how long the last one took. */
#define PAUSE 9

/* The next phase: the first slow start, waiting for a slowdown, the least window, slow start after it. */
enum { START, SLOW_AT, REDUCED, REFILL };

struct ledbat_pp {
	u64 credit;
	u64 since; /* when the slowdown began, us */
	u64 until; /* when a slowdown is due or the least window ends, us */
	struct time_min base;
	u32 base_spans[BASE_SPANS];
	u32 current[CURRENT]; /* the last samples, us */
	u32 owed; /* what is to be given up and makes no segment yet */
	u8 plan;
};
PRIVATE(struct ledbat_pp)

INIT(tp)
{
	struct ledbat_pp *ca = private_of(tp);

	ca->credit = 0;
	ca->since = 0;
	ca->until = 0;
	begin_time_min(tp, &ca->base, ca->base_spans, BASE_SPANS);
	UNROLL
	for (int i = 0; i < CURRENT; i++)
		ca->current[i] = ~0u;
	ca->owed = 0;
	ca->plan = START;
}

static INLINE void plan_slowdown(struct tcp_sock *tp, struct ledbat_pp *ca, u64 pause)
{
	ca->plan = SLOW_AT;
	ca->until = tp->tcp_mstamp + pause;
}

static INLINE u64 two_round_trips(struct tcp_sock *tp) { return tp->srtt_us >> 2; }

static INLINE void end_slowdown(struct tcp_sock *tp, struct ledbat_pp *ca)
{
	plan_slowdown(tp, ca, PAUSE * (tp->tcp_mstamp - ca->since));
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct ledbat_pp *ca = private_of(tp);

	if (rtt_us >= 0) {
		add_time_min(tp, &ca->base, ca->base_spans, BASE_SPANS, BASE_SPAN_NS, rtt_us);
		UNROLL
		for (int i = CURRENT - 1; i > 0; i--)
			ca->current[i] = ca->current[i - 1];
		ca->current[0] = rtt_us;
	}
	if (ca->plan == REDUCED && tp->tcp_mstamp >= ca->until)
		ca->plan = REFILL;
	else if (ca->plan == REFILL && !in_slow_start(tp))
		end_slowdown(tp, ca);
}

/* qd/TARGET. */
static INLINE u64 queueing(struct tcp_sock *tp, struct ledbat_pp *ca)
{
	u32 rtt = least(least(ca->current[0], ca->current[1]), least(ca->current[2], ca->current[3]));

	if (rtt == ~0u || rtt < ca->base.least)
		return 0;
	return ((rtt - ca->base.least) * ONE + TARGET(tp) / 2) / TARGET(tp);
}

/* GAIN times the acknowledged segments. */
static INLINE u64 gain(struct tcp_sock *tp, struct ledbat_pp *ca, u32 acked)
{
	u64 base = greatest(ca->base.least, 1), divisor = GREATEST_DIVISOR(tp);

	if (ca->base.least != ~0u)
		divisor = least64(divisor, greatest64((2 * TARGET(tp) + base - 1) / base, 1) * 1000);
	return acked * (ONE * 1000 / divisor);
}

static INLINE void start_slowly(struct tcp_sock *tp, struct ledbat_pp *ca, u32 acked)
{
	u64 room = (tp->snd_ssthresh - tp->snd_cwnd) * ONE;

	if (ca->plan == START && queueing(tp, ca) > ONE * 3 / 4) {
		tp->snd_ssthresh = threshold(tp->snd_cwnd);
		plan_slowdown(tp, ca, two_round_trips(tp));
		return;
	}
	increase_weighted(tp, &ca->credit, 1, least64(gain(tp, ca, acked), room), ONE);
}

/* Give up a step; the window is whole, and slow start does not win back what is given up. */
static INLINE void fall(struct tcp_sock *tp, struct ledbat_pp *ca, u64 step)
{
	u32 cwnd = tp->snd_cwnd, given_up;

	step += ca->owed;
	given_up = least64(step / ONE, cwnd);
	ca->owed = step % ONE;
	set_window(tp, greatest(cwnd - given_up, least(LEAST_WINDOW, cwnd)));
	tp->snd_ssthresh = least(tp->snd_ssthresh, greatest(tp->snd_cwnd, LEAST_WINDOW));
}

/* GAIN - C W (qd/TARGET - 1) a round trip where the queue is over TARGET, down to half of the window. */
static INLINE void adapt(struct tcp_sock *tp, struct ledbat_pp *ca, u32 acked)
{
	u64 cwnd = greatest(tp->snd_cwnd, 1), up = gain(tp, ca, 1), qd = queueing(tp, ca), down = 0;

	if (qd > ONE)
		down = (cwnd * least64(qd - ONE, 4 * ONE) >> 6) * CONSTANT(tp) >> 4;
	if (up >= down)
		increase_weighted(tp, &ca->credit, acked, up - down, cwnd * ONE);
	else
		fall(tp, ca, (least64(down - up, cwnd * ONE / 2) * least64(acked, cwnd) + cwnd / 2) / cwnd);
}

CONG_AVOID(tp, acked)
{
	struct ledbat_pp *ca = private_of(tp);

	if (SLOWDOWNS(tp) && ca->plan == REDUCED)
		return;
	if (!is_limited(tp))
		return;
	if (SLOWDOWNS(tp) && ca->plan == SLOW_AT && tp->tcp_mstamp >= ca->until && tp->snd_cwnd > LEAST_WINDOW) {
		tp->snd_ssthresh = threshold(tp->snd_cwnd);
		tp->snd_cwnd_cnt = 0;
		ca->credit = 0;
		set_window(tp, LEAST_WINDOW);
		ca->plan = REDUCED;
		ca->since = tp->tcp_mstamp;
		ca->until = ca->since + two_round_trips(tp);
		return;
	}
	if (in_slow_start(tp)) {
		start_slowly(tp, ca, acked);
		return;
	}
	if (ca->plan == START)
		plan_slowdown(tp, ca, two_round_trips(tp));
	adapt(tp, ca, acked);
}

/* A loss ends a slowdown. */
SSTHRESH(tp)
{
	struct ledbat_pp *ca = private_of(tp);

	if (ca->plan == START)
		plan_slowdown(tp, ca, two_round_trips(tp));
	else if (ca->plan != SLOW_AT)
		end_slowdown(tp, ca);
	ca->owed = 0;
	ca->credit = 0;
	return threshold(tp->snd_cwnd / 2);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .undo_cwnd = HOOK(undo_cwnd), );
