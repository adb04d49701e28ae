/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The least round-trip time of the last spans of equal length, the one that lasts included. Before the first sample it is ~0.
 */
#ifndef CWND_TIME_MIN_H
#define CWND_TIME_MIN_H

struct time_min {
	u64 begun; /* when the span began, ns */
	u32 least; /* us */
};

static INLINE void begin_time_min(struct tcp_sock *tp, struct time_min *min, u32 *spans, int count)
{
	min->begun = tp->tcp_mstamp * 1000;
	min->least = ~0u;
	UNROLL
	for (int i = 0; i < count; i++)
		spans[i] = ~0u;
}

/* Another span begins; those before it move on. */
static INLINE void shift_spans(u32 *spans, int count)
{
	UNROLL
	for (int i = count - 1; i > 0; i--)
		spans[i] = spans[i - 1];
	spans[0] = ~0u;
}

/* A sample in us; the length of a span, in ns, may be another each time. */
static INLINE void add_time_min(struct tcp_sock *tp, struct time_min *min, u32 *spans, int count, u64 span,
				u32 rtt)
{
	u64 now = tp->tcp_mstamp * 1000, age = now - min->begun;

	if (age >= span) {
		u64 steps = age / greatest64(span, 1);

		for (int step = 0; step < count && step < (int)least64(steps, count); step++)
			shift_spans(spans, count);
		min->begun = steps >= (u64)count ? now : min->begun + steps * span;
		min->least = ~0u;
	UNROLL
		for (int i = 0; i < count; i++)
			min->least = least(min->least, spans[i]);
	}
	spans[0] = least(spans[0], rtt);
	min->least = least(min->least, rtt);
}

#endif
