//! Where packets are captured, by name.

use cwnd_scenario::{LinkId, Network, Scenario};
use cwnd_sim::watch::{End, Point};

/// The words for the ends of a link, behind its name and a colon.
const ENDS: [(&str, End); 2] = [("enter", End::Enter), ("leave", End::Leave)];

/// The point that a text names: `LINK` or `LINK:enter`, where packets come to the link's queue; `LINK:leave`, where they come out
/// of its line.
///
/// # Errors
/// What is wrong with it, and what there is.
pub fn point(network: &Network, text: &str) -> Result<Point, String> {
    let find = |name: &str| network.links.iter().position(|link| link.name == name);
    if let Some(link) = find(text) {
        return Ok(Point { link, end: End::Enter });
    }
    let Some((name, word)) = text.rsplit_once(':') else { return Err(no_link(network, text)) };
    let Some(link) = find(name) else { return Err(no_link(network, name)) };
    match ENDS.iter().find(|(known, _)| *known == word) {
        Some(&(_, end)) => Ok(Point { link, end }),
        None => Err(format!(
            "a link has no end `{word}`: `{name}:enter` is where packets come to its queue, `{name}:leave` where they come out \
             of its line"
        )),
    }
}

/// What tcpdump would see at the router before the bottleneck: what enters the bottleneck, and what leaves the link against it,
/// if there is one that any flow crosses.
pub fn default_points(scenario: &Scenario) -> Vec<Point> {
    let network = &scenario.network;
    let forward = &network.links[network.bottleneck];
    let is_crossed =
        |link: &LinkId| scenario.flows.iter().any(|f| f.route.contains(link) || f.ack_route.contains(link));
    let against = |link: &LinkId| {
        let link = &network.links[*link];
        (link.from, link.to) == (forward.to, forward.from)
    };
    let back = (0..network.links.len()).find(|link| against(link) && is_crossed(link));
    let enter = Point { link: network.bottleneck, end: End::Enter };
    [enter].into_iter().chain(back.map(|link| Point { link, end: End::Leave })).collect()
}

fn no_link(network: &Network, name: &str) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = names[..names.len().min(SHOWN)].join(", ");
    format!("there is no link `{name}`; there are {shown}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::{LinkSpec, Rate, Time};

    #[test]
    fn points_are_named_by_link_and_end() {
        let link = |name: &str, from, to| LinkSpec::new(name, from, to, Rate(1_000_000), Time(1));
        let network = Network {
            nodes: ["a", "b"].map(str::to_owned).to_vec(),
            links: vec![link("there", 0, 1), link("back:leave", 1, 0)],
            bottleneck: 0,
        };
        assert_eq!(point(&network, "there"), Ok(Point { link: 0, end: End::Enter }));
        assert_eq!(point(&network, "there:enter"), Ok(Point { link: 0, end: End::Enter }));
        assert_eq!(point(&network, "there:leave"), Ok(Point { link: 0, end: End::Leave }));
        // A link's own name goes first.
        assert_eq!(point(&network, "back:leave"), Ok(Point { link: 1, end: End::Enter }));
        assert_eq!(point(&network, "back:leave:leave"), Ok(Point { link: 1, end: End::Leave }));
        let unknown = "there is no link `their`; there are there, back:leave";
        assert_eq!(point(&network, "their"), Err(unknown.to_owned()));
        assert!(point(&network, "there:out").unwrap_err().contains("`there:leave`"));
    }
}
