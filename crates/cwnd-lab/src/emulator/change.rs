//! Links that change while the emulator runs.

use super::net::Net;
use cwnd_link::check_change;
use cwnd_scenario::LinkSpec;

/// Makes the links of a network what `to` says, at `now`.
///
/// # Errors
/// What cannot change while a link runs, with the link's name. All links are as they were then.
pub fn change(net: &mut Net, now: u64, from: &[LinkSpec], to: &[LinkSpec]) -> Result<(), String> {
    if from.len() != to.len() {
        return Err(format!("there are {} links, and no others can be added while they run", from.len()));
    }
    for (number, (is, wanted)) in from.iter().zip(to).enumerate() {
        if let Err(why) = change_link(net, now, number, is, wanted) {
            // What has been before can be again.
            for (number, (is, wanted)) in from.iter().zip(to).enumerate().take(number + 1) {
                let _ = change_link(net, now, number, wanted, is);
            }
            return Err(format!("{}: {why}", is.name));
        }
    }
    Ok(())
}

fn change_link(
    net: &mut Net,
    now: u64,
    number: usize,
    is: &LinkSpec,
    wanted: &LinkSpec,
) -> Result<(), String> {
    // First, because settings compute the steps of a schedule from the rate: another rate comes with another schedule.
    if is.schedule.is_some() && (is.rate, is.delay) != (wanted.rate, wanted.delay) {
        return Err(
            "its schedule or trace sets rate and delay; its queue, losses and effects can change".to_owned()
        );
    }
    check_change(is, wanted).map_err(|error| error.to_string())?;
    if is.queue != wanted.queue {
        net.set_queue(number, &wanted.queue).map_err(|error| error.to_string())?;
    }
    if is.effects != wanted.effects {
        net.set_effects(number, &wanted.effects).map_err(|error| error.to_string())?;
    }
    if is.rate != wanted.rate {
        net.set_rate(now, number, wanted.rate).map_err(|error| error.to_string())?;
    }
    if is.delay != wanted.delay {
        net.set_delay(now, number, wanted.delay).map_err(|error| error.to_string())?;
    }
    if is.loss != wanted.loss {
        net.set_loss(number, &wanted.loss);
    }
    Ok(())
}
