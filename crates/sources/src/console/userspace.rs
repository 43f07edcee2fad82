//! Start-up scripts and services that say what they start.
//!
//! ```text
//! Starting syslogd: OK                                    Buildroot
//! Starting enhanced syslogd: rsyslogd ... done.           BusyBox, Debian
//! Begin: Loading essential drivers ... done.              initramfs-tools
//!  * Starting sshd ...  [ ok ]                            OpenRC
//!          Starting systemd-udevd.service - Rule-based Manager...
//! [  OK  ] Started systemd-udevd.service - Rule-based Manager.
//! ```
//!
//! A script prints its text, works, and prints how it went in the same line,
//! so its span lasts from the first byte of the line to the first byte of the
//! result. systemd prints two lines, which are paired by the unit they name.
//! Only stamped consoles tell.

use std::collections::HashMap;

use bootlap_model::{Evidence, Stamp, TrackKind};
use memchr::memmem;

use super::line::{Between, Line, apart};
use super::out::{Out, shown};

const SCRIPTS: (TrackKind, &str) = (TrackKind::Userspace, "start-up scripts");
const SYSTEMD: (TrackKind, &str) = (TrackKind::Userspace, "systemd");

/// No system starts more units at a time.
const MAX_STARTING: usize = 4096;

/// How the lines of a start-up step begin.
const VERBS: [&[u8]; 11] = [
    b"Starting ",
    b"Begin: ",
    b"Initializing ",
    b"Running ",
    b"Loading ",
    b"Mounting ",
    b"Configuring ",
    b"Setting ",
    b"Saving ",
    b"Seeding ",
    b"Populating ",
];

/// What comes between a step and its result, with the results.
const RESULTS: [(&[u8], &str); 9] = [
    (b": OK", "OK"),
    (b": FAIL", "FAIL"),
    (b"... done", "done"),
    (b"... failed", "failed"),
    (b"[ ok ]", "ok"),
    (b"[ OK ]", "ok"),
    (b"[  OK  ]", "ok"),
    (b"[ !! ]", "failed"),
    (b"[FAILED]", "failed"),
];

/// What systemd says of a unit that it began to start, and how that went.
const OUTCOMES: [(&[u8], &str); 8] = [
    (b"[  OK  ] Started ", "started"),
    (b"[  OK  ] Finished ", "finished"),
    (b"[  OK  ] Mounted ", "mounted"),
    (b"[  OK  ] Activated swap ", "activated"),
    (b"[FAILED] Failed to start ", "failed"),
    (b"[FAILED] Failed to mount ", "failed"),
    (b"[DEPEND] Dependency failed for ", "dependency failed"),
    (b"[ TIME ] Timed out starting ", "timed out"),
];

/// What was understood of user space so far.
#[derive(Default)]
pub(crate) struct Userspace {
    starting: HashMap<Box<[u8]>, (Option<Stamp>, Evidence)>,
    /// A step that ended before the next line, where only lines have stamps.
    open: Option<Step>,
}

struct Step {
    name: String,
    result: &'static str,
    start: Stamp,
    evidence: Evidence,
}

impl Userspace {
    /// Looks at one line that is not the kernel's.
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        let text = line.text.trim_ascii();
        let first = line.text.len() - line.text.trim_ascii_start().len();
        if let Some(unit) = systemd_start(text, first) {
            if self.starting.len() < MAX_STARTING {
                let at = line.evidence(out.file);
                self.starting.insert(unit.into(), (line.first(), at));
            }
        } else if let Some((unit, outcome)) = systemd_outcome(text) {
            self.ended(unit, outcome, line, out);
        } else {
            self.script(line, out);
        }
    }

    /// The next line begins.
    pub(crate) fn end_open(&mut self, at: Option<Stamp>, out: &mut Out<'_>) {
        if let Some(step) = self.open.take()
            && let Some(at) = at
        {
            let end = Stamp::new(at.ns, apart(step.start, at));
            let (moments, args) = ((Some(step.start), Some(end)), [("result", step.result)]);
            out.wire_span(SCRIPTS, &step.name, moments, &args, step.evidence);
        }
    }

    /// A step that prints its result in the same line.
    fn script(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        let skip = line.text.iter().take_while(|b| b" *".contains(b)).count();
        let text = &line.text[skip..];
        if !VERBS.iter().any(|v| text.starts_with(v)) {
            return;
        }
        let Some((name, place, result)) = result(text) else {
            return;
        };
        let name = shown(name.strip_prefix(b"Begin: ").unwrap_or(name));
        let evidence = line.evidence(out.file);
        match line.between(skip, skip + place) {
            Between::Moments(start, end) => {
                let args = [("result", result)];
                out.wire_span(SCRIPTS, &name, (start, end), &args, evidence);
            }
            Between::UntilNext(start) => {
                self.open = Some(Step {
                    name: name.into_owned(),
                    result,
                    start,
                    evidence,
                });
            }
        }
    }

    fn ended(&mut self, unit: &[u8], outcome: &str, line: &Line<'_>, out: &mut Out<'_>) {
        if let Some((start, mut evidence)) = self.starting.remove(unit) {
            evidence.end = line.evidence(out.file).end;
            let moments = (start, line.first());
            let args = [("result", outcome)];
            out.wire_span(SYSTEMD, &shown(unit), moments, &args, evidence);
        }
    }
}

/// `         Starting X...`: systemd indents by the width of `[  OK  ] `.
fn systemd_start(text: &[u8], indent: usize) -> Option<&[u8]> {
    let verbs: [&[u8]; 3] = [b"Starting ", b"Mounting ", b"Activating swap "];
    if indent < 8 {
        return None;
    }
    let unit = verbs.iter().find_map(|v| text.strip_prefix(*v))?;
    unit.strip_suffix(b"...")
        .or(unit.strip_suffix("…".as_bytes()))
}

fn systemd_outcome(text: &[u8]) -> Option<(&[u8], &'static str)> {
    let (unit, outcome) = OUTCOMES
        .iter()
        .find_map(|(begin, outcome)| Some((text.strip_prefix(*begin)?, *outcome)))?;
    Some((unit.strip_suffix(b".").unwrap_or(unit), outcome))
}

/// The step's name, where its result begins, and the result.
fn result(text: &[u8]) -> Option<(&[u8], usize, &'static str)> {
    let text = text.trim_ascii_end();
    let end = text.len() - usize::from(matches!(text.last(), Some(b'.' | b'!')));
    RESULTS.iter().find_map(|(mark, result)| {
        let at = memmem::rfind(&text[..end], mark)?;
        let last = at + mark.len() == end;
        let name = text[..at].trim_ascii_end();
        let word = mark
            .iter()
            .rposition(|b| b" [".contains(b) && *b == b'[' || *b == b' ');
        let place = match mark.first() {
            Some(b'[') => at,
            _ => at + word.map_or(0, |w| w + 1),
        };
        let name = name.strip_suffix(b"...").unwrap_or(name).trim_ascii_end();
        last.then_some((name, place, *result))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results() {
        let r = |text: &str| {
            let (name, place, result) = result(text.as_bytes())?;
            Some((shown(name).into_owned(), text[place..].to_owned(), result))
        };
        let some =
            |name: &str, rest: &str, result| Some((name.to_owned(), rest.to_owned(), result));
        assert_eq!(
            r("Starting syslogd: OK"),
            some("Starting syslogd", "OK", "OK")
        );
        assert_eq!(
            r("Begin: Loading essential drivers ... done."),
            some("Begin: Loading essential drivers", "done.", "done")
        );
        assert_eq!(
            r("Starting sshd ...  [ ok ]"),
            some("Starting sshd", "[ ok ]", "ok")
        );
        assert_eq!(r("Starting kernel ..."), None);
        assert_eq!(r("Starting: OK, but not done"), None);
    }

    #[test]
    fn systemd_lines() {
        let unit = b"udevd.service - Rule-based Manager".as_slice();
        let begin = b"Starting udevd.service - Rule-based Manager...";
        assert_eq!(systemd_start(begin, 9), Some(unit));
        assert_eq!(systemd_start(begin, 0), None);
        let end = b"[  OK  ] Started udevd.service - Rule-based Manager.";
        assert_eq!(systemd_outcome(end), Some((unit, "started")));
    }
}
