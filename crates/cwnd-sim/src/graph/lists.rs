//! Many short lists in one piece of memory.

use std::ops::Range;

/// Lists of items, numbered from 0. A network of ten thousand flows has tens of thousands of them, most of one item.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    items: Vec<T>,
    /// Where each list begins, and at last where the last one ends.
    begins: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { items: Vec::new(), begins: vec![0] }
    }
}

impl<T: Copy> Lists<T> {
    /// Creates `count` lists. Each entry is the number of a list and an item; a list has its items in the order of the entries.
    pub fn new(count: usize, entries: &[(usize, T)]) -> Lists<T> {
        let mut begins = vec![0u32; count + 1];
        for (list, _) in entries {
            begins[*list + 1] += 1;
        }
        for list in 0..count {
            begins[list + 1] += begins[list];
        }
        let mut items: Vec<T> = entries.iter().map(|(_, item)| *item).collect();
        let mut next = begins.clone();
        for (list, item) in entries {
            items[next[*list] as usize] = *item;
            next[*list] += 1;
        }
        Lists { items, begins }
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns a list.
    pub fn of(&self, list: usize) -> &[T] {
        &self.items[self.range(list)]
    }

    /// Returns which of all items are those of a list.
    pub fn range(&self, list: usize) -> Range<usize> {
        self.begins[list] as usize..self.begins[list + 1] as usize
    }

    /// Returns the items of all lists.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// See [`Lists::items`].
    pub fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<T: Copy + Ord> Lists<T> {
    /// Sorts each list and removes what it has twice.
    pub fn sort_and_dedup(&mut self) {
        let mut kept = 0;
        for list in 0..self.len() {
            let range = self.range(list);
            self.begins[list] = kept as u32;
            self.items[range.clone()].sort_unstable();
            let begin = kept;
            for i in range {
                let item = self.items[i];
                if kept == begin || self.items[kept - 1] != item {
                    self.items[kept] = item;
                    kept += 1;
                }
            }
        }
        let lists = self.len();
        self.begins[lists] = kept as u32;
        self.items.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_their_entries_in_order() {
        let mut lists = Lists::new(4, &[(2, 7), (0, 5), (2, 3), (2, 7), (3, 1), (3, 1), (0, 9)]);
        let all = |lists: &Lists<i32>| (0..lists.len()).map(|i| lists.of(i).to_vec()).collect::<Vec<_>>();
        assert_eq!(all(&lists), [vec![5, 9], vec![], vec![7, 3, 7], vec![1, 1]]);
        lists.sort_and_dedup();
        assert_eq!(all(&lists), [vec![5, 9], vec![], vec![3, 7], vec![1]]);
        assert_eq!(lists.items(), [5, 9, 3, 7, 1]);
    }
}
