//! What a line of a log says, without the times before it.

/// Drops `[    1.234567]` and what may follow it, `[    T1]` (the caller).
pub(crate) fn message(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some((inside, behind)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        let inside = inside.trim_start();
        let digits = inside.trim_start_matches(['T', 'C']);
        let stamp = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        if !stamp {
            break;
        }
        rest = behind.trim();
    }
    rest
}
