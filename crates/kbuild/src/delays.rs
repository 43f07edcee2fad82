//! Delays that an initcall can reach within its own file.
//!
//! Calls are followed by name from the initcall on, and through the drivers
//! that it registers to their probes. What is found can run; whether it does
//! depends on the hardware.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::number::{Constants, Number};
use crate::source::{Body, Source, byte, close, name_at, names, parts, skip_space};

/// Functions that are followed, delays that are kept, and loops of a function.
const MOST_FUNCTIONS: usize = 2_000;
const MOST_DELAYS: usize = 500;
const MOST_LOOPS: usize = 256;
/// Arguments of a delay, in bytes.
const LONGEST_ARGUMENTS: usize = 2_000;

/// How a delay passes its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The CPU is busy meanwhile: `mdelay`.
    Busy,
    /// Others may run meanwhile: `msleep`.
    Sleep,
    /// It waits for something, at most so long: `wait_for_completion_timeout`.
    Limit,
}

impl How {
    /// The word for it.
    pub fn text(self) -> &'static str {
        match self {
            How::Busy => "busy",
            How::Sleep => "sleep",
            How::Limit => "limit",
        }
    }
}

/// A delay that an initcall can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DelayJson")]
pub struct Delay {
    /// As it is called: `mdelay(50)`.
    pub call: String,
    /// `busy`, `sleep` or `limit` (of a wait).
    #[schemars(with = "String")]
    pub how: How,
    /// How long once, ns; at least, of a range; null if that is no constant.
    pub ns: Option<i64>,
    /// The other end, ns, if it is a range.
    pub most_ns: Option<i64>,
    /// Whether it stands in a loop.
    pub in_loop: bool,
    /// How often the loops around it go round, if that is constant.
    pub times: Option<i64>,
    /// The line.
    pub line: u32,
    /// The functions that lead to it, the initcall first.
    pub path: Vec<String>,
}

impl Delay {
    /// All its time, if all of it is constant, in ns.
    pub fn total_ns(&self) -> Option<i64> {
        let times = match self.in_loop {
            true => self.times?,
            false => 1,
        };
        self.ns?.checked_mul(times)
    }
}

/// What the number of a delay counts.
enum Unit {
    Ns(i64),
    Jiffies,
}

/// How a function delays: the argument that says how long, its unit, and the
/// argument that is the other end.
struct Kind {
    how: How,
    arg: usize,
    unit: Unit,
    most: Option<usize>,
}

const US: i64 = 1_000;
const MS: i64 = 1_000_000;

fn kind(name: &str, args: usize) -> Option<Kind> {
    let of = |how, arg, ns| Kind {
        how,
        arg,
        unit: Unit::Ns(ns),
        most: None,
    };
    let jiffies = |how, arg| Kind {
        how,
        arg,
        unit: Unit::Jiffies,
        most: None,
    };
    Some(match name {
        "mdelay" => of(How::Busy, 0, MS),
        "udelay" => of(How::Busy, 0, US),
        "ndelay" => of(How::Busy, 0, 1),
        "msleep" | "msleep_interruptible" => of(How::Sleep, 0, MS),
        "ssleep" => of(How::Sleep, 0, 1_000 * MS),
        "fsleep" => of(How::Sleep, 0, US),
        "usleep_range" | "usleep_range_state" | "usleep_idle_range" => Kind {
            most: Some(1),
            ..of(How::Sleep, 0, US)
        },
        "schedule_timeout"
        | "schedule_timeout_interruptible"
        | "schedule_timeout_uninterruptible"
        | "schedule_timeout_killable"
        | "schedule_timeout_idle" => jiffies(How::Sleep, 0),
        "wait_for_completion_timeout"
        | "wait_for_completion_interruptible_timeout"
        | "wait_for_completion_killable_timeout"
        | "wait_for_completion_io_timeout" => jiffies(How::Limit, 1),
        "wait_event_timeout"
        | "wait_event_interruptible_timeout"
        | "wait_event_killable_timeout" => jiffies(How::Limit, 2),
        // (op, val, cond, sleep, timeout, sleep first, args…)
        "read_poll_timeout" | "read_poll_timeout_atomic" | "poll_timeout_us" => {
            of(How::Limit, 4, US)
        }
        "phy_read_poll_timeout" => of(How::Limit, 5, US),
        "phy_read_mmd_poll_timeout" => of(How::Limit, 6, US),
        // The others end with it.
        name if name.ends_with("_poll_timeout") || name.ends_with("_poll_timeout_atomic") => {
            of(How::Limit, args.checked_sub(1)?, US)
        }
        _ => return None,
    })
}

/// Fields of a driver through which the kernel calls it when it is registered.
const ENTRIES: [&str; 9] = [
    "probe",
    "probe_new",
    "bind",
    "connect",
    "attach",
    "add",
    "add_dev",
    "init",
    "setup",
];

/// What a file has, for following calls.
pub(crate) struct File<'s> {
    source: &'s Source,
    bodies: Vec<Body>,
    constants: Constants,
    functions: HashMap<String, usize>,
    variables: HashMap<String, usize>,
}

impl<'s> File<'s> {
    /// Reads a file.
    pub(crate) fn new(source: &'s Source) -> Self {
        let bodies = source.bodies();
        let (mut functions, mut variables) = (HashMap::new(), HashMap::new());
        for (at, body) in bodies.iter().enumerate() {
            let names = if body.is_function {
                &mut functions
            } else {
                &mut variables
            };
            names.entry(body.name.clone()).or_insert(at);
        }
        Self {
            constants: Constants::of(source),
            source,
            bodies,
            functions,
            variables,
        }
    }

    /// The line in which a function is defined.
    pub(crate) fn line_of(&self, function: &str) -> Option<u32> {
        let body = self.bodies.get(*self.functions.get(function)?)?;
        Some(self.source.line(body.at))
    }

    /// The delays that `from` can reach, and the names that it was given.
    pub(crate) fn delays(&self, from: &str, given: &[String]) -> Vec<Delay> {
        let mut delays = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut queue: VecDeque<(usize, Vec<String>)> = VecDeque::new();
        for name in std::iter::once(from).chain(given.iter().map(String::as_str)) {
            let path = if name == from {
                Vec::new()
            } else {
                vec![from.to_owned()]
            };
            self.follow(name, &path, &mut seen, &mut queue);
        }
        while let Some((at, path)) = queue.pop_front() {
            if seen.len() > MOST_FUNCTIONS || delays.len() >= MOST_DELAYS {
                break;
            }
            if let Some(body) = self.bodies.get(at) {
                self.body(body, &path, &mut seen, &mut queue, &mut delays);
            }
        }
        delays
    }

    /// Puts what a name stands for into the queue: a function, or the
    /// functions that a variable of that name has as its entries.
    fn follow<'a>(
        &'a self,
        name: &str,
        path: &[String],
        seen: &mut HashSet<&'a str>,
        queue: &mut VecDeque<(usize, Vec<String>)>,
    ) {
        if let Some(at) = self.functions.get(name) {
            if let Some(body) = self.bodies.get(*at)
                && seen.insert(&body.name)
            {
                let mut path = path.to_vec();
                path.push(body.name.clone());
                queue.push_back((*at, path));
            }
        } else if let Some(at) = self.variables.get(name)
            && let Some(body) = self.bodies.get(*at)
            && seen.insert(&body.name)
        {
            for entry in self.entries(body) {
                self.follow(&entry, path, seen, queue);
            }
        }
    }

    /// `.probe = foo_probe`
    fn entries(&self, body: &Body) -> Vec<String> {
        let code = &self.source.code;
        let mut found = Vec::new();
        let mut at = body.range.start;
        while at < body.range.end {
            let field = name_at(code, at + 1);
            if byte(code, at) != b'.' || !ENTRIES.contains(&field) {
                at += 1;
                continue;
            }
            at = skip_space(code, at + 1 + field.len());
            if byte(code, at) == b'=' {
                let value = name_at(code, skip_space(code, at + 1));
                if self.functions.contains_key(value) {
                    found.push(value.to_owned());
                }
            }
        }
        found
    }

    fn body<'a>(
        &'a self,
        body: &Body,
        path: &[String],
        seen: &mut HashSet<&'a str>,
        queue: &mut VecDeque<(usize, Vec<String>)>,
        delays: &mut Vec<Delay>,
    ) {
        let code = &self.source.code;
        let mut loops: Option<Vec<(Range<usize>, Option<i64>)>> = None;
        for (name, start) in names(code, body.range.clone()) {
            let open = skip_space(code, start + name.len());
            let is_call = byte(code, open) == b'(';
            if is_call && looks_like_delay(name) && !self.functions.contains_key(name) {
                let loops = loops.get_or_insert_with(|| self.loops(body));
                delays.extend(self.delay(name, start, open, loops, path));
            } else if is_call || self.variables.contains_key(name) {
                self.follow(name, path, seen, queue);
            }
        }
    }

    fn delay(
        &self,
        name: &str,
        start: usize,
        open: usize,
        loops: &[(Range<usize>, Option<i64>)],
        path: &[String],
    ) -> Option<Delay> {
        let end = close(&self.source.code, open, LONGEST_ARGUMENTS)?;
        let args = parts(self.source.slice(open + 1..end));
        let kind = kind(name, args.len())?;
        let ns = |at: usize| -> Option<i64> {
            let number: Number = self.constants.eval(args.get(at)?)?;
            match kind.unit {
                Unit::Ns(ns) if !number.jiffies => number.value.checked_mul(ns),
                Unit::Jiffies if number.jiffies => Some(number.value),
                _ => None,
            }
        };
        let around = loops.iter().filter(|(range, _)| range.contains(&start));
        let mut times = Some(1_i64);
        let mut in_loop = false;
        for (_, count) in around {
            in_loop = true;
            times = times.zip(*count).and_then(|(a, b)| a.checked_mul(b));
        }
        let words: Vec<String> = args.iter().map(|a| one_line(a)).collect();
        Some(Delay {
            call: format!("{name}({})", words.join(", ")),
            how: kind.how,
            ns: ns(kind.arg).filter(|ns| *ns >= 0),
            most_ns: kind.most.and_then(ns).filter(|ns| *ns >= 0),
            in_loop,
            times: times.filter(|_| in_loop),
            line: self.source.line(start),
            path: path.to_vec(),
        })
    }

    /// The loops of a function, and how often each goes round.
    fn loops(&self, body: &Body) -> Vec<(Range<usize>, Option<i64>)> {
        let code = &self.source.code;
        let most = body.range.len();
        let mut found = Vec::new();
        for (name, start) in names(code, body.range.clone()) {
            if found.len() >= MOST_LOOPS {
                break;
            }
            let next = skip_space(code, start + name.len());
            match name {
                "for" | "while" if byte(code, next) == b'(' => {
                    let Some(end) = close(code, next, LONGEST_ARGUMENTS) else {
                        continue;
                    };
                    let times = match name {
                        "for" => self.rounds(self.source.slice(next + 1..end)),
                        _ => None,
                    };
                    let inside = skip_space(code, end + 1);
                    // What is in the brackets is run as often.
                    let until = match byte(code, inside) {
                        b'{' => close(code, inside, most),
                        _ => end_of_statement(code, inside, body.range.end),
                    };
                    if let Some(until) = until {
                        found.push((next..until, times));
                    }
                }
                "do" if byte(code, next) == b'{' => {
                    if let Some(until) = close(code, next, most) {
                        found.push((next..until, None));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// How often `for (i = 0; i < 10; i++)` goes round.
    fn rounds(&self, header: &str) -> Option<i64> {
        let mut parts = header.split(';');
        let (first, test, step) = (parts.next()?, parts.next()?, parts.next()?);
        let from = self.constants.eval(first.rsplit('=').next()?)?.value;
        let (limit, with_limit) = match test.find(['<', '>']) {
            Some(at) => {
                let right = test.get(at + 1..)?;
                let with = right.starts_with('=');
                (right.trim_start_matches('='), with)
            }
            None => match test.split_once("!=") {
                Some((_, right)) => (right, false),
                None => ("0", false),
            },
        };
        let to = self.constants.eval(limit)?.value;
        let by = match step.split_once("+=").or(step.split_once("-=")) {
            Some((_, by)) => self.constants.eval(by)?.value,
            None if step.contains("++") || step.contains("--") => 1,
            None => return None,
        };
        let way = to.checked_sub(from)?.checked_abs()?;
        let way = way.checked_add(i64::from(with_limit))?;
        // Rounded up: the last round may be a short one.
        (by > 0).then(|| way / by + i64::from(way % by != 0))
    }
}

/// Most names are no delay, and are told by their letters.
fn looks_like_delay(name: &str) -> bool {
    let words = ["delay", "sleep", "timeout"];
    words.iter().any(|w| name.contains(w)) && kind(name, 9).is_some()
}

fn end_of_statement(code: &[u8], from: usize, to: usize) -> Option<usize> {
    let mut open = 0_usize;
    let range = code.get(from..to)?;
    let end = range.iter().position(|b| {
        match b {
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && matches!(b, b';' | b'}')
    })?;
    Some(from + end)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "\\").collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, from: &str, given: &[&str]) -> Vec<String> {
        let source = Source::new(text.as_bytes().to_vec());
        let file = File::new(&source);
        let given: Vec<String> = given.iter().map(|g| (*g).to_owned()).collect();
        let delays = file.delays(from, &given);
        let shown = delays.iter().map(|d| {
            let ns = d
                .total_ns()
                .map_or("?".to_owned(), |ns| (ns / 1000).to_string());
            format!(
                "{}:{} {} {ns} {}",
                d.line,
                d.call,
                d.how.text(),
                d.path.join(">")
            )
        });
        shown.collect()
    }

    const DRIVER: &str = "
#define RESET_MS 20
static void reset(int x)
{
	int i;
	mdelay(RESET_MS);
	for (i = 0; i < 10; i++)
		udelay(100);
	while (busy())
		msleep(1);
	usleep_range(100, 200);
}
static int foo_probe(struct device *d)
{
	reset(1);
	if (!wait_for_completion_timeout(&d->done, msecs_to_jiffies(500)))
		return -1;
	return readl_poll_timeout(d->reg, val, val & (1 << 3), 10, 5 * RESET_MS);
}
static void unused(void) { ssleep(3); }
static struct driver foo_driver = {
	.driver = { .name = \"foo\" },
	.probe = foo_probe,
	.remove = unused,
};
static int __init foo_init(void)
{
	schedule_timeout_uninterruptible(HZ / 10);
	schedule_timeout(delay);
	return register_driver(&foo_driver);
}
";

    #[test]
    fn calls_are_followed_to_the_probe_and_beyond() {
        let all = [
            "28:schedule_timeout_uninterruptible(HZ / 10) sleep 100000 foo_init",
            "29:schedule_timeout(delay) sleep ? foo_init",
            "16:wait_for_completion_timeout(&d->done, msecs_to_jiffies(500)) limit 500000 \
             foo_init>foo_probe",
            "18:readl_poll_timeout(d->reg, val, val & (1 << 3), 10, 5 * RESET_MS) limit 100 \
             foo_init>foo_probe",
            "6:mdelay(RESET_MS) busy 20000 foo_init>foo_probe>reset",
            "8:udelay(100) busy 1000 foo_init>foo_probe>reset",
            "10:msleep(1) sleep ? foo_init>foo_probe>reset",
            "11:usleep_range(100, 200) sleep 100 foo_init>foo_probe>reset",
        ];
        assert_eq!(shown(DRIVER, "foo_init", &["foo_init"]), all);
        // What a macro makes has no body: its driver leads on.
        let made = shown(DRIVER, "foo_driver_init", &["foo_driver"]);
        assert_eq!(made.len(), 6);
        assert!(
            made[0].ends_with("foo_driver_init>foo_probe"),
            "{}",
            made[0]
        );
    }

    #[test]
    fn loops_are_counted_when_they_can_be() {
        let text = "#define N 4\nvoid f(void)\n{\n\
            for (t = 1000; t > 0; t -= 10) { udelay(1); }\n\
            for (;;) udelay(2);\n\
            for (i = 0; i <= N; i++) { for (j = N; j; j--) { udelay(3); } }\n\
            do { udelay(4); } while (--x);\n}\n";
        let delays = shown(text, "f", &[]);
        let times: Vec<&str> = delays.iter().filter_map(|d| d.split(' ').nth(2)).collect();
        assert_eq!(times, ["100", "?", "60", "?"]);
    }

    #[test]
    fn circles_end() {
        let text = "void a(void) { b(); a(); mdelay(1); }\nvoid b(void) { a(); }\n";
        assert_eq!(shown(text, "a", &["a", "b"]).len(), 1);
    }
}
