//! The moments that the user described: ready, the application, others; and the ends of a
//! boot that a console shows to anybody.

use bootlap_model::{Evidence, MarkKind, Milestone, Severity, Span, Stamp};
use memchr::memmem;
use regex::bytes::Regex;

use super::line::Line;
use super::out::Out;
use super::printk::{RESOLUTION_NS, find_glued};
use crate::Hints;

/// Longer lines are tried once, as a whole.
const LOOK_AHEAD_LIMIT: usize = 1024;

/// Where in a line that matches the moment is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// The byte that completes the pattern.
    Completed,
    /// The first byte of the line.
    LineBegins,
}

/// What a line was for what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matched {
    /// Nothing.
    No,
    /// A match without a time so far.
    Unplaced,
    /// A match that is on the timeline.
    Placed,
}

struct Wanted<'h> {
    pattern: &'h Regex,
    kind: MarkKind,
    name: &'h str,
    moment: Moment,
}

/// What is still looked for: the first match of each counts.
pub(crate) struct HintMarks<'h> {
    wanted: Vec<Wanted<'h>>,
    /// Seen in a line without a time: it came after this kernel time.
    unplaced: Vec<Unplaced<'h>>,
    /// How many lines that were counted as skipped for that.
    skipped: u64,
    /// Which known ends were seen.
    ends: Vec<&'static str>,
}

struct Unplaced<'h> {
    kind: MarkKind,
    name: &'h str,
    at: Evidence,
    /// Somebody looks for it, and is to know what became of it.
    asked: bool,
}

impl<'h> HintMarks<'h> {
    pub(crate) fn new(hints: &'h Hints) -> Self {
        let milestone = |pattern: &'h Option<Regex>, milestone: Milestone, moment| {
            pattern.as_ref().map(|pattern| Wanted {
                pattern,
                kind: MarkKind::Milestone(milestone),
                name: milestone.text(),
                moment,
            })
        };
        let named = hints.marks.iter().map(|(name, pattern)| Wanted {
            pattern,
            kind: MarkKind::Named,
            name,
            moment: Moment::Completed,
        });
        let ready = milestone(&hints.ready, Milestone::Ready, Moment::Completed);
        let application = milestone(
            &hints.application,
            Milestone::ApplicationStart,
            Moment::LineBegins,
        );
        Self {
            wanted: ready.into_iter().chain(application).chain(named).collect(),
            unplaced: Vec::new(),
            skipped: 0,
            ends: Vec::new(),
        }
    }

    /// Whether all was seen, or nothing is looked for.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Looks at one line; `logged` is its time on the kernel's clock.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        logged: Option<Stamp>,
        out: &mut Out<'_>,
    ) -> Matched {
        let mut matched = self.known_end(line, logged, out);
        self.wanted.retain(|wanted| {
            let Some(end) = completed(wanted.pattern, line.text) else {
                return true;
            };
            let at = line.evidence(out.file);
            let i = match wanted.moment {
                Moment::Completed => end.saturating_sub(1),
                Moment::LineBegins => 0,
            };
            if let (Some(wire), Some(stamp)) = (out.wire, line.at(i)) {
                out.mark(wire, stamp, wanted.kind, wanted.name, at);
                matched = Matched::Placed;
            } else if let Some(stamp) = logged {
                let printk = out.printk_clock();
                out.mark(printk, stamp, wanted.kind, wanted.name, at);
                matched = Matched::Placed;
            } else {
                matched = Matched::Unplaced;
                self.unplaced.push(Unplaced {
                    kind: wanted.kind,
                    name: wanted.name,
                    at,
                    asked: true,
                });
            }
            false
        });
        matched
    }

    /// A login prompt, or that all was started which the machine was booted for, is an end of
    /// a boot, whether or not somebody looks for it.
    fn known_end(&mut self, line: &Line<'_>, logged: Option<Stamp>, out: &mut Out<'_>) -> Matched {
        let (kind, name) = match reached_target(line.text) {
            Some(target) => (MarkKind::Named, target),
            None if logged.is_some() => return Matched::No,
            None if is_login_prompt(line.text) => {
                let login = Milestone::LoginPrompt;
                (MarkKind::Milestone(login), login.text())
            }
            None if is_shell_prompt(line.text) => (MarkKind::Named, Span::SHELL_PROMPT),
            None => return Matched::No,
        };
        if self.ends.contains(&name) {
            return Matched::No;
        }
        self.ends.push(name);
        let at = line.evidence(out.file);
        match (out.wire, line.first(), logged) {
            (Some(wire), Some(stamp), _) => out.mark(wire, stamp, kind, name, at),
            (_, _, Some(stamp)) => {
                let printk = out.printk_clock();
                out.mark(printk, stamp, kind, name, at);
            }
            _ => {
                self.unplaced.push(Unplaced {
                    kind,
                    name,
                    at,
                    asked: false,
                });
                return Matched::Unplaced;
            }
        }
        Matched::Placed
    }

    /// The kernel starts: what looked like an end before it was another boot's, or that of
    /// the machine that recorded this.
    pub(crate) fn forget_ends(&mut self, out: &mut Out<'_>) {
        if !self.ends.is_empty() {
            self.unplaced.retain(|unplaced| unplaced.asked);
            out.forget_marks(&std::mem::take(&mut self.ends));
        }
    }

    /// Places what was seen since the kernel's `before_ns`, now that the next
    /// kernel line is known: it happened between the two. Says how many lines
    /// were wrongly counted as skipped.
    pub(crate) fn place_between(
        &mut self,
        before_ns: Option<i64>,
        ns: i64,
        out: &mut Out<'_>,
    ) -> u64 {
        if self.unplaced.is_empty() {
            return 0;
        }
        let Some(before_ns) = before_ns.filter(|before| *before <= ns) else {
            self.lose(out);
            return 0;
        };
        let stamp = middle(before_ns, ns);
        self.place(
            stamp,
            "mark-between-lines",
            "these moments are in lines without a time, so they are placed in the middle between their neighbours: record with bootlap, which stamps each byte",
            out,
        );
        std::mem::take(&mut self.skipped)
    }

    /// The line that matched last was counted as skipped.
    pub(crate) fn was_skipped(&mut self) {
        self.skipped += 1;
    }

    /// The console has ended: what is not placed came after the kernel's `last_ns`, and
    /// nobody knows how long after. Says how many lines were wrongly counted as skipped.
    pub(crate) fn finish(&mut self, last_ns: Option<i64>, out: &mut Out<'_>) -> u64 {
        let Some(last_ns) = last_ns else {
            self.lose(out);
            return 0;
        };
        self.place(
            Stamp::new(last_ns, 0).at_least(),
            "mark-after-last-time",
            "these moments are in lines after the last time of the log, so they are shown at that time, which is the earliest that they can be: record with bootlap, which stamps each byte",
            out,
        );
        std::mem::take(&mut self.skipped)
    }

    fn place(&mut self, at: Stamp, code: &str, remedy: &str, out: &mut Out<'_>) {
        for Unplaced {
            kind,
            name,
            at: evidence,
            asked,
        } in self.unplaced.drain(..)
        {
            let printk = out.printk_clock();
            out.mark(printk, at, kind, name, evidence);
            if asked {
                out.notice(code, Severity::Notice, evidence, remedy);
            }
        }
    }

    /// What is not placed cannot be.
    fn lose(&mut self, out: &mut Out<'_>) {
        self.skipped = 0;
        for lost in self.unplaced.drain(..).filter(|u| u.asked) {
            let at = lost.at;
            out.notice(
                "mark-without-time",
                Severity::DataLoss,
                at,
                "these moments were seen, but nobody knows when: the console has no stamps there; record with bootlap, which stamps each byte",
            );
        }
    }
}

/// The middle between two kernel lines, and how far it may be off. Where that is more than a
/// stamp can say, the beginning is what is known.
fn middle(before_ns: i64, ns: i64) -> Stamp {
    let half = ns.saturating_sub(before_ns) / 2;
    match u32::try_from(half.saturating_add(i64::from(RESOLUTION_NS))) {
        Ok(err_ns) => Stamp::new(before_ns + half, err_ns),
        Err(_) => Stamp::new(before_ns, 0).at_least(),
    }
}

/// Which of systemd's last targets a line says to be reached: by its name, or, before version
/// 250, by what it is called.
pub(crate) fn reached_target(text: &[u8]) -> Option<&'static str> {
    const TARGETS: [(&str, &str); 2] = [
        ("graphical.target", "Graphical Interface."),
        ("multi-user.target", "Multi-User System."),
    ];
    let reached = b"Reached target ";
    let at = memmem::find(text, reached)?;
    let what = text[at + reached.len()..].trim_ascii();
    let is = |word: &str| what.starts_with(word.as_bytes());
    let found = TARGETS.iter().find(|(name, called)| is(name) || is(called));
    found.map(|(name, _)| *name)
}

/// Whether a line begins with the prompt of a shell, to which nobody had to log in: that of
/// bash (`root@board:~#`) or of BusyBox (`/ #`, `~ #`).
pub(crate) fn is_shell_prompt(text: &[u8]) -> bool {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    let ends = |rest: &[u8]| matches!(rest, [b'#' | b'$'] | [b'#' | b'$', b' ', ..]);
    let path = |text: &[u8]| {
        text.iter()
            .take_while(|b| is_name(b) || b"/~".contains(b))
            .count()
    };
    if let Some(rest) = [&b"/"[..], b"~"]
        .iter()
        .find_map(|at| text.strip_prefix(*at))
    {
        return rest.strip_prefix(b" ").is_some_and(ends);
    }
    let user = text.iter().take_while(|b| is_name(b)).count();
    let Some(host) = text[user..].strip_prefix(b"@").filter(|_| user > 0) else {
        return false;
    };
    let name = host.iter().take_while(|b| is_name(b)).count();
    let Some(folder) = host[name..].strip_prefix(b":").filter(|_| name > 0) else {
        return false;
    };
    let len = path(folder);
    len > 0 && ends(&folder[len..])
}

/// Without the `<47>` that a kernel line behind it begins with.
fn without_level(text: &[u8]) -> &[u8] {
    let Some(inside) = text.strip_suffix(b">") else {
        return text;
    };
    let digits = inside
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    inside[..inside.len() - digits]
        .strip_suffix(b"<")
        .unwrap_or(text)
}

/// Whether a line is the prompt of getty: `board login:`, and what was typed there.
pub(crate) fn is_login_prompt(text: &[u8]) -> bool {
    // The kernel writes behind it as soon as it has something to say.
    let text = &text[..find_glued(text, 1).unwrap_or(text.len())];
    let text = without_level(text);
    let Some(at) = memmem::find(text, b" login:") else {
        return false;
    };
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    let typed = text[at + b" login:".len()..].trim_ascii();
    // Who writes to the console does so behind it, too: `board-7 login: sudo: unable to …`. A
    // word alone may be one of a sentence (`Last login: Mon …`).
    let host = &text[..at];
    let is_host = host.iter().any(|b| b.is_ascii_digit() || b"-.".contains(b))
        && host.iter().any(u8::is_ascii_alphabetic);
    at > 0 && host.iter().all(is_name) && (is_host || !typed.contains(&b' '))
}

/// How many bytes of `text` it takes until they match `pattern`.
///
/// A pattern that looks at what follows (`ready$`) matches when the console
/// pauses there, as it does for those who watch the machine live: so each
/// beginning of the line is tried.
fn completed(pattern: &Regex, text: &[u8]) -> Option<usize> {
    let source = pattern.as_str();
    let looks_ahead = ["$", "\\b", "\\B", "\\z"]
        .iter()
        .any(|l| source.contains(l));
    if looks_ahead && text.len() <= LOOK_AHEAD_LIMIT {
        return (0..=text.len()).find(|n| pattern.is_match(&text[..*n]));
    }
    pattern.shortest_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_prompt_is_one_whatever_the_kernel_writes_behind_it() {
        for prompt in [
            "board login:",
            "board login: root",
            "board-7 login: sudo: unable to resolve host board-7",
            "x86-64.local login: <47>[   89.881858] systemd-journald[219]: Sent a descriptor",
        ] {
            assert!(is_login_prompt(prompt.as_bytes()), "{prompt}");
        }
        for other in [
            "last login: Mon Jan 5",
            "2026-01-05 login: session of alice",
            "[    1.000000] a login: b c",
            "login:",
        ] {
            assert!(!is_login_prompt(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_shell_prompt_is_one() {
        for prompt in [
            "root@juno:~# ",
            "root@x-64.lan:/etc# ls",
            "user@pc:~$",
            "/ # ",
            "~ # cat",
        ] {
            assert!(is_shell_prompt(prompt.as_bytes()), "{prompt}");
        }
        for other in [
            "=> ",
            "a@b.example: x",
            "# comment",
            "/ #1",
            "mail to a@b:c d",
            "git@x:y.git",
        ] {
            assert!(!is_shell_prompt(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_pattern_is_complete_as_early_as_possible() {
        let done =
            |pattern: &str, text: &str| completed(&Regex::new(pattern).unwrap(), text.as_bytes());
        assert_eq!(done("READY.*", "APP READY now"), Some(9));
        assert_eq!(done("READY$", "APP READY now"), Some(9));
        assert_eq!(done("^READY", "APP READY now"), None);
    }
}
