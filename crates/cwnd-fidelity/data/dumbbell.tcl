# A dumbbell of TCP/Linux senders in ns-2.35, to hold `--stack ns2` against.
#
#   ns dumbbell.tcl module=cubic flows=4 buffer=100 access_buffer=25 duration=150 starts=0,0.05,0.1,0.15
#
# Delays are one way, in seconds. Access links have the bottleneck's rate unless `access_rate` is given. Without
# `starts` all flows start at 0. The last line is
#
#   result sent=N retransmitted=N timeouts=N cuts=N dropped=N dropped_at_senders=N flows=N,N,...
#
# where `flows` are the segments that each has received in order, `dropped` is by the bottleneck's queue and
# `dropped_at_senders` by the senders' own. All is counted as a receiver counts at `duration`: what is
# acknowledged reaches the sender a one-way delay later, so that is when it is read. With `sample`, lines
# `cwnd TIME WINDOW` tell the first flow's window.

array set given {
    module cubic  flows 4  buffer 100  access_buffer 25  rate 1Gb
    delay 0.1  access_delay 0.001  duration 150
    starts {}  sample 0  payload 1000  window 100000  access_rate {}
}
foreach word $argv {
    if {![regexp {^([a-z_]+)=(.+)$} $word -> key value] || ![info exists given($key)]} {
        puts stderr "there is no \"$word\" to be said here"
        exit 2
    }
    set given($key) $value
}
foreach key [array names given] { set $key $given($key) }
if {$access_rate eq ""} { set access_rate $rate }

# Without the headers of a hundred protocols a packet costs less.
remove-all-packet-headers
add-packet-header Flags IP TCP
set ns [new Simulator]
# The same results as with the default, in four fifths of the time.
$ns use-scheduler Splay

proc join_nodes {from to rate delay limit} {
    global ns
    $ns duplex-link $from $to $rate ${delay}s DropTail
    $ns queue-limit $from $to $limit
    $ns queue-limit $to $from $limit
}

# Count what a queue drops. A whole queue monitor would look at every packet.
proc count_drops {from to monitor} {
    global ns
    set drops [new SnoopQueue/Drop]
    $drops set-monitor $monitor
    $drops target [$ns set nullAgent_]
    [[$ns link $from $to] queue] drop-target $drops
}

set at_bottleneck [new QueueMonitor]
set at_senders [new QueueMonitor]
set left [$ns node]
set right [$ns node]
join_nodes $left $right $rate $delay $buffer
count_drops $left $right $at_bottleneck

Agent/TCP/Linux set minrto_ 0.2
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    join_nodes $from $left $access_rate $access_delay $access_buffer
    count_drops $from $left $at_senders
    join_nodes $right $to $access_rate $access_delay $access_buffer
    set sender [new Agent/TCP/Linux]
    $sender set fid_ $i
    $sender set packetSize_ $payload
    $sender set window_ $window
    $sender set timestamps_ true
    $sender set maxburst_ 0
    set sink [new Agent/TCPSink/Sack1]
    $sink set ts_echo_rfc1323_ true
    $ns attach-agent $from $sender
    $ns attach-agent $to $sink
    $ns connect $sender $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $ns at 0 "$sender select_ca $module"
    set start 0
    if {$starts ne ""} { set start [lindex [split $starts ,] $i] }
    $ns at $start "$ftp start"
    lappend senders $sender
}

proc count {variable} {
    global senders
    set sum 0
    foreach sender $senders { incr sum [$sender set $variable] }
    return $sum
}

proc tick {} {
    global ns senders sample
    puts "cwnd [format %.6f [$ns now]] [[lindex $senders 0] set cwnd_]"
    $ns at [expr {[$ns now] + $sample}] tick
}
if {$sample > 0} { $ns at $sample tick }

proc take_counts {} {
    global counts at_bottleneck at_senders
    set counts "sent=[count ndatapack_] retransmitted=[count nrexmitpack_] timeouts=[count nrexmit_]\
        cuts=[count ncwndcuts_] dropped=[$at_bottleneck set pdrops_]\
        dropped_at_senders=[$at_senders set pdrops_]"
}

proc finish {} {
    global senders counts
    foreach sender $senders { lappend received [expr {[$sender set ack_] + 1}] }
    puts "result $counts flows=[join $received ,]"
    exit 0
}

$ns at $duration take_counts
$ns at [expr {$duration + $delay + 2 * $access_delay}] finish
$ns run
