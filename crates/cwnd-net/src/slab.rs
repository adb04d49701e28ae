//! Values that are found by small numbers, which are used again.

#[derive(Clone, Debug)]
pub struct Slab<T> {
    entries: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Slab<T> {
        Slab { entries: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = Some(value);
                id
            }
            None => {
                self.entries.push(Some(value));
                (self.entries.len() - 1) as u32
            }
        }
    }

    /// Removes a value.
    ///
    /// # Panics
    /// There is none of this number. So do the other methods.
    pub fn remove(&mut self, id: u32) -> T {
        self.free.push(id);
        self.entries[id as usize].take().expect("the number is in use")
    }

    pub fn get(&self, id: u32) -> &T {
        self.entries[id as usize].as_ref().expect("the number is in use")
    }

    pub fn get_mut(&mut self, id: u32) -> &mut T {
        self.entries[id as usize].as_mut().expect("the number is in use")
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().flatten()
    }
}
