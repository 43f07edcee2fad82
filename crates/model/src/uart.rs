//! What serial lines have in common.

/// What consoles are set to, bits per second.
pub const BAUD_RATES: [u32; 16] = [
    1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 500_000,
    921_600, 1_000_000, 1_500_000, 3_000_000, 4_000_000,
];

/// Start bit, eight data bits, stop bit.
pub const BITS_PER_BYTE: u32 = 10;
