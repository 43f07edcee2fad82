//! What people see of a capture while it runs.
//!
//! ```text
//!     0.000   0.000 | U-Boot SPL 2023.01 (Jan 09 2023 - 12:00:00 +0000)
//!     0.412   0.412 | Starting kernel ...
//!  boot 2/5    3.207 s   kernel 0.412  best -0.031  last +0.002
//! ```
//!
//! On a terminal the last row is a footer with the splits, and an unfinished
//! line (a prompt) stands above it; both are drawn anew 10 times a second at
//! most. Anywhere else there are lines and nothing but lines.

mod events;
mod footer;
mod keyboard;
mod screen;
mod splits;

use bootlap_lab::capture::CaptureEvent;
use bootlap_lab::{Fault, Run, Split};
use bootlap_report::Style;
use bootlap_report::clean::clean_bytes;

use crate::ui;

pub(crate) use keyboard::Keyboard;
pub(crate) use splits::History;

use footer::Footer;
use screen::Screen;

/// A line without end is shown in pieces of this size.
const LONGEST: usize = 16 << 10;
/// Deltas from here on are worth a look, ns.
const SLOW_NS: i64 = 100_000_000;
/// And these are what boots are slow for.
const VERY_SLOW_NS: i64 = 1_000_000_000;

/// How the console is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Lines with elapsed time and delta, cleaned of terminal control.
    Lines,
    /// As grabserial prints it with `-t`.
    Grabserial,
    /// The bytes as they come.
    Raw,
    /// A JSON object a line.
    Json,
}

/// See the module.
pub(crate) struct Live {
    shown: Shown,
    style: Style,
    terminal: bool,
    quiet: bool,
    screen: Screen,
    footer: Footer,
    history: History,
    boot: u32,
    /// Where times count from, and when the line before began; monotonic ns.
    zero: Option<i64>,
    before: Option<i64>,
    line: Vec<u8>,
    line_ns: i64,
    /// The prefix of the current line was written, and so much of it.
    written: Option<usize>,
    /// Rows that are to be drawn over.
    rows: usize,
}

impl Live {
    pub(crate) fn new(shown: Shown, boots: u32, quiet: bool, history: History) -> Self {
        use std::io::IsTerminal;
        let terminal = std::io::stdout().is_terminal();
        Self {
            shown,
            style: ui::style(),
            terminal,
            quiet,
            screen: Screen::start(terminal),
            footer: Footer::new(boots),
            history,
            boot: 1,
            zero: None,
            before: None,
            line: Vec::new(),
            line_ns: 0,
            written: None,
            rows: 0,
        }
    }

    pub(crate) fn hear(&mut self, event: &CaptureEvent<'_>) {
        match event {
            CaptureEvent::Begins { boot, dir } => {
                self.boot = *boot;
                self.zero = None;
                self.footer.begins(*boot);
                self.event(|boot| events::begins(boot, dir));
            }
            CaptureEvent::Zero { ns } => {
                self.zero = Some(*ns);
                self.footer.zero();
                self.event(events::zero);
            }
            CaptureEvent::Bytes { ns, bytes } => self.bytes(*ns, bytes),
            CaptureEvent::Split(split) => self.split(split),
            CaptureEvent::Fault(fault) => self.fault(fault),
            CaptureEvent::Sent(bytes) => self.event(|boot| events::sent(boot, bytes)),
            CaptureEvent::Tick { ns } => self.tick(*ns),
            CaptureEvent::Ends(run) => self.ends(run),
        }
    }

    /// Writes a line of JSON, if that is what is shown.
    fn event(&mut self, event: impl FnOnce(u32) -> serde_json::Value) {
        if self.shown == Shown::Json {
            let line = event(self.boot).to_string();
            self.screen.put(line.as_bytes());
            self.screen.put(b"\n");
        }
    }

    fn bytes(&mut self, ns: i64, bytes: &[u8]) {
        if self.shown == Shown::Raw {
            self.screen.put(bytes);
            return;
        }
        if self.shown == Shown::Grabserial {
            self.as_grabserial(ns, bytes);
            return;
        }
        if self.line.is_empty() {
            self.line_ns = ns;
        }
        self.line.extend_from_slice(bytes);
        if self.line.ends_with(b"\n") || self.line.len() > LONGEST {
            self.finish_line();
        }
    }

    fn finish_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let (elapsed, delta) = self.times();
        self.before = Some(self.line_ns);
        if self.shown == Shown::Json {
            let text = clean_bytes(&line);
            self.event(|boot| events::line(boot, elapsed, delta, text.trim_end()));
            return;
        }
        self.clear_area();
        let text = format!("{}{}\n", self.prefix(elapsed, delta), shown_text(&line));
        self.screen.put(text.as_bytes());
    }

    /// Elapsed and delta of the current line, ns.
    fn times(&self) -> (i64, i64) {
        let zero = self.zero.unwrap_or(self.line_ns);
        // The first line has taken since zero, as in grabserial.
        let before = self.before.map_or(zero, |before| before.max(zero));
        (self.line_ns - zero, (self.line_ns - before).max(0))
    }

    fn prefix(&self, elapsed: i64, delta: i64) -> String {
        let bar = if self.style.unicode { '│' } else { '|' };
        let (on, off) = match delta {
            _ if !self.style.color => ("", ""),
            VERY_SLOW_NS.. => ("\x1b[31m", "\x1b[0m"),
            SLOW_NS.. => ("\x1b[33m", "\x1b[0m"),
            _ => ("\x1b[2m", "\x1b[0m"),
        };
        let delta = seconds(delta);
        format!("{:>9} {on}{delta:>7}{off} {bar} ", seconds(elapsed))
    }

    /// `[2.391972 0.007345] text`: the time when the line's first byte came,
    /// carriage returns left out, bytes shown as they come.
    fn as_grabserial(&mut self, ns: i64, bytes: &[u8]) {
        for part in bytes.split(|b| *b == b'\r').filter(|part| !part.is_empty()) {
            if self.written.is_none() {
                self.line_ns = ns;
                let (elapsed, delta) = self.times();
                self.before = Some(ns);
                self.written = Some(0);
                let prefix = format!("[{} {}] ", micros(elapsed), micros(delta));
                self.screen.put(prefix.as_bytes());
            }
            self.line.extend_from_slice(part);
            if self.line.len() > LONGEST {
                self.put_rest_of_line();
                (self.line, self.written) = (Vec::new(), Some(0));
            }
        }
        if bytes.ends_with(b"\n") {
            self.put_rest_of_line();
            (self.line, self.written) = (Vec::new(), None);
        }
    }

    /// Writes what of the current line was not written yet.
    fn put_rest_of_line(&mut self) {
        let Some(written) = self.written else { return };
        let mut rest = String::new();
        for chunk in self.line[written..].utf8_chunks() {
            rest.push_str(chunk.valid());
        }
        self.written = Some(self.line.len());
        if self.terminal {
            let ends = rest.ends_with('\n');
            let text = clean_bytes(rest.as_bytes());
            rest = if ends { text + "\n" } else { text };
        }
        self.screen.put(rest.as_bytes());
    }

    fn split(&mut self, split: &Split) {
        let (best, last) = (
            self.history.best(&split.name),
            self.history.last(&split.name),
        );
        self.footer.split(split, best, last);
        self.event(|boot| events::split(boot, split, best, last));
    }

    fn fault(&mut self, fault: &Fault) {
        self.event(|boot| events::fault(boot, fault));
        self.note(&format!(
            "{:.3} s: {}",
            fault.ns as f64 / 1e9,
            fault_text(fault)
        ));
    }

    fn ends(&mut self, run: &Run) {
        if self.shown == Shown::Grabserial {
            self.put_rest_of_line();
            if self.written.take().is_some() {
                self.screen.put(b"\n");
            }
            self.line.clear();
        } else {
            self.finish_line();
        }
        self.before = None;
        self.event(|boot| events::ends(boot, run));
        let table = splits::table(run, &self.history, &self.style);
        self.note(&table);
        self.history.add(run);
    }

    /// A line for people, on standard error.
    fn note(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        self.clear_area();
        self.screen.note(text);
    }

    /// Draws what changes: the unfinished line and the footer.
    fn tick(&mut self, ns: i64) {
        match self.shown {
            Shown::Grabserial => self.put_rest_of_line(),
            Shown::Lines if self.terminal => {
                self.clear_area();
                self.draw_area(ns);
            }
            _ => {}
        }
        self.screen.flush();
    }

    fn draw_area(&mut self, ns: i64) {
        let mut area = String::new();
        let width = self.style.width.max(20) - 1;
        if !self.line.is_empty() {
            let (elapsed, delta) = self.times();
            let room = width.saturating_sub(20);
            let text: String = shown_text(&self.line).chars().take(room).collect();
            area += &format!("{}{text}\n", self.prefix(elapsed, delta));
            self.rows += 1;
        }
        let elapsed = self.zero.map(|zero| ns - zero);
        let footer = self.footer.draw(elapsed, width, &self.style);
        area += &footer;
        area.push('\n');
        self.rows += 1;
        self.screen.put(area.as_bytes());
    }

    /// Takes the unfinished line and the footer away.
    fn clear_area(&mut self) {
        if self.rows > 0 {
            let up = format!("\x1b[{}A\r\x1b[J", self.rows);
            self.screen.put(up.as_bytes());
            self.rows = 0;
        }
    }

    /// Nothing more will come; says whether all could be shown.
    pub(crate) fn done(mut self, hurry: bool) -> bool {
        self.clear_area();
        self.screen.done(hurry)
    }
}

/// A line of the console as text of one row, as it stands at its end.
fn shown_text(line: &[u8]) -> String {
    let line = line.trim_ascii_end();
    // What is printed over, a countdown or a progress bar, is gone.
    let from = line.iter().rposition(|b| *b == b'\r').map_or(0, |i| i + 1);
    let mut text = Vec::with_capacity(line.len());
    for &byte in &line[from..] {
        match byte {
            0x08 => {
                text.pop();
            }
            0 | 0x07 => {}
            byte => text.push(byte),
        }
    }
    clean_bytes(&text)
}

fn fault_text(fault: &Fault) -> String {
    let text = clean_bytes(fault.text.as_bytes());
    match fault.kind.as_str() {
        "gone" => format!("the console is gone: {text}; waiting for it"),
        "returned" => format!("the console is back {text}"),
        "send" => format!("could not send: {text}"),
        _ => text,
    }
}

/// `12.345`
fn seconds(ns: i64) -> String {
    let ms = (ns.abs() + 500_000) / 1_000_000;
    let sign = if ns < 0 && ms > 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", ms / 1000, ms % 1000)
}

/// `12.345678`
fn micros(ns: i64) -> String {
    let us = (ns.abs() + 500) / 1000;
    let sign = if ns < 0 && us > 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", us / 1_000_000, us % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_as_they_stand_at_their_end() {
        assert_eq!(
            shown_text(b"autoboot:  2 \x08\x08\x08 1 \x08\x08\x08 0 \r\n"),
            "autoboot:  0"
        );
        assert_eq!(shown_text(b"10 %\r100 %\r\r\n"), "100 %");
        assert_eq!(
            shown_text(b"\0\x1b[31mred\x1b[0m\x1b]0;title\x07!\xff"),
            "red␛]0;title!\u{fffd}"
        );
        assert_eq!(shown_text(b""), "");
    }

    #[test]
    fn times_are_printed_as_people_and_grabserial_do() {
        assert_eq!(
            (seconds(1_234_567_890), seconds(-1)),
            ("1.235".into(), "0.000".into())
        );
        assert_eq!(seconds(-31_000_000), "-0.031");
        assert_eq!(micros(2_391_972_499), "2.391972");
        assert_eq!(micros(-500_000_000), "-0.500000");
    }
}
