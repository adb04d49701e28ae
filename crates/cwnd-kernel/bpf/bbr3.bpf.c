// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * BBR version 3 (draft-ietf-ccwg-bbr). Names and interpretations are those of the Rust code. The kernel reports neither lost
 * segments one by one, nor what was in flight and lost when a segment was sent. Both are found from counts: a log of the
 * segments lost by each part of a window that was delivered gives what was lost since a segment was sent, and with what was
 * delivered since then this is what was in flight. All losses that an ACK finds count as one, of the segment of its sample.
 */
#define ALGORITHM bbr3
#include "cwnd.h"
#include "draws.h"
#include "round_max.h"

/* The order of the Rust parameters: gains and shares in 1000ths, the loss threshold in 100000ths, times in ms. */
PARAMETERS(2770, 2000, 2000, 700, 150, 10000, 500, 200, 10);
#define STARTUP_PACING_GAIN(tp) PARAMETER(tp, 0)
#define CWND_GAIN(tp) PARAMETER(tp, 1)
#define LOSS_THRESH(tp) PARAMETER(tp, 2)
#define BETA(tp) PARAMETER(tp, 3)
#define HEADROOM(tp) PARAMETER(tp, 4)
#define MIN_RTT_FILTER_LEN(tp) PARAMETER(tp, 5)
#define PROBE_RTT_CWND_GAIN(tp) PARAMETER(tp, 6)
#define PROBE_RTT_DURATION(tp) PARAMETER(tp, 7)
#define PACING_MARGIN(tp) PARAMETER(tp, 8)

#include "bbr3_model.h"

STORAGE(struct bbr3)

/* The state machine: section "State Machine Operation". */

static INLINE void check_startup_done(struct tcp_sock *tp, struct bbr3 *ca)
{
	if (ca->phase == STARTUP && !ca->full_bw_reached && ca->state == CA_RECOVERY && ca->loss_round_start &&
	    ca->loss_events >= STARTUP_FULL_LOSS_COUNT && is_sample_too_high(tp, ca)) {
		ca->undo_phase = STARTUP;
		ca->full_bw_now = 1;
		ca->full_bw_reached = 1;
		ca->bounds.inflight_longterm =
			greatest64(bdp_of(ca, ca->bw, 1000), parts(ca->inflight_latest));
	}
	if (ca->loss_round_start)
		ca->loss_events = 0;
	if (ca->phase == STARTUP && ca->full_bw_reached) {
		ca->phase = DRAIN;
		ca->drain_start_round = ca->round_count;
		/* It is not read here; it shows others that slow start is over. */
		tp->snd_ssthresh = threshold(tp->snd_cwnd);
	}
}

static INLINE void check_drain_done(struct tcp_sock *tp, struct bbr3 *ca, u32 flight)
{
	bool late = ca->round_count > ca->drain_start_round + DRAIN_ROUNDS;

	if (ca->phase == DRAIN && (late || parts(flight) <= with_budget(ca, bdp_of(ca, ca->bw, 1000))))
		start_down(tp, ca);
}

static INLINE bool is_cwnd_limited(struct bbr3 *ca) { return ca->cwnd_limited || ca->cwnd_limited_before; }

static INLINE void probe_inflight_longterm_upward(struct tcp_sock *tp, struct bbr3 *ca, u32 acked)
{
	u64 steps;

	if (!is_cwnd_limited(ca) || parts(tp->snd_cwnd) < ca->bounds.inflight_longterm)
		return;
	ca->up_acked += parts(acked);
	steps = ca->up_acked / greatest64(ca->up_acked_per_inc, ONE);
	ca->up_acked -= steps * ca->up_acked_per_inc;
	ca->bounds.inflight_longterm += parts(steps);
	if (ca->round_start)
		raise_inflight_longterm_slope(tp, ca);
}

/* True if it chose the next state. */
static INLINE bool adapt_long_term_model(struct tcp_sock *tp, struct bbr3 *ca, u32 acked)
{
	if (ca->ack_phase == ACKS_PROBE_STARTING && ca->round_start)
		ca->ack_phase = ACKS_PROBE_FEEDBACK;
	if (ca->ack_phase == ACKS_PROBE_STOPPING && ca->round_start) {
		ca->is_probe_sample = 0;
		ca->ack_phase = ACKS_INIT;
		if (is_probe_bw(ca->phase)) {
			if (!ca->app_limited)
				begin_round_of_max(&ca->max_bw, MAX_BW_CYCLES);
			if (ca->prev_precautionary && !ca->prev_too_high) {
				start_refill(ca);
				return true;
			}
		}
	}
	if (!is_sample_too_high(tp, ca) && ca->bounds.inflight_longterm != NONE) {
		ca->bounds.inflight_longterm =
			greatest64(ca->bounds.inflight_longterm, parts(ca->sample_in_flight));
		if (ca->phase == UP)
			probe_inflight_longterm_upward(tp, ca, acked);
	}
	return false;
}

static INLINE bool is_time_to_probe(struct tcp_sock *tp, struct bbr3 *ca)
{
	return tp->tcp_mstamp > ca->cycle_stamp + ca->wait ||
	       parts(ca->rounds_since_up) >= least64(target_inflight(tp, ca), parts(RENO_ROUNDS));
}

static INLINE bool is_time_to_cruise(struct tcp_sock *tp, struct bbr3 *ca, u64 flight)
{
	return flight <= inflight_with_headroom(tp, ca) &&
	       flight <= with_budget(ca, bdp_of(ca, ca->max_bw.max, 1000));
}

static INLINE bool is_time_to_go_down(struct tcp_sock *tp, struct bbr3 *ca, u64 flight)
{
	if (ca->prev_too_high && flight >= ca->bounds.inflight_longterm) {
		ca->prev_precautionary = 1;
		return true;
	}
	if (is_cwnd_limited(ca) && parts(tp->snd_cwnd) >= ca->bounds.inflight_longterm) {
		/* inflight_longterm limits the rate, so that it is no measurement of the path. */
		reset_full_bw(ca);
		ca->full_bw = ca->rate;
		return false;
	}
	return ca->full_bw_now;
}

static INLINE void update_probe_bw(struct tcp_sock *tp, struct bbr3 *ca, u32 acked, u64 flight)
{
	if (!ca->full_bw_reached || adapt_long_term_model(tp, ca, acked))
		return;
	if ((ca->phase == DOWN || ca->phase == CRUISE) && is_time_to_probe(tp, ca)) {
		start_refill(ca);
	} else if (ca->phase == DOWN && is_time_to_cruise(tp, ca, flight)) {
		ca->phase = CRUISE;
	} else if (ca->phase == REFILL && ca->round_start) {
		ca->is_probe_sample = 1;
		start_up(tp, ca);
	} else if (ca->phase == UP && is_time_to_go_down(tp, ca, flight)) {
		ca->prev_too_high = 0;
		start_down(tp, ca);
	}
}

static INLINE void check_probe_rtt_done(struct tcp_sock *tp, struct bbr3 *ca)
{
	if (!ca->probe_rtt_done || tp->tcp_mstamp <= ca->probe_rtt_done)
		return;
	ca->min_rtt_stamp = tp->tcp_mstamp;
	restore_cwnd(tp, ca);
	reset_short_term_model(ca);
	if (ca->full_bw_reached) {
		start_down(tp, ca);
		ca->phase = CRUISE;
	} else {
		ca->phase = STARTUP;
	}
}

static INLINE void handle_probe_rtt(struct tcp_sock *tp, struct bbr3 *ca, u32 flight)
{
	ca->throttled_to = ca->delivered + greatest(flight, 1);
	if (ca->probe_rtt_done) {
		ca->probe_rtt_round_done |= ca->round_start;
		if (ca->probe_rtt_round_done)
			check_probe_rtt_done(tp, ca);
	} else if (parts(flight) <= ca->probe_rtt_cwnd) {
		ca->probe_rtt_done = tp->tcp_mstamp + PROBE_RTT_DURATION(tp) * 1000;
		ca->probe_rtt_round_done = 0;
		start_round(ca);
	}
}

static INLINE void check_probe_rtt(struct tcp_sock *tp, struct bbr3 *ca, u32 flight)
{
	if (ca->phase != PROBE_RTT && ca->min_rtt_expired && !ca->idle_restart) {
		save_cwnd(ca, tp->snd_cwnd);
		ca->phase = PROBE_RTT;
		ca->probe_rtt_done = 0;
		ca->ack_phase = ACKS_PROBE_STOPPING;
		ca->throttled_from = ca->delivered;
		start_round(ca);
	}
	if (ca->phase == PROBE_RTT)
		handle_probe_rtt(tp, ca, flight);
	if (ca->sample_delivered)
		ca->idle_restart = 0;
}

/* The hooks. */

INIT(tp)
{
	struct bbr3 *ca = new_private(tp);

	if (!ca)
		return;
	clear(ca, sizeof(*ca));
	ca->draws = seed_of(tp);
	ca->bounds = (struct bounds){NONE, NONE, NONE};
	ca->undo_phase = NO_PHASE;
	ca->delivered = tp->delivered;
	ca->initial_delivered = tp->delivered;
	ca->next_delivered = tp->delivered;
	ca->loss_delivered = tp->delivered;
	ca->aggregation_start = tp->tcp_mstamp;
	ca->min_rtt_stamp = tp->tcp_mstamp;
	ca->min_rtt = tp->srtt_us ? tp->srtt_us >> 3 : ~0u;
	ca->up_acked_per_inc = NONE;
	ca->initial_cwnd = tp->snd_cwnd;
	ca->last_cwnd = tp->snd_cwnd;
	ca->probe_rtt_cwnd = parts(tp->snd_cwnd);
	for (int i = 0; i < LOG; i++) {
		ca->log_delivered[i] = tp->delivered;
		ca->log_lost[i] = tp->lost;
	}
	begin_pacing(tp);
	guess_pacing(tp, ca, tp->srtt_us >> 3);
}

CONG_CONTROL(tp, rs)
{
	struct bbr3 *ca = private_of(tp);
	u32 acked = rs->acked_sacked, flight = in_flight(tp);

	if (!ca)
		return;
	take_rate(tp, ca, rs);
	if (rs->losses > 0) {
		bool begins = !ca->has_loss;

		handle_losses(tp, ca);
		ca->loss_events++;
		if (begins)
			ca->loss_delivered = tp->delivered;
	}
	ca->delivered = tp->delivered;
	if (ca->sample_prior - ca->throttled_from < ca->throttled_to - ca->throttled_from)
		ca->app_limited = 1;
	ca->cwnd_limited |= rs->prior_in_flight + 1 > tp->snd_cwnd;
	if (ca->pacing_is_guess && rs->rtt_us >= 0)
		guess_pacing(tp, ca, rs->rtt_us);
	update_latest_delivery_signals(ca);
	update_congestion_signals(tp, ca);
	update_ack_aggregation(tp, ca, acked);
	check_full_bw_reached(ca);
	check_startup_done(tp, ca);
	check_drain_done(tp, ca, flight);
	update_probe_bw(tp, ca, acked, parts(flight));
	update_min_rtt(tp, ca, rs->rtt_us);
	check_probe_rtt(tp, ca, flight);
	advance_latest_delivery_signals(ca);
	ca->bw = least64(ca->max_bw.max, ca->bounds.bw_shortterm);
	set_pacing(tp, ca, pacing_gain(tp, ca));
	set_cwnd(tp, ca, acked);
	ca->last_cwnd = tp->snd_cwnd;
	log_losses(tp, ca);
}

SSTHRESH(tp) { return threshold(tp->snd_cwnd); }

SET_STATE(tp, state)
{
	struct bbr3 *ca = private_of(tp);

	if (!ca)
		return;
	if (state >= CA_RECOVERY) {
		/* After a timeout the window is another already. */
		save_state_upon_loss(ca, ca->last_cwnd);
		ca->in_recovery = 1;
	} else if (state < CA_CWR && ca->in_recovery) {
		ca->in_recovery = 0;
		restore_cwnd(tp, ca);
	}
	ca->state = state;
}

CWND_EVENT_TX_START(tp)
{
	struct bbr3 *ca = private_of(tp);

	if (!ca)
		return;
	ca->idle_restart = 1;
	ca->aggregation_start = tp->tcp_mstamp;
	if (is_probe_bw(ca->phase))
		set_pacing(tp, ca, 1000);
	else if (ca->phase == PROBE_RTT)
		check_probe_rtt_done(tp, ca);
}

CWND_EVENT(tp, event)
{
	if (event == tx_start_event())
		on_cwnd_event_tx_start(tp);
}

UNDO_CWND(tp)
{
	struct bbr3 *ca = private_of(tp);

	if (!ca)
		return window_before(tp);
	ca->in_recovery = 0;
	ca->has_loss = 0;
	reset_full_bw(ca);
	ca->bounds.bw_shortterm = greatest64(ca->bounds.bw_shortterm, ca->undo.bw_shortterm);
	ca->bounds.inflight_shortterm = greatest64(ca->bounds.inflight_shortterm, ca->undo.inflight_shortterm);
	ca->bounds.inflight_longterm = greatest64(ca->bounds.inflight_longterm, ca->undo.inflight_longterm);
	if (ca->undo_phase == STARTUP && ca->phase != STARTUP) {
		ca->full_bw_reached = 0;
		if (ca->phase != PROBE_RTT)
			ca->phase = STARTUP;
	} else if (ca->undo_phase == UP && ca->phase != UP && ca->phase != PROBE_RTT) {
		start_refill(ca);
	}
	ca->undo_phase = NO_PHASE;
	ca->last_cwnd = greatest(tp->snd_cwnd, ca->prior_cwnd);
	return ca->last_cwnd;
}

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control),
	   .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	   .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
OPERATIONS_TWO(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_control = HOOK(cong_control_two),
	       .set_state = HOOK(set_state), .cwnd_event = HOOK(cwnd_event),
	       .cwnd_event_tx_start = HOOK(cwnd_event_tx_start), .undo_cwnd = HOOK(undo_cwnd), );
