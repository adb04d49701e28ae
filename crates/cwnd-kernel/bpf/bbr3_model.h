/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The state of BBR version 3, its control of window and rate, and its model of the path (draft-ietf-ccwg-bbr, sections "Updating
 * Control Parameters" and "Updating Network Path Model Parameters"). bbr3.bpf.c has the parameters, the state machine and the hooks.
 */
#ifndef CWND_BBR3_MODEL_H
#define CWND_BBR3_MODEL_H

/* Volumes are in 2^16ths of a segment, rates in 2^16ths of a segment a second, gains in 1000ths. */
#define ONE 65536ull
#define NONE (1ull << 56)

#define DRAIN_PACING_GAIN 500
#define DOWN_PACING_GAIN 900
#define UP_PACING_GAIN 1250
#define UP_CWND_GAIN 250
#define DRAIN_ROUNDS 3
#define STARTUP_FULL_LOSS_COUNT 6
#define RENO_ROUNDS 63
#define LEAST_WINDOW (4 * ONE)
#define GREATEST_QUANTUM 65536
#define MAX_BW_CYCLES 2
#define EXTRA_ACKED_ROUNDS 10
/* Entries of the log of losses, and entries for a window. */
#define LOG 16
#define LOG_PER_WINDOW 8

enum { STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT, NO_PHASE };
enum { ACKS_INIT, ACKS_REFILLING, ACKS_PROBE_STARTING, ACKS_PROBE_FEEDBACK, ACKS_PROBE_STOPPING };

struct bounds {
	u64 bw_shortterm;
	u64 inflight_shortterm;
	u64 inflight_longterm;
};

struct bbr3 {
	u64 draws;
	/* The sample of the ACK; zeros where it has none. */
	u64 rate;
	u32 sample_delivered;
	u32 sample_prior;
	u32 sample_lost;
	u32 sample_in_flight;
	u32 delivered; /* the connection's count */
	/* The model. */
	u64 bw;
	struct round_max max_bw;
	u64 max_bw_rounds[MAX_BW_CYCLES];
	struct round_max extra_acked;
	u64 extra_acked_rounds[EXTRA_ACKED_ROUNDS];
	u64 aggregation_start; /* us */
	u64 aggregation_delivered; /* segments */
	struct bounds bounds;
	struct bounds undo;
	u64 min_rtt_stamp; /* us */
	u32 min_rtt; /* us; ~0 before the first sample */
	/* Round trips. */
	u32 next_delivered;
	u32 round_count;
	u32 drain_start_round;
	u32 rounds_since_up;
	/* The round trip of losses. */
	u64 bw_latest;
	u32 inflight_latest; /* segments */
	u32 loss_delivered;
	u32 loss_events;
	/* The search for a plateau. */
	u64 full_bw;
	/* Probes for bandwidth. */
	u64 up_acked;
	u64 up_acked_per_inc;
	u64 cycle_stamp; /* us */
	u64 wait; /* us */
	/* ProbeRTT. */
	u64 probe_rtt_done; /* us; 0 if it is not known yet */
	u64 probe_rtt_cwnd;
	u32 throttled_from; /* counts of delivered segments at which segments were sent in it */
	u32 throttled_to;
	/* Control. */
	u64 pacing_rate; /* bytes a second */
	u64 budget;
	u32 initial_cwnd; /* segments */
	u32 initial_delivered; /* the connection's count when it began */
	u32 prior_cwnd;
	u32 last_cwnd; /* as set last */
	/* The log of losses. */
	u32 log_delivered[LOG];
	u32 log_lost[LOG];
	u32 newest;
	u8 phase;
	u8 undo_phase;
	u8 ack_phase;
	u8 state;
	u8 full_bw_count;
	u8 up_rounds;
	/* Switches. */
	u8 sampled;
	u8 app_limited;
	u8 round_start;
	u8 loss_round_start;
	u8 has_loss;
	u8 full_bw_now;
	u8 full_bw_reached;
	u8 cwnd_limited;
	u8 cwnd_limited_before;
	u8 is_probe_sample;
	u8 prev_too_high;
	u8 prev_precautionary;
	u8 min_rtt_expired;
	u8 probe_rtt_round_done;
	u8 idle_restart;
	u8 in_recovery;
	u8 pacing_is_guess;
};
static INLINE u64 parts(u64 segments) { return segments * ONE; }

static INLINE bool is_probe_bw(u8 phase) { return phase >= DOWN && phase <= UP; }

static INLINE bool is_probing(u8 phase) { return phase == STARTUP || phase == REFILL || phase == UP; }

static INLINE u64 pacing_gain(struct tcp_sock *tp, struct bbr3 *ca)
{
	switch (ca->phase) {
	case STARTUP:
		return STARTUP_PACING_GAIN(tp);
	case DRAIN:
		return DRAIN_PACING_GAIN;
	case DOWN:
		return DOWN_PACING_GAIN;
	case UP:
		return UP_PACING_GAIN;
	default:
		return 1000;
	}
}

static INLINE u64 cwnd_gain(struct tcp_sock *tp, struct bbr3 *ca)
{
	if (ca->phase == PROBE_RTT)
		return PROBE_RTT_CWND_GAIN(tp);
	return CWND_GAIN(tp) + (ca->phase == UP ? UP_CWND_GAIN : 0);
}

/* Control: section "Updating Control Parameters" of the draft. */

static INLINE void set_rate(struct tcp_sock *tp, struct bbr3 *ca, u64 rate)
{
	u64 quantum = parts(least64(rate / 1000, GREATEST_QUANTUM)) / greatest(tp->mss_cache, 1);

	ca->pacing_rate = rate;
	ca->budget = greatest64(3 * greatest64(quantum, parts(2)), LEAST_WINDOW);
	set_pacing_rate(tp, rate);
}

static INLINE void guess_pacing(struct tcp_sock *tp, struct bbr3 *ca, u32 rtt)
{
	ca->pacing_is_guess = !rtt;
	set_rate(tp, ca, STARTUP_PACING_GAIN(tp) * ca->initial_cwnd * tp->mss_cache * 1000 / (rtt ? rtt : 1000));
}

static INLINE void set_pacing(struct tcp_sock *tp, struct bbr3 *ca, u64 gain)
{
	u64 rate = ((ca->bw * tp->mss_cache) >> 8) * gain / 1000 * (1000 - PACING_MARGIN(tp)) / 1000 >> 8;

	if (rate && (ca->full_bw_reached || rate > ca->pacing_rate))
		set_rate(tp, ca, rate);
}

static INLINE u64 bdp_of(struct bbr3 *ca, u64 bw, u64 gain)
{
	if (ca->min_rtt == ~0u)
		return parts(ca->initial_cwnd);
	return bw * ca->min_rtt / 1000 * gain / 1000000;
}

static INLINE u64 with_budget(struct bbr3 *ca, u64 in_flight)
{
	return greatest64(in_flight, ca->budget) + (ca->phase == UP ? parts(2) : 0);
}

static INLINE u64 target_inflight(struct tcp_sock *tp, struct bbr3 *ca)
{
	return least64(bdp_of(ca, ca->bw, 1000), parts(tp->snd_cwnd));
}

static INLINE u64 inflight_with_headroom(struct tcp_sock *tp, struct bbr3 *ca)
{
	u64 most = ca->bounds.inflight_longterm, headroom;

	if (most == NONE)
		return NONE;
	headroom = greatest64(most * HEADROOM(tp) / 1000, ONE);
	return greatest64(most > headroom ? most - headroom : 0, LEAST_WINDOW);
}

static INLINE u64 volume_cap(struct tcp_sock *tp, struct bbr3 *ca)
{
	u64 cap = NONE;

	if (ca->phase == DOWN || ca->phase == REFILL || ca->phase == UP)
		cap = ca->bounds.inflight_longterm;
	else if (ca->phase == CRUISE || ca->phase == PROBE_RTT)
		cap = inflight_with_headroom(tp, ca);
	return greatest64(least64(cap, ca->bounds.inflight_shortterm), LEAST_WINDOW);
}

static INLINE void set_cwnd(struct tcp_sock *tp, struct bbr3 *ca, u32 acked)
{
	u64 most = with_budget(ca, bdp_of(ca, ca->bw, cwnd_gain(tp, ca)) + ca->extra_acked.max);
	u64 cwnd = parts(tp->snd_cwnd);

	if (ca->full_bw_reached)
		cwnd = least64(cwnd + parts(acked), most);
	else if (cwnd < most || ca->delivered - ca->initial_delivered < ca->initial_cwnd)
		cwnd += parts(acked);
	cwnd = greatest64(cwnd, LEAST_WINDOW);
	if (ca->phase == PROBE_RTT)
		cwnd = least64(cwnd, ca->probe_rtt_cwnd);
	set_window(tp, least64(cwnd, volume_cap(tp, ca)) / ONE);
}

static INLINE void save_cwnd(struct bbr3 *ca, u32 cwnd)
{
	bool unmodulated = !ca->in_recovery && ca->phase != PROBE_RTT;

	ca->prior_cwnd = unmodulated ? cwnd : greatest(ca->prior_cwnd, cwnd);
}

static INLINE void restore_cwnd(struct tcp_sock *tp, struct bbr3 *ca)
{
	set_window(tp, greatest(tp->snd_cwnd, ca->prior_cwnd));
	ca->last_cwnd = tp->snd_cwnd;
}

/* The state machine, as far as the model enters it. */

static INLINE void start_round(struct bbr3 *ca) { ca->next_delivered = ca->delivered; }

static INLINE void reset_full_bw(struct bbr3 *ca)
{
	ca->full_bw = 0;
	ca->full_bw_count = 0;
	ca->full_bw_now = 0;
}

static INLINE void reset_short_term_model(struct bbr3 *ca)
{
	ca->bounds.bw_shortterm = NONE;
	ca->bounds.inflight_shortterm = NONE;
}

static INLINE void start_down(struct tcp_sock *tp, struct bbr3 *ca)
{
	ca->has_loss = 0;
	ca->bw_latest = 0;
	ca->inflight_latest = 0;
	ca->up_acked_per_inc = NONE;
	ca->rounds_since_up = draw(&ca->draws) & 1;
	/* 2 to 3 s. */
	ca->wait = 2000000 + ((draw(&ca->draws) >> 32) * 1000000 >> 32);
	ca->cycle_stamp = tp->tcp_mstamp;
	ca->ack_phase = ACKS_PROBE_STOPPING;
	start_round(ca);
	ca->phase = DOWN;
}

static INLINE void start_refill(struct bbr3 *ca)
{
	reset_short_term_model(ca);
	ca->up_rounds = 0;
	ca->up_acked = 0;
	ca->prev_precautionary = 0;
	ca->ack_phase = ACKS_REFILLING;
	start_round(ca);
	ca->phase = REFILL;
}

static INLINE void raise_inflight_longterm_slope(struct tcp_sock *tp, struct bbr3 *ca)
{
	ca->up_acked_per_inc = greatest64(parts(tp->snd_cwnd) >> (ca->up_rounds & 31), ONE);
	ca->up_rounds = least(ca->up_rounds + 1, 30);
}

static INLINE void start_up(struct tcp_sock *tp, struct bbr3 *ca)
{
	ca->ack_phase = ACKS_PROBE_STARTING;
	start_round(ca);
	reset_full_bw(ca);
	ca->full_bw = ca->rate;
	ca->phase = UP;
	raise_inflight_longterm_slope(tp, ca);
}

/* The model: section "Updating Network Path Model Parameters". */

/* The lost segments when `delivered` ones had been delivered: by the latest entry that is not later. */
static INLINE u32 lost_by(struct bbr3 *ca, u32 delivered)
{
	u32 lost = ca->log_lost[(ca->newest + 1) % LOG];

	for (u32 back = 0; back < LOG; back++) {
		u32 at = (ca->newest - back) % LOG;

		if (!is_after(ca->log_delivered[at], delivered)) {
			lost = ca->log_lost[at];
			break;
		}
	}
	return lost;
}

static INLINE void log_losses(struct tcp_sock *tp, struct bbr3 *ca)
{
	u32 since = tp->delivered - ca->log_delivered[ca->newest % LOG];

	if (since < greatest(tp->snd_cwnd / LOG_PER_WINDOW, 1))
		return;
	ca->newest = (ca->newest + 1) % LOG;
	ca->log_delivered[ca->newest % LOG] = tp->delivered;
	ca->log_lost[ca->newest % LOG] = tp->lost;
}

static INLINE void take_rate(struct tcp_sock *tp, struct bbr3 *ca, const struct rate_sample *rs)
{
	ca->sampled = rs->delivered > 0 && rs->interval_us > 0;
	ca->rate = 0;
	ca->sample_delivered = 0;
	ca->sample_prior = 0;
	ca->sample_lost = 0;
	ca->sample_in_flight = 0;
	ca->app_limited = 0;
	if (!ca->sampled)
		return;
	ca->sample_delivered = rs->delivered;
	ca->sample_prior = rs->prior_delivered;
	ca->rate = (u64)ca->sample_delivered * ONE * 1000000 / (u64)rs->interval_us;
	ca->sample_lost = tp->lost - lost_by(ca, ca->sample_prior);
	ca->sample_in_flight = ca->sample_delivered + ca->sample_lost;
	ca->app_limited = rs->is_app_limited;
}

static INLINE bool is_sample_too_high(struct tcp_sock *tp, struct bbr3 *ca)
{
	return ca->sample_lost * 100000ull > ca->sample_in_flight * LOSS_THRESH(tp);
}

static INLINE void save_state_upon_loss(struct bbr3 *ca, u32 cwnd)
{
	save_cwnd(ca, cwnd);
	ca->undo_phase = NO_PHASE;
	ca->undo = ca->bounds;
}

/* What was in flight when losses crossed the threshold. */
static INLINE u64 inflight_at_loss(struct tcp_sock *tp, struct bbr3 *ca)
{
	u64 before = parts(ca->sample_in_flight - 1), lost = parts(ca->sample_lost - 1);
	u64 allowed = before * LOSS_THRESH(tp) / 100000, rest = 100000 - LOSS_THRESH(tp);

	if (allowed >= lost)
		return before + (allowed - lost) * 100000 / rest;
	lost = (lost - allowed) * 100000 / rest;
	return before > lost ? before - lost : 0;
}

/* The losses of an ACK, before it counts. */
static INLINE void handle_losses(struct tcp_sock *tp, struct bbr3 *ca)
{
	if (!ca->has_loss)
		save_state_upon_loss(ca, tp->snd_cwnd);
	ca->has_loss = 1;
	if (!ca->is_probe_sample || !is_sample_too_high(tp, ca))
		return;
	ca->prev_too_high = 1;
	ca->is_probe_sample = 0;
	if (!ca->app_limited)
		ca->bounds.inflight_longterm =
			greatest64(inflight_at_loss(tp, ca), target_inflight(tp, ca) * BETA(tp) / 1000);
	if (ca->phase == UP) {
		ca->undo_phase = UP;
		start_down(tp, ca);
	}
}

static INLINE void update_latest_delivery_signals(struct bbr3 *ca)
{
	ca->loss_round_start = 0;
	ca->bw_latest = greatest64(ca->bw_latest, ca->rate);
	ca->inflight_latest = greatest(ca->inflight_latest, ca->sample_delivered);
	if (ca->sampled && !is_after(ca->loss_delivered, ca->sample_prior)) {
		ca->loss_delivered = ca->delivered;
		ca->loss_round_start = 1;
	}
}

static INLINE void update_round(struct bbr3 *ca)
{
	ca->round_start = ca->sampled && !is_after(ca->next_delivered, ca->sample_prior);
	if (!ca->round_start)
		return;
	start_round(ca);
	ca->round_count++;
	ca->rounds_since_up++;
	begin_round_of_max(&ca->extra_acked, EXTRA_ACKED_ROUNDS);
	ca->cwnd_limited_before = ca->cwnd_limited;
	ca->cwnd_limited = 0;
}

static INLINE void update_congestion_signals(struct tcp_sock *tp, struct bbr3 *ca)
{
	struct bounds *bounds = &ca->bounds;

	update_round(ca);
	if (ca->rate && (ca->rate >= ca->max_bw.max || !ca->app_limited))
		add_to_max(&ca->max_bw, ca->max_bw_rounds, MAX_BW_CYCLES, ca->rate);
	if (!ca->loss_round_start)
		return;
	if (!is_probing(ca->phase) && ca->has_loss) {
		if (bounds->bw_shortterm == NONE)
			bounds->bw_shortterm = ca->max_bw.max;
		if (bounds->inflight_shortterm == NONE)
			bounds->inflight_shortterm = parts(tp->snd_cwnd);
		bounds->bw_shortterm = greatest64(ca->bw_latest, bounds->bw_shortterm * BETA(tp) / 1000);
		bounds->inflight_shortterm =
			greatest64(parts(ca->inflight_latest), bounds->inflight_shortterm * BETA(tp) / 1000);
	}
	ca->has_loss = 0;
}

static INLINE void update_ack_aggregation(struct tcp_sock *tp, struct bbr3 *ca, u32 acked)
{
	u64 expected = ca->bw * (tp->tcp_mstamp - ca->aggregation_start) / 1000000, extra;

	if (parts(ca->aggregation_delivered) <= expected) {
		ca->aggregation_delivered = 0;
		ca->aggregation_start = tp->tcp_mstamp;
		expected = 0;
	}
	ca->aggregation_delivered += acked;
	extra = parts(ca->aggregation_delivered);
	extra = least64(extra > expected ? extra - expected : 0, parts(tp->snd_cwnd));
	/* Until the pipe was full once, each round trip counts alone. */
	if (!ca->full_bw_reached && ca->extra_acked.begun)
		ca->extra_acked.begun = EXTRA_ACKED_ROUNDS;
	add_to_max(&ca->extra_acked, ca->extra_acked_rounds, EXTRA_ACKED_ROUNDS, extra);
}

static INLINE void check_full_bw_reached(struct bbr3 *ca)
{
	if (ca->full_bw_now || !ca->round_start || ca->app_limited || !ca->sampled)
		return;
	if (4 * ca->rate >= 5 * ca->full_bw) {
		reset_full_bw(ca);
		ca->full_bw = ca->rate;
		return;
	}
	ca->full_bw_count++;
	ca->full_bw_now = ca->full_bw_count >= 3;
	ca->full_bw_reached |= ca->full_bw_now;
}

static INLINE void update_min_rtt(struct tcp_sock *tp, struct bbr3 *ca, long rtt)
{
	ca->min_rtt_expired = tp->tcp_mstamp - ca->min_rtt_stamp > MIN_RTT_FILTER_LEN(tp) * 1000;
	/* Before a sample that includes queueing can replace min_rtt. */
	if (ca->min_rtt_expired && ca->phase != PROBE_RTT)
		ca->probe_rtt_cwnd = greatest64(bdp_of(ca, ca->bw, PROBE_RTT_CWND_GAIN(tp)), LEAST_WINDOW);
	if (rtt >= 0 && (rtt < ca->min_rtt || ca->min_rtt_expired)) {
		ca->min_rtt = rtt;
		ca->min_rtt_stamp = tp->tcp_mstamp;
	}
}

static INLINE void advance_latest_delivery_signals(struct bbr3 *ca)
{
	if (!ca->loss_round_start)
		return;
	ca->bw_latest = ca->rate;
	ca->inflight_latest = ca->sample_delivered;
}

#endif
