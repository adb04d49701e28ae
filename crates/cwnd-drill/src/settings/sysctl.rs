//! System settings (`sysctl`) that scripts change.

use super::{Note, Settings};
use crate::cursor::{Place, ScriptError};

/// Settings whose value the endpoint cannot change, with that value.
const FIXED: &[(&str, &str)] = &[
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_dsack", "1"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_reordering", "3"),
    ("net.ipv4.tcp_max_reordering", "300"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_thin_linear_timeouts", "0"),
    ("net.ipv4.tcp_rto_min_us", "200000"),
    ("net.ipv4.tcp_pacing_ss_ratio", "200"),
    ("net.ipv4.tcp_pacing_ca_ratio", "120"),
    ("net.ipv4.tcp_moderate_rcvbuf", "1"),
    ("net.ipv4.tcp_ecn_fallback", "1"),
    ("net.ipv4.tcp_ecn_option", "2"),
];

/// Settings of things that a script does not reach here.
const WITHOUT_EFFECT: &[&str] = &[
    "net.ipv4.tcp_wmem",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.optmem_max",
    "net.core.default_qdisc",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_synack_retries",
    "net.ipv4.tcp_retries1",
    "net.ipv4.tcp_retries2",
    "net.ipv4.tcp_orphan_retries",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_fastopen_key",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_invalid_ratelimit",
    "net.ipv4.tcp_challenge_ack_limit",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_slack_ns",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_app_win",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_workaround_signed_windows",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_pingpong_thresh",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.ip_local_port_range",
];

/// The settings that change the endpoint, for errors.
const WITH_EFFECT: &str = "tcp_congestion_control, tcp_timestamps, tcp_sack, tcp_window_scaling, tcp_ecn, tcp_rmem, \
                           tcp_early_retrans, tcp_slow_start_after_idle, tcp_tso_win_divisor and tcp_min_tso_segs";

/// Applies `name=value`.
pub(super) fn apply(
    settings: &mut Settings,
    place: Place,
    name: &str,
    value: &str,
    notes: &mut Vec<Note>,
) -> Result<(), ScriptError> {
    let name = name.replace('/', ".");
    let wrong = |wanted: &str| ScriptError::new(place, format!("{name}={value}: write {wanted}"));
    let whole = |most: u32| {
        value
            .trim()
            .parse::<u32>()
            .ok()
            .filter(|&n| n <= most)
            .ok_or_else(|| wrong(&format!("a number from 0 to {most}")))
    };
    match name.as_str() {
        "net.ipv4.tcp_congestion_control" => settings.algorithm = algorithm(place, value.trim())?,
        "net.ipv4.tcp_timestamps" => settings.timestamps = whole(2)? > 0,
        "net.ipv4.tcp_sack" => settings.sack = whole(1)? > 0,
        "net.ipv4.tcp_window_scaling" => settings.window_scaling = whole(1)? > 0,
        "net.ipv4.tcp_ecn" => {
            settings.ecn = match whole(5)? {
                mode @ 0..=2 => mode,
                mode => {
                    return Err(wrong(&format!("0, 1 or 2; mode {mode} is AccECN, which is not supported")));
                }
            }
        }
        "net.ipv4.tcp_rmem" => {
            let last = value.split_whitespace().last().and_then(|word| word.parse().ok());
            settings.receive_buffer = last.ok_or_else(|| wrong("three numbers of bytes"))?;
        }
        "net.ipv4.tcp_early_retrans" => settings.tail_loss_probe = whole(4)? >= 3,
        "net.ipv4.tcp_slow_start_after_idle" => settings.restart_after_idle = whole(1)? > 0,
        "net.ipv4.tcp_tso_win_divisor" => settings.tso_win_divisor = whole(1_000_000)?,
        "net.ipv4.tcp_min_tso_segs" => settings.min_tso_segs = whole(65_535)?.max(1),
        _ => {
            let fixed = FIXED.iter().find(|(known, _)| *known == name);
            if let Some((_, always)) = fixed {
                if value.trim() != *always {
                    let message =
                        format!("{name}={value} has no effect: the endpoint behaves as with {always}");
                    notes.push(Note { place, message });
                }
            } else if !WITHOUT_EFFECT.contains(&name.as_str()) {
                return Err(ScriptError::new(
                    place,
                    format!("the setting {name} is not supported; settings with an effect are {WITH_EFFECT}"),
                ));
            }
        }
    }
    Ok(())
}

/// Returns cwnd's name of an algorithm of Linux.
pub(crate) fn algorithm(place: Place, name: &str) -> Result<String, ScriptError> {
    let known = match name {
        "cubic" => "cubic-linux",
        "reno" => "newreno",
        other => other,
    };
    if cwnd_cc::find(known).is_some() {
        return Ok(known.to_owned());
    }
    let names: Vec<&str> = cwnd_cc::all().iter().map(|info| info.name).collect();
    Err(ScriptError::new(
        place,
        format!(
            "the congestion control algorithm `{name}` does not exist here; write cubic, reno, or one of {}",
            names.join(", ")
        ),
    ))
}
