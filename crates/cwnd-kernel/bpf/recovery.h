/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The way through a recovery of algorithms that have `cong_control`, for which the kernel leaves the window alone.
 */
#ifndef CWND_RECOVERY_H
#define CWND_RECOVERY_H

struct recovery {
	u32 delivered; /* segments delivered in this recovery */
	u32 from; /* the window that it began with */
};

static INLINE void begin_recovery(struct tcp_sock *tp, struct recovery *recovery)
{
	recovery->delivered = 0;
	recovery->from = tp->snd_cwnd;
}

/* Proportional rate reduction (RFC 6937): the window that lets out what may be sent for this ACK. */
static INLINE void recover(struct tcp_sock *tp, struct recovery *recovery, u32 acked)
{
	u32 flight = in_flight(tp), ssthresh = tp->snd_ssthresh, out = tp->prr_out, send;

	recovery->delivered += acked;
	if (flight > ssthresh) {
		u32 from = greatest(recovery->from, 1);
		u64 due = ((u64)recovery->delivered * ssthresh + from - 1) / from;

		send = due > out ? due - out : 0;
	} else {
		send = recovery->delivered > out ? recovery->delivered - out : 0;
		send = least(greatest(send, acked) + 1, ssthresh - flight);
	}
	/* The first answer to a loss is a retransmission. */
	if (!out && !send)
		send = 1;
	set_window(tp, (u64)flight + send);
}

#endif
