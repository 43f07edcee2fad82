//! Boot artefacts: bytes in, bytes out.
//!
//! What a boot loader and a kernel are fed, read and written without touching a file, a clock or
//! the environment: the same input always gives the same bytes, and no input can make this code
//! panic. Files, programs and targets are the business of the layers above.

pub mod arch;
pub mod barebox_env;
mod bytes;
pub mod compress;
pub mod cpio;
pub mod elf;
pub mod fdt;
pub mod fit;
pub mod flash;
pub mod hash;
pub mod kernel_image;
pub mod kernel_module;
mod lz4_legacy;
pub mod uboot_env;
pub mod uboot_script;
pub mod uimage;
