//! VCD: the Value Change Dump of simulators and logic analysers (IEEE 1364).
//!
//! ```text
//! $version libsigrok 0.5.2 $end
//! $comment
//!   Acquisition with 2/8 channels at 1 MHz
//! $end
//! $timescale 1 us $end
//! $scope module libsigrok $end
//! $var wire 1 ! power $end
//! $var wire 1 " uart $end
//! $upscope $end
//! $enddefinitions $end
//! #0 0! 1"
//! #1500 1!
//! #2107 0"
//! ```
//!
//! Written by sigrok-cli and PulseView, DSView, Saleae and WaveForms exports,
//! GTKWave, Verilator and Icarus. Times count the unit of `$timescale` since the
//! recording began; the sample rate, if a comment says it, is coarser. What
//! becomes of the pins is told in [`crate::pins`].
//!
//! - sigrok writes the changes after the time, others one a line. What
//!   sigrok-cli prints besides (`META samplerate: 1000000`, voltages) can be
//!   in the file too.
//! - Values: `0 1 x z` and VHDL's `u w l h -` before the identifier; `b0101 id`,
//!   `r1.5 id`, and GTKWave's `stext id` apart from it.
//! - Identifiers are any printable characters, `#`, `$` and digits too. Verilator
//!   and Icarus give one identifier to several names: the first is taken, or
//!   one that says what the pin is (`power`, `reset`, `ready`).

use std::collections::HashMap;

use bootlap_model::{ClockKind, Evidence, Severity, Timeline};

use crate::pins::units::{FS_PER_NS, fs_to_ns, rate_hz, scaled, time_unit};
use crate::pins::{Level, PinId, Pins, Recording};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// Deeper scopes do not name pins.
const MAX_SCOPES: usize = 64;
/// Directives and names are cut there.
const MAX_WORDS: usize = 64;

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "vcd",
    title: "value change dump of a logic analyser",
    looks_like: "`$timescale`, `$var` and `$enddefinitions`, then `#time` and changes",
    sniff,
    read,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    let first = text::head_lines(head).find(|l| !l.trim_ascii().is_empty());
    let first = first.unwrap_or_default().trim_ascii_start();
    let has = |what: &str| memchr::memmem::find(head, what.as_bytes()).is_some();
    let parts = ["$timescale", "$var ", "$enddefinitions", "$scope "];
    let parts = parts.iter().filter(|p| has(p)).count();
    match (first.first() == Some(&b'$'), parts) {
        (true, 2..) => Sniff::CERTAIN,
        (true, 1) => Sniff::SURE,
        // sigrok-cli prints what it was told before the dump itself.
        (false, 3..) => Sniff::SURE,
        (true, 0)
            if ["$date", "$version", "$comment"]
                .iter()
                .any(|d| first.starts_with(d.as_bytes())) =>
        {
            Sniff::percent(50)
        }
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let label = input.label.to_owned();
    let mut reader = VcdReader {
        recording: Recording {
            label: &label,
            source: SOURCE.name,
            hints: input.hints,
            resolution_ns: 1,
        },
        unit_fs: None,
        rate_hz: None,
        pins: Pins::default(),
        by_id: HashMap::new(),
        scopes: Vec::new(),
        deeper: 0,
        words: Vec::new(),
        begun: None,
        value: None,
        zero: 0,
        now: None,
        behind: false,
    };
    text::read(input, &SOURCE, out, &mut reader)
}

/// What an identifier stands for.
#[derive(Clone, Copy)]
enum Var {
    Bit(PinId),
    Word(PinId),
    Real(PinId),
}

struct VcdReader<'r> {
    recording: Recording<'r>,
    /// The unit of times; 1 ns until the file says it.
    unit_fs: Option<i128>,
    rate_hz: Option<u64>,
    pins: Pins,
    by_id: HashMap<Vec<u8>, Var>,
    scopes: Vec<String>,
    /// Open scopes that are not in `scopes`.
    deeper: usize,
    /// The directive that is being read, and its words so far.
    begun: Option<Vec<u8>>,
    words: Vec<Vec<u8>>,
    /// A value whose identifier is the next word.
    value: Option<Vec<u8>>,
    /// `$timezero`.
    zero: i128,
    now: Option<i64>,
    /// The time ran backwards, and has not come back yet.
    behind: bool,
}

impl Reader for VcdReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if self.begun.is_none() && self.around(line.str())? {
            return Ok(());
        }
        let mut result = Ok(());
        for word in line.text.split(u8::is_ascii_whitespace) {
            if word.is_empty() {
                continue;
            }
            if let Err(skip) = self.word(word, line.at, import) {
                result = Err(skip);
            }
        }
        result
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let unit_ns = (self.unit_fs() / FS_PER_NS).max(1);
        let period_ns = self.rate_hz.map_or(0, |hz| i128::from(1_000_000_000 / hz));
        let resolution = u32::try_from(unit_ns.max(period_ns)).unwrap_or(u32::MAX);
        self.recording.resolution_ns = resolution;
        let clock = import.clock(ClockKind::Analyser);
        std::mem::take(&mut self.pins).finish(&self.recording, clock, import);
    }
}

impl VcdReader<'_> {
    fn unit_fs(&self) -> i128 {
        self.unit_fs.unwrap_or(FS_PER_NS)
    }

    /// Takes a line that sigrok-cli prints into the dump although it is no
    /// part of it; `false` if it is none.
    fn around(&mut self, line: &str) -> Result<bool, Skip> {
        if let Some(hz) = line.strip_prefix("META samplerate:") {
            self.rate_hz = self.rate_hz.or(hz.trim().parse().ok().filter(|hz| *hz > 0));
            return Ok(true);
        }
        // `A0: -10.0000 V DC`
        let voltage = |(name, rest): (&str, &str)| {
            let number = rest.split(' ').next().unwrap_or_default();
            !name.contains(['#', '$', '!']) && number.contains('.') && number.parse::<f64>().is_ok()
        };
        if line.split_once(": ").is_some_and(voltage) {
            return Err(Skip::lost(
                "voltages-without-time",
                "sigrok-cli printed these voltages without a time: export them as CSV (-O csv:time=true)",
            ));
        }
        Ok(false)
    }

    fn word(&mut self, word: &[u8], at: Evidence, import: &mut Import<'_>) -> Result<(), Skip> {
        if let Some(directive) = &self.begun {
            if word == b"$end" {
                let directive = directive.clone();
                self.begun = None;
                return self.directive(&directive, at, import);
            }
            if self.words.len() < MAX_WORDS {
                self.words.push(word[..word.len().min(200)].to_vec());
            }
            return Ok(());
        }
        if let Some(value) = self.value.take() {
            return self.change(&value, word, at, import);
        }
        match word {
            // Their values stand between them and the next `$end`.
            b"$end" | b"$dumpvars" | b"$dumpall" | b"$dumpon" | b"$dumpoff" => Ok(()),
            [b'$', _, ..] => {
                self.begun = Some(word[..word.len().min(200)].to_vec());
                self.words.clear();
                Ok(())
            }
            [b'#', time @ ..] => self.time(time, at, import),
            [b'b' | b'B' | b'r' | b'R' | b's' | b'S', _, ..] => {
                self.value = Some(word[..word.len().min(4096)].to_vec());
                Ok(())
            }
            [value, id @ ..] if !id.is_empty() && Level::of(*value).is_some() => {
                self.change(&[*value], id, at, import)
            }
            _ => Err(UNKNOWN),
        }
    }

    fn directive(
        &mut self,
        name: &[u8],
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let words = std::mem::take(&mut self.words);
        let text = words
            .iter()
            .map(|w| String::from_utf8_lossy(w))
            .collect::<Vec<_>>();
        match name {
            b"$timescale" => {
                let text = text.concat();
                let split = text
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(text.len());
                let (number, unit) = text.split_at(split);
                let number = if number.is_empty() { "1" } else { number };
                let unit = time_unit(unit).and_then(|p| scaled(number.as_bytes(), p + 15));
                let Some(unit) = unit.filter(|u| *u > 0) else {
                    return Err(Skip::unknown(
                        "expected a unit of time: `$timescale 1 us $end`",
                    ));
                };
                self.unit_fs = Some(unit);
            }
            b"$timezero" => {
                self.zero = text
                    .first()
                    .and_then(|t| scaled(t.as_bytes(), 0))
                    .unwrap_or(0);
            }
            b"$comment" => self.rate_hz = self.rate_hz.or(rate_hz(&text.join(" "))),
            b"$scope" if self.scopes.len() < MAX_SCOPES => {
                let name = text.get(1).map_or(String::new(), |name| name.to_string());
                self.scopes.push(name);
            }
            b"$scope" => self.deeper += 1,
            b"$upscope" if self.deeper > 0 => self.deeper -= 1,
            b"$upscope" => {
                self.scopes.pop();
            }
            b"$var" => return self.var(&text, &words, at, import),
            _ => {}
        }
        Ok(())
    }

    /// `wire 1 ! D0`, `reg 8 % data [7:0]`.
    fn var(
        &mut self,
        text: &[std::borrow::Cow<'_, str>],
        words: &[Vec<u8>],
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let [kind, width, _, name @ ..] = text else {
            return Err(Skip::unknown("expected a signal: `$var wire 1 ! D0 $end`"));
        };
        let name = name.join(" ");
        let id = &words[2];
        // Tools put all pins of a device into one scope; simulators have many.
        let name = match self.scopes.get(1..) {
            Some(inner) if !inner.is_empty() => format!("{}.{name}", inner.join(".")),
            _ => name,
        };
        if let Some(known) = self.by_id.get(id) {
            if let Var::Bit(pin) = known {
                self.pins.also_called(*pin, &name);
            }
            return Ok(());
        }
        let var = match (&kind[..], &width[..]) {
            ("real" | "realtime" | "shortreal", _) => {
                Var::Real(self.pins.quantity(&name, "value", at, import))
            }
            ("parameter" | "string", _) => Var::Word(self.pins.word(&name, at, import)),
            (_, "1") => Var::Bit(self.pins.bit(&name, at, import)),
            _ => Var::Word(self.pins.word(&name, at, import)),
        };
        self.by_id.insert(id.clone(), var);
        Ok(())
    }

    fn time(&mut self, time: &[u8], at: Evidence, import: &mut Import<'_>) -> Result<(), Skip> {
        if self.unit_fs.is_none() && self.now.is_none() {
            import.notice(
                "no-timescale",
                Severity::Notice,
                at,
                "the file does not say what its times count (`$timescale`), so they were taken as ns",
            );
        }
        let fs =
            scaled(time, 0).and_then(|t| t.checked_add(self.zero)?.checked_mul(self.unit_fs()));
        let Some(ns) = fs.and_then(fs_to_ns) else {
            return Err(Skip::unknown("expected a time: `#1500`"));
        };
        self.behind = self.now.is_some_and(|now| ns < now);
        if self.behind {
            return Err(BACKWARDS);
        }
        self.now = Some(ns);
        self.pins.seen(ns);
        Ok(())
    }

    fn change(
        &mut self,
        value: &[u8],
        id: &[u8],
        at: Evidence,
        _: &mut Import<'_>,
    ) -> Result<(), Skip> {
        if self.behind {
            return Err(BACKWARDS);
        }
        // Values before the first time are those at the beginning.
        let now = self.now.unwrap_or(0);
        let (Some(&first), Some(&var)) = (value.first(), self.by_id.get(id)) else {
            return Err(Skip::lost(
                "undeclared-signal",
                "these changes are of signals that no `$var` declares: is the beginning of the file missing?",
            ));
        };
        let digits = match first {
            b'b' | b'B' | b'r' | b'R' | b's' | b'S' => &value[1..],
            _ => value,
        };
        match var {
            Var::Bit(pin) => {
                let Some(level) = digits.last().and_then(|d| Level::of(*d)) else {
                    return Err(UNKNOWN);
                };
                self.pins.level(pin, now, level, at);
            }
            Var::Word(pin) => {
                let value = String::from_utf8_lossy(digits);
                self.pins.value(pin, now, &value, at);
            }
            Var::Real(pin) => {
                let value = std::str::from_utf8(digits)
                    .ok()
                    .and_then(|d| d.parse().ok());
                self.pins.sample(pin, now, value.ok_or(UNKNOWN)?);
            }
        }
        Ok(())
    }
}

const UNKNOWN: Skip = Skip::unknown("expected a time (`#1500`) or changes (`1!`, `b0101 %`)");

const BACKWARDS: Skip = Skip::lost(
    "time-runs-backwards",
    "these changes come before earlier ones, and are left out: was the file put together from several?",
);
