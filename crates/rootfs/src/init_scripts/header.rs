//! What a script says of itself.
//!
//! ```text
//! ### BEGIN INIT INFO
//! # Provides:          network networking
//! # Required-Start:    $local_fs udev
//! # Should-Start:      wpa_supplicant
//! # X-Start-Before:    $network
//! # Default-Start:     S
//! # X-Interactive:     true
//! ### END INIT INFO
//! ```
//!
//! Comments of a shell script, as the Linux Standard Base has them (core 5.0,
//! 22.3). A line that begins with a tab or two blanks after the `#`, and names no
//! keyword, goes on with the line above. Seen in the wild, and understood: keywords
//! in any case, commas between names, a backslash at the end of a line, a missing
//! end.

/// Longer headers have not been seen; a script may be anything.
const MAX_BYTES: usize = 64 * 1024;

/// More names in one line are no header.
const MAX_NAMES: usize = 64;

/// Longer names are none.
const MAX_NAME: usize = 127;

const BEGIN: &str = "### BEGIN INIT INFO";
const END: &str = "### END INIT INFO";

/// What a script's header says; lists are in its order, without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What is there once it has started.
    pub provides: Vec<String>,
    /// What must have started before.
    pub required_start: Vec<String>,
    /// What must have started before, if it is there at all.
    pub should_start: Vec<String>,
    /// What starts later, if it is there at all.
    pub start_before: Vec<String>,
    /// Runlevels at which it starts, a letter or digit each; `None` if it does not
    /// say, empty if it starts at none.
    pub default_start: Option<Vec<String>>,
    /// It wants the console for itself.
    pub interactive: bool,
    /// Its end is missing, so it ends with the comments.
    pub open: bool,
}

/// Keywords that matter; what others say is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keyword {
    Provides,
    RequiredStart,
    ShouldStart,
    StartBefore,
    DefaultStart,
    Interactive,
    Other,
}

impl Header {
    /// The header of a script, if it has one. Never fails: what is no header is
    /// left out.
    pub fn read(script: &[u8]) -> Option<Self> {
        let script = &script[..script.len().min(MAX_BYTES)];
        let text = String::from_utf8_lossy(script);
        let mut lines = text.lines().map(str::trim_end);
        lines.find(|line| line.trim_start() == BEGIN)?;
        let mut header = Header {
            open: true,
            ..Header::default()
        };
        let mut last = Keyword::Other;
        for line in lines {
            if line.trim_start() == END {
                header.open = false;
                break;
            }
            let Some(line) = line.trim_start().strip_prefix('#') else {
                break;
            };
            if let Some((keyword, value)) = keyword(line) {
                last = keyword;
                header.take(keyword, value);
            } else if line.starts_with('\t') || line.starts_with("  ") {
                header.take(last, line);
            } else {
                last = Keyword::Other;
            }
        }
        Some(header)
    }

    fn take(&mut self, keyword: Keyword, value: &str) {
        let list = match keyword {
            Keyword::Provides => &mut self.provides,
            Keyword::RequiredStart => &mut self.required_start,
            Keyword::ShouldStart => &mut self.should_start,
            Keyword::StartBefore => &mut self.start_before,
            Keyword::DefaultStart => self.default_start.get_or_insert_default(),
            Keyword::Interactive => {
                self.interactive |= value.trim().eq_ignore_ascii_case("true");
                return;
            }
            Keyword::Other => return,
        };
        for name in value.split([' ', '\t', ',', '\\']).filter(|n| is_name(n)) {
            if list.len() < MAX_NAMES && !list.iter().any(|known| known == name) {
                list.push(name.to_owned());
            }
        }
    }
}

/// What a line begins with, and the rest of it.
fn keyword(line: &str) -> Option<(Keyword, &str)> {
    let (word, value) = line.trim_start().split_once(':')?;
    if word.is_empty() || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return None;
    }
    let keyword = match word.to_ascii_lowercase().as_str() {
        "provides" => Keyword::Provides,
        "required-start" => Keyword::RequiredStart,
        "should-start" => Keyword::ShouldStart,
        "x-start-before" => Keyword::StartBefore,
        "default-start" => Keyword::DefaultStart,
        "x-interactive" => Keyword::Interactive,
        _ => Keyword::Other,
    };
    Some((keyword, value))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.contains(char::is_control)
}
