//! What a line of a log says, without the times before it.

/// Drops `[    1.234567]` and what may follow it, `[    T1]` (the caller), and the
/// times of day of `dmesg -T` and `--time-format=iso`.
pub(crate) fn message(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some((inside, behind)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        if !is_stamp(inside.trim_start()) {
            return rest;
        }
        rest = behind.trim();
    }
    match rest.split_once(' ') {
        Some((stamp, behind)) if is_iso(stamp) => behind.trim_start(),
        _ => rest,
    }
}

/// `1.234567`, `T1`, `Sat Nov 21 13:04:04 2026`.
fn is_stamp(inside: &str) -> bool {
    let digits = inside.trim_start_matches(['T', 'C']);
    let of_kernel = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    of_kernel || is_dated(inside)
}

fn is_dated(inside: &str) -> bool {
    let mut words = inside.split_ascii_whitespace();
    let time = words.nth(3).unwrap_or("");
    looks_like(time, "00:00:00") && words.count() == 1
}

/// `2026-11-21T13:04:04,586470+00:00`.
fn is_iso(word: &str) -> bool {
    looks_like(word.get(..19).unwrap_or(""), "0000-00-00T00:00:00")
}

/// Whether it has a digit for each 0, and all else as it is.
fn looks_like(text: &str, form: &str) -> bool {
    let alike = |(c, f): (char, char)| if f == '0' { c.is_ascii_digit() } else { c == f };
    text.len() == form.len() && text.chars().zip(form.chars()).all(alike)
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn times_are_no_part_of_what_is_said() {
        for line in [
            "[    1.234567] Run /init",
            "[    1.234567][    T1] Run /init",
            "[Sat Nov 21 13:04:04 2026] Run /init",
            "2026-11-21T13:04:04,586470+00:00 Run /init",
            "Run /init",
        ] {
            assert_eq!(message(line), "Run /init");
        }
        for line in ["[drm] ready", "[a b c d e] x", "2026-11-21 x", "21:04:04 x"] {
            assert_eq!(message(line), line);
        }
    }
}
