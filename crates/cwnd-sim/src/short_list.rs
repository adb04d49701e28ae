//! A list that mostly has one item.

use std::ops::{Deref, DerefMut};

/// A list whose only item lies in the list itself: a visit of one in main memory waits once, not twice.
#[derive(Clone, Debug)]
pub enum ShortList<T> {
    /// No item.
    None,
    /// One item.
    One(T),
    /// Several items.
    Several(Vec<T>),
}

impl<T> ShortList<T> {
    /// Appends an item.
    pub fn push(&mut self, item: T) {
        *self = match std::mem::replace(self, ShortList::None) {
            ShortList::None => ShortList::One(item),
            ShortList::One(first) => ShortList::Several(vec![first, item]),
            ShortList::Several(mut items) => {
                items.push(item);
                ShortList::Several(items)
            }
        };
    }
}

impl<T> Deref for ShortList<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match self {
            ShortList::None => &[],
            ShortList::One(item) => std::slice::from_ref(item),
            ShortList::Several(items) => items,
        }
    }
}

impl<T> DerefMut for ShortList<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            ShortList::None => &mut [],
            ShortList::One(item) => std::slice::from_mut(item),
            ShortList::Several(items) => items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_from_none_to_several() {
        let mut list = ShortList::None;
        for length in 0..4 {
            assert_eq!(list[..], (0..length).collect::<Vec<_>>()[..]);
            list.push(length);
        }
        list[3] = 7;
        assert_eq!(list[..], [0, 1, 2, 7]);
    }
}
