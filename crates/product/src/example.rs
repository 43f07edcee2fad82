//! Targets for tests, of this crate and of those above it.

use std::path::Path;

use super::{Target, TargetError};

/// A target that starts its kernel directly.
pub(crate) const PLAIN: &str = r#"format = 1
name = "t"

[ready]
pattern = "READY"

[machine]
kind = "qemu"
program = "qemu"
machine = "virt"
cpu = "max"
memory-mb = 64

[kernel]
image = "Image"
cmdline = "a b"
"#;

/// The sections of one with a boot loader.
pub(crate) const FLASH: &str = r#"
[bootloader]
image = "u-boot"
environment = { bootdelay = "2" }

[flash]
bank-size = 0x100000
environment-offset = 0x0
environment-size = 0x1000
fit-offset = 0x1000

[fit]
hash = "crc32"
load-address = 0x1000
"#;

pub(crate) fn parse(text: &str) -> Result<Target, TargetError> {
    Target::parse("dir".into(), text.to_owned(), "t.toml")
}

pub(crate) fn kiosk() -> Target {
    Target::load(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../targets/kiosk"
    )))
    .unwrap()
}
