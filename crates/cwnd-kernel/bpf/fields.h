/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The kernel's structures, with only the fields that are used. In BPF each access is relocated at load to where
 * the running kernel has the field (CO-RE), so neither order nor offsets here matter. Natively they are what a
 * transport fills in.
 */
#ifndef CWND_FIELDS_H
#define CWND_FIELDS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define true 1
#define false 0
typedef _Bool bool;

/* Hooks take all that the kernel hands them, and use what they need. */
#define UNUSED __attribute__((unused))

/* The parameters that an algorithm has at most. */
#define PARAMETERS_MOST 10

/* Words for an algorithm's own state: the kernel's icsk_ca_priv. */
#define PRIVATE_WORDS 13

/* Natively, words for state that is larger (STORAGE). */
#define NATIVE_STORAGE_WORDS 96

#ifdef CWND_NATIVE
#define RELOCATED
#else
#define RELOCATED __attribute__((preserve_access_index))
#endif

struct sock {
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate; /* bytes a second */
	unsigned long sk_max_pacing_rate; /* the application's limit */
} RELOCATED;

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct {
		u8 pending; /* which acknowledgements wait to be sent */
	} icsk_ack;
	u64 icsk_ca_priv[PRIVATE_WORDS];
} RELOCATED;

struct minmax_sample {
	u32 t;
	u32 v;
} RELOCATED;

struct minmax {
	struct minmax_sample s[3];
} RELOCATED;

/* What an application has said of its flow. */
struct flow_hints {
	u64 bytes; /* that it has to send in all */
	u64 deadline; /* of their arrival, us of the clock of tcp_mstamp */
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd; /* segments */
	u32 snd_cwnd_cnt; /* acknowledged segments that have made no step of snd_cwnd yet */
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd; /* snd_cwnd when the last reduction began */
	u32 snd_una; /* first sequence number that is not acknowledged */
	u32 snd_nxt; /* next sequence number to send */
	u32 rcv_nxt; /* next sequence number to receive */
	u32 mss_cache; /* bytes */
	u32 max_packets_out; /* most segments in flight in the last window */
	u32 packets_out; /* segments sent and not cumulatively acknowledged */
	u32 sacked_out; /* of these SACKed */
	u32 lost_out; /* of these lost */
	u32 retrans_out; /* of these sent again */
	u32 prr_out; /* segments sent in this recovery */
	u32 srtt_us; /* smoothed round-trip time, eighths of a microsecond */
	u32 delivered; /* segments acknowledged or SACKed since the start */
	u32 delivered_ce; /* of these those with an echoed mark */
	u32 lost; /* segments declared lost since the start */
	u64 tcp_mstamp; /* now, microseconds */
	struct minmax rtt_min; /* least round-trip time, microseconds */
	u8 ecn_flags;
	u8 is_cwnd_limited : 1; /* the window was in use */
#ifdef CWND_NATIVE
	const u64 *native_parameters;
	u64 native_seed;
	struct flow_hints native_hints;
	u64 native_storage[NATIVE_STORAGE_WORDS];
#endif
} RELOCATED;

/* What an ACK delivered, and how fast: the delivery rate of the last sent of the segments that it acknowledged. */
struct rate_sample {
	u32 prior_delivered; /* the connection's count when that segment was sent */
	s32 delivered; /* segments delivered since; without a sample not over 0 */
	long interval_us; /* the time that it took; without a sample not over 0 */
	long rtt_us; /* of this ACK; -1 where it gave no round-trip time */
	int losses; /* segments that this ACK found lost */
	u32 acked_sacked; /* segments that this ACK delivered */
	u32 prior_in_flight; /* segments in flight before it */
	bool is_app_limited; /* that segment was sent while the application was limiting */
} RELOCATED;

/* enum tcp_ca_state, the argument of set_state. */
enum { CA_OPEN = 0, CA_DISORDER = 1, CA_CWR = 2, CA_RECOVERY = 3, CA_LOSS = 4 };

/*
 * The argument of cwnd_event. In BPF the numbers are those of the running kernel: a program that needs an event which that
 * kernel does not have is refused at load. Natively they are the ones that src/native.rs passes.
 */
enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};
#define EVENT_COMPLETE_CWR EVENT_NUMBER(CA_EVENT_COMPLETE_CWR)
#define EVENT_LOSS EVENT_NUMBER(CA_EVENT_LOSS)
#define EVENT_ECN_NO_CE EVENT_NUMBER(CA_EVENT_ECN_NO_CE)
#define EVENT_ECN_IS_CE EVENT_NUMBER(CA_EVENT_ECN_IS_CE)

/* Bits of ecn_flags: ECN was negotiated; echo marks until the sender has answered. */
enum { ECN_OK = 1, ECN_DEMAND_CWR = 4 };

/* Bits of icsk_ack.pending: a delayed acknowledgement waits for its timer; one is to be sent now. */
enum { ACK_TIMER = 2, ACK_NOW = 16 };

/* The value of sk_pacing_status for a connection whose algorithm sets a rate. */
enum { PACING_NEEDED = 1 };

/* Bits of tcp_congestion_ops.flags: the connection negotiates ECN whatever the host's setting is. */
enum { NEEDS_ECN = 2 };

#endif
