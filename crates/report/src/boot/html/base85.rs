//! Bytes as text that stands in HTML as it is: five characters for four bytes.
//!
//! Base64 needs a third more than the bytes, this a quarter. The digits leave
//! out whatever means something to HTML, JavaScript or JSON, so that no element
//! can end early. `web/src/base85.ts` reads it.

/// The digits of 0 to 84.
const DIGITS: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%()*+,.:;=?@[]^_{|}~";

/// `bytes` as text: each four, as a big-endian number, are five digits, the
/// highest first; of the last n bytes, filled up with zeros, n + 1 digits.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len() / 4 * 5 + 5);
    for chunk in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let mut rest = u32::from_be_bytes(word);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(rest % 85) as usize];
            rest /= 85;
        }
        out.extend_from_slice(&digits[..=chunk.len()]);
    }
    String::from_utf8(out).expect("the digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_distinct_and_harmless() {
        let mut sorted = DIGITS.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 85);
        assert!(!DIGITS.iter().any(|c| b"<>&\"'`\\-/ \n".contains(c)));
    }

    #[test]
    fn known_texts() {
        assert_eq!(encoded(b""), "");
        assert_eq!(encoded(&[0; 4]), "00000");
        assert_eq!(encoded(&[0xff; 4]), "|nSc0");
        // 1 << 24 = 21 * 614125 + …: two digits tell one byte.
        assert_eq!(encoded(&[0]), "00");
        assert_eq!(encoded(b"boot"), encoded(b"boot!")[..5]);
    }

    #[test]
    fn every_length_comes_back() {
        for n in 0..20 {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 41 + 200) as u8).collect();
            assert_eq!(decoded(&encoded(&bytes)), bytes);
        }
    }

    /// As the viewer does it.
    fn decoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for chunk in text.as_bytes().chunks(5) {
            let mut word = 0_u64;
            for at in 0..5 {
                let digit = chunk.get(at).unwrap_or(&DIGITS[84]);
                let value = DIGITS.iter().position(|d| d == digit).unwrap();
                word = word * 85 + value as u64;
            }
            let word = (word as u32).to_be_bytes();
            out.extend_from_slice(&word[..chunk.len() - 1]);
        }
        out
    }
}
