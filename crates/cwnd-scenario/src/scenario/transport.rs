//! The transport that carries a flow: this project's TCP endpoint, or a QUIC implementation.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The implementation of a flow's two endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The TCP endpoint of `cwnd-tcp`, as [`Stack`](crate::Stack) describes it.
    #[default]
    Tcp,
    /// The QUIC implementation noq (`noq-proto`).
    Noq,
    /// The QUIC implementation quinn (`quinn-proto`).
    Quinn,
}

impl Transport {
    /// Every transport, in the order of the documentation.
    pub const ALL: [Transport; 3] = [Transport::Tcp, Transport::Noq, Transport::Quinn];

    /// Returns the name by which settings call it.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Noq => "noq",
            Transport::Quinn => "quinn",
        }
    }

    /// Returns whether it is the TCP endpoint.
    pub fn is_tcp(&self) -> bool {
        *self == Transport::Tcp
    }

    /// Returns the QUIC implementation to which an algorithm belongs: `cubic@noq` is noq's own CUBIC.
    pub fn owner_of(algorithm: &str) -> Option<Transport> {
        let (_, owner) = algorithm.rsplit_once('@')?;
        [Transport::Noq, Transport::Quinn].into_iter().find(|transport| transport.name() == owner)
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Transport::ALL.into_iter().find(|transport| transport.name() == text);
        found.ok_or_else(|| format!("`{text}` is not a transport: write `tcp`, `noq` or `quinn`"))
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Transport;

    #[test]
    fn transports_are_written_as_they_are_read() {
        for transport in Transport::ALL {
            assert_eq!(transport.to_string().parse(), Ok(transport));
        }
        assert!("udp".parse::<Transport>().unwrap_err().contains("`noq` or `quinn`"));
    }

    #[test]
    fn a_name_says_to_which_implementation_an_algorithm_belongs() {
        assert_eq!(Transport::owner_of("cubic@noq"), Some(Transport::Noq));
        assert_eq!(Transport::owner_of("newreno@quinn"), Some(Transport::Quinn));
        assert_eq!(Transport::owner_of("cubic@kernel"), None);
        assert_eq!(Transport::owner_of("cubic"), None);
    }
}
