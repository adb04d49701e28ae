// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Reads the TCP sockets of a network namespace: their congestion control, its private area, and what TCP_INFO has. An iterator: it
 * runs once for each socket when a process reads, and costs the sockets nothing.
 */
#include "programs.h"

struct bpf_iter_meta {
	struct seq_file *seq;
} RELOCATED;

struct address6 {
	u32 words[4];
};

struct sock_common___read {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	u8 skc_state;
	struct address6 skc_v6_daddr;
	struct address6 skc_v6_rcv_saddr;
} RELOCATED;

struct tcp_congestion_ops___read {
	char name[NAME_SIZE];
} RELOCATED;

struct inet_connection_sock___read {
	struct tcp_congestion_ops___read *icsk_ca_ops;
} RELOCATED;

struct tcp_sock___read {
	u32 total_retrans;
	u32 data_segs_out;
	u32 rate_delivered;
	u32 rate_interval_us;
	u64 bytes_acked;
} RELOCATED;

/* The context: its places are a part of the kernel's interface. */
struct iterator {
	struct bpf_iter_meta *meta;
	struct sock_common___read *common;
};

/* `Record` in src/load/observe.rs. */
struct record {
	u64 private[PRIVATE_WORDS];
	u64 operations; /* the address of the operations */
	u64 pacing_rate; /* bytes a second */
	u64 bytes_acked;
	char name[NAME_SIZE];
	u32 local[4];
	u32 remote[4];
	u32 cwnd; /* segments */
	u32 ssthresh;
	u32 srtt_us; /* eighths of a microsecond */
	u32 rtt_min_us;
	u32 mss; /* bytes */
	u32 packets_out;
	u32 retransmissions;
	u32 segments;
	u32 delivered;
	u32 lost;
	u32 rate_delivered; /* segments of the last rate sample, and the time that they took */
	u32 rate_interval_us;
	u16 local_port;
	u16 remote_port;
	u16 family;
	u16 state;
};

enum { FAMILY_IPV4 = 2 };

enum bpf_map_type { STRUCT_OPS = 26 };

struct bpf_map___read {
	enum bpf_map_type map_type;
	u32 id;
} RELOCATED;

/* The kernel's map of operations; they are the data of its value. */
struct bpf_struct_ops_value___read {
	char data[1];
} RELOCATED;

struct bpf_struct_ops_map___read {
	struct bpf_struct_ops_value___read kvalue;
} RELOCATED;

struct map_iterator {
	struct bpf_iter_meta *meta;
	struct bpf_map___read *map;
};

/* `OPERATIONS_RECORD` in src/load/observe.rs. */
struct operations_record {
	u64 operations;
	u64 id;
};

/* Lists the addresses of operations with the numbers of their maps. */
SECTION("iter/bpf_map") int cwnd_operations(struct map_iterator *context)
{
	struct bpf_map___read *map = context->map;
	struct bpf_struct_ops_map___read *whole = (void *)map;
	struct operations_record record = {};

	if (!map || map->map_type != STRUCT_OPS)
		return 0;
	record.operations = (u64)map + __builtin_preserve_field_info(whole->kvalue, 0) +
			    __builtin_preserve_field_info(((struct bpf_struct_ops_value___read *)0)->data, 0);
	record.id = map->id;
	write_sequence(context->meta->seq, &record, sizeof(record));
	return 0;
}

SECTION("iter/tcp") int cwnd_sockets(struct iterator *context)
{
	struct sock_common___read *common = context->common;
	struct record record = {};
	struct tcp_sock *tp;
	struct inet_connection_sock___read *connection;
	struct tcp_sock___read *more;

	if (!common)
		return 0;
	tp = tcp_sock_of(common);
	if (!tp)
		return 0;
	connection = (void *)tp;
	more = (void *)tp;
	record.family = common->skc_family;
	record.state = common->skc_state;
	record.local_port = common->skc_num;
	record.remote_port = __builtin_bswap16(common->skc_dport);
	if (record.family == FAMILY_IPV4) {
		record.local[0] = common->skc_rcv_saddr;
		record.remote[0] = common->skc_daddr;
	} else {
		read_kernel(record.local, sizeof(record.local), &common->skc_v6_rcv_saddr);
		read_kernel(record.remote, sizeof(record.remote), &common->skc_v6_daddr);
	}
	record.operations = (u64)connection->icsk_ca_ops;
	if (connection->icsk_ca_ops)
		read_kernel(record.name, sizeof(record.name), &connection->icsk_ca_ops->name);
	read_kernel(record.private, sizeof(record.private), &tp->inet_conn.icsk_ca_priv);
	record.pacing_rate = tp->inet_conn.icsk_inet.sk.sk_pacing_rate;
	record.cwnd = tp->snd_cwnd;
	record.ssthresh = tp->snd_ssthresh;
	record.srtt_us = tp->srtt_us;
	record.rtt_min_us = tp->rtt_min.s[0].v;
	record.mss = tp->mss_cache;
	record.packets_out = tp->packets_out;
	record.delivered = tp->delivered;
	record.lost = tp->lost;
	record.retransmissions = more->total_retrans;
	record.segments = more->data_segs_out;
	record.rate_delivered = more->rate_delivered;
	record.rate_interval_us = more->rate_interval_us;
	record.bytes_acked = more->bytes_acked;
	write_sequence(context->meta->seq, &record, sizeof(record));
	return 0;
}
