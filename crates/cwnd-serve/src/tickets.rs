//! What may run at the same time: one study, or one run over the kernel, or some simulations for the page.

use crate::refusal::Refusal;
use axum::http::StatusCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Simulations for the page that run at the same time.
pub const SIMULATIONS: usize = 2;

/// Counts what is on.
#[derive(Clone, Default)]
pub struct Tickets(Arc<Mutex<Busy>>);

#[derive(Clone, Copy, Default)]
struct Busy {
    study: bool,
    lab: bool,
    simulations: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Study,
    Lab,
    Simulation,
}

/// The right to run something, for as long as this lives.
pub struct Ticket {
    tickets: Tickets,
    kind: Kind,
}

impl Tickets {
    /// Returns the right to run a study.
    ///
    /// # Errors
    /// If another is on, or a run over the kernel.
    pub fn study(&self) -> Result<Ticket, Refusal> {
        let mut busy = self.lock();
        if busy.study {
            return Err(Refusal::conflict("a study is running: stop it first, or wait for its end"));
        }
        if busy.lab {
            return Err(Refusal::conflict(
                "a run over the kernel is on, which needs the machine for itself: stop it first",
            ));
        }
        busy.study = true;
        Ok(self.ticket(Kind::Study))
    }

    /// Returns the right to use the kernel, which needs the machine for itself.
    ///
    /// # Errors
    /// If anything is on.
    pub fn lab(&self) -> Result<Ticket, Refusal> {
        let mut busy = self.lock();
        if busy.study || busy.lab || busy.simulations > 0 {
            let what = if busy.study {
                "a study"
            } else if busy.lab {
                "another such run"
            } else {
                "a simulation"
            };
            let message = format!(
                "a run over the kernel needs the machine for itself, and {what} is on: stop it first"
            );
            return Err(Refusal::conflict(&message));
        }
        busy.lab = true;
        Ok(self.ticket(Kind::Lab))
    }

    /// Returns the right to simulate.
    ///
    /// # Errors
    /// If [`SIMULATIONS`] are on, or a run over the kernel.
    pub fn simulation(&self) -> Result<Ticket, Refusal> {
        let mut busy = self.lock();
        if busy.lab {
            return Err(Refusal::conflict(
                "a run over the kernel is on, which needs the machine for itself: stop it first",
            ));
        }
        if busy.simulations >= SIMULATIONS {
            let message =
                format!("{SIMULATIONS} simulations are running, which is the limit: stop one, or wait");
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, &message));
        }
        busy.simulations += 1;
        Ok(self.ticket(Kind::Simulation))
    }

    fn ticket(&self, kind: Kind) -> Ticket {
        Ticket { tickets: self.clone(), kind }
    }

    fn lock(&self) -> MutexGuard<'_, Busy> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut busy = self.tickets.lock();
        match self.kind {
            Kind::Study => busy.study = false,
            Kind::Lab => busy.lab = false,
            Kind::Simulation => busy.simulations -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_the_machine_for_itself() {
        let tickets = Tickets::default();
        let study = tickets.study().expect("nothing is on");
        assert!(tickets.study().is_err() && tickets.lab().is_err());
        let simulations: Vec<_> =
            (0..SIMULATIONS).map(|_| tickets.simulation().expect("it is free")).collect();
        assert_eq!(tickets.simulation().err().map(|refusal| refusal.status.as_u16()), Some(429));
        drop(study);
        assert!(tickets.lab().is_err());
        drop(simulations);
        let lab = tickets.lab().expect("nothing is on");
        assert!(tickets.study().is_err() && tickets.simulation().is_err() && tickets.lab().is_err());
        drop(lab);
        assert!(tickets.study().is_ok());
    }
}
