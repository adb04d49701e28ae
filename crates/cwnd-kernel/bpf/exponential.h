/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Powers in fixed point: exponents in 2^32ths, powers and logarithms too.
 */
#ifndef CWND_EXPONENTIAL_H
#define CWND_EXPONENTIAL_H

#define UNIT (1ull << 32)
/* The natural logarithm of 2. */
#define LN2 2977044472ull

/* 2^-x. */
static INLINE u64 power_of_half(u64 x)
{
	u64 whole = x >> 32, y = ((x & (UNIT - 1)) * LN2) >> 32, sum = UNIT;

	if (whole > 32)
		return 0;
	/* e^-y = 1 - y (1 - y/2 (1 - y/3 (...))), whose eleventh term is under 2^-31. */
	for (u32 term = 10; term > 0; term--)
		sum = UNIT - ((y * sum) >> 32) / term;
	return sum >> whole;
}

/* The logarithm to the base 2 of x/2^32, for x from 2^32 on, to 24 binary places. */
static INLINE u64 log2_of(u64 x)
{
	u64 whole = 0, log = 0;

	for (int bit = 0; bit < 32; bit++) {
		if (x < 2 * UNIT)
			break;
		x >>= 1;
		whole++;
	}
	/* From 1 to 2, in 2^31ths: the square of x has twice its logarithm. */
	x >>= 1;
	for (int place = 31; place >= 8; place--) {
		u64 over;

		x = (x * x) >> 31;
		over = x >> 32;
		OPAQUE(over);
		x >>= over;
		log |= over << place;
	}
	return whole << 32 | log;
}

/* x^e, for x up to 1, the exponent in 1000ths. */
static INLINE u64 power_of_share(u64 x, u64 exponent)
{
	if (!x || x >= UNIT || exponent == 1000)
		return x;
	/* As 2^(-e log2(1/x)). */
	return power_of_half(log2_of(~0ull / x) / 1000 * exponent);
}

#endif
