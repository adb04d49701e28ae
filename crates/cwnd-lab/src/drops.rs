//! Packets that anything but the emulator's queues has dropped.

use crate::ends::Ends;
use crate::namespace::Namespace;
use std::collections::BTreeMap;
use std::fs;
use std::io;

/// Counters of dropped packets by name, such as `receivers: TCPBacklogDrop`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops(BTreeMap<String, u64>);

/// What counts dropped packets in `/proc/net/netstat` and `/proc/net/snmp`.
const COUNTERS: [&str; 13] = [
    "InDiscards",
    "OutDiscards",
    "InHdrErrors",
    "InCsumErrors",
    "InErrs",
    "ListenOverflows",
    "ListenDrops",
    "TCPBacklogDrop",
    "TCPRcvQDrop",
    "TCPOFODrop",
    "PruneCalled",
    "OfoPruned",
    "TCPZeroWindowDrop",
];

impl Drops {
    /// As they stand at both ends, and on this host.
    ///
    /// # Errors
    /// If the kernel's counters cannot be read.
    pub fn now(ends: &Ends) -> io::Result<Drops> {
        let mut drops = Drops::default();
        drops.of("senders", &ends.senders)?;
        drops.of("receivers", &ends.receivers)?;
        // What this host drops between a device and its stack, whoever's it is.
        let softnet = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
        drops.0.insert("this host: softnet backlog".to_owned(), softnet_drops(&softnet));
        Ok(drops)
    }

    /// What has been dropped since, as `receivers: TCPBacklogDrop 12`.
    pub fn since(&self, before: &Drops) -> Vec<String> {
        let more = self.0.iter().map(|(name, now)| (name, now - before.0.get(name).unwrap_or(&0).min(now)));
        more.filter(|(_, more)| *more > 0).map(|(name, more)| format!("{name} {more}")).collect()
    }

    fn of(&mut self, end: &str, namespace: &Namespace) -> io::Result<()> {
        let (devices, tables) = namespace.within(|| {
            // `/proc/net` is that of the process; this thread is elsewhere.
            let read = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
            Ok((read("dev")?, read("netstat")? + &read("snmp")?))
        })?;
        let found = devices_drops(&devices).into_iter().chain(table_drops(&tables));
        self.0.extend(found.map(|(name, count)| (format!("{end}: {name}"), count)));
        Ok(())
    }
}

/// `/proc/net/dev`: two lines of headings, then a device a line.
fn devices_drops(text: &str) -> Vec<(String, u64)> {
    let mut drops = Vec::new();
    for line in text.lines().skip(2) {
        let Some((device, counts)) = line.split_once(':') else { continue };
        let counts: Vec<u64> = counts.split_whitespace().filter_map(|count| count.parse().ok()).collect();
        for (place, name) in
            [(2, "receive errors"), (3, "receive drops"), (10, "send errors"), (11, "send drops")]
        {
            let count = counts.get(place).copied().unwrap_or(0);
            drops.push((format!("{} {name}", device.trim()), count));
        }
    }
    drops
}

/// `/proc/net/netstat` and `/proc/net/snmp`: a line of names, then one of counts.
fn table_drops(text: &str) -> Vec<(String, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut drops = Vec::new();
    for pair in lines.chunks(2) {
        let [names, counts] = pair else { continue };
        let table = names.split(':').next().unwrap_or_default();
        for (name, count) in names.split_whitespace().zip(counts.split_whitespace()) {
            if COUNTERS.contains(&name) {
                drops.push((format!("{table} {name}"), count.parse().unwrap_or(0)));
            }
        }
    }
    drops
}

/// `/proc/net/softnet_stat`: a CPU a line, hexadecimal; the second number is packets dropped.
fn softnet_drops(text: &str) -> u64 {
    let dropped = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().filter_map(dropped).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_tables() {
        let dev = "Inter-|   Receive                                                |  Transmit\n\
            face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
            lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n \
            cwnd0:    1       2    3    4    0     0          0         0        9       8    7    6    0     0       0          0\n";
        let drops = devices_drops(dev);
        assert!(drops.contains(&("cwnd0 receive drops".to_owned(), 4)), "{drops:?}");
        assert!(drops.contains(&("cwnd0 send drops".to_owned(), 6)));
        assert!(drops.contains(&("cwnd0 send errors".to_owned(), 7)));
        let tables = "TcpExt: SyncookiesSent TCPBacklogDrop PruneCalled\nTcpExt: 5 17 0\nIp: Forwarding InDiscards\nIp: 1 3\n";
        assert_eq!(
            table_drops(tables),
            [
                ("TcpExt TCPBacklogDrop".to_owned(), 17),
                ("TcpExt PruneCalled".to_owned(), 0),
                ("Ip InDiscards".to_owned(), 3)
            ]
        );
        assert_eq!(softnet_drops("0000aa 0000000a 0\n000001 00000001 0\n"), 11);
    }

    #[test]
    fn tells_what_has_come_since() {
        let before = Drops([("a".to_owned(), 1), ("b".to_owned(), 2)].into());
        let after = Drops([("a".to_owned(), 4), ("b".to_owned(), 2), ("c".to_owned(), 1)].into());
        assert_eq!(after.since(&before), ["a 3", "c 1"]);
        assert!(before.since(&before).is_empty());
    }
}
