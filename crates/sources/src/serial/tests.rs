//! Logs of boards that never were, at rates that are known.

use super::*;
use crate::Hints;

/// What a kernel printed: its own work between lines, ns, and what it said.
type Said<'a> = (i64, &'a str);

/// How a made-up machine prints.
struct Machine {
    baud: i64,
    /// The line that enables the serial console; before it nothing is sent.
    enables: &'static str,
    /// The line comes before what it flushes.
    line_first: bool,
    /// Every fifth line is below the console's level.
    hides: bool,
}

const BOARD: Machine = Machine {
    baud: 115_200,
    enables: "printk: console [ttyS0] enabled",
    line_first: false,
    hides: false,
};

impl Machine {
    fn wire_ns(&self, text: &str) -> i64 {
        (text.len() as i64 + 17) * 10_000_000_000 / self.baud
    }

    /// Its log, as dmesg prints it.
    fn log(&self, said: &[Said<'_>]) -> String {
        let (mut now, mut log, mut live) = (0, String::new(), false);
        let mut before = 0;
        for (i, (work_ns, text)) in said.iter().enumerate() {
            now += work_ns;
            let enables = *text == self.enables;
            if enables && !self.line_first {
                now += before;
            }
            let (s, us) = (now / 1_000_000_000, now / 1_000 % 1_000_000);
            log.push_str(&format!("[{s:5}.{us:06}] {text}\n"));
            let is_sent = !(self.hides && i % 5 == 2);
            let sent = self.wire_ns(text);
            match live || enables {
                true if is_sent => now += sent,
                true => {}
                false if is_sent => before += sent,
                false => {}
            }
            if enables && self.line_first {
                now += before;
            }
            live |= enables;
        }
        log
    }
}

/// A boot that says something 200 times, between 0.1 and 0.5 ms of work, and is silent
/// for 300 ms once.
fn boot(enables: &str) -> String {
    let mut said = String::from("Linux version 6.1.0 (a@b) #1 SMP\n");
    for i in 0..200 {
        if i == 80 {
            said.push_str(enables);
            said.push('\n');
        }
        let tail = "x".repeat(i * 7 % 60);
        said.push_str(&format!("driver{i} 1000.bus: found {tail}.\n"));
    }
    said
}

fn said(text: &str) -> Vec<Said<'_>> {
    let lines = text.lines().enumerate();
    let work_ns = |i: usize| match i {
        150 => 300_000_000,
        i => 100_000 + (i as i64 * 37_000) % 400_000,
    };
    lines.map(|(i, line)| (work_ns(i), line)).collect()
}

fn read(log: &str) -> Timeline {
    let mut timeline = Timeline::default();
    let source = crate::named("dmesg").unwrap();
    let mut bytes = log.as_bytes();
    let hints = Hints::default();
    let input = crate::Input {
        label: "log",
        bytes: &mut bytes,
        hints: &hints,
    };
    source.read(input, &mut timeline).unwrap();
    charge(&mut timeline);
    timeline
}

fn lasted_ns(span: &Span) -> Option<i64> {
    Some(span.end.known()?.ns - span.start.ns)
}

fn flush(timeline: &Timeline) -> Option<&Span> {
    let mut spans = timeline.spans_of(TrackKind::Kernel);
    spans.find(|s| timeline.text(s.name) == Span::LOG_FLUSH)
}

/// What lies between the end of a line and the next one, the longest first, ms.
fn silences_ms(timeline: &Timeline) -> Vec<i64> {
    let lines: Vec<&Span> = timeline.spans_of(TrackKind::Console).collect();
    let silence = |(a, b): (&&Span, &&Span)| {
        let end = a.end.known().unwrap_or(a.start);
        (b.start.ns - end.ns) / 1_000_000
    };
    let mut silences: Vec<i64> = lines.iter().zip(&lines[1..]).map(silence).collect();
    silences.sort_by_key(|s| std::cmp::Reverse(*s));
    silences
}

#[test]
fn a_consoles_flush_is_no_silence() {
    for (machine, hidden) in [
        (BOARD, false),
        (
            Machine {
                hides: true,
                ..BOARD
            },
            true,
        ),
        (
            Machine {
                baud: 9_600,
                line_first: true,
                ..BOARD
            },
            false,
        ),
    ] {
        let text = boot(machine.enables);
        let said = said(&text);
        let timeline = read(&machine.log(&said));
        let flush = flush(&timeline).expect("there is a flush");
        let logged = said.iter().take_while(|s| s.1 != machine.enables);
        let bytes: i64 = logged.map(|s| s.1.len() as i64 + 17).sum();
        assert_eq!(timeline.arg(flush, "bytes"), Some(&*bytes.to_string()));
        assert_eq!(timeline.arg(flush, "console"), Some("ttyS0"));
        let baud: i64 = timeline.arg(flush, "baud").unwrap().parse().unwrap();
        let off = (baud - machine.baud) * 100 / machine.baud;
        assert!((-7..=0).contains(&off), "{baud} for {}", machine.baud);
        let wire_ns = bytes * 10_000_000_000 / machine.baud;
        let took = lasted_ns(flush).unwrap();
        let least = if hidden { 60 } else { 97 };
        assert!((least..=104).contains(&(took * 100 / wire_ns)), "{took}");
    }
}

#[test]
fn what_is_left_of_a_gap_is_the_silence() {
    let text = boot(BOARD.enables);
    let timeline = read(&BOARD.log(&said(&text)));
    let silences = silences_ms(&timeline);
    // The flush, which is a span of its own, then the real one.
    assert!((290..=300).contains(&silences[1]), "{silences:?}");
    assert!(silences[2] == 0, "{silences:?}");
}

#[test]
fn a_boot_console_leaves_nothing_to_flush() {
    let machine = Machine {
        enables: "printk: legacy bootconsole [uart8250] enabled",
        ..BOARD
    };
    let text = boot(machine.enables).replace(BOARD.enables, "");
    let timeline = read(&machine.log(&said(&text)));
    assert!(flush(&timeline).is_none());
    assert!(timeline.spans.iter().any(|s| lasted_ns(s).is_some()));
}

#[test]
fn a_console_that_costs_nothing_is_charged_nothing() {
    for machine in [
        // The screen, and a log that nobody prints.
        Machine {
            enables: "printk: console [tty0] enabled",
            ..BOARD
        },
        Machine {
            enables: "",
            ..BOARD
        },
    ] {
        let text = boot(machine.enables);
        let fast = Machine {
            baud: 10_000_000_000,
            ..machine
        };
        let timeline = read(&fast.log(&said(&text)));
        assert!(flush(&timeline).is_none());
        let ends = timeline.spans_of(TrackKind::Console).filter_map(lasted_ns);
        assert_eq!(ends.count(), 0);
    }
}

#[test]
fn consoles_are_told_from_what_is_no_wire() {
    let on = |text: &str| enabled(text).map(|e| (e.name.to_owned(), e.early));
    let some = |name: &str, early| Some((name.to_owned(), early));
    assert_eq!(on("console [ttyS1] enabled"), some("ttyS1", false));
    assert_eq!(
        on("printk: legacy bootconsole [pl11] enabled"),
        some("pl11", true)
    );
    for other in ["tty0", "netcon0", "ramoops-1", "ram-1", "hvc0"] {
        assert_eq!(on(&format!("printk: console [{other}] enabled")), None);
    }
    assert_eq!(on("printk: console [ttyS0] disabled"), None);
    assert_eq!(on("printk: console [ttyS0] printing thread started"), None);
}

proptest::proptest! {
    /// Whatever the kernel does between lines: they have ends, and none ends later than the
    /// next one begins.
    #[test]
    fn no_line_is_printed_into_the_next(
        gaps in proptest::collection::vec(
            proptest::prop_oneof![9 => 0..250_000i64, 1 => 0..90_000_000i64],
            120..200,
        ),
    ) {
        let text = boot(BOARD.enables);
        let said = text.lines().zip(gaps).map(|(line, gap)| (gap, line));
        let timeline = read(&BOARD.log(&said.collect::<Vec<_>>()));
        let lines: Vec<&Span> = timeline.spans_of(TrackKind::Console).collect();
        proptest::prop_assert!(lines.iter().any(|l| l.end.known().is_some()));
        for pair in lines.windows(2) {
            if let Some(end) = pair[0].end.known() {
                proptest::prop_assert!(end.ns <= pair[1].start.ns);
            }
        }
    }
}

#[test]
fn a_line_of_another_cpu_ends_nothing() {
    let text = boot(BOARD.enables);
    let log = BOARD.log(&said(&text));
    // Two CPUs log at once, and the later one is first in the log.
    let mut lines: Vec<&str> = log.lines().collect();
    lines.swap(100, 101);
    let swapped = lines.join("\n") + "\n";
    let ends = |log: &str| {
        let timeline = read(log);
        let console = timeline.spans_of(TrackKind::Console);
        console.filter_map(lasted_ns).count()
    };
    let (all, most) = (ends(&log), ends(&swapped));
    assert!(most + 4 >= all && all > 100, "{most} of {all}");
}
