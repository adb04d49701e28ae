/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Westwood+'s bandwidth estimate: what was delivered in each span longer than the smoothed round-trip time and 50
 * ms, through two filters of 7/8 and 1/8. In 2^16ths of a segment a second.
 */
#ifndef CWND_BANDWIDTH_H
#define CWND_BANDWIDTH_H

#define LEAST_SPAN_US 50000

struct bandwidth {
	u64 coarse;
	u64 fine; /* the estimate; 0 before the first */
	u64 begun; /* when the span began, us; 0 before the first ACK */
	u32 delivered; /* the connection's count then */
};

static INLINE void begin_bandwidth(struct bandwidth *filter)
{
	filter->coarse = 0;
	filter->fine = 0;
	filter->begun = 0;
}

static INLINE u64 move_eighth(u64 from, u64 to) { return to > from ? from + (to - from) / 8 : from - (from - to) / 8; }

static INLINE void measure_bandwidth(struct tcp_sock *tp, struct bandwidth *filter)
{
	u64 now = tp->tcp_mstamp, span, sample;

	if (!filter->begun) {
		filter->begun = now;
		filter->delivered = tp->delivered;
		return;
	}
	span = now - filter->begun;
	if (span <= tp->srtt_us >> 3 || span <= LEAST_SPAN_US)
		return;
	sample = (u64)(tp->delivered - filter->delivered) * 65536 * 1000000 / span;
	if (!filter->coarse) {
		filter->coarse = sample;
		filter->fine = sample;
	} else {
		filter->coarse = move_eighth(filter->coarse, sample);
		filter->fine = move_eighth(filter->fine, filter->coarse);
	}
	filter->begun = now;
	filter->delivered = tp->delivered;
}

#endif
