//! A program that runs in a network, with its server at the other end.

use crate::{failure::Failure, terminal::tell};
use cwnd_lab::{Guard, Namespace, Program, Resolver, Server, address, program};
use std::{ffi::OsString, io, process::ExitStatus};

/// What a program finds in its environment, for the help of commands that run one.
macro_rules! environment {
    () => {
        "\
The program runs where flows are sent from. CWND_SERVER is the other end's address, and CWND_SERVER_NETNS its namespace
(for `nsenter --net=$CWND_SERVER_NETNS`). The program's exit code is that of cwnd; a signal to cwnd goes to the program."
    };
}
pub(super) use environment;

/// A program that runs. All that it has started is ended when this is dropped.
pub struct Running {
    name: String,
    program: Program,
    servers: Vec<Server>,
    /// Whether it has been said that a server has failed.
    has_told: bool,
    // Dropped last.
    _guard: Guard,
}

impl Running {
    /// Starts a program at the first sender, and before it the server's command line at each receiver. `ipv6` says whether the ends have
    /// addresses of IPv6, and `resolver` where the program finds name servers.
    ///
    /// # Errors
    /// What cannot be started. Exit codes are those of shells: 127 if there is no such program, 126 if it cannot be executed.
    pub fn start(
        [senders, receivers]: &[Vec<&Namespace>; 2],
        ipv6: bool,
        resolver: &Resolver,
        server: Option<&str>,
        words: &[OsString],
    ) -> Result<Running, Failure> {
        let guard = Guard::new(senders.iter().chain(receivers).copied())
            .map_err(|error| Failure::broken(format!("programs cannot be guarded: {error}")))?;
        let servers = receivers.iter().filter_map(|host| Some(Server::start(server?, host)));
        let servers = servers.collect::<io::Result<_>>();
        let servers = servers.map_err(|error| Failure::broken(format!("--server: {error}")))?;
        let name = words[0].to_string_lossy().into_owned();
        let cannot = |error: io::Error| {
            let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            Failure::of_program(code, format!("error: `{name}` cannot be run: {error}"))
        };
        let mut command = senders[0].command(&words[0]).map_err(cannot)?;
        command
            .args(&words[1..])
            .env("CWND_SERVER", address::receiver(0).to_string())
            .env("CWND_SERVER_NETNS", receivers[0].path());
        if ipv6 {
            command.env("CWND_SERVER_IPV6", address::receiver_ipv6(0).to_string());
        } else {
            // In a link within another one this would be the other's.
            command.env_remove("CWND_SERVER_IPV6");
        }
        for (name, hosts) in [("CWND_SENDERS_NETNS", senders), ("CWND_SERVERS_NETNS", receivers)] {
            let paths: Vec<String> = hosts.iter().map(|host| host.path()).collect();
            command.env(name, paths.join(" "));
        }
        resolver.apply(&mut command).map_err(cannot)?;
        let program = Program::start(command).map_err(cannot)?;
        Ok(Running { name, program, servers, has_told: false, _guard: guard })
    }

    /// Returns how it ended; nothing if it has not. Tells once if a server has failed.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        if !self.has_told
            && let Some(code) = self.servers.iter().find_map(Server::failed)
        {
            tell!("note: the command of --server has ended with exit code {code}");
            self.has_told = true;
        }
        self.program.ended().map_err(|error| Failure::broken(format!("`{}`: {error}", self.name)))
    }
}

/// Returns the failure of a program that has failed, which has said why itself.
pub fn failure_of(ended: ExitStatus) -> Result<(), Failure> {
    match program::exit_code(ended) {
        0 => Ok(()),
        code => Err(Failure::of_program(code, "")),
    }
}
