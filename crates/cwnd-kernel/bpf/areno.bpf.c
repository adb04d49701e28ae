// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * TCP-Adaptive Reno (Shimonishi, Hama, Murase, PFLDnet 2006): Reno's window, and a second one that grows with the bandwidth
 * where the round-trip time is far from that of losses, and shrinks as it comes near. A loss leaves W/(1 + c), c the
 * congestion level. Interpretations as in the Rust code.
 */
#define ALGORITHM areno
#include "cwnd.h"
#include "bandwidth.h"
#include "exponential.h"

/* M in kbit/s; the weight of earlier losses in 1000ths. */
PARAMETERS(10000, 850);
#define M(tp) PARAMETER(tp, 0)
#define GAIN(tp) PARAMETER(tp, 1)

/* al/ln 2, with al = 10: e^(-al c) = 2^(-c al/ln 2). In 2^16ths. */
#define EXPONENT 945485ull
/* 2 (1/al - (1/al + 1) e^-al) and 2 (1/al - (1/al + 1/2) e^-al) in 2^32ths. */
#define RISE 858564479ull
#define FALL 858759470ull

struct areno {
	struct bandwidth bandwidth;
	u64 probe; /* Wprobe, 2^32ths of a segment */
	u64 congested; /* RTTcong, 2^16ths of a us; 0 before the first loss */
	u64 congested_before; /* the same before the last loss */
	u32 base; /* us */
	u32 rtt; /* the latest sample, us */
};
PRIVATE(struct areno)

INIT(tp)
{
	struct areno *ca = private_of(tp);

	begin_bandwidth(&ca->bandwidth);
	ca->probe = 0;
	ca->congested = 0;
	ca->congested_before = 0;
	ca->base = ~0u;
	ca->rtt = 0;
}

PKTS_ACKED(tp, pkts, rtt_us)
{
	struct areno *ca = private_of(tp);

	measure_bandwidth(tp, &ca->bandwidth);
	if (rtt_us < 0)
		return;
	ca->rtt = rtt_us;
	ca->base = least(ca->base, ca->rtt);
}

/* c in 2^32ths; 1 before the first loss. */
static INLINE u64 level(struct areno *ca)
{
	u64 base = (u64)ca->base << 16, rtt = (u64)ca->rtt << 16;

	if (!ca->congested)
		return UNIT;
	if (rtt <= base)
		return 0;
	if (rtt >= ca->congested)
		return UNIT;
	/* Both in 16ths of a us. */
	return (((rtt - base) >> 12) << 32) / ((ca->congested - base) >> 12);
}

/* Winc(c) = Wmax e^(-al c) + be c + ga, a share of it for the acknowledged segments. Winc may be negative, Wprobe not. */
static INLINE void grow_probe(struct tcp_sock *tp, struct areno *ca, u32 acked, u32 cwnd)
{
	u64 c = level(ca), probe = ca->probe;
	/* Wmax in 2^16ths of a segment: B of 2^16ths of a segment a second, over M. */
	u64 w_max = ca->bandwidth.fine * tp->mss_cache * 8 / (M(tp) * 1000);
	u64 gain = power_of_half((c * EXPONENT) >> 16) + ((c * RISE) >> 32);
	u64 up = UNIT + ((w_max * gain) >> 16), down = (w_max * FALL) >> 16;

	if (ca->congested && ca->bandwidth.fine && cwnd) {
		if (up > down)
			probe += (up - down) * acked / cwnd;
		else
			probe -= least64(probe, (down - up) * acked / cwnd);
	}
	if (probe >> 32 != ca->probe >> 32)
		set_window(tp, tp->snd_cwnd + (probe >> 32) - (ca->probe >> 32));
	ca->probe = least64(probe, (u64)tp->snd_cwnd << 32);
}

CONG_AVOID(tp, acked)
{
	struct areno *ca = private_of(tp);
	u32 cwnd;

	if (in_slow_start(tp) && is_limited(tp))
		ca->probe = 0;
	if (!past_slow_start(tp, &acked))
		return;
	cwnd = tp->snd_cwnd;
	increase(tp, acked, cwnd);
	grow_probe(tp, ca, acked, cwnd);
}

/* W/(1 + c), by the c before this loss. */
SSTHRESH(tp)
{
	struct areno *ca = private_of(tp);
	u64 rtt = (u64)ca->rtt << 16, c = level(ca);

	ca->probe = 0;
	ca->congested_before = ca->congested;
	ca->congested = ca->congested ? (GAIN(tp) * ca->congested + (1000 - GAIN(tp)) * rtt) / 1000 : rtt;
	return threshold(((u64)tp->snd_cwnd << 32) / (UNIT + c));
}

/* A timeout halves, and its round-trip time is no sample of congestion. */
CWND_EVENT(tp, event)
{
	struct areno *ca = private_of(tp);

	if (event != EVENT_LOSS)
		return;
	ca->congested = ca->congested_before;
	tp->snd_ssthresh = threshold(tp->prior_cwnd / 2);
}

UNDO_CWND(tp) { return window_before(tp); }

OPERATIONS(.init = HOOK(init), .ssthresh = HOOK(ssthresh), .cong_avoid = HOOK(cong_avoid),
	   .pkts_acked = HOOK(pkts_acked), .cwnd_event = HOOK(cwnd_event), .undo_cwnd = HOOK(undo_cwnd), );
