//! The programs in a target's initramfs.

use super::checks;
use crate::{Boot, Finding};

checks! {
    "app-strip" => strip,
    "app-dynamic" => dynamic,
    "app-upx" => upx,
}

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

fn strip(boot: &Boot<'_>) -> Option<Finding> {
    let symbols: [&[u8]; 2] = [b"\0.symtab\0", b"\0.debug_info\0"];
    let (found, bytes) = programs(boot, |p| symbols.iter().any(|s| has(tail(p), s)));
    (!found.is_empty()).then(|| {
        Finding::new().why(some_of(&found)).saves_unknown(format!(
            "these files have {bytes} bytes; strip them to see what is left to read and unpack"
        ))
    })
}

fn dynamic(boot: &Boot<'_>) -> Option<Finding> {
    let (mut found, _) = programs(boot, |p| has(head(p), b"/ld-") && has(head(p), b"/lib"));
    let first = ["/init", "/sbin/init", "/bin/busybox", "/usr/bin/busybox"];
    found.retain(|path| first.contains(&path.as_str()));
    (!found.is_empty()).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("under a millisecond for each start on a PC, several on a small board")
    })
}

fn upx(boot: &Boot<'_>) -> Option<Finding> {
    let (found, _) = programs(boot, |p| has(head(p), b"UPX!"));
    (!found.is_empty()).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("the time to unpack each at its start; slow storage may make it pay")
    })
}
