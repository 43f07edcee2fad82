//! Text of a target, made harmless for the files of other programs.
//!
//! A target's name, its command line and its variables may be anything, and
//! what is written here is read by shells, make, BitBake and Kconfig. So each
//! kind of place has its own way in, and text that a place cannot hold is
//! refused (`None`) instead of bent: the caller says so in the README.

/// A name for files, folders, variables and layers: small letters, digits and
/// single dashes, beginning with a letter.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    match slug.chars().next() {
        Some('a'..='z') => slug.to_owned(),
        Some(_) => format!("target-{slug}"),
        None => "target".to_owned(),
    }
}

/// One line of a comment. No line break and no backslash at its end, which
/// would join the next line to it; the caller begins the line with words of
/// its own, so that none reads `# CONFIG_X is not set`.
pub(crate) fn comment(text: &str) -> String {
    let harmless = |c: char| match c {
        '\\' => '/',
        c if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() => c,
        _ => '?',
    };
    text.chars().map(harmless).collect()
}

/// Text in Markdown, as it is: nothing in it is markup.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in comment(text).chars() {
        if "`*_{}[]()<>#|!~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A word for a POSIX shell: in single quotes. File names are any bytes.
pub(crate) fn shell(word: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            byte => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

/// A string in a Kconfig fragment, quotes included. The file is read by
/// Kconfig, by `merge_config.sh` (grep and sed) and by make, which agree on
/// this much only.
pub(crate) fn kconfig(text: &str) -> Option<String> {
    let plain = |c: char| (c.is_ascii_graphic() || c == ' ') && !"$#'`\\\"".contains(c);
    text.chars().all(plain).then(|| format!("\"{text}\""))
}

/// The inside of a double-quoted string in BitBake. It has no way to escape
/// `${`, and what comes out of an expansion is expanded again.
pub(crate) fn bitbake(text: &str) -> Option<&str> {
    let plain = |c: char| (c.is_ascii_graphic() || c == ' ') && !"$\\\"'`".contains(c);
    text.chars().all(plain).then_some(text)
}

#[cfg(test)]
mod tests;
