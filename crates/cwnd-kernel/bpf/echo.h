/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The other half of algorithms that count marks: a receiver that echoes each packet's mark exactly (RFC 8257
 * section 3.2), and a sender's count of what was echoed.
 */
#ifndef CWND_ECHO_H
#define CWND_ECHO_H

struct echo {
	/* The receiver: the last packet was marked, and the next sequence number after it. */
	u32 rcv_nxt;
	u32 marked_last;
	/* The sender: where the window of data ends, and the connection's counts when it began. */
	u32 end;
	u32 delivered;
	u32 delivered_ce;
};

static INLINE void begin_echo(struct tcp_sock *tp, struct echo *echo)
{
	echo->rcv_nxt = tp->rcv_nxt;
	echo->marked_last = 0;
	echo->end = tp->snd_una;
	echo->delivered = tp->delivered;
	echo->delivered_ce = tp->delivered_ce;
}

/*
 * A packet came, marked or not. Where that changes, the acknowledgement that waits is sent for the packets before
 * it, with their mark, and this packet's at once.
 */
static INLINE void echo_exactly(struct tcp_sock *tp, struct echo *echo, u32 marked)
{
	if (marked != echo->marked_last) {
		if (tp->inet_conn.icsk_ack.pending & ACK_TIMER)
			send_ack(tp, echo->rcv_nxt);
		tp->inet_conn.icsk_ack.pending |= ACK_NOW;
	}
	echo->marked_last = marked;
	echo->rcv_nxt = tp->rcv_nxt;
	if (marked)
		tp->ecn_flags |= ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~ECN_DEMAND_CWR;
}

/*
 * Where an ACK ends a window of data, move alpha, in 2^32ths, towards the share of it that was marked; `gain` is in
 * 2^16ths. True if alpha is new.
 */
static INLINE bool measure_marks(struct tcp_sock *tp, struct echo *echo, u64 *alpha, u64 gain)
{
	u32 acked = tp->delivered - echo->delivered;
	u64 marked = tp->delivered_ce - echo->delivered_ce;

	if (!round_begins(tp, &echo->end) || !acked)
		return false;
	*alpha -= (*alpha * gain) >> 16;
	*alpha += (((marked << 32) / acked) * gain) >> 16;
	echo->delivered = tp->delivered;
	echo->delivered_ce = tp->delivered_ce;
	return true;
}

#endif
