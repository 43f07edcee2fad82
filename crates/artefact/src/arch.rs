//! The processor families that boot artefacts name, and what each format calls them.

use serde::{Deserialize, Serialize};

/// A processor family, named as U-Boot names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arch {
    /// 32-bit Arm.
    Arm,
    /// 64-bit Arm.
    Arm64,
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    #[serde(rename = "x86_64")]
    X86_64,
    /// RISC-V, either width: U-Boot does not tell them apart.
    Riscv,
    /// 32-bit MIPS.
    Mips,
    /// 64-bit MIPS.
    Mips64,
    /// PowerPC, either width.
    PowerPc,
}

/// Arch, name in a FIT, number in a legacy uImage (`IH_ARCH_*` in U-Boot's `include/image.h`).
const TABLE: [(Arch, &str, u8); 8] = [
    (Arch::Arm, "arm", 2),
    (Arch::Arm64, "arm64", 22),
    (Arch::X86, "x86", 3),
    (Arch::X86_64, "x86_64", 24),
    (Arch::Riscv, "riscv", 26),
    (Arch::Mips, "mips", 5),
    (Arch::Mips64, "mips64", 6),
    (Arch::PowerPc, "powerpc", 7),
];

impl Arch {
    fn row(self) -> &'static (Arch, &'static str, u8) {
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[0])
    }

    /// The `arch` property of a FIT image, and `mkimage -A`.
    pub fn uboot_name(self) -> &'static str {
        self.row().1
    }

    /// The `ih_arch` byte of a legacy uImage.
    pub fn uimage_code(self) -> u8 {
        self.row().2
    }

    /// The family with this U-Boot name.
    pub fn from_uboot_name(name: &str) -> Option<Arch> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The family with this `ih_arch` byte.
    pub fn from_uimage_code(code: u8) -> Option<Arch> {
        TABLE.iter().find(|row| row.2 == code).map(|row| row.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arch_has_its_own_row() {
        for (arch, name, code) in TABLE {
            assert_eq!((arch.uboot_name(), arch.uimage_code()), (name, code));
            assert_eq!(Arch::from_uboot_name(name), Some(arch));
            assert_eq!(Arch::from_uimage_code(code), Some(arch));
        }
    }
}
