//! The table of an init: `/etc/inittab`, BusyBox's or System V's.

/// Where it is.
pub const INITTAB: &str = "/etc/inittab";

/// Whether that is a table of BusyBox's: its lines have no run levels.
pub(crate) fn is_busyboxs(inittab: &str) -> bool {
    inittab.lines().any(|line| line.trim().starts_with("::"))
}

/// A table with a program that runs once all that is waited for has ended.
pub(crate) fn with_last(inittab: &str, program: &str) -> String {
    let line = match is_busyboxs(inittab) {
        true => format!("::once:{program}"),
        false => format!("last:2345:once:{program}"),
    };
    let text = inittab.trim_end_matches('\n');
    match text.lines().any(|l| l == line) {
        true => format!("{text}\n"),
        false => format!("{text}\n{line}\n"),
    }
}
