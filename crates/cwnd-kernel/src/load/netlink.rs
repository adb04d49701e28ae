//! Lists that the kernel gives by netlink.

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

/// `struct nlmsghdr`.
const HEADER: usize = 16;

/// Asks for a list, in the thread's network namespace. `each` gets the content of every answer.
///
/// # Errors
/// The kernel refuses.
pub fn dump(protocol: i32, kind: u16, content: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
    // SAFETY: plain numbers; the descriptor is owned from then on.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut request = Vec::with_capacity(HEADER + content.len());
    request.extend(((HEADER + content.len()) as u32).to_ne_bytes());
    request.extend(kind.to_ne_bytes());
    request.extend(flags.to_ne_bytes());
    // The number of the request, and the kernel's address.
    request.extend([0; 8]);
    request.extend(content);
    // SAFETY: the buffer is as long as said.
    if unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        // SAFETY: as above.
        let length = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        if !read_answers(&buffer[..length as usize], &mut each)? {
            return Ok(());
        }
    }
}

/// Reads the answers of a message. Returns false after the last one.
fn read_answers(mut bytes: &[u8], each: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = number(bytes, 0) as usize;
        let kind = i32::from(short(bytes, 4));
        if length < HEADER || length > bytes.len() || kind == libc::NLMSG_DONE {
            return Ok(false);
        }
        if kind == libc::NLMSG_ERROR {
            return Err(io::Error::from_raw_os_error((number(bytes, HEADER) as i32).wrapping_neg()));
        }
        each(&bytes[HEADER..length]);
        bytes = &bytes[(length.next_multiple_of(4)).min(bytes.len())..];
    }
    Ok(true)
}

/// Returns the attributes of an answer: kind and content. Ends at one that is damaged.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(short(bytes, 0));
        if length < 4 || length > bytes.len() {
            return None;
        }
        let attribute = (short(bytes, 2), &bytes[4..length]);
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
        Some(attribute)
    })
}

/// Returns a text that ends with a zero.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_ne_bytes(word.try_into().expect("four bytes")))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |half| u16::from_ne_bytes(half.try_into().expect("two bytes")))
}
