/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The greatest value of the last rounds, the current one included. Only a new value removes old ones.
 */
#ifndef CWND_ROUND_MAX_H
#define CWND_ROUND_MAX_H

struct round_max {
	u64 max;
	u32 begun; /* rounds that began since the last value */
};

static INLINE void begin_round_of_max(struct round_max *max, u32 count) { max->begun = least(max->begun + 1, count); }

/* `rounds` has the greatest value of each of `count` rounds, the current one first. */
static INLINE void add_to_max(struct round_max *max, u64 *rounds, u32 count, u64 value)
{
	if (max->begun) {
		max->max = 0;
		for (int i = count - 1; i >= 0; i--) {
			u32 from = i - max->begun;

			rounds[i] = (u32)i >= max->begun && from < count ? rounds[from] : 0;
			max->max = greatest64(max->max, rounds[i]);
		}
		max->begun = 0;
	}
	rounds[0] = greatest64(rounds[0], value);
	max->max = greatest64(max->max, value);
}

#endif
