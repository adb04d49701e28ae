//! Jobs on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `job` for 0, 1, … `jobs` - 1 on all cores. Returns the results in that order, or the first error in that order.
pub fn parallel<T: Send>(
    jobs: usize,
    job: impl Fn(usize) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<T, String>>>> = Mutex::new((0..jobs).map(|_| None).collect());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= jobs {
                        return;
                    }
                    let result = job(number);
                    results.lock().unwrap_or_else(|e| e.into_inner())[number] = Some(result);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::parallel;

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let squares: Vec<usize> = (0..100).map(|number| number * number).collect();
        assert_eq!(parallel(100, |number| Ok(number * number)), Ok(squares));
        let failing = |number: usize| if number % 10 == 7 { Err(number.to_string()) } else { Ok(number) };
        assert_eq!(parallel(100, failing), Err("7".to_owned()));
    }
}
