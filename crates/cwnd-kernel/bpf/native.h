/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hooks as plain functions, which a program calls in the kernel's place. Each algorithm becomes one
 * `struct cwnd_native` of function pointers, `cwnd_native_<algorithm>`.
 */
#ifndef CWND_NATIVE_H
#define CWND_NATIVE_H

#define INLINE inline
#define UNROLL
#define OPAQUE(value) (void)(value)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* What would be sent at once is counted by nobody here: the transport echoes marks in its own way. */
static inline long send_ack(void *tp, u32 rcv_nxt)
{
	(void)tp;
	(void)rcv_nxt;
	return 0;
}

#define EVENT_NUMBER(event) event
static inline u32 tx_start_event(void) { return CA_EVENT_TX_START; }

#define PARAMETERS(...) static const u64 defaults[PARAMETERS_MOST] = {__VA_ARGS__}
#define PARAMETER(tp, index) ((tp)->native_parameters[index])

#define PRIVATE(type)                                                                                    \
	_Static_assert(sizeof(type) <= PRIVATE_WORDS * sizeof(u64), "more state than icsk_ca_priv holds");   \
	static inline type *private_of(struct tcp_sock *tp)                                                  \
	{                                                                                                    \
		return (type *)tp->inet_conn.icsk_ca_priv;                                                       \
	}

#define STORAGE(type)                                                                                    \
	_Static_assert(sizeof(type) <= NATIVE_STORAGE_WORDS * sizeof(u64), "more state than native_storage holds"); \
	static inline type *new_private(struct tcp_sock *tp) { return (type *)tp->native_storage; }          \
	static inline type *private_of(struct tcp_sock *tp) { return (type *)tp->native_storage; }

#define HINTS()                                                                                          \
	static inline struct flow_hints *hints_of(struct tcp_sock *tp)                                   \
	{                                                                                                \
		return tp->native_hints.bytes ? &tp->native_hints : 0;                                   \
	}

static inline u64 seed_of(struct tcp_sock *tp) { return tp->native_seed; }

#define INIT(tp) static void on_init(struct tcp_sock *tp UNUSED)
#define SSTHRESH(tp) static u32 on_ssthresh(struct tcp_sock *tp UNUSED)
#define CONG_AVOID(tp, acked) static void on_cong_avoid(struct tcp_sock *tp UNUSED, u32 acked UNUSED)
#define SET_STATE(tp, state) static void on_set_state(struct tcp_sock *tp UNUSED, u8 state)
#define CWND_EVENT(tp, event) static void on_cwnd_event(struct tcp_sock *tp UNUSED, u32 event)
#define CWND_EVENT_TX_START(tp) static void on_cwnd_event_tx_start(struct tcp_sock *tp UNUSED)
#define PKTS_ACKED(tp, pkts, rtt_us) static void on_pkts_acked(struct tcp_sock *tp UNUSED, u32 pkts UNUSED, s32 rtt_us UNUSED)
#define UNDO_CWND(tp) static u32 on_undo_cwnd(struct tcp_sock *tp UNUSED)
#define CONG_CONTROL(tp, rs) static void on_cong_control(struct tcp_sock *tp UNUSED, const struct rate_sample *rs UNUSED)

struct cwnd_native {
	u32 (*ssthresh)(struct tcp_sock *);
	void (*cong_avoid)(struct tcp_sock *, u32);
	void (*set_state)(struct tcp_sock *, u8);
	void (*cwnd_event)(struct tcp_sock *, u32);
	void (*cwnd_event_tx_start)(struct tcp_sock *);
	void (*pkts_acked)(struct tcp_sock *, u32, s32);
	void (*cong_control)(struct tcp_sock *, const struct rate_sample *);
	u32 (*undo_cwnd)(struct tcp_sock *);
	void (*init)(struct tcp_sock *);
	const u64 *parameters;
	u64 socket_size; /* so that the caller can compare its own declaration */
	u32 flags;
};

#define HOOK(name) on_##name
#define OPERATIONS(...)                                                                                  \
	extern const struct cwnd_native PASTE(cwnd_native_, ALGORITHM);                                      \
	const struct cwnd_native PASTE(cwnd_native_, ALGORITHM) = {                                          \
		.parameters = defaults, .socket_size = sizeof(struct tcp_sock), __VA_ARGS__}
#define OPERATIONS_TWO(...) _Static_assert(1, "for kernels before 6.10 only")

static inline bool window_was_full(struct tcp_sock *tp) { return tp->is_cwnd_limited; }

#endif
