//! Installs algorithms that stay when the program ends: a link in the BPF file system keeps each of them. Replaces them in place.

use super::{
    Keeper, LoadError, Loaded, LoadedObject, Messages, PINS,
    default::{self, check_default, make_default},
    instance::Instance,
    load_as, loaded, lock, operations_of, verified_object, wait_until_gone,
};
use crate::KernelAlgorithm;
use libbpf_rs::{Link, MapHandle, libbpf_sys};
use std::{
    collections::BTreeSet,
    fs, io,
    os::fd::{AsFd, AsRawFd},
    path::PathBuf,
};

/// What [`install`] does besides loading.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Makes the last one the default of this network namespace.
    pub default: bool,
    /// Replaces what is loaded under the same name with other parameters, another text or another algorithm.
    pub replace: bool,
}

/// What [`install`] did with an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there, and was loaded.
    Loaded,
    /// The same text with the same parameters was there already.
    Already,
    /// Another one with the same name was there. New sockets get this one; open sockets keep the one that they have.
    Replaced,
}

/// An instance that [`install`] has installed.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The algorithm.
    pub algorithm: &'static KernelAlgorithm,
    /// Its name in the kernel.
    pub kernel_name: String,
    /// The file that keeps it.
    pub pin: PathBuf,
    /// What was done.
    pub change: Change,
}

/// Loads instances that stay until [`unload`](super::unload). All or nothing: after an error the kernel has the instances that it had
/// before.
///
/// # Errors
/// Those of [`load()`](super::load()) and [`make_default`]; or the BPF file system cannot be written; or a name is taken and
/// `replace` is not set; or two instances have the same name.
pub fn install(instances: &[Instance], options: Options) -> Result<Vec<Installed>, LoadError> {
    check_names(instances)?;
    let _alone = lock::changes()?;
    if options.default
        && let Some(last) = instances.last()
    {
        check_default(&last.kernel_name)?;
    }
    let before = loaded()?;
    let mut changes = Vec::new();
    let (mut new, mut replacing) = (Vec::new(), Vec::new());
    for instance in instances {
        let pinned = before.iter().find_map(|other| match &other.keeper {
            Keeper::Pin(pin) if other.kernel_name == instance.kernel_name => Some((other, pin)),
            _ => None,
        });
        changes.push(match pinned {
            Some((other, _)) if other.is(instance.algorithm, &instance.values) => Change::Already,
            Some((other, pin)) if options.replace => {
                replacing.push(Replacement::prepare(instance, other, pin.clone())?);
                Change::Replaced
            }
            _ => {
                new.push(load_as(instance.algorithm, &instance.given, &instance.kernel_name)?);
                Change::Loaded
            }
        });
    }
    let mut pinned = new.into_iter().map(Loaded::pin).collect::<Result<Vec<Pinned>, LoadError>>()?;
    make_all(&mut replacing)?;
    if options.default
        && let Some(last) = instances.last()
    {
        make_default(&last.kernel_name)?;
    }
    pinned.iter_mut().for_each(|pinned| pinned.stays = true);
    replacing.iter_mut().for_each(|replacement| replacement.made = false);
    let installed = |(instance, change): (&Instance, Change)| Installed {
        algorithm: instance.algorithm,
        kernel_name: instance.kernel_name.clone(),
        pin: PathBuf::from(PINS).join(&instance.kernel_name),
        change,
    };
    Ok(instances.iter().zip(changes).map(installed).collect())
}

/// Refuses two instances with one name: each would be the former one of the other.
fn check_names(instances: &[Instance]) -> Result<(), LoadError> {
    let mut names = BTreeSet::new();
    match instances.iter().find(|instance| !names.insert(&instance.kernel_name)) {
        None => Ok(()),
        Some(second) => Err(LoadError::Parameter(format!(
            "two of them have the name {} in the kernel: give one another name (`as`)",
            second.kernel_name
        ))),
    }
}

/// Makes all replacements, or up to the first that is refused. The caller drops them then, which undoes those that were made.
fn make_all(replacing: &mut [Replacement]) -> Result<(), LoadError> {
    replacing.iter_mut().try_for_each(Replacement::make)
}

/// An instance that takes the place of one with the same name: the link of the old one gets the map of the new one. It is undone
/// when this is dropped while `made` is set.
struct Replacement {
    name: String,
    link: Link,
    old: MapHandle,
    new: MapHandle,
    made: bool,
}

impl Replacement {
    /// Loads the new programs. Nothing changes for sockets yet.
    fn prepare(instance: &Instance, other: &LoadedObject, pin: PathBuf) -> Result<Replacement, LoadError> {
        let name = &instance.kernel_name;
        let algorithm = instance.algorithm;
        let mut object = verified_object(algorithm, algorithm.object, instance.values, name)?;
        let quiet = Messages::collect();
        let refused = |error: libbpf_rs::Error| LoadError::refused("replace", name, &error, &quiet);
        let mut operations = operations_of(&mut object);
        // This writes the operations into their map, which makes it ready for a link. Then it asks for a link of its own, which
        // the kernel refuses: the name is taken.
        if operations.attach_struct_ops().is_ok() {
            return Err(LoadError::Kernel(format!("{name} was unloaded meanwhile; load it again")));
        }
        let new = MapHandle::try_from(&*operations).map_err(refused)?;
        let old = MapHandle::from_map_id(other.id).map_err(refused)?;
        let link = Link::open(&pin).map_err(refused)?;
        Ok(Replacement { name: name.clone(), link, old, new, made: false })
    }

    /// Sockets that are opened from now on get the new one.
    fn make(&mut self) -> Result<(), LoadError> {
        let allowed = default::is_allowed(&self.name);
        self.update(&self.new).map_err(|error| {
            LoadError::Kernel(format!("the kernel refused to replace {}: {error}", self.name))
        })?;
        self.made = true;
        default::renew(&self.name, allowed)
    }

    fn update(&self, map: &MapHandle) -> io::Result<()> {
        let (link, map) = (self.link.as_fd().as_raw_fd(), map.as_fd().as_raw_fd());
        // SAFETY: both descriptors are open, and the kernel takes no options as a null pointer.
        match unsafe { libbpf_sys::bpf_link_update(link, map, std::ptr::null()) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.made {
            let allowed = default::is_allowed(&self.name);
            let _ = self.update(&self.old);
            let _ = default::renew(&self.name, allowed);
        }
    }
}

/// An algorithm that a file keeps. The file is removed when this is dropped, unless [`stay`](Pinned::stay) was called.
#[derive(Debug)]
pub struct Pinned {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) stays: bool,
}

impl Pinned {
    /// Keeps it loaded until [`unload`](super::unload). Returns the file.
    pub fn stay(mut self) -> PathBuf {
        self.stays = true;
        self.path.clone()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.stays {
            let _ = fs::remove_file(&self.path);
            let _ = fs::remove_dir(PINS);
            wait_until_gone(&self.name);
        }
    }
}

#[cfg(test)]
mod tests;
