//! The image of a kernel without its compression. A machine decompresses it instruction by instruction, 700 million of them.

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use std::io::Read;

/// What begins the setup header of a bzImage, and where (Linux's x86 boot protocol).
const SIGNATURE: (usize, &[u8]) = (0x202, b"HdrS");
/// Sectors of real-mode code after the first one; 0 means 4.
const SETUP_SECTORS: usize = 0x1f1;
const SECTOR: usize = 512;
/// Where the compressed image begins after that code, and how long it is with the length of the uncompressed one at its end.
const PAYLOAD: [usize; 2] = [0x248, 0x24c];
const LENGTH: usize = 4;

const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The note of an image that QEMU can start: its entry point in 32-bit mode (PVH).
const ENTRY_NOTE: (&[u8], u32) = (b"Xen", 18);

/// Decompresses the image in a bzImage, if it is compressed with Zstandard (Debian's kernels from 6.12 on) and QEMU can start it. Returns
/// `None` for other files, which the machine has to decompress.
///
/// # Errors
/// The file is damaged.
pub fn uncompressed(image: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let Some(payload) = payload(image).filter(|payload| payload.starts_with(ZSTANDARD)) else {
        return Ok(None);
    };
    let (compressed, length) = payload.split_at(payload.len() - LENGTH);
    let expected = u32::from_le_bytes(length.try_into().expect("split there")) as usize;
    let damaged = |why: &dyn std::fmt::Display| format!("its compressed image is damaged: {why}");
    let mut plain = Vec::with_capacity(expected.min(16 * image.len()));
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(compressed).map_err(|error| damaged(&error))?;
    decoder.read_to_end(&mut plain).map_err(|error| damaged(&error))?;
    if plain.len() != expected {
        return Err(damaged(&format!("{} bytes instead of {expected}", plain.len())));
    }
    // What cannot be read as an ELF file has no entry either.
    Ok(has_entry_note(&plain).unwrap_or(false).then_some(plain))
}

fn payload(image: &[u8]) -> Option<&[u8]> {
    let (at, signature) = SIGNATURE;
    if !image.get(at..)?.starts_with(signature) {
        return None;
    }
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let sectors = match image[SETUP_SECTORS] {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let begin = (1 + sectors) * SECTOR + number(PAYLOAD[0])?;
    image.get(begin..begin.checked_add(number(PAYLOAD[1])?)?).filter(|payload| payload.len() > LENGTH)
}

/// Returns whether QEMU can start an ELF file.
fn has_entry_note(image: &[u8]) -> object::Result<bool> {
    let header = FileHeader64::<LittleEndian>::parse(image)?;
    let endian = header.endian()?;
    for segment in header.program_headers(endian, image)? {
        let Some(mut notes) = segment.notes(endian, image)? else { continue };
        while let Some(note) = notes.next()? {
            if (note.name(), note.n_type(endian)) == ENTRY_NOTE {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// A bzImage with one sector of real-mode code.
    fn image_with(plain: &[u8], length: usize) -> Vec<u8> {
        let mut payload = compress_to_vec(plain, CompressionLevel::Fastest);
        payload.extend((length as u32).to_le_bytes());
        let mut image = vec![0; 2 * SECTOR];
        image[SETUP_SECTORS] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&7u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        image.extend([0; 7]);
        image.extend(payload);
        image
    }

    /// An ELF file with one note.
    fn plain_with(note: u32) -> Vec<u8> {
        let mut elf = vec![0; 64 + 56];
        elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        elf[20] = 1;
        elf[32] = 64; // Where program headers begin,
        elf[54] = 56; // the length of one,
        elf[56] = 1; // and how many there are.
        elf[64..68].copy_from_slice(&4u32.to_le_bytes()); // PT_NOTE
        elf[72] = 120;
        elf[96] = 20; // In the file,
        elf[104] = 20; // and in memory.
        elf[112] = 4;
        for word in [4, 4, note] {
            elf.extend(word.to_le_bytes());
        }
        elf.extend(b"Xen\0\x01\0\0\0");
        elf
    }

    #[test]
    fn an_image_that_can_be_started_is_uncompressed() {
        let plain = plain_with(18);
        assert_eq!(uncompressed(&image_with(&plain, plain.len())), Ok(Some(plain)));
    }

    #[test]
    fn other_images_stay_as_they_are() {
        let plain = plain_with(17);
        assert_eq!(uncompressed(&image_with(&plain, plain.len())), Ok(None));
        assert_eq!(uncompressed(&image_with(b"no ELF", 6)), Ok(None));
        assert_eq!(uncompressed(b"no image"), Ok(None));
        let mut other = image_with(&plain_with(18), 140);
        other[2 * SECTOR + 7] = 0xfd;
        assert_eq!(uncompressed(&other), Ok(None));
    }

    #[test]
    fn a_damaged_image_is_refused() {
        let plain = plain_with(18);
        let why = uncompressed(&image_with(&plain, 3)).unwrap_err();
        assert!(why.contains("140 bytes instead of 3"), "{why}");
    }
}
