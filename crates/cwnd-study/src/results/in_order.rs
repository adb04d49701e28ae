//! Reads the runs of a store on several threads, and passes them on in order.

use super::stored::RunReader;
use crate::{KeptStudy, RunResult, Store, StoreError, StoredRun, Study};
use std::{path::Path, sync::mpsc, thread};

/// Runs that a thread reads at a time.
const CHUNK: usize = 256;

/// Reads the runs of a kept study at these places, and passes to `each` in this order what a maker has made of each run. `maker` makes one for
/// each thread. No more than a few chunks are in memory.
///
/// # Errors
/// If a run cannot be read; or what `each` returns, in the second place.
pub(crate) fn in_order<T: Send, E, M>(
    (study, store, kept): (&Study, &Store, &KeptStudy),
    order: &[usize],
    maker: &(dyn Fn() -> M + Sync),
    mut each: impl FnMut(T) -> Result<(), E>,
) -> Result<Result<(), E>, StoreError>
where
    M: FnMut(usize, RunResult, Option<StoredRun>) -> T,
{
    let threads = thread::available_parallelism().map_or(1, usize::from).min(order.len().div_ceil(CHUNK));
    let Some(directory) = store.directory().filter(|_| threads > 1) else {
        let (mut reader, mut make) = (RunReader::new(study, store, kept)?, maker());
        for chunk in order.chunks(CHUNK) {
            for one in read_chunk(&mut reader, chunk, &mut make)? {
                if let Err(error) = each(one) {
                    return Ok(Err(error));
                }
            }
        }
        return Ok(Ok(()));
    };
    thread::scope(|scope| {
        let receivers: Vec<mpsc::Receiver<_>> = (0..threads)
            .map(|first| {
                let (sender, receiver) = mpsc::sync_channel(2);
                let chunks = order.chunks(CHUNK).skip(first).step_by(threads);
                scope.spawn(move || read((study, directory, kept), chunks, maker(), &sender));
                receiver
            })
            .collect();
        for chunk in 0..order.len().div_ceil(CHUNK) {
            let Ok(made) = receivers[chunk % threads].recv() else { break };
            for one in made? {
                if let Err(error) = each(one) {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(()))
    })
}

/// Sends what is made of the runs of each chunk, until one cannot be read or nobody receives.
fn read<'a, T>(
    (study, directory, kept): (&Study, &Path, &KeptStudy),
    chunks: impl Iterator<Item = &'a [usize]>,
    mut make: impl FnMut(usize, RunResult, Option<StoredRun>) -> T,
    to: &mpsc::SyncSender<Result<Vec<T>, StoreError>>,
) {
    let send = || {
        let store = Store::open(directory)?;
        let mut reader = RunReader::new(study, &store, kept)?;
        for chunk in chunks {
            let made = read_chunk(&mut reader, chunk, &mut make)?;
            if to.send(Ok(made)).is_err() {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = send() {
        // If nobody receives, nobody asks.
        drop(to.send(Err(error)));
    }
}

/// Returns what is made of the runs of a chunk. Whoever takes it may let the reader wait.
fn read_chunk<T>(
    reader: &mut RunReader<'_>,
    chunk: &[usize],
    make: &mut impl FnMut(usize, RunResult, Option<StoredRun>) -> T,
) -> Result<Vec<T>, StoreError> {
    let mut made = Vec::with_capacity(chunk.len());
    for place in chunk {
        let (run, row) = reader.read(*place)?;
        made.push(make(*place, run, row));
    }
    reader.pause();
    Ok(made)
}
