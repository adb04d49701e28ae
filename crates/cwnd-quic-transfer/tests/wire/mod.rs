//! Transfers between two processes, over an emulated network or over loopback.

use cwnd_lab::{Testbed, address, doctor};
use cwnd_scenario::{
    Counting, FlowSpec, LinkSpec, Loss, Network, QueueLimit, QueueSpec, Rate, Scenario, Stack, Time,
};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The port of servers.
const PORT: u16 = 4433;

/// One transfer.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub stack: &'static str,
    pub algorithm: String,
    pub bytes: u64,
}

impl Transfer {
    pub fn new(stack: &'static str, algorithm: &str, bytes: u64) -> Transfer {
        Transfer { stack, algorithm: algorithm.to_owned(), bytes }
    }
}

/// An emulated link, with a buffer of one bandwidth-delay product. Losses are random, in the direction of the data.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate: Rate,
    pub rtt: Time,
    pub loss: f64,
}

/// What the sender of a transfer reports.
#[derive(Debug)]
pub struct Report(Value);

impl Report {
    /// Returns a number of it.
    pub fn number(&self, name: &str) -> f64 {
        self.0[name].as_f64().unwrap_or(f64::NAN)
    }
}

/// Does transfers at the same time, each over an emulated link of its own. Returns their reports, and how many packets the links have lost.
pub fn over_links(program: &Path, link: Link, transfers: &[Transfer]) -> Result<(Vec<Report>, u64), String> {
    let testbed = Testbed::new(&scenario(link, transfers.len()), None).map_err(|error| error.to_string())?;
    let namespaces = (testbed.senders(), testbed.receivers());
    let command = |at_sender: bool| {
        let namespace = if at_sender { namespaces.0 } else { namespaces.1 };
        namespace.command(program).map_err(|error| error.to_string())
    };
    let ends = (0..transfers.len()).map(|i| {
        let server = format!("{}:{PORT}", address::sender(i));
        (server, Some(format!("{}:0", address::receiver(i))))
    });
    let reports = run(&command, transfers, ends.collect())?;
    let drops = testbed.other_drops().map_err(|error| error.to_string())?;
    let record = testbed.end().map_err(|error| error.to_string())?;
    match &drops[..] {
        [] => Ok((reports, record.at_end.links.iter().map(|link| link.lost).sum())),
        // A socket's full buffer is a loss that the emulator does not count.
        drops => Err(format!("packets were dropped outside of the emulated link: {}", drops.join(", "))),
    }
}

/// Starts all servers, then all clients, and waits for them. `command` runs the program at the sender or else at the receiver; the ends are each
/// server's address, and the client's.
pub fn run(
    command: &dyn Fn(bool) -> Result<Command, String>,
    transfers: &[Transfer],
    ends: Vec<(String, Option<String>)>,
) -> Result<Vec<Report>, String> {
    let mut servers = Vec::new();
    for (transfer, (address, _)) in transfers.iter().zip(&ends) {
        let mut server = command(true)?;
        server.args(["serve", "--json", "--transfers", "1", "--listen", address]);
        server.args(["--stack", transfer.stack, "--cc", &transfer.algorithm]);
        server.args(["--bytes", &transfer.bytes.to_string()]);
        servers.push(Running::start(&mut server)?);
    }
    let mut clients = Vec::new();
    for ((transfer, server), (_, bind)) in transfers.iter().zip(&mut servers).zip(&ends) {
        let address = server.address()?;
        let mut client = command(false)?;
        client.args(["fetch", "--json", "--discard", "--stack", transfer.stack, &address, "data"]);
        if let Some(bind) = bind {
            client.args(["--bind", bind]);
        }
        clients.push(Running::start(&mut client)?);
    }
    let reports = transfers.iter().zip(servers).zip(clients).map(|((transfer, server), client)| {
        // The client has compared the hash.
        let received = client.report(&format!("{transfer:?}, client"));
        let sent = server.report(&format!("{transfer:?}, server"));
        match (received, sent) {
            (Ok(received), Ok(sent)) if received["bytes"] == transfer.bytes => Ok(Report(sent)),
            (received, sent) => Err(format!("{received:?}\n{sent:?}")),
        }
    });
    reports.collect()
}

/// A process, which is killed if it is dropped before its end.
struct Running {
    child: Option<Child>,
    /// What it has written to its standard error so far.
    said: String,
}

impl Running {
    fn start(command: &mut Command) -> Result<Running, String> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        Ok(Running { child: Some(child), said: String::new() })
    }

    /// Waits until a server listens. Returns where.
    fn address(&mut self) -> Result<String, String> {
        let error = self.child.as_mut().and_then(|child| child.stderr.as_mut()).ok_or("no standard error")?;
        // The line is shorter than a buffer, and the next comes later, if at all.
        BufReader::new(error).read_line(&mut self.said).map_err(|error| error.to_string())?;
        let rest = self.said.split_once(" listens at ").and_then(|(_, rest)| rest.split_once(';'));
        rest.map(|(address, _)| address.to_owned()).ok_or_else(|| format!("the server: {}", self.said))
    }

    /// Waits for its end. Returns the JSON document that it prints.
    fn report(mut self, what: &str) -> Result<Value, String> {
        let child = self.child.take().ok_or("it has ended")?;
        let done = child.wait_with_output().map_err(|error| error.to_string())?;
        let failed = |why: String| {
            let said = String::from_utf8_lossy(&done.stderr);
            format!("{what}: {why}: {}{said}", self.said)
        };
        if !done.status.success() {
            return Err(failed(done.status.to_string()));
        }
        serde_json::from_slice(&done.stdout).map_err(|error| failed(error.to_string()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns a network with a link there and a link back for each transfer.
fn scenario(link: Link, transfers: usize) -> Scenario {
    let smallest = doctor::smallest();
    let stack = Stack::linux(1500, true, 2_000);
    let pipe = link.rate.0 as f64 * link.rtt.as_secs_f64() / 8.0 / f64::from(stack.full_packet());
    let (mut links, mut flows) = (Vec::new(), Vec::new());
    for i in 0..transfers {
        let new = |name: String, from, to| LinkSpec::new(name, from, to, link.rate, Time(link.rtt.0 / 2));
        let mut there = new(format!("there {i}"), 0, 1);
        there.queue = QueueSpec::drop_tail(QueueLimit::Packets(pipe.ceil() as u32), Counting::WaitingOnly);
        if link.loss > 0.0 {
            there.loss = Loss::Bernoulli(link.loss);
        }
        let back = new(format!("back {i}"), 1, 0);
        let (route, ack_route) = (vec![2 * i], vec![2 * i + 1]);
        links.extend([there, back]);
        flows.push(FlowSpec { route, ack_route, ..smallest.flows[0].clone() });
    }
    let network = Network { links, ..(*smallest.network).clone() }.into();
    Scenario { network, flows: flows.into(), stack, duration: Time::from_secs(3_600), ..smallest }
}
