//! The receive window of the linux profile, if none is chosen.

use super::stack_choice::USUAL_WINDOW;
use crate::{BufferContext, Built, Route};
use cwnd_scenario::{LinkSpec, QueueLimit, Schedule, Stack, Time};
use std::collections::BTreeMap;

/// What a queue without a limit counts as, packets: it alone makes a window of [`USUAL_WINDOW`].
const UNLIMITED_QUEUE: u64 = USUAL_WINDOW as u64 / 4;

/// The shortest time over which the greatest rate of a trace is measured: queues absorb shorter bursts.
pub(super) const SHORTEST_PEAK: Time = Time::from_millis(100);

/// What [`greatest_bdp`] returned, by link, product and round-trip time: there may be thousands of routes, and a trace is long.
type Known = BTreeMap<(usize, u64, Time), u64>;

/// Returns the largest window, packets, that the route of a flow needs: four times what the bandwidth-delay product and the queues of the
/// route's narrowest link and of the sender hold. All flows have it, since a scenario has one receive window.
pub(super) fn of_linux(built: &Built, stack: &Stack) -> u32 {
    let bottleneck = built.network.bottleneck;
    let mut known = Known::new();
    // Flows whose data cross the declared bottleneck have its bandwidth-delay product, whatever else is on their route.
    let crossing = built.routes.iter().filter(|route| route.data.contains(&bottleneck));
    let of_bottleneck = match built.bdp_packets {
        Some(bdp) => crossing
            .map(|route| of_route(built, stack, route, bottleneck, (bdp, built.base_rtt), &mut known))
            .max(),
        None => Some(u64::from(USUAL_WINDOW)),
    };
    let most = built.routes.iter().filter_map(|route| of_narrowest(built, stack, route, &mut known)).max();
    let window = of_bottleneck.into_iter().chain(most).max().unwrap_or(u64::from(USUAL_WINDOW));
    u32::try_from(window).unwrap_or(u32::MAX).min(Stack::LARGEST_WINDOW)
}

/// Returns the window of a route by its narrowest link; none if no link of it has a rate.
fn of_narrowest(built: &Built, stack: &Stack, route: &Route, known: &mut Known) -> Option<u64> {
    let (network, bottleneck) = (&built.network, built.network.bottleneck);
    let narrowest =
        route.data.iter().copied().min_by_key(|&link| (network.links[link].rate, link != bottleneck))?;
    let product = if narrowest == bottleneck {
        (built.bdp_packets?, built.base_rtt)
    } else {
        let links = route.data.iter().chain(&route.acks);
        let base_rtt = Time(links.map(|&link| network.links[link].delay.0).fold(0, u64::saturating_add));
        let rate = network.links[narrowest].rate;
        let context = BufferContext { rate, base_rtt, full_packet: stack.full_packet(), flows: 1 };
        (context.bdp_packets()?, base_rtt)
    };
    Some(of_route(built, stack, route, narrowest, product, known))
}

/// Returns four times what a route holds, in packets, where `narrowest` has this bandwidth-delay product on round trips of this time.
fn of_route(
    built: &Built,
    stack: &Stack,
    route: &Route,
    narrowest: usize,
    (bdp, base_rtt): (u64, Time),
    known: &mut Known,
) -> u64 {
    let links = &built.network.links;
    let limit = |link: usize| match links[link].queue.limit {
        QueueLimit::Packets(packets) => Some(u64::from(packets)),
        QueueLimit::Bytes(bytes) => Some(bytes.div_ceil(u64::from(stack.full_packet()))),
        QueueLimit::Unlimited => None,
    };
    let queue = limit(narrowest).unwrap_or(UNLIMITED_QUEUE);
    // The queues on the route that hold anything for long: the narrowest link's, and the sender's own. Without a limit, the latter holds
    // no more than bursts.
    let own = if route.data[0] == narrowest { 0 } else { limit(route.data[0]).unwrap_or(0) };
    let bdp = *known
        .entry((narrowest, bdp, base_rtt))
        .or_insert_with(|| greatest_bdp(bdp, &links[narrowest], base_rtt));
    bdp.saturating_add(queue).saturating_add(own).saturating_mul(4)
}

/// Returns the greatest bandwidth-delay product that a link's schedule gives rise to, in the unit of `bdp`, which is the product at the
/// link's own rate. Of a trace it is that of the greatest rate over any time of a round trip or 100 ms, whichever is longer.
pub fn greatest_bdp(bdp: u64, link: &LinkSpec, base_rtt: Time) -> u64 {
    let round_trip = u128::from(base_rtt.0.max(1));
    let grown = |rate: u64, longer: u128| {
        let grown = u128::from(bdp).saturating_mul(u128::from(rate)) / u128::from(link.rate.0.max(1));
        u64::try_from(grown.saturating_mul(round_trip + longer) / round_trip).unwrap_or(u64::MAX)
    };
    let at_most = match &link.schedule {
        None => None,
        Some(Schedule::Trace(trace)) => Some(grown(trace.greatest_rate(base_rtt.max(SHORTEST_PEAK)).0, 0)),
        Some(Schedule::Steps(steps)) => {
            // Both directions have the new delay.
            let longer = |delay: Time| u128::from(delay.0.saturating_sub(link.delay.0)) * 2;
            steps.steps.iter().map(|step| grown(step.rate.0, longer(step.delay))).max()
        }
    };
    at_most.unwrap_or(bdp).max(bdp)
}
