// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Copa (Arun, Balakrishnan, NSDI 2018): the window moves by v/(delta W) an acknowledged segment towards the rate 1/(delta dq), dq
 * the standing queue's delay. Packets are paced at two windows a round trip. Interpretations as in the Rust code.
 */
#define ALGORITHM copa
#include "cwnd.h"
#include "time_min.h"

/* delta in 1000ths; a switch; the span of RTTmin in ms. */
PARAMETERS(500, 1, 10000);
#define DELTA(tp) PARAMETER(tp, 0)
#define MODE_SWITCHING(tp) PARAMETER(tp, 1)
#define MIN_RTT_WINDOW(tp) PARAMETER(tp, 2)

/* 1/delta and steps of the window are in 2^32ths of a segment. */
#define ONE (1ull << 32)
#define LEAST_WINDOW 2
#define MIN_SPANS 10
#define STANDING_SPANS 8
/* Round trips that RTTmax spans; in one direction before the velocity doubles; in which the queue empties once. */
#define MAX_ROUNDS 4
#define STEADY_ROUNDS 3
#define EMPTY_ROUNDS 5

struct copa {
	u64 segments; /* 1/delta */
	u64 credit;
	u64 owed; /* what is to be given up and makes no segment yet */
	struct time_min min;
	struct time_min standing;
	u32 min_spans[MIN_SPANS];
	u32 standing_spans[STANDING_SPANS];
	u32 max[MAX_ROUNDS]; /* greatest sample of this round trip and of those before, us */
	u32 round_end; /* a sequence number */
	u32 round_cwnd; /* the window when the round trip began */
	u32 velocity;
	u32 steady_rounds;
	u32 full_rounds; /* round trips since the queue was nearly empty */
	u8 rises;
	u8 starts; /* slow start */
	u8 lost;
};
STORAGE(struct copa)

INIT(tp)
{
	struct copa *ca = new_private(tp);

	if (!ca)
		return;
	ca->segments = 1000 * ONE / DELTA(tp);
	ca->credit = 0;
	ca->owed = 0;
	begin_time_min(tp, &ca->min, ca->min_spans, MIN_SPANS);
	begin_time_min(tp, &ca->standing, ca->standing_spans, STANDING_SPANS);
	for (int i = 0; i < MAX_ROUNDS; i++)
		ca->max[i] = 0;
	ca->round_end = tp->snd_una;
	ca->round_cwnd = 0;
	ca->velocity = 1;
	ca->steady_rounds = 0;
	ca->full_rounds = 0;
	ca->rises = 1;
	ca->starts = 1;
	ca->lost = 0;
	begin_pacing(tp);
}

static INLINE void measure(struct tcp_sock *tp, struct copa *ca, u32 rtt)
{
	add_time_min(tp, &ca->min, ca->min_spans, MIN_SPANS, MIN_RTT_WINDOW(tp) * 1000000 / MIN_SPANS, rtt);
	/* Half of the smoothed round-trip time, which is in eighths. */
	add_time_min(tp, &ca->standing, ca->standing_spans, STANDING_SPANS, tp->srtt_us * 1000ull / (16 * STANDING_SPANS), rtt);
	ca->max[0] = greatest(ca->max[0], rtt);
}

/* dq, us. */
static INLINE u32 standing_queue(struct copa *ca)
{
	return ca->standing.least > ca->min.least ? ca->standing.least - ca->min.least : 0;
}

static INLINE void choose_mode(struct tcp_sock *tp, struct copa *ca)
{
	u64 smallest = 1000 * ONE / DELTA(tp);
	u32 max = greatest(greatest(ca->max[0], ca->max[1]), greatest(ca->max[2], ca->max[3]));
	u32 span = max > ca->min.least ? max - ca->min.least : 0;

	if (10ull * standing_queue(ca) < span || !span)
		ca->full_rounds = 0;
	else
		ca->full_rounds++;
	if (!MODE_SWITCHING(tp) || ca->full_rounds < EMPTY_ROUNDS)
		ca->segments = smallest;
	else if (ca->lost)
		ca->segments = greatest64(ca->segments / 2, smallest);
	else
		ca->segments += ONE;
	ca->lost = 0;
}

static INLINE void end_round(struct tcp_sock *tp, struct copa *ca)
{
	u32 cwnd = tp->snd_cwnd;
	bool rises = cwnd > ca->round_cwnd, moved = cwnd != ca->round_cwnd && !ca->starts;

	if (moved && rises == ca->rises) {
		ca->steady_rounds++;
		if (ca->steady_rounds >= STEADY_ROUNDS)
			ca->velocity = least64(2ull * ca->velocity, tp->snd_cwnd_clamp);
	} else {
		ca->velocity = 1;
		ca->steady_rounds = moved;
	}
	ca->rises = rises;
	ca->round_cwnd = cwnd;
	choose_mode(tp, ca);
	for (int i = MAX_ROUNDS - 1; i > 0; i--)
		ca->max[i] = ca->max[i - 1];
	ca->max[0] = 0;
}

static INLINE void steer(struct tcp_sock *tp, struct copa *ca, u32 acked, u32 standing)
{
	u64 cwnd = greatest(tp->snd_cwnd, 1), step = acked * ONE;
	/* lambda <= 1/(delta dq), without a division; 1/delta in 2^20ths. */
	bool up = cwnd * standing_queue(ca) <= (standing * (ca->segments >> 12)) >> 20;

	if (ca->starts && up) {
		if (is_limited(tp))
			set_window(tp, cwnd + acked);
		return;
	}
	ca->starts = 0;
	/* v/(delta W) for each segment, rounded, and no more than a segment. */
	if (ca->velocity * (ca->segments / ONE) < cwnd)
		step = least64(step, (ca->velocity * ca->segments + cwnd / 2) / cwnd * acked);
	if (up) {
		if (is_limited(tp))
			increase_weighted(tp, &ca->credit, 1, step, ONE);
		return;
	}
	step += ca->owed;
	ca->owed = step % ONE;
	step /= ONE;
	set_window(tp, greatest64(cwnd > step ? cwnd - step : 0, least64(LEAST_WINDOW, cwnd)));
}

CONG_CONTROL(tp, rs)
{
	struct copa *ca = private_of(tp);
	u32 standing;

	if (!ca)
		return;
	if (rs->rtt_us >= 0)
		measure(tp, ca, rs->rtt_us);
	if (round_begins(tp, &ca->round_end))
		end_round(tp, ca);
	standing = greatest(ca->standing.least, 1);
	if (standing == ~0u || !rs->acked_sacked)
		return;
	steer(tp, ca, rs->acked_sacked, standing);
	set_pacing_rate(tp, 2ull * tp->snd_cwnd * tp->mss_cache * 1000000 / standing);
}

/* Losses leave the window as it is. */
SSTHRESH(tp)
{
	struct copa *ca = private_of(tp);

	if (ca)
		ca->credit = 0;
	return threshold(tp->snd_cwnd);
}

SET_STATE(tp, state)
{
	struct copa *ca = private_of(tp);

	if (!ca)
		return;
	if (state == CA_RECOVERY)
		ca->lost = 1;
	/* Each timeout of a series. */
	if (state == CA_LOSS) {
		ca->velocity = 1;
		ca->steady_rounds = 0;
		ca->starts = 1;
	}
}

CWND_EVENT(tp, event)
{
	if (event == EVENT_LOSS)
		tp->snd_ssthresh = threshold(tp->prior_cwnd / 2);
}

UNDO_CWND(tp) { return tp->snd_cwnd; }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control),
	   .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
OPERATIONS_TWO(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control_two),
	       .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
