// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Gives a share of the new connections of a cgroup another congestion control, the canary, and counts what becomes of them and of
 * the rest. Sockets that have selected a congestion control belong to neither. `control` changes the share, and returns canaries
 * to the congestion control that they had before. Each connection is counted in one of several parts of its group, drawn at random:
 * how much the parts differ shows how much chance does.
 */
#include "programs.h"

/* What the loader sets. */
struct plan {
	char canary[NAME_SIZE];
	char rest[NAME_SIZE]; /* empty: what each socket has */
};
const volatile struct plan plan SECTION(".rodata.plan") = {};

struct control {
	u32 share; /* of 2^32 new connections */
	u32 returning; /* canaries go back at their next round trip */
};

/* Parts of a group: a power of 2. */
#define PARTS 32

/* Of a part of a group. */
struct counts {
	u64 sockets; /* that had a round trip */
	u64 segments; /* sent with data, retransmissions included */
	u64 retransmissions;
	u64 rtts;
	u64 rtt_sum; /* of the smoothed round-trip time at each round trip, microseconds */
	u64 returned; /* canaries that went back */
};

/* A connection that is counted. */
struct member {
	u32 group;
	u32 part;
	u32 segments; /* counted so far */
	u32 retransmissions;
	u32 rtts;
	u32 returned;
	char former[NAME_SIZE];
};

enum { REST = 0, CANARY = 1 };

struct {
	int (*type)[2]; /* an array */
	int (*max_entries)[1];
	u32 *key;
	struct control *value;
} control SECTION(".maps");

struct {
	int (*type)[2];
	int (*max_entries)[2 * PARTS]; /* the parts of the rest, then those of the canary */
	u32 *key;
	struct counts *value;
} counts SECTION(".maps");

struct {
	int (*type)[24]; /* an entry for each socket */
	int (*map_flags)[1];
	int *key;
	struct member *value;
} members SECTION(".maps");

static INLINE void begin(struct sock_ops *ops)
{
	u32 zero = 0;
	struct control *now = map_lookup(&control, &zero);
	void *sk = ops->sk;
	struct member *member;

	if (!now || !sk || has_selected(ops))
		return;
	member = sk_storage_get(&members, sk, 0, 1);
	if (!member)
		return;
	member->group = random_bits() < now->share ? CANARY : REST;
	member->part = random_bits() % PARTS;
	get_option(ops, LEVEL_TCP, OPTION_CONGESTION, member->former, NAME_SIZE);
	if (member->group == CANARY) {
		if (set_congestion_control(ops, (const void *)plan.canary))
			member->group = REST;
	} else if (plan.rest[0]) {
		set_congestion_control(ops, (const void *)plan.rest);
	}
	set_callbacks(ops, ops->callbacks | CALL_AT_RTT | CALL_AT_STATE);
}

static INLINE void add(u64 *sum, u64 number) { __sync_fetch_and_add(sum, number); }

static INLINE void count(struct sock_ops *ops, bool round_trip)
{
	u32 zero = 0, group, part, segments = ops->data_segs_out, retransmissions = ops->total_retrans;
	struct control *now = map_lookup(&control, &zero);
	void *sk = ops->sk;
	struct member *member;
	struct counts *sums;

	if (!now || !sk)
		return;
	member = sk_storage_get(&members, sk, 0, 0);
	if (!member)
		return;
	group = member->group == CANARY;
	part = group * PARTS + member->part % PARTS;
	sums = map_lookup(&counts, &part);
	/* What a returned canary does is its former congestion control's doing. */
	if (!sums || member->returned)
		return;
	if (round_trip) {
		if (!member->rtts)
			add(&sums->sockets, 1);
		member->rtts++;
		add(&sums->rtts, 1);
		add(&sums->rtt_sum, ops->srtt_us >> 3);
	}
	add(&sums->segments, segments - member->segments);
	add(&sums->retransmissions, retransmissions - member->retransmissions);
	member->segments = segments;
	member->retransmissions = retransmissions;
	if (!round_trip || !now->returning || group != CANARY)
		return;
	if (!set_congestion_control(ops, plan.rest[0] ? (const void *)plan.rest : member->former)) {
		member->returned = 1;
		add(&sums->returned, 1);
	}
}

SECTION("sockops") int cwnd_canary(struct sock_ops *ops)
{
	switch (ops->op) {
	case OP_CONNECT:
	case OP_ACCEPTED:
		begin(ops);
		break;
	case OP_RTT:
		count(ops, true);
		break;
	case OP_STATE:
		if (ops->arguments[1] == STATE_CLOSE)
			count(ops, false);
		break;
	}
	return 1;
}
