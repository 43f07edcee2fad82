//! What people see while they wait, and how results are laid out.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bootlap_report::text::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress on standard error; results go to standard output.
pub(crate) struct Ui {
    bar: ProgressBar,
    quiet: bool,
    /// A terminal gets one line that changes, everything else one line a step.
    live: bool,
    /// Whether a result could not be printed.
    lost: AtomicBool,
}

impl Ui {
    pub(crate) fn new(quiet: bool) -> Self {
        let live = !quiet && std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self {
            bar,
            quiet,
            live,
            lost: AtomicBool::new(false),
        }
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Says what is being done.
    pub(crate) fn step(&self, what: &str) {
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

    /// Says what is being done many times over: shows how far, and how long
    /// it will take.
    pub(crate) fn count(&self, what: &str, total: usize) {
        self.step(what);
        if self.live {
            self.bar.reset();
            self.bar.set_length(total as u64);
            self.bar.set_style(counting_style());
            self.bar.set_message(what.to_owned());
        }
    }

    /// One of the many is done.
    pub(crate) fn one_done(&self) {
        if self.live {
            self.bar.inc(1);
        }
    }

    /// A line that stays.
    pub(crate) fn note(&self, text: &str) {
        if self.quiet {
            return;
        }
        if self.live {
            self.bar.suspend(|| eprintln!("{text}"));
        } else {
            eprintln!("{text}");
        }
    }

    /// A result, for people to keep.
    pub(crate) fn print(&self, text: &str) {
        let print = || {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            if !text.ends_with('\n') {
                out.write_all(b"\n")?;
            }
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

    /// Whether a result could not be printed.
    pub(crate) fn lost_output(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Takes the progress line away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

fn plain_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg}").expect("a valid template")
}

fn counting_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg} {pos}/{len} {elapsed} (left: {eta})")
        .expect("a valid template")
}

/// How results look where standard output goes.
pub(crate) fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let width = terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        .unwrap_or_default();
    Style {
        width: if terminal { width } else { columns }.unwrap_or(80),
        color: terminal && std::env::var_os("NO_COLOR").is_none(),
        unicode: locale.to_uppercase().replace('-', "").contains("UTF8"),
    }
}
