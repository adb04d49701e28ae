/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random numbers from a seed: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), as in the Rust code.
 */
#ifndef CWND_DRAWS_H
#define CWND_DRAWS_H

static INLINE u64 draw(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#endif
