//! What goes wrong in the life of a store, and what it promises then.

use crate::disk::Faults;
use cwnd_scenario::Stream;

/// What goes wrong in the life of a store, and what holds all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The process is killed; the operating system survives. Every run that was reported as stored is there. The transaction in
    /// progress is there as a whole or not at all.
    Kill,
    /// The power goes, on a disk whose syncs are honest. The store has the state after one of its transactions, and none
    /// older than the last sync of its log: the last transactions may be lost, and nothing before them. What is lost does not
    /// come back later.
    PowerCut,
    /// Writes are short, and the power goes. No operation fails, and the rest is as in [`Mode::PowerCut`].
    ShortWrites,
    /// Writes and syncs fail (EIO), or the disk is full for a while (ENOSPC), and then the process is killed. An operation
    /// that fails has changed nothing, the store can still be used, and the rest is as in [`Mode::Kill`].
    ErrorsAndKill,
    /// Reads fail (EIO) or are short, and so do mappings into memory (ENOMEM), and then the process is killed. An operation that
    /// fails names a file of the store, and has changed nothing. What is read is right. Once the disk reads again, everything is
    /// there and the same open store can be used. The rest is as in [`Mode::Kill`].
    ReadErrors,
    /// Files cannot be opened (EIO, EMFILE, ENFILE, EACCES), and their types and sizes cannot be read (EIO, EACCES). An operation that
    /// fails reports the error of the system, never damage or a missing store. The rest is as in [`Mode::ReadErrors`].
    OpenErrors,
    /// The same as in [`Mode::ErrorsAndKill`], and then the power goes. A transaction that failed may be there as a whole, if the disk had written it before
    /// it reported the failure. The rest is as in [`Mode::PowerCut`].
    ErrorsAndPowerCut,
    /// Syncs report success and keep nothing, and the power goes. No store can keep its runs on this disk. Each run that
    /// is found is right, as some transaction wrote it; everything else is missing or is reported as damaged. Nothing panics.
    Lies,
}

pub const MODES: [Mode; 8] = [
    Mode::Kill,
    Mode::PowerCut,
    Mode::ShortWrites,
    Mode::ErrorsAndKill,
    Mode::ErrorsAndPowerCut,
    Mode::Lies,
    Mode::ReadErrors,
    Mode::OpenErrors,
];

impl Mode {
    pub fn faults(self, random: &mut Stream) -> Faults {
        let errors = Faults {
            short_writes: 20,
            io_errors: [0, 5, 30][random.below(3) as usize],
            full: [0, 2, 10][random.below(3) as usize],
            ..Faults::default()
        };
        match self {
            Mode::Kill | Mode::PowerCut => Faults::default(),
            Mode::ShortWrites => Faults { short_writes: 200, ..Faults::default() },
            Mode::ErrorsAndKill | Mode::ErrorsAndPowerCut => errors,
            Mode::ReadErrors => Faults {
                short_reads: 50,
                read_errors: [0, 5, 30, 200][random.below(4) as usize],
                map_errors: [0, 300][random.below(2) as usize],
                ..Faults::default()
            },
            Mode::OpenErrors => Faults {
                open_errors: [0, 20, 100, 300][random.below(4) as usize],
                stat_errors: [0, 5, 30, 100][random.below(4) as usize],
                ..Faults::default()
            },
            Mode::Lies => Faults { lies: [300, 900, 1_000][random.below(3) as usize], ..Faults::default() },
        }
    }

    pub fn has_errors(self) -> bool {
        matches!(self, Mode::ErrorsAndKill | Mode::ErrorsAndPowerCut) || self.fails_to_read()
    }

    /// Whether errors concern what is read only: what fails changes nothing, now or later.
    pub fn fails_to_read(self) -> bool {
        matches!(self, Mode::ReadErrors | Mode::OpenErrors)
    }

    /// Whether the disk keeps what it has promised to keep.
    pub fn is_honest(self) -> bool {
        self != Mode::Lies
    }

    pub fn cuts_power(self) -> bool {
        !matches!(self, Mode::Kill | Mode::ErrorsAndKill) && !self.fails_to_read()
    }
}
