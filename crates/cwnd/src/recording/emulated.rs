//! Packets of an emulated network as pcapng, as `tcpdump` on both hosts would see them.

use crate::failure::Failure;
use cwnd_capture::pcapng::{Interface, LinkType, SNAP_LENGTH, write_header, write_packet};
use cwnd_lab::{End, Lab, PacketObserver};
use cwnd_scenario::{Cost, Engine, EngineError, Identity, Outcome, Problem, Scenario};
use cwnd_study::output_file;
use cwnd_vm::VirtualKernel;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError},
    thread::{self, JoinHandle},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A capture that is being written, by a thread of its own: the emulator does not wait for a disk.
pub struct Capture {
    thread: JoinHandle<io::Result<()>>,
    path: PathBuf,
}

/// Packets are in the file at most about this much later, so that a link that is up can be looked at, and a killed process leaves them.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

struct Packet {
    end: End,
    time: u64,
    length: u32,
    bytes: Vec<u8>,
}

struct ToFile(Sender<Packet>);

impl PacketObserver for ToFile {
    fn packet(&mut self, end: End, time: u64, bytes: &[u8]) {
        let first = &bytes[..bytes.len().min(SNAP_LENGTH as usize)];
        // If the file cannot be written, its thread has ended, and tells at the end.
        let _ = self.0.send(Packet { end, time, length: bytes.len() as u32, bytes: first.to_vec() });
    }
}

impl Capture {
    /// Begin a file, and answer what is to be shown the packets.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin(path: &Path) -> Result<(Capture, Box<dyn PacketObserver>), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::bad_input(format!("--pcap: {error}"));
        output_file::check_writable(path, "a capture", &["pcapng"]).map_err(|error| failed(&error))?;
        let file = File::create(path).map_err(|error| failed(&error))?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let (to, from) = mpsc::channel();
        let thread = thread::spawn(move || write(file, began, &from));
        Ok((Capture { thread, path: path.to_owned() }, Box::new(ToFile(to))))
    }

    /// Write what is left. The observer must have gone by now.
    ///
    /// # Errors
    /// If the file could not be written.
    pub fn end(self) -> Result<(), Failure> {
        let done = self.thread.join().map_err(|_| Failure::broken("--pcap: the writer panicked"))?;
        done.map_err(|error| Failure::broken(format!("--pcap: {}: {error}", self.path.display())))
    }
}

/// An engine of real kernels that can capture the packets of a run.
pub trait CapturingEngine: Engine {
    /// Runs a scenario, and writes its packets into a file.
    ///
    /// # Errors
    /// See [`Engine::run`]; or if the file cannot be written.
    fn run_into(&self, scenario: &Scenario, path: &Path) -> Result<Outcome, EngineError>;
}

impl CapturingEngine for Lab {
    fn run_into(&self, scenario: &Scenario, path: &Path) -> Result<Outcome, EngineError> {
        let failed = |failure: Failure| EngineError::Failed(failure.message().to_owned());
        let (capture, observer) = Capture::begin(path).map_err(failed)?;
        let outcome = self.run_observed(scenario, Some(observer));
        capture.end().map_err(failed)?;
        outcome
    }
}

impl CapturingEngine for VirtualKernel {
    fn run_into(&self, scenario: &Scenario, path: &Path) -> Result<Outcome, EngineError> {
        let (outcome, packets) = self.run_captured(scenario)?;
        let written = output_file::write_with(path, |file| file.write_all(&packets));
        written.map_err(|error| EngineError::Failed(format!("--pcap: {error}")))?;
        Ok(outcome)
    }
}

/// An engine that captures the packets of some of its runs.
pub struct Capturing<E> {
    engine: E,
    files: Vec<(Scenario, PathBuf)>,
}

impl<E: CapturingEngine> Capturing<E> {
    /// It captures the runs of these scenarios, whether they are sampled or not, each into its file.
    pub fn new(engine: E, files: Vec<(Scenario, PathBuf)>) -> Capturing<E> {
        let unsampled = |(scenario, path)| (Scenario { sample: None, ..scenario }, path);
        Capturing { engine, files: files.into_iter().map(unsampled).collect() }
    }
}

impl<E: CapturingEngine> Engine for Capturing<E> {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        self.engine.check(scenario)
    }

    fn identity(&self, scenario: &Scenario) -> Identity {
        self.engine.identity(scenario)
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        let asked = Scenario { sample: None, ..scenario.clone() };
        match self.files.iter().find(|(captured, _)| *captured == asked) {
            Some((_, path)) => self.engine.run_into(scenario, path),
            None => self.engine.run(scenario),
        }
    }
}

fn write(file: File, began: u64, from: &Receiver<Packet>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let interface = |name: &str, description: &str| Interface {
        name: name.to_owned(),
        description: description.to_owned(),
        speed: None,
    };
    let interfaces = [
        interface("senders", "the device of the hosts that flows are sent from"),
        interface("receivers", "the device of the hosts that flows are received at"),
    ];
    write_header(&mut file, LinkType::Ip, concat!("cwnd ", env!("CARGO_PKG_VERSION")), &interfaces)?;
    let mut flush_at = FLUSH_EVERY.as_nanos() as u64;
    loop {
        // Busy links need no clock here: their packets have the time.
        let packet = match from.try_recv() {
            Err(TryRecvError::Empty) => from.recv_timeout(FLUSH_EVERY),
            packet => packet.map_err(|_| RecvTimeoutError::Disconnected),
        };
        match packet {
            Ok(Packet { end, time, length, bytes }) => {
                write_packet(&mut file, end as u32, began + time, &bytes, length, None)?;
                if time < flush_at {
                    continue;
                }
                flush_at = time + FLUSH_EVERY.as_nanos() as u64;
                file.flush()?;
            }
            Err(RecvTimeoutError::Timeout) => file.flush()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    file.flush()?;
    file.get_ref().sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, time::Instant};

    #[test]
    fn packets_are_in_the_file_while_it_is_written() {
        let path = std::env::temp_dir().join(format!("cwnd-capture-{}.pcapng", std::process::id()));
        let (capture, mut observer) = Capture::begin(&path).unwrap();
        let wait_for_more_than = |length| {
            let begin = Instant::now();
            loop {
                match fs::metadata(&path).unwrap().len() {
                    now if now > length => return now,
                    _ => assert!(begin.elapsed() < Duration::from_secs(20), "nothing after {length} bytes"),
                }
                thread::sleep(Duration::from_millis(20));
            }
        };
        // The header, and a packet after which nothing comes.
        let header = wait_for_more_than(0);
        observer.packet(End::Senders, 1, &[0x45; 40]);
        wait_for_more_than(header);
        // A busy link: the first packet after a second, before the link is idle.
        let before = fs::metadata(&path).unwrap().len();
        let stop = Instant::now() + Duration::from_secs(20);
        let mut time = FLUSH_EVERY.as_nanos() as u64;
        while fs::metadata(&path).unwrap().len() == before {
            assert!(Instant::now() < stop, "nothing while packets come");
            observer.packet(End::Receivers, time, &[0x45; 40]);
            time += 1_000_000;
            thread::sleep(Duration::from_millis(1));
        }
        drop(observer);
        capture.end().unwrap();
        fs::remove_file(path).unwrap();
    }
}
