/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an algorithm keeps of a connection, for a sampler. build.rs includes this before the text of an algorithm, which
 * stays as it is: the hooks of ACKs and reductions then copy the private area into the socket's entry of `states`, if the
 * sampler has given it one. A socket without an entry costs a look-up an ACK, and objects compiled without this nothing.
 */
#ifndef CWND_SAMPLED_H
#define CWND_SAMPLED_H

#include "../bpf/cwnd.h"

struct state {
	u64 words[PRIVATE_WORDS];
};

SOCKET_MAP(states, struct state);

static INLINE void copy_state(struct tcp_sock *tp)
{
	struct state *state = sk_storage_get(&states, tp, 0, 0);

	if (!state)
		return;
	UNROLL
	for (int i = 0; i < PRIVATE_WORDS; i++)
		state->words[i] = tp->inet_conn.icsk_ca_priv[i];
}

#undef SSTHRESH
#define SSTHRESH(tp)                                                                                     \
	static INLINE u32 on_ssthresh(struct tcp_sock *tp UNUSED);                                       \
	SECTION("struct_ops") u32 HOOK_NAME(ssthresh)(u64 *ctx)                                              \
	{                                                                                                    \
		u32 ssthresh = on_ssthresh((void *)ctx[0]);                                                      \
		copy_state((void *)ctx[0]);                                                                      \
		return ssthresh;                                                                                 \
	}                                                                                                    \
	static INLINE u32 on_ssthresh(struct tcp_sock *tp UNUSED)

#undef CONG_AVOID
#define CONG_AVOID(tp, acked)                                                                            \
	static INLINE void on_cong_avoid(struct tcp_sock *tp UNUSED, u32 acked UNUSED);                  \
	SECTION("struct_ops") int HOOK_NAME(cong_avoid)(u64 *ctx)                                            \
	{                                                                                                    \
		on_cong_avoid((void *)ctx[0], ctx[2]);                                                           \
		copy_state((void *)ctx[0]);                                                                      \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_cong_avoid(struct tcp_sock *tp UNUSED, u32 acked UNUSED)

#undef PKTS_ACKED
#define PKTS_ACKED(tp, pkts, rtt_us)                                                                           \
	static INLINE void on_pkts_acked(struct tcp_sock *tp UNUSED, u32 pkts UNUSED, s32 rtt_us UNUSED); \
	SECTION("struct_ops") int HOOK_NAME(pkts_acked)(u64 *ctx)                                            \
	{                                                                                                    \
		struct ack_sample *sample = (void *)ctx[1];                                                      \
		on_pkts_acked((void *)ctx[0], sample->pkts_acked, sample->rtt_us);                               \
		copy_state((void *)ctx[0]);                                                                      \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_pkts_acked(struct tcp_sock *tp UNUSED, u32 pkts UNUSED, s32 rtt_us UNUSED)

#undef CONG_CONTROL
#define CONG_CONTROL(tp, rs)                                                                             \
	static INLINE void on_cong_control(struct tcp_sock *tp UNUSED, const struct rate_sample *rs UNUSED); \
	SECTION("struct_ops") int HOOK_NAME(cong_control)(u64 *ctx)                                          \
	{                                                                                                    \
		on_cong_control((void *)ctx[0], (void *)ctx[3]);                                                 \
		copy_state((void *)ctx[0]);                                                                      \
		return 0;                                                                                        \
	}                                                                                                    \
	SECTION("struct_ops") int HOOK_NAME(cong_control_two)(u64 *ctx)                                      \
	{                                                                                                    \
		on_cong_control((void *)ctx[0], (void *)ctx[1]);                                                 \
		copy_state((void *)ctx[0]);                                                                      \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_cong_control(struct tcp_sock *tp UNUSED, const struct rate_sample *rs UNUSED)

#endif
