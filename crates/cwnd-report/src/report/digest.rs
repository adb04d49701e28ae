//! Hashes by which the page's policy lets its own script and style in.

use sha2::{Digest, Sha256};

/// `sha256-…` of a script's or a style's text, as a content security policy writes it.
pub fn csp_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sign = |bits: u32| char::from(SIGNS[(bits & 63) as usize]);
    let group = |three: &[u8]| {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let all = [sign(bits >> 18), sign(bits >> 12), sign(bits >> 6), sign(bits)];
        all.into_iter()
            .take(three.len() + 1)
            .chain(std::iter::repeat_n('=', 3 - three.len()))
            .collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_rfc_4648() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_hash_of_the_policy() {
        // The empty string's SHA-256 in base64.
        assert_eq!(csp_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
