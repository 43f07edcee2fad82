//! What serial lines have in common.

/// What consoles are set to, bits per second.
pub const BAUD_RATES: [u32; 16] = [
    1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 500_000,
    921_600, 1_000_000, 1_500_000, 3_000_000, 4_000_000,
];

/// Start bit, eight data bits, stop bit.
pub const BITS_PER_BYTE: u32 = 10;

/// What `[    0.123456] ` is in front of a line of the kernel's log.
const KERNEL_TIME_BYTES: u64 = 15;

/// Carriage return, line feed.
const LINE_END_BYTES: u64 = 2;

/// How many bytes a line was on the wire, its end included. What another program put in
/// front of it, such as a logger or a terminal its time, was never there; the kernel's own
/// time was, where `lost_time` says that it stands in `text` no more.
pub fn line_bytes(text: &str, lost_time: bool) -> u64 {
    let time = if lost_time { KERNEL_TIME_BYTES } else { 0 };
    u64::try_from(text.len()).unwrap_or(u64::MAX / 2) + time + LINE_END_BYTES
}
