//! What a script sets: options, and the commands that packetdrill gives to a shell.

mod commands;
mod sysctl;

pub use commands::Loader;
pub(crate) use sysctl::algorithm;

use crate::cursor::{Place, ScriptError};
use crate::script::Script;
use cwnd_scenario::LinuxVersion;

/// The settings of the endpoint under test, and of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name of the congestion control algorithm, as cwnd lists it.
    pub algorithm: String,
    /// `tcp_timestamps`.
    pub timestamps: bool,
    /// `tcp_sack`.
    pub sack: bool,
    /// `tcp_window_scaling`.
    pub window_scaling: bool,
    /// `tcp_ecn`: 0 off, 1 asks for it, 2 accepts it.
    pub ecn: u32,
    /// The greatest receive buffer (`tcp_rmem`), bytes. The window scale follows from it.
    pub receive_buffer: u64,
    /// `tcp_early_retrans`: whether tail loss probes are sent.
    pub tail_loss_probe: bool,
    /// `tcp_slow_start_after_idle`.
    pub restart_after_idle: bool,
    /// `tcp_tso_win_divisor`.
    pub tso_win_divisor: u32,
    /// `tcp_min_tso_segs`.
    pub min_tso_segs: u32,
    /// The initial window, segments (`initcwnd` of a route).
    pub initial_window: u32,
    /// The version of Linux whose rules apply where versions differ; `None` for those of `--stack linux`.
    pub kernel: Option<LinuxVersion>,
    /// The segment size that the endpoint offers, bytes.
    pub mss: u32,
    /// Whether the local queue paces (`fq`).
    pub paced: bool,
    /// Whether the local queue drops every packet (`limit 0`).
    pub queue_blocked: bool,
    /// How much an event may be early or late, ns.
    pub tolerance: i64,
    /// The same as part of the time since the event before, percent.
    pub tolerance_percent: f64,
    /// Whether the flag PSH is compared.
    pub compare_push: bool,
}

impl Default for Settings {
    /// Linux's defaults, and packetdrill's tolerances.
    fn default() -> Settings {
        Settings {
            algorithm: "cubic-linux".to_owned(),
            timestamps: true,
            sack: true,
            window_scaling: true,
            ecn: 2,
            receive_buffer: 6 << 20,
            tail_loss_probe: true,
            restart_after_idle: true,
            tso_win_divisor: 3,
            min_tso_segs: 2,
            initial_window: 10,
            kernel: None,
            mss: 1460,
            paced: false,
            queue_blocked: false,
            tolerance: 4_000_000,
            tolerance_percent: 12.5,
            compare_push: false,
        }
    }
}

/// A remark about a line that does not change the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place in the script.
    pub place: Place,
    /// The remark.
    pub message: String,
}

impl Settings {
    /// Applies the options and the setup commands of a script. `loader` reads files that commands name.
    ///
    /// # Errors
    /// An option, a command or a system setting is not supported.
    pub fn apply(
        &mut self,
        script: &Script,
        loader: &Loader<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<(), ScriptError> {
        for (place, name, value) in &script.options {
            self.apply_option(*place, name, value, notes)?;
        }
        for command in &script.setup {
            commands::run(self, command, loader, notes)?;
        }
        Ok(())
    }

    /// Applies a command that an event gives.
    ///
    /// # Errors
    /// See [`apply`](Self::apply).
    pub fn apply_command(
        &mut self,
        command: &crate::script::Command,
        loader: &Loader<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<(), ScriptError> {
        commands::run(self, command, loader, notes)
    }

    fn apply_option(
        &mut self,
        place: Place,
        name: &str,
        value: &str,
        notes: &mut Vec<Note>,
    ) -> Result<(), ScriptError> {
        let wrong = |message: String| ScriptError::new(place, message);
        match name {
            "tolerance_usecs" => {
                let micros: i64 =
                    value.parse().ok().filter(|&n| (1..=3_600_000_000).contains(&n)).ok_or_else(|| {
                        wrong(format!(
                            "--tolerance_usecs={value}: write a number of microseconds from 1 to 3600000000"
                        ))
                    })?;
                self.tolerance = micros * 1000;
            }
            "tolerance_percent" => {
                self.tolerance_percent =
                    value.parse().ok().filter(|n| (0.0..=100.0).contains(n)).ok_or_else(|| {
                        wrong(format!("--tolerance_percent={value}: write a number from 0 to 100"))
                    })?;
            }
            "mss" => {
                self.mss = value.parse().ok().filter(|n| (88..=65_495).contains(n)).ok_or_else(|| {
                    wrong(format!("--mss={value}: write a number of bytes from 88 to 65495"))
                })?;
            }
            "mtu" => {
                let mtu: u32 =
                    value.parse().ok().filter(|n| (128..=65_535).contains(n)).ok_or_else(|| {
                        wrong(format!("--mtu={value}: write a number of bytes from 128 to 65535"))
                    })?;
                self.mss = mtu - 40;
            }
            "ip_version" | "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port"
            | "connect_port" | "verbose" | "dry_run" | "tcp_ts_tick_usecs" | "tcp_ts_ecr_scaled"
            | "strict_segments" | "non_fatal" | "send_omit_free" | "code" | "init_scripts" | "speed" => {
                notes.push(Note { place, message: format!("the option --{name} has no effect here") });
            }
            _ => {
                return Err(wrong(format!(
                    "the option --{name} is not supported; options with an effect are --tolerance_usecs, \
                     --tolerance_percent, --mss and --mtu"
                )));
            }
        }
        Ok(())
    }
}
