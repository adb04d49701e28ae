//! Hints that memory is about to be used.
//!
//! A simulation of ten thousand flows visits each of them for one packet. Its state is then in none of the near caches, and
//! a visit would wait for one part of it after the other. An engine that knows which endpoints come next asks for several at
//! once. Hints change no outcome.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the memory of a value, without waiting for it. Processors other than x86-64 ignore it.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of_val(value)).step_by(LINE) {
            // SAFETY: a hint, which reads nothing and never fails.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, LINE);
}
