//! `header`: what machine was recorded.
//!
//! ```text
//! version = 0.8
//! title = Boot chart for buildroot (Thu Jan  1 00:00:03 UTC 1970)
//! system.uname = Linux 6.1.44 #1 SMP Thu Aug 10 armv7l
//! system.kernel.options = console=ttyAMA0 init=/sbin/bootchartd
//! ```
//!
//! A line without `=` continues the value above it. Android writes
//! `version = Android init 0.8`, older ones with a time after it.

use bootlap_model::Sym;

use crate::text::{Import, Line, Reader, Skip};

/// A header has a dozen facts.
const MAX_FACTS: usize = 64;

/// Keys, and what a span's argument of that fact is called.
const KNOWN: [(&str, &str); 10] = [
    ("version", "recorded_by"),
    ("title", "title"),
    ("system.uname", "kernel"),
    ("system.release", "release"),
    ("system.cpu", "cpu_model"),
    ("system.cpu.num", "cpus"),
    ("system.kernel.options", "kernel_options"),
    ("system.maxpid", "highest_pid"),
    ("profile.process", "profiled"),
    ("system.mem", "memory"),
];

#[derive(Default)]
pub(super) struct Header {
    facts: Vec<(String, String)>,
    /// The last `key = value` was one that is kept.
    open: bool,
}

impl Reader for Header {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let text = String::from_utf8_lossy(line.text);
        match fact(&text) {
            Some((key, value)) => {
                self.open = self.facts.len() < MAX_FACTS;
                if self.open {
                    self.facts.push((key.to_owned(), value.to_owned()));
                }
                Ok(())
            }
            None if self.facts.is_empty() => {
                Err(Skip::unknown("expected facts: `system.uname = Linux …`"))
            }
            None => {
                if let Some((_, value)) = self.facts.last_mut().filter(|_| self.open)
                    && value.len() < 64 * 1024
                {
                    if !value.is_empty() {
                        value.push(' ');
                    }
                    value.push_str(text.trim());
                }
                Ok(())
            }
        }
    }
}

/// The CPU's model, where it is a line of `/proc/cpuinfo`, or one for each CPU.
fn model(value: &str) -> &str {
    let Some(rest) = value.strip_prefix("model name") else {
        return value;
    };
    let one = rest.split("model name").next().unwrap_or(rest);
    one.trim_start_matches([':', ' ', '\t']).trim_end()
}

fn fact(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (!key.is_empty() && key.chars().all(word)).then_some((key, value.trim()))
}

impl Header {
    /// How sure one can be that lines are a header, in percent.
    pub(super) fn looks(lines: &[&str]) -> u8 {
        let facts: Vec<_> = lines.iter().filter_map(|line| fact(line)).collect();
        let has = |key: &str| facts.iter().any(|(k, _)| *k == key);
        let chart = |(k, v): &(&str, &str)| *k == "title" && v.starts_with("Boot chart");
        if facts.iter().any(chart) || has("system.kernel.options") && has("system.uname") {
            return 95;
        }
        let known = |(k, _): &(&str, &str)| KNOWN.iter().any(|(key, _)| key == k);
        let all = !facts.is_empty() && facts.len() == lines.len() && facts.iter().all(known);
        // busybox without its long header says the version only.
        if all && has("version") { 50 } else { 0 }
    }

    /// The facts as arguments of a span; the last of a key counts.
    pub(super) fn args(&self, import: &mut Import<'_>) -> Vec<(Sym, Sym)> {
        let mut args = Vec::new();
        for (key, name) in KNOWN {
            let fact = self.facts.iter().rfind(|(k, _)| k == key);
            if let Some((_, value)) = fact.filter(|(_, value)| !value.is_empty()) {
                args.push((import.sym(name), import.sym(model(value))));
            }
        }
        args
    }
}
