//! Start-up scripts and services that say what they start.
//!
//! ```text
//! Starting syslogd: OK                                    Buildroot
//! Starting enhanced syslogd: rsyslogd ... done.           BusyBox, Debian
//! Starting OpenBSD Secure Shell server: sshd.             Debian, Yocto: System V's init
//! Waiting for /dev to be fully populated...               … and what it says when it is done,
//! done.                                                   behind what others wrote meanwhile
//! Begin: Loading essential drivers ... done.              initramfs-tools
//!  * Starting sshd ...  [ ok ]                            OpenRC
//!          Starting systemd-udevd.service - Rule-based Manager...
//! [  OK  ] Started systemd-udevd.service - Rule-based Manager.
//! ```
//!
//! A script prints its text, works, and prints how it went in the same line,
//! so its span lasts from the first byte of the line to the first byte of the
//! result, which has a line of its own if the kernel wrote meanwhile. The init
//! that runs the scripts says who it is before them. systemd prints two lines,
//! which are paired by the unit they name. Only stamped consoles tell.

use std::collections::HashMap;

use bootlap_model::{Evidence, Milestone, Stamp, TrackKind};
use memchr::memmem;

use super::line::{Between, Line, apart};
use super::out::{Out, shown};

const SCRIPTS: (TrackKind, &str) = (TrackKind::Userspace, "start-up scripts");
pub(super) const SYSTEMD: (TrackKind, &str) = (TrackKind::Userspace, "systemd");

/// No system starts more units at a time.
const MAX_STARTING: usize = 4096;

/// How initramfs-tools begins a step.
const BEGIN: &[u8] = b"Begin: ";

/// How the lines of a start-up step begin.
const VERBS: [&[u8]; 21] = [
    b"Starting ",
    BEGIN,
    b"Activating ",
    b"Caching ",
    b"Checking ",
    b"Cleaning up ",
    b"Creating ",
    b"Remounting ",
    b"Restoring ",
    b"Synthesizing ",
    b"Updating ",
    b"Waiting for ",
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
const RESULTS: [(&[u8], &str); 13] = [
    (b": OK", "OK"),
    (b": FAIL", "FAIL"),
    (b": done", "done"),
    (b"... done", "done"),
    (b"...done", "done"),
    (b"... failed", "failed"),
    (b"...failed", "failed"),
    (b" failed!", "failed"),
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

/// Results that have a line of their own, behind what was printed while the step ran.
const ALONE: [(&[u8], &str); 5] = [
    (b"[ ok ]", "ok"),
    (b"[ !! ]", "failed"),
    (b"done.", "done"),
    (b"failed.", "failed"),
    (b"failed!", "failed"),
];

/// What was understood of user space so far.
#[derive(Default)]
pub(crate) struct Userspace {
    starting: HashMap<Box<[u8]>, (Option<Stamp>, Evidence)>,
    /// A step that ended before the next line, where only lines have stamps.
    open: Option<Step>,
    /// A step of which no result was seen yet.
    begun: Option<Begun>,
}

struct Begun {
    name: String,
    /// Other lines may come before its result: steps of the initramfs hold others.
    holds: bool,
    start: Option<Stamp>,
    evidence: Evidence,
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
        } else if is_first_of_init(text) {
            let at = line.evidence(out.file);
            out.wire_milestone(Milestone::ManagerStart, line.first(), at);
        } else if let Some((_, result)) = ALONE.iter().find(|(word, _)| *word == text) {
            if let Some(mut begun) = self.begun.take() {
                begun.evidence.end = line.evidence(out.file).end;
                let (moments, args) = ((begun.start, line.first()), [("result", *result)]);
                out.wire_span(SCRIPTS, &begun.name, moments, &args, begun.evidence);
            }
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

    /// A step that prints its result in the same line, or later.
    fn script(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        // Behind what another program says, a result is nobody's.
        if !line.text.trim_ascii().is_empty() {
            self.begun = self.begun.take().filter(|begun| begun.holds);
        }
        let marks = line.text.iter().take_while(|b| b" *".contains(b)).count();
        let skip = match line.text[marks..].starts_with(b"[....] ") {
            true => marks + b"[....] ".len(),
            false => marks,
        };
        let text = &line.text[skip..];
        if !VERBS.iter().any(|v| text.starts_with(v)) {
            return;
        }
        let evidence = line.evidence(out.file);
        let begins = match line.between(skip, skip) {
            Between::Moments(start, _) => start,
            Between::UntilNext(start) => Some(start),
        };
        let mut begun = |name: &[u8]| {
            self.begun = Some(Begun {
                name: shown(name.strip_prefix(BEGIN).unwrap_or(name)).into_owned(),
                holds: name.starts_with(BEGIN),
                start: begins,
                evidence,
            });
        };
        // A step of the initramfs may hold others.
        let inner = memmem::rfind(text, BEGIN).unwrap_or_default();
        if inner > 0 {
            begun(step(text).unwrap_or(text));
        }
        let (skip, text) = (skip + inner, &text[inner..]);
        let Some((name, place, result)) = result(text) else {
            if let Some(name) = step(text) {
                begun(name);
            }
            return;
        };
        let name = shown(name.strip_prefix(BEGIN).unwrap_or(name));
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

/// Whether an init that runs scripts says who it is.
fn is_first_of_init(text: &[u8]) -> bool {
    let of_sysv = text.starts_with(b"INIT: version ") && text.ends_with(b" booting");
    let of_openrc =
        text.starts_with(b"OpenRC ") && memmem::find(text, b" is starting up ").is_some();
    of_sysv || of_openrc
}

/// The name of a step that works from now on: `Waiting for it` of `Waiting for it...`
fn step(text: &[u8]) -> Option<&[u8]> {
    let name = text[..memmem::find(text, b"...")?].trim_ascii_end();
    // U-Boot's last words.
    (name != b"Starting kernel").then_some(name)
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
    let of_mark = RESULTS.iter().find_map(|(mark, result)| {
        let ends = match mark.last() {
            Some(b'!') => text.len(),
            _ => end,
        };
        let at = memmem::rfind(&text[..ends], mark)?;
        let name = text[..at].trim_ascii_end();
        let place = match mark.first() {
            Some(b'[') => at,
            _ => at + mark.iter().rposition(|b| b" .".contains(b))? + 1,
        };
        let name = name.strip_suffix(b"...").unwrap_or(name).trim_ascii_end();
        (at + mark.len() == ends).then_some((name, place, *result))
    });
    of_mark.or_else(|| daemon(text))
}

/// `Starting nginx: nginx.`: the dot comes when it is started.
fn daemon(text: &[u8]) -> Option<(&[u8], usize, &'static str)> {
    let names = text
        .strip_suffix(b".")
        .filter(|_| text.starts_with(b"Starting "))?;
    let colon = memmem::rfind(names, b": ")?;
    let told = &names[colon + 2..];
    let are_names = told
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b" ,-_@/".contains(b));
    are_names.then_some((&text[..colon], names.len(), "started"))
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
        assert_eq!(
            r("Activating swap...done."),
            some("Activating swap", "done.", "done")
        );
        assert_eq!(
            r("Starting syslogd/klogd: done"),
            some("Starting syslogd/klogd", "done", "done")
        );
        assert_eq!(
            r("Starting OpenBSD Secure Shell server: sshd."),
            some("Starting OpenBSD Secure Shell server", ".", "started")
        );
        assert_eq!(
            r("Starting nginx: nginx failed!"),
            some("Starting nginx: nginx", "failed!", "failed")
        );
        assert_eq!(r("Starting it: see http://a.b/c."), None);
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
