/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hooks as BPF programs. The kernel hands a program its arguments as an array of words; `sk` may be read as
 * the tcp_sock that it is.
 */
#ifndef CWND_KERNEL_H
#define CWND_KERNEL_H

#define INLINE inline __attribute__((always_inline))
/* Before a loop over a part of icsk_ca_priv, which the verifier reads at fixed places only. */
#define UNROLL _Pragma("unroll")
#define SECTION(name) __attribute__((section(name), used))
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

const char license_text[] SECTION("license") = "Dual MIT/GPL";

/* Send an acknowledgement at once, as if `rcv_nxt` were the next sequence number to receive. */
static long (*send_ack)(void *tp, u32 rcv_nxt) = (void *)116;

/* What the loader sets before the object is loaded (`Constants` in src/load/object.rs). */
struct constants {
	u64 parameters[PARAMETERS_MOST]; /* in the order of PARAMETERS */
	u64 tx_start; /* the event that cwnd_event receives when sending begins; NO_EVENT where it receives none */
	u8 source[32]; /* SHA-256 of the algorithm's text */
};
extern const volatile struct constants constants;
#define PARAMETERS(...) const volatile struct constants constants SECTION(".rodata.constants") = {.parameters = {__VA_ARGS__}}
#define PARAMETER(tp, index) ((void)(tp), constants.parameters[index])

/* The number that the running kernel has for an event. */
#define EVENT_NUMBER(event) __builtin_preserve_enum_value(*(enum tcp_ca_event *)event, 1)
static INLINE u32 tx_start_event(void) { return constants.tx_start; }

/* Random bits for an algorithm's own choices. */
static u32 (*random_bits)(void) = (void *)7;
static INLINE u64 seed_of(struct tcp_sock *tp UNUSED) { return (u64)random_bits() << 32 | random_bits(); }

static void *(*sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;

/*
 * A map with an entry for each socket (BPF_MAP_TYPE_SK_STORAGE with BPF_F_NO_PREALLOC); libbpf reads numbers from lengths of
 * arrays.
 */
#define SOCKET_MAP(name, state_type)                                                                     \
	struct {                                                                                         \
		int (*type)[24];                                                                         \
		int (*map_flags)[1];                                                                     \
		int *key;                                                                                \
		state_type *value;                                                                       \
	} name SECTION(".maps")

/* The algorithm's own state of a connection. */
#define PRIVATE(type)                                                                                    \
	_Static_assert(sizeof(type) <= PRIVATE_WORDS * sizeof(u64), "more state than icsk_ca_priv holds");   \
	static INLINE type *private_of(struct tcp_sock *tp)                                                  \
	{                                                                                                    \
		return (type *)tp->inet_conn.icsk_ca_priv;                                                       \
	}

/*
 * The same for state that icsk_ca_priv does not hold. INIT creates it; where the kernel has no memory for it, both functions
 * return 0, and the window stays as it is.
 */
#define STORAGE(state_type)                                                                              \
	SOCKET_MAP(storage, state_type);                                                                 \
	static INLINE state_type *new_private(struct tcp_sock *tp) { return sk_storage_get(&storage, tp, 0, 1); } \
	static INLINE state_type *private_of(struct tcp_sock *tp) { return sk_storage_get(&storage, tp, 0, 0); }

/* The entry of a socket in the map `hints`, which a program with its descriptor writes (`Loaded::hint`); 0 without one. */
#define HINTS()                                                                                          \
	SOCKET_MAP(hints, struct flow_hints);                                                            \
	static INLINE struct flow_hints *hints_of(struct tcp_sock *tp) { return sk_storage_get(&hints, tp, 0, 0); }

#define HOOK_NAME(hook) PASTE(PASTE(ALGORITHM, _), hook)

/* Keeps the compiler from making a branch of what is computed with this. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
} RELOCATED;

/* void init(tp): the connection is established. */
#define INIT(tp)                                                                                         \
	static INLINE void on_init(struct tcp_sock *tp UNUSED);                                          \
	SECTION("struct_ops") int HOOK_NAME(init)(u64 *ctx)                                                  \
	{                                                                                                    \
		on_init((void *)ctx[0]);                                                                         \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_init(struct tcp_sock *tp UNUSED)

/* u32 ssthresh(tp): a congestion episode begins; the new slow-start threshold. */
#define SSTHRESH(tp)                                                                                     \
	static INLINE u32 on_ssthresh(struct tcp_sock *tp UNUSED);                                       \
	SECTION("struct_ops") u32 HOOK_NAME(ssthresh)(u64 *ctx) { return on_ssthresh((void *)ctx[0]); }      \
	static INLINE u32 on_ssthresh(struct tcp_sock *tp UNUSED)

/* void cong_avoid(tp, acked): segments were delivered, and no reduction is under way. */
#define CONG_AVOID(tp, acked)                                                                            \
	static INLINE void on_cong_avoid(struct tcp_sock *tp UNUSED, u32 acked UNUSED);                  \
	SECTION("struct_ops") int HOOK_NAME(cong_avoid)(u64 *ctx)                                            \
	{                                                                                                    \
		on_cong_avoid((void *)ctx[0], ctx[2]);                                                           \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_cong_avoid(struct tcp_sock *tp UNUSED, u32 acked UNUSED)

/* void set_state(tp, state): the state of recovery changes to one of CA_*. */
#define SET_STATE(tp, state)                                                                             \
	static INLINE void on_set_state(struct tcp_sock *tp UNUSED, u8 state);                           \
	SECTION("struct_ops") int HOOK_NAME(set_state)(u64 *ctx)                                             \
	{                                                                                                    \
		on_set_state((void *)ctx[0], ctx[1]);                                                            \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_set_state(struct tcp_sock *tp UNUSED, u8 state)

/* void cwnd_event(tp, event): one of EVENT_*. */
#define CWND_EVENT(tp, event)                                                                            \
	static INLINE void on_cwnd_event(struct tcp_sock *tp UNUSED, u32 event);                         \
	SECTION("struct_ops") int HOOK_NAME(cwnd_event)(u64 *ctx)                                            \
	{                                                                                                    \
		on_cwnd_event((void *)ctx[0], ctx[1]);                                                           \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_cwnd_event(struct tcp_sock *tp UNUSED, u32 event)

/*
 * void cwnd_event_tx_start(tp): sending begins while nothing is in flight. Kernels without this hook report it to
 * cwnd_event, as the event tx_start_event(): whoever has this hook calls it from there, too.
 */
#define CWND_EVENT_TX_START(tp)                                                                          \
	static INLINE void on_cwnd_event_tx_start(struct tcp_sock *tp UNUSED);                           \
	SECTION("struct_ops") int HOOK_NAME(cwnd_event_tx_start)(u64 *ctx)                                   \
	{                                                                                                    \
		on_cwnd_event_tx_start((void *)ctx[0]);                                                          \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_cwnd_event_tx_start(struct tcp_sock *tp UNUSED)

/*
 * void pkts_acked(tp, pkts, rtt_us): an ACK was taken in, in any state; it acknowledged so many segments
 * cumulatively; -1 where it gave no round-trip time.
 */
#define PKTS_ACKED(tp, pkts, rtt_us)                                                                           \
	static INLINE void on_pkts_acked(struct tcp_sock *tp UNUSED, u32 pkts UNUSED, s32 rtt_us UNUSED); \
	SECTION("struct_ops") int HOOK_NAME(pkts_acked)(u64 *ctx)                                            \
	{                                                                                                    \
		struct ack_sample *sample = (void *)ctx[1];                                                      \
		on_pkts_acked((void *)ctx[0], sample->pkts_acked, sample->rtt_us);                               \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_pkts_acked(struct tcp_sock *tp UNUSED, u32 pkts UNUSED, s32 rtt_us UNUSED)

/* u32 undo_cwnd(tp): the last reduction proved wrong; the window to go on with. */
#define UNDO_CWND(tp)                                                                                    \
	static INLINE u32 on_undo_cwnd(struct tcp_sock *tp UNUSED);                                      \
	SECTION("struct_ops") u32 HOOK_NAME(undo_cwnd)(u64 *ctx) { return on_undo_cwnd((void *)ctx[0]); }    \
	static INLINE u32 on_undo_cwnd(struct tcp_sock *tp UNUSED)

/*
 * void cong_control(tp, rs): in place of cong_avoid and of the kernel's own way through a recovery, after each ACK in any
 * state; `rs` is its sample. Linux 6.10 put two arguments before the sample, so there are two programs, and the loader
 * takes the one that the kernel's types ask for.
 */
#define CONG_CONTROL(tp, rs)                                                                             \
	static INLINE void on_cong_control(struct tcp_sock *tp UNUSED, const struct rate_sample *rs UNUSED); \
	SECTION("struct_ops") int HOOK_NAME(cong_control)(u64 *ctx)                                          \
	{                                                                                                    \
		on_cong_control((void *)ctx[0], (void *)ctx[3]);                                                 \
		return 0;                                                                                        \
	}                                                                                                    \
	SECTION("struct_ops") int HOOK_NAME(cong_control_two)(u64 *ctx)                                      \
	{                                                                                                    \
		on_cong_control((void *)ctx[0], (void *)ctx[1]);                                                 \
		return 0;                                                                                        \
	}                                                                                                    \
	static INLINE void on_cong_control(struct tcp_sock *tp UNUSED, const struct rate_sample *rs UNUSED)

typedef void (*hook)(void);
#define HOOK(name) (hook) HOOK_NAME(name)

struct tcp_congestion_ops {
	hook ssthresh, cong_avoid, set_state, cwnd_event, cwnd_event_tx_start, pkts_acked, cong_control, undo_cwnd, init;
	char name[16]; /* the loader may set another */
	u32 flags;
};

/* A second set of the operations is named so; it is for kernels before 6.10. */
#define OPERATIONS(...)                                                                                  \
	SECTION(".struct_ops.link")                                                                          \
	struct tcp_congestion_ops ALGORITHM = {.name = "cwnd_" TEXT(ALGORITHM), __VA_ARGS__}
#define OPERATIONS_TWO(...)                                                                              \
	SECTION(".struct_ops.link")                                                                          \
	struct tcp_congestion_ops PASTE(ALGORITHM, _two) = {.name = "cwnd_" TEXT(ALGORITHM), __VA_ARGS__}

/* Whether the window was in use: a bit-field, whose place is found at load. */
static INLINE bool window_was_full(struct tcp_sock *tp)
{
	u64 bits = 0;
	const u8 *byte = (const u8 *)tp + __builtin_preserve_field_info(tp->is_cwnd_limited, 0);

	switch (__builtin_preserve_field_info(tp->is_cwnd_limited, 1)) {
	case 1:
		bits = *byte;
		break;
	case 2:
		bits = *(const u16 *)byte;
		break;
	case 4:
		bits = *(const u32 *)byte;
		break;
	case 8:
		bits = *(const u64 *)byte;
		break;
	}
	bits <<= __builtin_preserve_field_info(tp->is_cwnd_limited, 4);
	return bits >> __builtin_preserve_field_info(tp->is_cwnd_limited, 5);
}

#endif
