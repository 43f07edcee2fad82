//! What systemd waits for, as it says itself when nothing else goes on.
//!
//! ```text
//! [ ***  ] A start job is running for /dev/disk/by-label/data (36s / 1min 30s)
//! [**    ] (1 of 2) A start job is running for wicked m…etwork interfaces (18s / no limit)
//! ```
//!
//! How long the job has run is in the line, and all lines of a job mean the same beginning. So
//! the times of lines before and behind each of them bound where that was, also on a console
//! that nobody stamped. The name is cut in its middle to what fits the screen.

use bootlap_model::{Evidence, Stamp};
use memchr::memmem;

use super::line::Line;
use super::out::Out;
use super::userspace::SYSTEMD;
use crate::systemd::timespan::timespan;

const RUNS: &str = "A start job is running for ";

/// What systemd says before it starts anything.
const WELCOME: &str = "Welcome to ";

/// No boot waits for more.
const MAX_JOBS: usize = 256;

/// No boot waits for longer, ns.
const LONGEST_NS: i64 = 1_000_000_000_000_000;

/// systemd tells whole seconds, ns.
const SECOND_NS: i64 = 1_000_000_000;

/// The jobs that were told of.
#[derive(Default)]
pub(crate) struct Jobs {
    all: Vec<Job>,
    /// Told of since the last line with a time: which, and how long it had run, ns.
    untimed: Vec<(usize, i64)>,
    /// When systemd began at the earliest, ns.
    welcome_ns: Option<i64>,
}

struct Job {
    name: String,
    /// When it began: not before, and not later, ns.
    began: [i64; 2],
    /// How long it had run when that was said last, ns.
    longest_ns: i64,
    evidence: Evidence,
}

impl Jobs {
    /// Looks at a line of user space; `latest_ns` is the last time that was told before it.
    pub(crate) fn line(&mut self, line: &Line<'_>, latest_ns: Option<i64>, out: &Out<'_>) {
        let says = |what: &str| memmem::find(line.text, what.as_bytes()).is_some();
        let welcomes = self.welcome_ns.is_none() && says(WELCOME);
        if !welcomes && !says(RUNS) {
            return;
        }
        let text = String::from_utf8_lossy(line.text);
        // Where bytes have stamps the kernel's times are those of another clock.
        let stamp = out.wire.and(line.first());
        let earliest = match out.wire {
            Some(_) => stamp.map(|at| at.ns),
            None => latest_ns,
        };
        let Some(earliest) = earliest else { return };
        if welcomes {
            self.welcome_ns = Some(earliest);
        }
        let at = line.evidence(out.file);
        // systemd writes each over the one before, in one line.
        for (name, ran_ns) in text.split(RUNS).skip(1).filter_map(running) {
            let least = earliest.saturating_sub(ran_ns + SECOND_NS);
            let least = self.welcome_ns.map_or(least, |ns| least.max(ns));
            let Some(job) = self.job(name, least, ran_ns, at) else {
                continue;
            };
            match stamp {
                Some(at) => self.not_later(job, at.ns.saturating_sub(ran_ns)),
                None => self.untimed.push((job, ran_ns)),
            }
        }
    }

    /// A line has this time: what was told before it was told by then.
    pub(crate) fn told_by(&mut self, ns: i64) {
        for (job, ran_ns) in std::mem::take(&mut self.untimed) {
            self.not_later(job, ns.saturating_sub(ran_ns));
        }
    }

    fn not_later(&mut self, job: usize, ns: i64) {
        let [least, most] = &mut self.all[job].began;
        *most = (*most).min(ns).max(*least);
    }

    /// The job of this name that began no sooner than this.
    fn job(&mut self, name: &str, least: i64, ran_ns: i64, at: Evidence) -> Option<usize> {
        let place = self.all.iter().rposition(|job| {
            // One that has run for shorter began anew.
            is_same(&job.name, name) && least <= job.began[1] && ran_ns >= job.longest_ns
        });
        let Some(place) = place else {
            if self.all.len() >= MAX_JOBS {
                return None;
            }
            self.all.push(Job {
                name: name.to_owned(),
                began: [least, i64::MAX],
                longest_ns: ran_ns,
                evidence: at,
            });
            return Some(self.all.len() - 1);
        };
        let job = &mut self.all[place];
        job.began[0] = job.began[0].max(least);
        job.longest_ns = ran_ns;
        job.evidence.end = job.evidence.end.max(at.end);
        if job.name.contains('…') && !name.contains('…') {
            job.name = name.to_owned();
        }
        Some(place)
    }

    /// There are no more lines. Jobs of which nobody knows when they began at the latest are on
    /// no timeline.
    pub(crate) fn finish(&mut self, out: &mut Out<'_>) {
        self.untimed.clear();
        for job in std::mem::take(&mut self.all) {
            let [least, most] = [job.began[0].max(0), job.began[1]];
            if most == i64::MAX || most < least {
                continue;
            }
            // What was told last of it, the next line ends, more often than not. Where it may be off
            // by more than a stamp can say, the earliest moment is what is known.
            let (start, end) = match u32::try_from((most - least).saturating_add(SECOND_NS)) {
                Ok(err_ns) => [most, most.saturating_add(job.longest_ns)]
                    .map(|ns| Stamp::new(ns, err_ns))
                    .into(),
                Err(_) => [least, least.saturating_add(job.longest_ns)]
                    .map(|ns| Stamp::new(ns, 0).at_least())
                    .into(),
            };
            let name = format!("{}{}", bootlap_model::Span::START_JOB, job.name);
            out.span_of_any(SYSTEMD, &name, (start, end), job.evidence);
        }
    }
}

/// `X (36s / 1min 30s)`: X, and 36 s in ns.
fn running(text: &str) -> Option<(&str, i64)> {
    let slash = text.find(" / ")?;
    let open = text[..slash].rfind(" (")?;
    let ran = timespan(&text[open + 2..slash])?.ns;
    (ran < LONGEST_NS).then(|| (text[..open].trim(), ran))
}

/// Whether two names, one of which may be cut in its middle, are one's.
fn is_same(a: &str, b: &str) -> bool {
    let fits = |cut: &str, name: &str| {
        cut.split_once('…').is_some_and(|(begin, end)| {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        })
    };
    a == b || fits(a, b) || fits(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_runs_and_how_long() {
        let told = |text| running(text).map(|(name, ns)| (name, ns / SECOND_NS));
        assert_eq!(told("/dev/vda (7s / 1min 30s)"), Some(("/dev/vda", 7)));
        assert_eq!(
            told("A (b) c (3min 59s / no limit)"),
            Some(("A (b) c", 239))
        );
        assert_eq!(told("x (1h 2min / 4h) y (9s / 1min)"), Some(("x", 3720)));
        for other in ["x", "x (7s)", "x (seven / 1min)", "x (99999999999s / 1)"] {
            assert_eq!(told(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_that_was_cut_is_the_same() {
        assert!(is_same("/dev/disk/by-label/data", "/dev/dis…el/data"));
        assert!(is_same("/dev/dis…el/data", "/dev/disk/by-label/data"));
        assert!(!is_same("/dev/dis…el/data", "/dev/disk/by-label/root"));
        assert!(!is_same("abc", "ab…bc"));
    }
}
