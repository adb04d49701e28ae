//! Arrays whose elements several threads use at once, each thread others.
//!
//! A simulation on several threads divides its hosts, links and rings among them by index, differently in each phase of a
//! round. [`Slots`] is a vector that allows this: [`Slots::share`] returns further handles of the same elements, and every
//! access reaches one element only. On one thread it costs what a vector costs.
//!
//! In builds with debug assertions, handles that were shared check the promise that [`Slots::share`] asks for: they remember
//! which phase and which thread used an element last, and panic if two threads use one element in one phase.

use std::mem::ManuallyDrop;
use std::ops::{Index, IndexMut};

/// A vector whose elements can be shared among threads.
pub struct Slots<T> {
    items: ManuallyDrop<Vec<T>>,
    /// Whether this handle owns the elements.
    owns: bool,
    /// Who used which element, while they are shared.
    #[cfg(debug_assertions)]
    uses: Option<uses::Uses>,
}

// SAFETY: a handle gives access to elements as a vector does. For what several handles do at once, the promise of
// `Slots::share` holds.
unsafe impl<T: Send> Send for Slots<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// Returns another handle of the same elements.
    ///
    /// # Safety
    /// This handle outlives the other one and is not extended meanwhile. While a thread uses an element through one of
    /// them, no other thread uses that element, and nobody calls [`Slots::iter`] or [`Slots::as_mut_slice`]. Between uses of
    /// one element by two threads, one of them waits for the other.
    pub unsafe fn share(&mut self, phase: &Phase, thread: u32) -> Slots<T> {
        let _ = (phase, thread);
        let (items, length, capacity) = (self.items.as_mut_ptr(), self.items.len(), self.items.capacity());
        // SAFETY: the parts are those of a vector that outlives the handle, which never drops or extends it.
        let items = ManuallyDrop::new(unsafe { Vec::from_raw_parts(items, length, capacity) });
        Slots {
            items,
            owns: false,
            #[cfg(debug_assertions)]
            uses: Some(uses::Uses::new(
                self.uses.get_or_insert_with(|| uses::Uses::of_owner(length)),
                phase,
                thread,
            )),
        }
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Appends an element.
    ///
    /// # Panics
    /// If this handle does not own the elements.
    pub fn push(&mut self, item: T) {
        assert!(self.owns, "only the owner extends its elements");
        self.items.push(item);
    }

    /// Returns all elements. No other handle may be in use.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        debug_assert!(self.owns, "only the owner has all elements");
        self.items.iter()
    }

    /// Returns all elements. No other handle may be in use.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        debug_assert!(self.owns, "only the owner has all elements");
        &mut self.items
    }

    /// Returns several elements, or `None` if two of them are the same.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    pub fn get_disjoint_mut<const N: usize>(&mut self, indices: [usize; N]) -> Option<[&mut T; N]> {
        for (i, index) in indices.iter().enumerate() {
            self.check(*index);
            if indices[..i].contains(index) {
                return None;
            }
        }
        let items = self.items.as_mut_ptr();
        // SAFETY: `check` found each index below the length, and they differ.
        Some(indices.map(|index| unsafe { &mut *items.add(index) }))
    }

    /// Checks that there is an element `index`, and that this thread may use it.
    #[inline(always)]
    fn check(&self, index: usize) {
        assert!(index < self.items.len(), "there is no element {index} of {}", self.items.len());
        #[cfg(debug_assertions)]
        if let Some(uses) = self.uses.as_ref().filter(|_| !self.owns) {
            uses.note(index);
        }
    }
}

impl<T> Index<usize> for Slots<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        self.check(index);
        // SAFETY: `check` found it below the length. Only this element is borrowed, not all of them.
        unsafe { &*self.items.as_ptr().add(index) }
    }
}

impl<T> IndexMut<usize> for Slots<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.check(index);
        // SAFETY: as in `index`.
        unsafe { &mut *self.items.as_mut_ptr().add(index) }
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Slots<T> {
    fn from(items: Vec<T>) -> Self {
        Slots {
            items: ManuallyDrop::new(items),
            owns: true,
            #[cfg(debug_assertions)]
            uses: None,
        }
    }
}

impl<T> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        if self.owns {
            // SAFETY: nobody uses it afterwards.
            unsafe { ManuallyDrop::drop(&mut self.items) }
        }
    }
}

impl<T> std::fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(debug_assertions)]
mod uses {
    use super::Phase;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Who used which element last.
    pub struct Uses {
        /// For each element, the phase and below it the thread.
        last: Arc<[AtomicU64]>,
        phase: Phase,
        thread: u32,
    }

    impl Uses {
        pub fn of_owner(length: usize) -> Uses {
            let last = (0..length).map(|_| AtomicU64::new(0)).collect();
            Uses { last, phase: Phase::default(), thread: 0 }
        }

        pub fn new(owner: &Uses, phase: &Phase, thread: u32) -> Uses {
            Uses { last: Arc::clone(&owner.last), phase: phase.clone(), thread }
        }

        pub fn note(&self, index: usize) {
            let phase = self.phase.number();
            let last = self.last[index].swap(phase << 8 | u64::from(self.thread), Ordering::Relaxed);
            let other = last >> 8 == phase && last & 0xFF != u64::from(self.thread);
            assert!(!other, "threads {} and {} use element {index} in one phase", last & 0xFF, self.thread);
        }
    }
}

pub use phase::Phase;

mod phase {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The number of the phase in which threads use elements. Clones have the same number.
    #[derive(Clone, Debug, Default)]
    pub struct Phase(Arc<AtomicU64>);

    impl Phase {
        /// Begins the next phase: all that was used in the one before may be used by other threads.
        pub fn begin(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        /// Returns the number, from 1 on.
        #[cfg(debug_assertions)]
        pub fn number(&self) -> u64 {
            1 + self.0.load(Ordering::Relaxed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_reach_the_same_elements() {
        let mut owner: Slots<u32> = vec![1, 2, 3].into();
        let phase = Phase::default();
        // SAFETY: the handles use other elements and are gone before the owner is used.
        let mut handles = [0, 1].map(|thread| unsafe { owner.share(&phase, thread) });
        std::thread::scope(|scope| {
            for (i, handle) in handles.iter_mut().enumerate() {
                scope.spawn(move || handle[2 * i] += 10);
            }
        });
        drop(handles);
        assert_eq!(owner.iter().copied().collect::<Vec<_>>(), [11, 2, 13]);
        assert_eq!(owner.get_disjoint_mut([2, 0]), Some([&mut 13, &mut 11]));
        assert_eq!(owner.get_disjoint_mut([1, 1]), None);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "threads 1 and 0 use element 1 in one phase")]
    fn two_threads_may_not_use_an_element_in_one_phase() {
        let mut owner: Slots<u32> = vec![1, 2, 3].into();
        let phase = Phase::default();
        // SAFETY: all is done on one thread here.
        let [mut first, second] = [0, 1].map(|thread| unsafe { owner.share(&phase, thread) });
        first[1] += 1;
        phase.begin();
        assert_eq!(second[1], 3);
        let _ = first[1];
    }
}
