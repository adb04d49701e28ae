//! The states of recovery and what an ACK moves between them.

use super::{Delivery, Repair};
use crate::packet::Packet;
use crate::sender::Sender;
use cwnd_cc::{CongestionKind, EcnMode, State};

/// What came of it.
pub(super) struct Changed {
    pub repair: Repair,
    /// The timer waits for reordering.
    pub waits_for_reordering: bool,
}

impl Sender {
    /// An ACK that says more than that all is well, or comes when all is not.
    pub(super) fn change_linux_state(
        &mut self,
        now: u64,
        packet: &Packet,
        told: &Delivery,
        marked: bool,
    ) -> Changed {
        let waits;
        let nothing = |waits| Changed { repair: Repair::Nothing, waits_for_reordering: waits };
        if self.state == State::Open {
            self.linux().undo.first_copy = None;
        } else if self.una >= self.recover {
            match self.state {
                // Echoes may still be of marks that the reduction has answered, until more is acknowledged.
                State::Cwr if self.una > self.recover => {
                    self.state = State::Open;
                    self.end_reduction(now);
                }
                State::Recovery => self.end_recovery(now, packet),
                _ => {}
            }
        }
        match self.state {
            State::Recovery => {
                if told.advanced > 0 && self.answers_original(packet) {
                    // A hole was filled by what was late, not by a copy.
                    let (hole, highest) = (self.una - u64::from(told.advanced), self.board.highest_sacked());
                    self.linux().rack.on_reordering(hole, highest);
                    if self.board.retransmitted > 0 {
                        return nothing(false);
                    }
                    self.undo_reduction(now, true);
                    self.keep_open();
                }
                if self.were_copies_needless() {
                    self.undo_needless(now);
                    self.keep_open();
                }
                waits = self.detect_linux_losses(now);
                if self.state == State::Recovery {
                    return Changed { repair: Repair::Lost, waits_for_reordering: waits };
                }
                if self.board.lost == 0 {
                    return nothing(waits);
                }
            }
            State::Loss => {
                let repair = self.go_on_after_timeout(now, packet, told);
                let copies = self.board.retransmitted;
                waits = self.detect_linux_losses(now);
                // Losing a retransmission is an episode of its own.
                if self.state != State::Open && self.board.retransmitted >= copies {
                    return Changed { repair, waits_for_reordering: waits };
                }
                if self.board.lost == 0 {
                    self.try_to_open(now, marked);
                    return Changed { repair, waits_for_reordering: waits };
                }
            }
            _ => {
                // Duplicates may be told of when the episode is over.
                if self.state != State::Cwr && self.were_copies_needless() {
                    self.undo_needless(now);
                }
                waits = self.detect_linux_losses(now);
                if self.board.lost == 0 {
                    self.try_to_open(now, marked);
                    return nothing(waits);
                }
            }
        }
        self.enter_linux_recovery(now, marked);
        Changed { repair: Repair::Lost, waits_for_reordering: waits }
    }

    /// No loss is known.
    fn try_to_open(&mut self, now: u64, marked: bool) {
        if marked && self.next > self.una && !self.needs.marks_only && self.state != State::Cwr {
            // RFC 3168 section 6.1.2: at most once a window of data.
            self.forget_undo();
            self.begin_reduction(now, CongestionKind::Ecn);
            self.state = State::Cwr;
        }
        if self.state != State::Cwr {
            self.keep_open();
        }
    }

    fn keep_open(&mut self) {
        let unusual = self.board.sacked + self.board.lost + self.board.retransmitted > 0;
        self.state = if unusual { State::Disorder } else { State::Open };
    }

    /// Losses begin an episode, or make one of an ECN echo's reduction.
    pub(super) fn enter_linux_recovery(&mut self, now: u64, marked: bool) {
        let reducing = self.state == State::Cwr;
        // An exact mark may have reduced the window by little, and a loss is answered all the same (RFC 8257 section
        // 3.5).
        if !reducing || self.config.ecn == EcnMode::Exact {
            let ssthresh = if marked { 0.0 } else { self.current_ssthresh() };
            let cwnd = self.window.cwnd;
            self.begin_reduction(now, CongestionKind::Loss);
            self.remember_for_undo(if marked { 0.0 } else { cwnd }, ssthresh);
        }
        self.state = State::Recovery;
    }

    /// All that was outstanding when the episode began is acknowledged.
    fn end_recovery(&mut self, now: u64, packet: &Packet) {
        if self.may_undo(packet) {
            self.undo_reduction(now, false);
            self.state = State::Open;
            return;
        }
        self.state = State::Open;
        self.linux().rack.end_recovery();
        self.end_reduction(now);
    }

    /// RFC 5682 section 3.1, with SACK: find out whether a timeout was spurious; else retransmit.
    fn go_on_after_timeout(&mut self, now: u64, packet: &Packet, told: &Delivery) -> Repair {
        let recovered = self.una >= self.recover;
        if told.advanced > 0 && self.may_undo(packet) {
            self.undo_timeout(now);
            return Repair::Nothing;
        }
        if self.linux().undo.frto {
            // Step 3.b: something was delivered that was never retransmitted.
            if told.has_original {
                self.undo_timeout(now);
                return Repair::Nothing;
            }
            if self.next > self.recover {
                // Step 3.a: the loss was real.
                self.linux().undo.frto &= told.sacked == 0 && told.advanced > 0;
            } else if told.advanced > 0 && !recovered {
                // Step 2.b: send new data to see.
                self.recover = self.next;
                if self.next < self.data_end.min(self.una + self.config.receive_window) {
                    return Repair::New;
                }
                self.linux().undo.frto = false;
            }
        }
        if recovered {
            self.state = State::Open;
            self.linux().rack.end_recovery();
            self.algorithm.on_recovery_exit(&mut self.window, cwnd_cc::Nanos(now));
            return Repair::Nothing;
        }
        Repair::Lost
    }

    fn undo_needless(&mut self, now: u64) {
        self.linux().rack.keep_window();
        self.undo_reduction(now, false);
    }

    fn undo_timeout(&mut self, now: u64) {
        self.undo_reduction(now, true);
        self.timeouts_in_row = 0;
        self.state = State::Open;
    }
}
