//! The programs in a target's initramfs.

use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&STRIP, &DYNAMIC, &UPX];

/// The ELF files that `wanted` accepts: paths, and bytes of all together.
fn programs(boot: &Boot<'_>, wanted: impl Fn(&[u8]) -> bool) -> (Vec<String>, usize) {
    let (mut found, mut bytes) = (Vec::new(), 0_usize);
    let Some((_, parts)) = boot.target() else {
        return (found, bytes);
    };
    for (path, content) in parts.initramfs_files() {
        let is_module = path.ends_with(b".ko");
        if content.starts_with(b"\x7fELF") && !is_module && wanted(content) {
            found.push(format!("/{}", String::from_utf8_lossy(path)));
            bytes = bytes.saturating_add(content.len());
        }
    }
    (found, bytes)
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|w| w == text)
}

/// Section names lie at the end of a file.
fn tail(bytes: &[u8]) -> &[u8] {
    const TAIL: usize = 64 * 1024;
    bytes
        .get(bytes.len().saturating_sub(TAIL)..)
        .unwrap_or(bytes)
}

/// Interpreter and program headers lie at the beginning.
fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..4096.min(bytes.len())).unwrap_or(bytes)
}

/// Some paths, and how many more there are.
fn some_of(found: &[String]) -> String {
    let shown: Vec<&str> = found.iter().take(3).map(String::as_str).collect();
    match found.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

rule! {
    /// Programs carry symbols that nobody needs at run time.
    ///
    /// **Why.** All of an initramfs is read and unpacked, symbols and debug information
    /// included.
    ///
    /// **Evidence.** ELF files in the target's initramfs with a section `.symtab` or
    /// `.debug_info`.
    ///
    /// **Fix.** `strip --strip-unneeded`; keep the originals for debugging.
    ///
    /// **Risk.** None; backtraces show no names without the originals.
    ///
    /// **Figures.** None but the arithmetic: bytes ÷ speed of storage.
    STRIP = "app-strip", Application, strip
}

fn strip(boot: &Boot<'_>) -> Option<Finding> {
    let symbols: [&[u8]; 2] = [b"\0.symtab\0", b"\0.debug_info\0"];
    let (found, bytes) = programs(boot, |p| symbols.iter().any(|s| has(tail(p), s)));
    (!found.is_empty()).then(|| {
        Finding::new("programs carry symbols that nobody needs at run time")
            .why(some_of(&found))
            .saves_unknown(format!(
                "these files have {bytes} bytes; strip them to see what is left to read and unpack"
            ))
            .fix("run `strip --strip-unneeded` on them, and keep the originals for debugging")
    })
}

rule! {
    /// The first program is linked dynamically.
    ///
    /// **Why.** Before `main`, the dynamic linker opens, maps and relocates libraries, for
    /// each short-lived program anew.
    ///
    /// **Evidence.** `/init`, `/sbin/init` or `/bin/busybox` in the target's initramfs names
    /// an interpreter (`/lib/ld-…`).
    ///
    /// **Fix.** Link it statically, with musl if its licence allows.
    ///
    /// **Risk.** Updates of a library need a new link; glibc's name resolution needs
    /// shared libraries all the same.
    ///
    /// **Figures.** An exec 798 against 132 us (glibc dynamic, musl static, on a PC).
    DYNAMIC = "app-dynamic", Application, dynamic
}

fn dynamic(boot: &Boot<'_>) -> Option<Finding> {
    let (mut found, _) = programs(boot, |p| has(head(p), b"/ld-") && has(head(p), b"/lib"));
    let first = ["/init", "/sbin/init", "/bin/busybox", "/usr/bin/busybox"];
    found.retain(|path| first.contains(&path.as_str()));
    (!found.is_empty()).then(|| {
        Finding::new("the first program is linked dynamically")
            .why(some_of(&found))
            .saves_unknown("under a millisecond for each start on a PC, several on a small board")
            .fix("link it statically (musl makes it smallest)")
    })
}

rule! {
    /// Programs are packed with UPX.
    ///
    /// **Why.** Each start unpacks the whole program into memory that cannot be shared or
    /// paged in on demand, and the initramfs is compressed as a whole anyway.
    ///
    /// **Evidence.** ELF files in the target's initramfs with UPX's mark `UPX!`.
    ///
    /// **Fix.** `upx -d`, and compress the image or the file system instead.
    ///
    /// **Risk.** More memory for the archive, less for the program.
    ///
    /// **Figures.** None is published.
    UPX = "app-upx", Application, upx
}

fn upx(boot: &Boot<'_>) -> Option<Finding> {
    let (found, _) = programs(boot, |p| has(head(p), b"UPX!"));
    (!found.is_empty()).then(|| {
        Finding::new("programs are packed with UPX")
            .why(some_of(&found))
            .saves_unknown("the time to unpack each at its start; slow storage may make it pay")
            .fix("unpack them (`upx -d`), and compress the image as a whole")
    })
}
