//! A TUN device: what a namespace sends through it is read here, and what is written here it receives.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

/// The name that the device has in each namespace.
pub const NAME: &str = "cwnd0";

/// `TUNSETIFF` of `linux/if_tun.h`.
const TUNSETIFF: libc::c_ulong = 0x4004_54CA;

/// `TUNSETOFFLOAD`, and what it takes: checksums are left to the reader, and so is the segmentation of TCP over IPv4 and IPv6, with
/// classic ECN (RFC 3168), too.
const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54D0;
const OFFLOADS: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;

/// A device of IP packets. It goes away when this is dropped, or the process ends in whatever way.
pub struct Tun(File);

impl Tun {
    /// Make one in the network namespace of the thread that calls.
    ///
    /// # Errors
    /// Without `/dev/net/tun`, or the right to make devices.
    pub fn new() -> io::Result<Tun> {
        Tun::open(0)
    }

    /// Makes one to which the kernel leaves segmentation and checksums: before each packet, in both directions, there is a
    /// `struct virtio_net_hdr` that describes it, and a packet of TCP has up to 64 KiB.
    ///
    /// # Errors
    /// Without `/dev/net/tun`, or the right to make devices.
    pub fn with_offloads() -> io::Result<Tun> {
        let tun = Tun::open(libc::IFF_VNET_HDR)?;
        // SAFETY: the argument of this request is a number.
        if unsafe { libc::ioctl(tun.as_raw_fd(), TUNSETOFFLOAD as _, OFFLOADS) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(tun)
    }

    fn open(flags: libc::c_int) -> io::Result<Tun> {
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        // SAFETY: all-zero is a value of this structure of plain numbers.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(NAME.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | flags) as libc::c_short;
        // SAFETY: the structure is what this request reads and writes.
        if unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &raw mut request) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Tun(file))
    }

    /// Read a packet; none if there is none now.
    ///
    /// # Errors
    /// If the device does not work.
    #[inline]
    pub fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Write a packet, which is in these pieces.
    ///
    /// # Errors
    /// If the namespace does not take it.
    #[inline]
    pub fn write(&self, pieces: &[IoSlice]) -> io::Result<()> {
        (&self.0).write_vectored(pieces).map(drop)
    }
}

impl AsRawFd for Tun {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
