//! What a well-formed `target.toml` can still get wrong.

use crate::spec::Spec;

/// The first thing that cannot work: `(key, what is wrong and the mend)`.
pub(crate) fn check(spec: &Spec) -> Option<(&'static str, String)> {
    if spec.format != 1 {
        return Some((
            "format",
            format!(
                "format {} is not known to this bootlap, which reads format 1",
                spec.format
            ),
        ));
    }
    if spec.name.is_empty() || spec.name.contains(['/', '\0']) {
        return Some(("name", "the name must not be empty or hold a slash".into()));
    }
    let patterns = [
        ("ready.pattern", Some(&spec.ready.pattern)),
        ("ready.application", spec.ready.application.as_ref()),
    ];
    for (key, pattern) in patterns {
        if let Some(message) = pattern.and_then(|p| bad_pattern(p)) {
            return Some((key, message));
        }
    }
    for mark in &spec.mark {
        if let Some(message) = bad_pattern(&mark.pattern) {
            return Some(("mark", format!("{}: {message}", mark.name)));
        }
    }
    if spec.machine.icount_shift > 10 {
        return Some((
            "machine.icount-shift",
            "icount-shift is a power of two of ns per instruction, from 0 to 10".into(),
        ));
    }
    if spec.bootloader.is_some() {
        for (section, there) in [("flash", spec.flash.is_some()), ("fit", spec.fit.is_some())] {
            if !there {
                return Some((
                    "bootloader",
                    format!(
                        "a boot loader needs a [{section}] section that says where it finds the \
                         kernel; or remove [bootloader] to start the kernel directly"
                    ),
                ));
            }
        }
    }
    None
}

fn bad_pattern(pattern: &str) -> Option<String> {
    match regex::bytes::Regex::new(pattern) {
        Err(e) => {
            let why = e.to_string();
            let why = why.lines().last().unwrap_or_default().trim();
            Some(format!(
                "not a regular expression: {why}; put a backslash before a literal \
                 character such as ( [ * ?"
            ))
        }
        Ok(re) if re.is_match(b"") => {
            Some("the pattern matches the empty line, so it would match at once".into())
        }
        Ok(_) => None,
    }
}
