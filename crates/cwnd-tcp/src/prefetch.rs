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
    let begin = std::ptr::from_ref(value).cast::<u8>();
    for offset in (0..size_of_val(value)).step_by(LINE) {
        prefetch_line(begin.wrapping_add(offset));
    }
}

/// Asks for the cache line at an address.
#[inline(always)]
pub fn prefetch_line<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing and never fails.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
