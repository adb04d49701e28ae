//! Failures of replacements that only the kernel's refusal brings about.
//!
//! They are ignored by default: they need root, and a kernel with BPF congestion control.
//! `cargo test -p cwnd-kernel --features load --lib -- --ignored`

use super::*;
use crate::{find, load::unload};
use libbpf_rs::MapCore;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Two instances of this test, which are loaded. They are unloaded when this is dropped.
struct Two([Instance; 2]);

fn instance(algorithm: &'static KernelAlgorithm, letter: char, beta: &str) -> Instance {
    let name = format!("i{}_{letter}", std::process::id());
    Instance::named(algorithm, &name, &[("beta".to_owned(), beta.to_owned())]).unwrap()
}

impl Two {
    fn new(letters: [char; 2]) -> Two {
        let elastic = find("elastic").unwrap();
        let two = Two(letters.map(|letter| instance(elastic, letter, "0.8")));
        install(&two.0, Options::default()).unwrap();
        two
    }

    /// Returns the parameters of the objects that the kernel has of both, with whether each is registered.
    fn objects(&self) -> [Vec<(String, bool)>; 2] {
        let loaded = loaded().unwrap();
        self.0.each_ref().map(|instance| {
            let of_name = loaded.iter().filter(|object| object.kernel_name == instance.kernel_name);
            let describe = |object: &LoadedObject| {
                let parameters = object.algorithm.describe(&object.parameters.unwrap());
                (parameters, object.keeper != Keeper::Nothing)
            };
            of_name.map(describe).collect()
        })
    }

    /// Waits until the kernel has the former ones alone. It lets go of the others a moment later.
    #[track_caller]
    fn assert_former(&self) {
        let former = || vec![("beta=0.8".to_owned(), true)];
        let begin = Instant::now();
        while self.objects() != [former(), former()] {
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", self.objects());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        for instance in &self.0 {
            let _ = unload(&instance.kernel_name, true);
        }
    }
}

/// Returns an algorithm whose programs the verifier refuses: one of them has no end.
fn unverifiable(algorithm: &'static KernelAlgorithm) -> &'static KernelAlgorithm {
    const EXIT: [u8; 8] = [0x95, 0, 0, 0, 0, 0, 0, 0];
    /// r0 = 0.
    const MOVE: [u8; 8] = [0xb7, 0, 0, 0, 0, 0, 0, 0];
    // libbpf reads words: the bytes begin at one.
    let mut words = vec![0_u64; algorithm.object.len().div_ceil(8)].into_boxed_slice();
    // SAFETY: the words have at least as many bytes, and every byte is one of a word.
    let object: &mut [u8] =
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), algorithm.object.len()) };
    object.copy_from_slice(algorithm.object);
    let at = (0..object.len() / 8).map(|word| 8 * word).find(|at| object[*at..*at + 8] == EXIT).unwrap();
    object[at..at + 8].copy_from_slice(&MOVE);
    Box::leak(words);
    Box::leak(Box::new(KernelAlgorithm { object, ..*algorithm }))
}

/// libbpf has one place for its messages, so that two tests at once would take those of each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
#[ignore = "needs root and a kernel with BPF congestion control"]
fn nothing_is_replaced_where_the_verifier_refuses_the_second() {
    let _alone = alone();
    let two = Two::new(['a', 'b']);
    let elastic = find("elastic").unwrap();
    let [first, second] = two.0.each_ref().map(|instance| instance.kernel_name.clone());
    let replace = Options { replace: true, ..Options::default() };
    let wanted = [
        Instance { kernel_name: first, ..instance(elastic, 'a', "0.6") },
        Instance { kernel_name: second, ..instance(unverifiable(elastic), 'b', "0.6") },
    ];
    let why = install(&wanted, replace).unwrap_err().to_string();
    assert!(why.contains("refused to load") && why.contains("is not an exit"), "{why}");
    two.assert_former();
}

/// The kernel has made the first replacement when it refuses the second.
#[test]
#[ignore = "needs root and a kernel with BPF congestion control"]
fn a_refused_update_of_a_link_puts_back_the_former_ones() {
    let _alone = alone();
    let two = Two::new(['c', 'd']);
    let before = loaded().unwrap();
    let mut replacing: Vec<Replacement> = two
        .0
        .iter()
        .map(|former| {
            let other = before.iter().find(|other| other.kernel_name == former.kernel_name).unwrap();
            let Keeper::Pin(pin) = &other.keeper else { panic!("{}", other.keeper) };
            let wanted = Instance {
                kernel_name: former.kernel_name.clone(),
                ..instance(former.algorithm, 'c', "0.6")
            };
            Replacement::prepare(&wanted, other, pin.clone()).unwrap()
        })
        .collect();
    // Operations with another name cannot take its place.
    replacing[1].new = MapHandle::from_map_id(replacing[0].new.info().unwrap().info.id).unwrap();
    let why = make_all(&mut replacing).unwrap_err().to_string();
    assert!(why.contains("the kernel refused to replace") && why.contains(&two.0[1].kernel_name), "{why}");
    assert_eq!(two.objects()[0].iter().filter(|(parameters, _)| parameters == "beta=0.6").count(), 1);
    drop(replacing);
    two.assert_former();
}
