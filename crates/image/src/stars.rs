//! A shell's patterns, as far as people write them for files: stars, each for any characters.

/// Whether a name is as a pattern says.
pub fn fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let between = name
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last));
    let mut between = match between {
        Some(between) => between,
        None => return false,
    };
    // The first place of each is as good as any other.
    middle
        .split('*')
        .all(|piece| match between.split_once(piece) {
            _ if piece.is_empty() => true,
            Some((_, behind)) => {
                between = behind;
                true
            }
            None => false,
        })
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_anything() {
        for (name, pattern) in [
            ("a.ext4.ext4", "*.ext4"),
            ("rootfs.ext4", "rootfs.ext4*"),
            ("x-ext4-combined-efi.img.gz", "*-ext4-combined*.img*"),
            ("abcabc", "a*b*c"),
            ("", "*"),
            ("same", "same"),
        ] {
            assert!(fits(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [
            ("ab", "ab*b"),
            ("abc", "a*d"),
            ("abc", "ab"),
            ("acb", "a*b*c"),
        ] {
            assert!(!fits(name, pattern), "{name} {pattern}");
        }
    }
}
