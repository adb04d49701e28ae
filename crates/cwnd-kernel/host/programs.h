/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the programs of this folder share. They are no congestion controls: they select one for sockets, or read the sockets that
 * have one. They are compiled to BPF only.
 */
#ifndef CWND_PROGRAMS_H
#define CWND_PROGRAMS_H

#include "../bpf/fields.h"

#define INLINE inline __attribute__((always_inline))
#define SECTION(name) __attribute__((section(name), used))

const char license_text[] SECTION("license") = "Dual MIT/GPL";

/* Bytes of a congestion control's name, the zero at its end included. */
#define NAME_SIZE 16

/* Helpers of the kernel, by their numbers in its interface. */
static void *(*map_lookup)(void *map, const void *key) UNUSED = (void *)1;
static u32 (*random_bits)(void) UNUSED = (void *)7;
static long (*set_option)(void *ops, int level, int option, const void *value, int length) UNUSED = (void *)49;
static long (*get_option)(void *ops, int level, int option, void *value, int length) UNUSED = (void *)57;
static long (*set_callbacks)(void *ops, int flags) UNUSED = (void *)59;
static void *(*sk_storage_get)(void *map, void *sk, void *value, u64 flags) UNUSED = (void *)107;
static long (*read_kernel)(void *to, u32 size, const void *from) UNUSED = (void *)113;
static long (*write_sequence)(void *seq, const void *data, u32 size) UNUSED = (void *)127;
static struct tcp_sock *(*tcp_sock_of)(void *sk) UNUSED = (void *)137;

enum { LEVEL_TCP = 6, OPTION_CONGESTION = 13 };

/* The context of a program of the type `sockops`. The places are a part of the kernel's interface. */
struct sock_ops {
	u32 op;
	u32 arguments[4];
	u32 unused_before_rtt[15];
	u32 srtt_us; /* eighths of a microsecond */
	u32 callbacks;
	u32 state;
	u32 unused_before_retransmissions[11];
	u32 total_retrans;
	u32 unused_before_segments[3];
	u32 data_segs_out;
	u32 unused_before_sk[7];
	void *sk;
};
_Static_assert(__builtin_offsetof(struct sock_ops, srtt_us) == 80, "where the interface has it");
_Static_assert(__builtin_offsetof(struct sock_ops, total_retrans) == 136, "where the interface has it");
_Static_assert(__builtin_offsetof(struct sock_ops, data_segs_out) == 152, "where the interface has it");
_Static_assert(__builtin_offsetof(struct sock_ops, sk) == 184, "where the interface has it");

/* Values of `op`. */
enum { OP_CONNECT = 3, OP_ACCEPTED = 5, OP_STATE = 10, OP_RTT = 12 };
/* Bits of `callbacks`. */
enum { CALL_AT_STATE = 4, CALL_AT_RTT = 8 };
/* The state of a socket, in arguments[1] of OP_STATE. */
enum { STATE_CLOSE = 7 };

/* The part of the kernel's inet_connection_sock that fields.h does not have. */
struct inet_connection_sock___choice {
	u8 icsk_ca_setsockopt : 1; /* something has selected a congestion control */
} RELOCATED;

/*
 * Whether the application, its listener or another program has selected a congestion control. True for a socket that cannot be
 * read.
 */
static INLINE bool has_selected(struct sock_ops *ops)
{
	void *sk = ops->sk;
	struct inet_connection_sock___choice *connection;
	u64 bits;

	if (!sk)
		return true;
	connection = (void *)tcp_sock_of(sk);
	if (!connection)
		return true;
	bits = *((const u8 *)connection + __builtin_preserve_field_info(connection->icsk_ca_setsockopt, 0));
	bits <<= __builtin_preserve_field_info(connection->icsk_ca_setsockopt, 4);
	return bits >> __builtin_preserve_field_info(connection->icsk_ca_setsockopt, 5) & 1;
}

static INLINE long set_congestion_control(struct sock_ops *ops, const void *name)
{
	return set_option(ops, LEVEL_TCP, OPTION_CONGESTION, name, NAME_SIZE);
}

#endif
