/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * HighSpeed TCP's response function (RFC 3649, appendix B): row n, from 1 on, is for windows up to its first
 * number; there a(w) is n, and b(w), by the formula of section 5, its second number in 256ths.
 */
#ifndef CWND_HIGHSPEED_H
#define CWND_HIGHSPEED_H

#define ROWS 73

static const u32 row_windows[ROWS] = {
	38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529,
	1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
	5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661,
	11358, 12082, 12834, 13614, 14424, 15265, 16137, 17042, 17981, 18955,
	19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975,
	32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694, 46776, 48961,
	51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401, 79517,
	84035, 89053, 94717,
};

static const u8 row_decreases[ROWS] = {
	128, 112, 104, 98, 93, 89, 86, 83, 81, 78,
	76, 74, 72, 71, 69, 68, 66, 65, 64, 62,
	61, 60, 59, 58, 57, 56, 55, 54, 53, 52,
	52, 51, 50, 49, 48, 48, 47, 46, 45, 45,
	44, 43, 43, 42, 41, 41, 40, 39, 39, 38,
	38, 37, 36, 36, 35, 35, 34, 33, 33, 32,
	32, 31, 30, 30, 29, 28, 28, 27, 26, 26,
	25, 24, 23,
};

/* The row of the last window, and the windows that are in it: (above, up_to]. */
struct response {
	u32 row;
	u32 above;
	u32 up_to;
};

static INLINE void begin_response(struct response *response)
{
	response->row = 0;
	response->above = 0;
	response->up_to = 0;
}

static INLINE void find_row(struct response *response, u32 cwnd)
{
	u32 low = 0, high = ROWS - 1;

	if (cwnd > response->above && cwnd <= response->up_to)
		return;
	/* The first row whose window is not less, or the last. */
	for (int step = 0; step < 7; step++) {
		u32 middle = (low + high) / 2;

		if (low >= high || middle >= ROWS)
			break;
		if (row_windows[middle] < cwnd)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= ROWS)
		low = ROWS - 1;
	response->row = low;
	response->above = low ? row_windows[low - 1] : 0;
	response->up_to = low == ROWS - 1 ? ~0u : row_windows[low];
}

/* a(w), segments a round trip. */
static INLINE u32 increase_of(struct response *response, u32 cwnd)
{
	find_row(response, cwnd);
	return response->row + 1;
}

/* What a loss costs: b(w) w, by the row of the window that last grew; before that a half, the first row's. */
static INLINE u32 given_up_of(struct response *response, u32 cwnd)
{
	u32 row = response->row;

	return row < ROWS ? (u64)cwnd * row_decreases[row] / 256 : cwnd / 2;
}

#endif
