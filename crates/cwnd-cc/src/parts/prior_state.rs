//! The state before an ACK, in which Linux's modules measure it.

use crate::{Ack, Congestion, CongestionKind, Nanos, State};

/// Follows the state that an ACK finds. [`Ack::state`] is the one that it leaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorState {
    state: State,
    /// When an episode began or was undone, and the state since then.
    entered: Option<(Nanos, State)>,
}

impl PriorState {
    /// Records the beginning of an episode.
    pub fn on_congestion(&mut self, congestion: &Congestion) {
        let state = match congestion.kind {
            CongestionKind::Loss => State::Recovery,
            CongestionKind::Ecn => State::Cwr,
            CongestionKind::Timeout => State::Loss,
        };
        self.entered = Some((congestion.now, state));
    }

    /// Records that an episode proved needless.
    pub fn on_undo(&mut self, now: Nanos) {
        self.entered = Some((now, State::Open));
    }

    /// Handles an ACK. Returns the state before it: what the previous ACK left, or a timer has changed since. An episode that this
    /// ACK began or ended does not count yet.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) -> State {
        if let Some((at, state)) = self.entered.take()
            && at < ack.now
        {
            self.state = state;
        }
        core::mem::replace(&mut self.state, ack.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetic;
    use crate::testing::{ack, congestion, window};

    #[test]
    fn an_ack_finds_what_came_before_it() {
        let mut prior = PriorState::default();
        let find = |prior: &mut PriorState, at, state| prior.on_ack(&Ack { state, ..ack(at) });
        let loss = |at| congestion(&window(10.0, Arithmetic::Linux), CongestionKind::Loss, at);
        assert_eq!(find(&mut prior, 1, State::Open), State::Open);
        // The ACK at 2 ms begins a recovery, the one at 4 ms ends it.
        prior.on_congestion(&loss(2));
        assert_eq!(find(&mut prior, 2, State::Recovery), State::Open);
        assert_eq!(find(&mut prior, 4, State::Open), State::Recovery);
        // A timer begins one at 5 ms, which the ACK at 7 ms undoes; another is undone at 9 ms, before an ACK.
        prior.on_congestion(&loss(5));
        prior.on_undo(Nanos::from_millis(7));
        assert_eq!(find(&mut prior, 7, State::Open), State::Open);
        prior.on_congestion(&loss(8));
        assert_eq!(find(&mut prior, 9, State::Recovery), State::Recovery);
        prior.on_undo(Nanos::from_millis(9));
        assert_eq!(find(&mut prior, 10, State::Open), State::Open);
    }
}
