//! What people see while they wait, and how results are laid out.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bootlap_engine::{Exit, Failure, Progress};
use bootlap_report::Style;
use bootlap_report::clean::clean;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::signals::stop_when_asked;

/// Progress on standard error; results go to standard output.
pub(crate) struct Ui {
    bar: ProgressBar,
    quiet: bool,
    /// A terminal gets one line that changes, everything else one line a step.
    live: bool,
    /// Whether a result could not be printed.
    lost: AtomicBool,
    kept: Mutex<Kept>,
}

/// Boots that were not made, or made again.
#[derive(Default)]
struct Kept {
    /// When those that were taken from the store were made: the first and the last.
    made: Option<[String; 2]>,
    taken: usize,
    again: usize,
}

impl Ui {
    pub(crate) fn new(quiet: bool) -> Self {
        let moves = variable("TERM").as_deref() != Some("dumb");
        let live = !quiet && moves && std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self {
            bar,
            quiet,
            live,
            lost: AtomicBool::new(false),
            kept: Mutex::default(),
        }
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// A result, for people to keep.
    pub(crate) fn print(&self, text: &str) {
        match text.ends_with('\n') {
            true => self.write(text.as_bytes()),
            false => self.write(format!("{text}\n").as_bytes()),
        }
    }

    /// The bytes of a result.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let print = || {
            let mut out = std::io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        };
        let printed = if self.live {
            self.bar.suspend(print)
        } else {
            print()
        };
        if let Err(e) = printed {
            // A reader that went away (`| head`) is no error of ours.
            let lost = e.kind() != std::io::ErrorKind::BrokenPipe;
            self.lost.fetch_or(lost, Ordering::Relaxed);
        }
    }

    /// A result, for programs to read.
    pub(crate) fn document(&self, json: Result<String, serde_json::Error>) -> Result<(), Failure> {
        self.print(&json.map_err(|e| Failure::new(Exit::Internal, e))?);
        Ok(())
    }

    /// A result: the document for programs, or the text for people.
    pub(crate) fn show(
        &self,
        for_programs: bool,
        json: impl FnOnce() -> Result<String, serde_json::Error>,
        text: impl FnOnce(&Style) -> String,
    ) -> Result<(), Failure> {
        match for_programs {
            true => self.document(json())?,
            false => self.print(&text(&style())),
        }
        Ok(())
    }

    /// Whether a result could not be printed.
    pub(crate) fn lost_output(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Takes the progress line away, and says which boots were not made.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some([first, last]) = &kept.made {
            let boots = |n: usize| match n {
                1 => "1 boot".to_owned(),
                n => format!("{n} boots"),
            };
            let when = match first == last {
                true => first.clone(),
                false => format!("{first} to {last}"),
            };
            let again = match kept.again {
                0 => String::new(),
                n => format!("; {} made again, the same", boots(n)),
            };
            let taken = boots(kept.taken);
            self.note(&format!(
                "kept: {taken} not made again but taken from {when}{again} (--fresh makes all)"
            ));
        }
    }
}

impl Progress for Ui {
    fn step(&self, what: &str) {
        let what = &harmless(what);
        if self.live {
            if self.bar.is_hidden() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                self.bar.enable_steady_tick(Duration::from_millis(120));
            }
            self.bar.set_style(plain_style());
            self.bar.set_length(0);
            self.bar.set_message(what.to_owned());
        } else if !self.quiet {
            eprintln!("{what}");
        }
    }

    fn count(&self, what: &str, total: usize) {
        self.step(what);
        let what = harmless(what);
        if self.live {
            self.bar.reset();
            self.bar.set_length(total as u64);
            self.bar.set_style(counting_style());
            self.bar.set_message(what);
        }
    }

    fn one_done(&self) {
        if self.live {
            self.bar.inc(1);
        }
    }

    fn note(&self, text: &str) {
        if self.quiet {
            return;
        }
        let text = harmless(text);
        if self.live {
            self.bar.suspend(|| eprintln!("{text}"));
        } else {
            eprintln!("{text}");
        }
    }

    fn kept(&self, made: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // 2026-11-25T21:03:05Z, to the minute.
        let made = made.get(..16).unwrap_or(made).replace('T', " ");
        let [first, last] = kept.made.take().unwrap_or([made.clone(), made.clone()]);
        kept.made = Some([first.min(made.clone()), last.max(made)]);
        kept.taken += 1;
    }

    fn kept_again(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.again += 1;
    }

    fn stop_when_asked(&self, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
        stop_when_asked(stop)
    }
}

/// Text for standard error, in which names and console lines may stand: no line
/// of it controls a terminal.
pub(crate) fn harmless(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(clean).collect();
    lines.join("\n")
}

fn plain_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg}").expect("a valid template")
}

fn counting_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg} {pos}/{len} {elapsed}{left}")
        .expect("a valid template")
        .with_key(
            "left",
            |state: &ProgressState, text: &mut dyn fmt::Write| {
                // Before the first is done nobody knows how long one takes.
                if state.pos() > 0 {
                    let _ = write!(text, " (left: {:#})", HumanDuration(state.eta()));
                }
            },
        )
}

/// How results look where standard output goes: colours only on a terminal that
/// understands them and whose user did not turn them off, and as wide as it is.
/// Elsewhere `COLUMNS` says how wide.
pub(crate) fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let size = terminal_size::terminal_size_of(std::io::stdout());
    let width = size.map(|(w, _)| usize::from(w.0));
    let columns = variable("COLUMNS").and_then(|c| c.parse().ok());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = locale.iter().find_map(|name| variable(name));
    let locale = locale.unwrap_or_default();
    Style {
        width: width.or(columns).unwrap_or(80),
        color: terminal && wants_color(&variable),
        unicode: locale.to_uppercase().replace('-', "").contains("UTF8"),
    }
}

/// A variable of the environment that says something.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    Some(value).filter(|value| !value.is_empty())
}

/// Whether a terminal is to have colours: see <https://no-color.org> and
/// <https://bixense.com/clicolors>.
fn wants_color(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is = |name, value| variable(name).as_deref() == Some(value);
    variable("NO_COLOR").is_none() && !is("CLICOLOR", "0") && !is("TERM", "dumb")
}

#[cfg(test)]
mod tests {
    use super::wants_color;

    #[test]
    fn colours_can_be_turned_off() {
        let with = |set: (&str, &str)| {
            let of = |name: &str| (name == set.0).then(|| set.1.to_owned());
            wants_color(&of)
        };
        assert!(with(("TERM", "xterm")) && with(("CLICOLOR", "1")));
        assert!(!with(("NO_COLOR", "1")) && !with(("NO_COLOR", "0")));
        assert!(!with(("CLICOLOR", "0")) && !with(("TERM", "dumb")));
    }
}
