// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What an algorithm keeps of a connection, for a sampler: when TCP_INFO is asked of a socket whose cookie is in the map, its
 * private area is copied there first. The socket is locked then, so both are of the same moment. Nothing is done per ACK, and
 * the algorithms know nothing of it.
 */
#include "../bpf/fields.h"

#define SECTION(name) __attribute__((section(name), used))

const char license_text[] SECTION("license") = "Dual MIT/GPL";

static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static u64 (*socket_cookie)(void *sk) = (void *)46;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;

struct state {
	u64 words[PRIVATE_WORDS];
};

/* A hash map (type 1). libbpf reads types and lengths of arrays. */
struct {
	int (*type)[1];
	int (*max_entries)[65536];
	u64 *key;
	struct state *value;
} states SECTION(".maps");

/* void tcp_get_info(struct sock *sk, struct tcp_info *info). */
SECTION("fentry/tcp_get_info") int copy_state(u64 *ctx)
{
	struct inet_connection_sock *icsk = (void *)ctx[0];
	u64 cookie = socket_cookie((void *)ctx[0]);
	struct state *state = map_lookup(&states, &cookie);

	if (state)
		read_kernel(state->words, sizeof(state->words), icsk->icsk_ca_priv);
	return 0;
}
