//! What the C of an algorithm keeps of a connection, as the values that the Rust algorithm shows of its state.

use crate::{KernelAlgorithm, Values};

/// Words of a socket's private area: the kernel's `icsk_ca_priv`.
pub const PRIVATE_WORDS: usize = 13;

/// A socket when it was observed.
#[derive(Clone, Copy, Debug)]
pub struct SocketState {
    /// Its private area.
    pub words: [u64; PRIVATE_WORDS],
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Payload of a segment, bytes.
    pub mss: f64,
}

/// A window or a time that is not set.
const NONE: u32 = u32::MAX;

impl KernelAlgorithm {
    /// Returns a value for each of the Rust algorithm's [observables](cwnd_cc::AlgorithmInfo::observables), NaN where it is not
    /// known yet; none if the private area of this algorithm is not read.
    pub fn observe(&self, socket: &SocketState, values: &Values) -> Option<Vec<f64>> {
        match self.name {
            "elastic" => Some(elastic(socket)),
            "agile-sd" => {
                Some(agile_sd(socket, self.number("lambda_min", values)?, self.number("lambda_max", values)?))
            }
            "cltcp" => Some(cltcp(socket)),
            "invs" => Some(invs(socket)),
            _ => None,
        }
    }

    /// The value of a parameter, in its own unit.
    fn number(&self, name: &str, values: &Values) -> Option<f64> {
        let place = self.parameters.iter().position(|parameter| parameter.name == name)?;
        Some(values[place] as f64 / self.parameters[place].scale as f64)
    }
}

impl SocketState {
    /// The 32-bit number at a byte of the private area.
    fn half(&self, byte: usize) -> u32 {
        (self.words[byte / 8] >> (8 * (byte % 8))) as u32
    }
}

/// A number of which 0 and [`NONE`] mean that it is not known.
fn known(number: u32) -> f64 {
    if number == 0 || number == NONE { f64::NAN } else { f64::from(number) }
}

/// `struct elastic`: RTTmax/RTTcur in 2^20ths in the second word, RTTmax in microseconds in the fourth.
fn elastic(socket: &SocketState) -> Vec<f64> {
    let rtt_max = known(socket.half(24)) * 1e-6;
    let ratio = if socket.words[1] == 0 { f64::NAN } else { socket.words[1] as f64 / f64::from(1 << 20) };
    vec![(ratio * socket.cwnd).sqrt(), 1.0 / ratio, rtt_max / ratio, rtt_max]
}

/// `struct agile_sd`: W_loss and W_degraded in segments.
fn agile_sd(socket: &SocketState, lambda_min: f64, lambda_max: f64) -> Vec<f64> {
    let (loss, degraded) = (known(socket.half(8)), known(socket.half(12)));
    if loss.is_nan() {
        return vec![lambda_min, f64::NAN, f64::NAN, f64::NAN, f64::NAN];
    }
    let (current, total) = ((loss - socket.cwnd).max(0.0), (loss - degraded).max(1.0));
    vec![(lambda_max * current / total).clamp(lambda_min, lambda_max), current, total, loss, degraded]
}

/// `struct cltcp`: N in 2^16ths, alpha in 2^32ths. The level is its root.
fn cltcp(socket: &SocketState) -> Vec<f64> {
    if socket.words[1] == 0 {
        // N is one at least, so that nothing was copied yet.
        return vec![f64::NAN; 3];
    }
    let alpha = socket.words[2] as f64 / 4_294_967_296.0;
    vec![socket.words[1] as f64 / 65_536.0, alpha, alpha.sqrt()]
}

/// `struct invs`: bandwidth and queues in 2^16ths of a segment, Wsp in 1024ths, Wmax in segments, k in 2^16ths, times in
/// microseconds.
fn invs(socket: &SocketState) -> Vec<f64> {
    let path = |number: f64| number / 65_536.0;
    let bandwidth = if socket.words[1] == 0 { f64::NAN } else { path(socket.words[1] as f64) };
    let measured = |value: f64| if bandwidth.is_nan() { bandwidth } else { value };
    let (saturation, w_max) = (f64::from(socket.half(40)) / 1024.0, known(socket.half(44)));
    let k = path(known(socket.half(64)));
    let gap = saturation - socket.cwnd;
    let slope = match gap {
        _ if k.is_nan() => 1.0,
        gap if gap >= 1.0 => gap * socket.cwnd / (k * saturation),
        gap if gap <= -1.0 => -gap / k,
        _ => 1.0,
    };
    vec![
        k,
        if saturation > 0.0 { saturation } else { f64::NAN },
        slope,
        w_max,
        bandwidth * socket.mss * 8.0,
        measured(bandwidth * known(socket.half(68)) * 1e-6),
        measured(path(f64::from(socket.half(76)))),
        measured(path(f64::from(socket.half(80)))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::TcpSock;
    use crate::{all, find};

    /// An algorithm in C with a connection of this window, and its defaults.
    struct Connection {
        algorithm: &'static KernelAlgorithm,
        values: Values,
        socket: TcpSock,
    }

    impl Connection {
        fn new(name: &str, cwnd: u32) -> Connection {
            let algorithm = find(name).unwrap();
            let values = algorithm.values(&[]).unwrap();
            let socket = TcpSock {
                snd_cwnd: cwnd,
                snd_cwnd_clamp: 1_000_000,
                snd_ssthresh: 2,
                mss_cache: 1448,
                is_cwnd_limited: 1,
                ecn_flags: 1,
                ..TcpSock::new()
            };
            let mut connection = Connection { algorithm, values, socket };
            // SAFETY: the socket is the C's structure, and its parameters are valid during the call.
            connection.call(|operations, socket| unsafe { operations.init.unwrap()(socket) });
            connection
        }

        fn call<T>(&mut self, call: impl FnOnce(&crate::operations::Operations, *mut TcpSock) -> T) -> T {
            self.socket.parameters = self.values.as_ptr();
            call((self.algorithm.operations)(), &raw mut self.socket)
        }

        fn measure(&mut self, rtt_us: i32) {
            // SAFETY: as in `new`.
            self.call(|operations, socket| unsafe { operations.pkts_acked.unwrap()(socket, 1, rtt_us) });
        }

        fn lose(&mut self) {
            // SAFETY: as in `new`.
            let threshold = self.call(|operations, socket| unsafe { (operations.ssthresh)(socket) });
            self.socket.snd_ssthresh = threshold;
        }

        /// Checks values by name; NaN is expected where one is not known.
        #[track_caller]
        fn shows(&self, expected: &[(&str, f64)]) {
            let Connection { algorithm, values, socket } = self;
            let state = SocketState { words: socket.private, cwnd: socket.snd_cwnd.into(), mss: 1448.0 };
            let shown = algorithm.observe(&state, values).unwrap();
            let observables = algorithm.info().observables;
            assert_eq!(shown.len(), observables.len());
            for (name, expected) in expected {
                let value =
                    shown[observables.iter().position(|observable| observable.name == *name).unwrap()];
                let near = (value - expected).abs() <= 1e-4 * expected.abs().max(1e-3);
                assert!(near || (value.is_nan() && expected.is_nan()), "{name}: {value} is not {expected}");
            }
        }
    }

    /// The same numbers as of the Rust algorithm.
    #[test]
    fn elastic_is_read() {
        let mut connection = Connection::new("elastic", 50);
        connection.shows(&[("wwf", f64::NAN), ("rtt_max", f64::NAN), ("rtt_current", f64::NAN)]);
        connection.measure(200_000);
        connection.measure(100_000);
        connection.shows(&[("wwf", 10.0), ("utilisation", 0.5), ("rtt_current", 0.1), ("rtt_max", 0.2)]);
    }

    #[test]
    fn agile_sd_is_read() {
        let mut connection = Connection::new("agile-sd", 100);
        connection.shows(&[("lambda", 1.0), ("gap_total", f64::NAN), ("w_loss", f64::NAN)]);
        connection.lose();
        connection.socket.snd_cwnd = 95;
        connection.shows(&[
            ("lambda", 3.0),
            ("gap_current", 5.0),
            ("gap_total", 5.0),
            ("w_loss", 100.0),
            ("w_degraded", 95.0),
        ]);
        connection.socket.snd_cwnd = 98;
        connection.shows(&[("lambda", 1.2), ("gap_current", 2.0)]);
    }

    #[test]
    fn cltcp_is_read() {
        let connection = Connection::new("cltcp", 10);
        connection.shows(&[("n", 1.0), ("alpha", 0.0), ("level", 0.0)]);
        let words = [0, 301_466, 42_949_673, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // 4.6 of 2^16 and 0.01 of 2^32, whose root is 0.1.
        let shown = cltcp(&SocketState { words, cwnd: 10.0, mss: 1448.0 });
        for (value, expected) in shown.iter().zip([4.6, 0.01, 0.1]) {
            assert!((value - expected).abs() < 1e-5, "{value} is not {expected}");
        }
    }

    #[test]
    fn invs_is_read() {
        let mut connection = Connection::new("invs", 120);
        connection.shows(&[
            ("k", f64::NAN),
            ("w_sp", f64::NAN),
            ("w_max", f64::NAN),
            ("bandwidth", f64::NAN),
        ]);
        connection.lose();
        connection.shows(&[("w_sp", 120.0), ("w_max", 120.0), ("slope", 1.0)]);
    }

    #[test]
    fn only_the_projects_own_are_read() {
        let state = SocketState { words: [0; PRIVATE_WORDS], cwnd: 10.0, mss: 1448.0 };
        let read = all()
            .iter()
            .filter(|algorithm| algorithm.observe(&state, &algorithm.values(&[]).unwrap()).is_some());
        let mut read: Vec<&str> = read.map(|algorithm| algorithm.name).collect();
        read.sort_unstable();
        assert_eq!(read, ["agile-sd", "cltcp", "elastic", "invs"]);
    }
}
