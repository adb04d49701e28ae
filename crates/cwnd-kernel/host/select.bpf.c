// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Selects a congestion control for the new connections of a cgroup, unless the application has selected one. Before the SYN for
 * outgoing connections, so that the algorithm decides about ECN; after the handshake for incoming ones.
 */
#include "programs.h"

/* What the loader sets. */
struct selection {
	char name[NAME_SIZE];
};
const volatile struct selection selection SECTION(".rodata.selection") = {};

SECTION("sockops") int cwnd_select(struct sock_ops *ops)
{
	if (ops->op != OP_CONNECT && ops->op != OP_ACCEPTED)
		return 1;
	/* A name that is not registered any more is refused, and the socket keeps what it has. */
	if (!has_selected(ops))
		set_congestion_control(ops, (const void *)selection.name);
	return 1;
}
