//! What is wrong in a `target.toml`, with the key that it is at.

/// Something that cannot work.
pub(crate) struct Mistake {
    /// Where: a dotted key.
    pub(crate) key: String,
    /// What, and the mend.
    pub(crate) message: String,
}

pub(crate) fn wrong<T>(key: &str, message: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake {
        key: key.to_owned(),
        message: message.into(),
    })
}

pub(crate) fn pattern(key: &str, pattern: &str) -> Result<(), Mistake> {
    match regex::bytes::Regex::new(pattern) {
        Err(e) => {
            let why = e.to_string();
            let why = why.lines().last().unwrap_or_default().trim();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            wrong(
                key,
                format!(
                    "not a regular expression: {why}; put a backslash before a literal \
                     character such as ( [ * ?"
                ),
            )
        }
        Ok(re) if re.is_match(b"") => wrong(
            key,
            "the pattern matches the empty line, so it would match at once; write the text \
             that must appear",
        ),
        Ok(_) => Ok(()),
    }
}
