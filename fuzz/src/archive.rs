//! Streams and archives: whatever the bytes, nothing gets past the limits.

use std::io::Read;

use bootlap_sources::bundle::{Limits, Opened, Opener};

const LIMITS: Limits = Limits {
    nesting: 4,
    members: 50,
    member_bytes: 1 << 20,
    unpacked_bytes: 4 << 20,
    lines: 1 << 18,
    suspicious_bytes: 1 << 18,
    ratio: 250,
};

/// What is read ahead of the decision that it was too much.
const SLACK: u64 = 1 << 17;

/// Opens `bytes` and reads all that comes out.
pub fn check(bytes: &[u8]) {
    let opener = Opener::new(LIMITS);
    match opener.open(Box::new(bytes)).expect("bytes in memory") {
        Opened::Stream(mut stream) => {
            let n = std::io::copy(&mut stream, &mut std::io::sink()).expect("damage is a trouble");
            assert!(n <= LIMITS.unpacked_bytes.max(bytes.len() as u64) + SLACK);
        }
        Opened::Members(members) => {
            assert!(members.len() <= LIMITS.members);
            let all: usize = members.iter().map(|m| m.bytes.len()).sum();
            assert!(all as u64 <= LIMITS.member_bytes + SLACK);
            assert!(members.is_sorted_by(|a, b| a.name <= b.name));
            for member in &members {
                let mut parts = member.name.split(['/', '\\']);
                assert!(!parts.any(|p| p == ".." || p == "."), "{}", member.name);
                assert!(!member.name.starts_with('/'), "{}", member.name);
            }
        }
    }
    for trouble in opener.troubles() {
        assert!(!trouble.code.is_empty() && !trouble.remedy.is_empty());
    }
    // And from a file that comes byte by byte.
    let mut rest = Vec::new();
    let opener = Opener::new(LIMITS);
    let slow = std::io::BufReader::with_capacity(1, bytes);
    if let Ok(Opened::Stream(stream)) = opener.open(Box::new(slow)) {
        let _ = stream.take(1 << 16).read_to_end(&mut rest);
    }
}
