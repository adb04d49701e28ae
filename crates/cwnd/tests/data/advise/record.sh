#!/bin/sh
# Makes the recordings of this folder with the real tools, over a link that `cwnd lab link` emulates:
# 10 Mbit/s, base RTT 20 ms, a buffer of 1 BDP (17 packets), and one packet in 500 lost.
#
# It needs root, and Debian's packages iperf3, iproute2, tcpdump and wireshark-common:
#     sudo sh record.sh path/to/cwnd
set -eu
cwnd=$1
cd "$(dirname "$0")"
link=cwndrec
in_a() { ip netns exec $link-a "$@"; }
in_b() { ip netns exec $link-b "$@"; }

"$cwnd" lab link --name $link --rate '10 Mbit/s' --rtt '20 ms' --buffer '1 BDP' --per 2e-3 --duration '60 s' --quiet >/dev/null &
emulator=$!
trap 'kill $emulator 2>/dev/null || true' EXIT
until [ -e /run/netns/$link-a ] && [ -e /run/netns/$link-b ]; do sleep 0.1; done
b=198.19.0.1
in_b iperf3 --server --json --daemon --pidfile /tmp/$link.pid
trap 'kill $(tr -d "\000" </tmp/$link.pid) $emulator 2>/dev/null || true' EXIT
sleep 0.5

# iperf3 over TCP for 6 s, with the sockets' state once a second beside it.
in_a iperf3 --client $b --time 6 --get-server-output --json >iperf3-tcp.json &
iperf3=$!
rm -f ss.txt
sleep 1
for _ in 1 2 3 4; do in_a ss --tcp --info --numeric >>ss.txt; sleep 1; done
wait $iperf3

# iperf3 over UDP: the loss without congestion, and no round-trip time.
in_a iperf3 --client $b --udp --bitrate 5M --time 4 --json >iperf3-udp.json

# A transfer of 600 KB, captured at both ends: 96 bytes of each packet. At the receiver it is a pcapng file of the device alone.
ip netns exec $link-a tcpdump --snapshot-length 96 --interface any -w sender.pcap 'tcp port 5201' 2>/dev/null &
a_pid=$!
device=$(in_b ip -brief link show type tun | cut -d ' ' -f 1)
ip netns exec $link-b tcpdump --snapshot-length 96 --interface "$device" -w receiver.tmp 'tcp port 5201' 2>/dev/null &
b_pid=$!
sleep 1
in_a iperf3 --client $b --bytes 600K >/dev/null
sleep 1
kill -INT $a_pid $b_pid
wait $a_pid $b_pid || true
editcap -F pcapng receiver.tmp receiver.pcapng
rm receiver.tmp
ls -l
