//! `initcall_debug`: what the kernel says of its initcalls and probes.
//!
//! ```text
//! [    0.000184] calling  con_init+0x0/0x21c @ 0
//! [    0.000294] initcall con_init+0x0/0x21c returned 0 after 0 usecs
//! [    2.723202] calling  loop_init+0x0/0x1000 [loop] @ 91
//! [    2.759496] initcall loop_init+0x0/0x1000 [loop] returned 0 after 36096 usecs
//! [    0.063540] probe of 9000000.pl011 returned 0 after 4000 usecs
//! [    0.094943] async_waiting @ 1
//! [    0.095000] async_continuing @ 1 after 57 usec
//! [    0.100000] entering initcall level: fs
//! ```
//!
//! Printed by `init/main.c`, `drivers/base/dd.c` and `kernel/async.c`, at
//! debug level: the console shows it with `ignore_loglevel` or `loglevel=8`.
//!
//! **Which times.** The kernel logs `calling`, takes the time, runs the
//! function, takes the time again and logs `returned`. On a slow console it
//! sends the first line before the function begins, so the two log times
//! enclose too much; `N usecs` is the function alone. But until
//! `clocksource: Switched to …` N counts whole jiffies (mostly `0`). So:
//!
//! - a call that was logged before the switch has the log times of its lines;
//! - a later one ends with its `returned` line and began N before, though not
//!   before its `calling` line (the log clock of x86 stands still at times:
//!   207 µs between two lines of one time) and not after what nests in it.
//!
//! Instructions are counted from the last byte of the first line to the first
//! byte of the second, where the console sent both at once.
//!
//! With `trace_event=initcall:*` and `tp_printk` the same comes from the trace
//! events, without task and N (with `CONFIG_PRINTK_CALLER` the task is known):
//!
//! ```text
//! [    0.412345] initcall_level: level=fs
//! [    0.412350] initcall_start: func=fuse_init+0x0/0x30 [fuse]
//! [    0.413999] initcall_finish: func=fuse_init+0x0/0x30 [fuse] ret=0
//! ```
//!
//! Probes have no first line: they end with their line and began N before, of
//! which the error is a jiffy (10 ms at `HZ=100`) before the switch.

use bootlap_model::{Evidence, Severity, Span, SpanEnd, Stamp, Sym, TrackKind};

use super::out::{Moment, Out};
use super::printk::RESOLUTION_NS;

/// Parallel module loads keep a few calls open; thousands are lost returns.
const MAX_OPEN: usize = 256;
/// The longest jiffy: `HZ=100`.
const JIFFY_NS: u32 = 10_000_000;

const MAIN: (TrackKind, &str) = (TrackKind::Initcall, "initcalls");
const MODULES: (TrackKind, &str) = (TrackKind::Initcall, "module initcalls");
const PROBES: (TrackKind, &str) = (TrackKind::Initcall, "device probes");
const WAITS: (TrackKind, &str) = (TrackKind::Kernel, "async waits");

/// A function, and the module it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    module: Option<&'a str>,
}

/// A call without its return so far.
struct Open {
    name: Sym,
    module: Option<Sym>,
    /// Not known of a module's function whose lines come without it.
    pid: Option<u32>,
    span: usize,
    /// When it was logged that it is called.
    called: Moment,
    /// N can be believed more than the log's times: the clock source had
    /// been switched, or the times are whole seconds.
    fine: bool,
    /// When the first call nested in it was logged.
    nested_ns: Option<i64>,
    evidence: Evidence,
}

impl Open {
    fn is_built_in(&self) -> bool {
        is_built_in(self.pid, self.module.is_some())
    }
}

/// Tasks 0 and 1 call what is built in.
fn is_built_in(pid: Option<u32>, of_module: bool) -> bool {
    pid.map_or(!of_module, |pid| pid <= 1)
}

/// What is known of the calls that run.
#[derive(Default)]
pub(crate) struct Initcalls {
    open: Vec<Open>,
    waits: Vec<(u32, Moment, Evidence)>,
    level: Option<Sym>,
    switched: bool,
    /// The kernel prints what it calls itself: trace events say it again.
    printed: bool,
}

impl Initcalls {
    /// The clock source was switched: N is in µs from now on.
    pub(crate) fn switched(&mut self) {
        self.switched = true;
    }

    /// Looks at one line; `false` if it is none of theirs.
    pub(crate) fn line(
        &mut self,
        body: &[u8],
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) -> bool {
        // The first byte settles it for nearly all lines.
        if !matches!(body.first(), Some(b'c' | b'i' | b'p' | b'a' | b'e')) {
            return false;
        }
        let known: [&[u8]; 5] = [
            b"calling  ",
            b"initcall",
            b"probe of ",
            b"async_",
            b"entering initcall level: ",
        ];
        if !known.iter().any(|k| body.starts_with(k)) {
            return false;
        }
        let Ok(body) = std::str::from_utf8(body) else {
            return false;
        };
        if let Some(call) = body.strip_prefix("calling  ") {
            return self.call(call, moment, at, out).is_some();
        }
        if let Some(rest) = body.strip_prefix("initcall ") {
            return self.returned(rest, moment, at, out).is_some();
        }
        if let Some(rest) = body.strip_prefix("probe of ") {
            return self.probe(rest, moment, at, out).is_some();
        }
        if let Some(rest) = body.strip_prefix("async_") {
            return self.wait(rest, moment, at, out).is_some();
        }
        if let Some(level) = body.strip_prefix("entering initcall level: ") {
            self.level = Some(out.timeline.symbols.intern(level.trim()));
            return true;
        }
        if let Some(rest) = body.strip_prefix("initcall_") {
            return self.traced(rest, moment, at, out).is_some();
        }
        false
    }

    /// What `tp_printk` makes of the trace events.
    fn traced(
        &mut self,
        text: &str,
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) -> Option<()> {
        if let Some(level) = text.strip_prefix("level: level=") {
            self.level = Some(out.timeline.symbols.intern(level.trim()));
        } else if let Some(text) = text.strip_prefix("start: func=") {
            let (function, _) = function(text)?;
            if !self.printed {
                self.open(&function, moment.task, moment, at, out);
            }
        } else {
            let (text, ret) = text.strip_prefix("finish: func=")?.rsplit_once(" ret=")?;
            let (function, _) = function(text)?;
            if !self.printed {
                self.find_and_close(&function, (Some(word(ret)), None), moment, at, out);
            }
        }
        Some(())
    }

    fn call(&mut self, text: &str, moment: &Moment, at: Evidence, out: &mut Out<'_>) -> Option<()> {
        let (function, rest) = function(text)?;
        let pid = word(rest.strip_prefix("@ ")?).parse().ok()?;
        if !self.printed {
            self.printed = true;
            let name = out.timeline.symbols.find(function.name);
            if name.is_some() && self.open.last().map(|o| o.name) == name {
                return Some(());
            }
        }
        self.open(&function, Some(pid), moment, at, out);
        Some(())
    }

    fn open(
        &mut self,
        function: &Function<'_>,
        pid: Option<u32>,
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) {
        if self.open.len() >= MAX_OPEN {
            self.lose(0, out);
        }
        for outer in self.open.iter_mut().filter(|o| o.pid == pid) {
            outer.nested_ns.get_or_insert(moment.ns);
        }
        let symbols = &mut out.timeline.symbols;
        let name = symbols.intern(function.name);
        let module = function.module.map(|m| symbols.intern(m));
        let built_in = is_built_in(pid, module.is_some());
        // With room for what the return adds.
        let mut args = Vec::with_capacity(4 + usize::from(module.is_some()));
        args.extend(pid.map(|pid| out.number_arg("pid", pid)));
        args.extend(module.map(|m| (out.key("module"), m)));
        if let (true, Some(level)) = (built_in, self.level) {
            args.push((out.key("level"), level));
        }
        let track = if built_in { MAIN } else { MODULES };
        let start = moment.stamp();
        let span = out.printk_event(track, name, (start, SpanEnd::Unknown), args, at);
        self.open.push(Open {
            name,
            module,
            pid,
            span,
            called: *moment,
            fine: self.switched || moment.err_ns > JIFFY_NS,
            nested_ns: None,
            evidence: at,
        });
    }

    fn returned(
        &mut self,
        text: &str,
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) -> Option<()> {
        let (function, rest) = function(text)?;
        if rest.starts_with("blacklisted") || rest.starts_with("returned with ") {
            return Some(());
        }
        let (ret, usecs) = outcome(rest)?;
        self.find_and_close(&function, (ret, Some(usecs)), moment, at, out);
        Some(())
    }

    fn find_and_close(
        &mut self,
        function: &Function<'_>,
        outcome: (Option<&str>, Option<&str>),
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) {
        let symbols = &out.timeline.symbols;
        let is_it = |o: &Open| {
            symbols.text(o.name) == function.name
                && o.module.map(|m| symbols.text(m)) == function.module
        };
        let Some(index) = self.open.iter().rposition(is_it) else {
            out.notice(
                "initcall-without-call",
                Severity::Notice,
                at,
                "these initcalls returned, but the lines that say when they were called are missing: boot with a larger log_buf_len=, or record from power-on",
            );
            return;
        };
        let call = self.open.remove(index);
        if call.pid.is_some() {
            self.lose_nested(index, call.pid, out);
        }
        self.close(&call, outcome, moment, at, out);
    }

    fn close(
        &self,
        call: &Open,
        (ret, usecs): (Option<&str>, Option<&str>),
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) {
        let usecs_arg = usecs.map(|n| out.arg("usecs", n));
        let ret_arg = ret.map(|r| match r {
            "0" => out.number_arg("ret", 0),
            other => out.arg("ret", other),
        });
        let span = &mut out.timeline.spans[call.span];
        span.args.extend(usecs_arg);
        span.args.extend(ret_arg);
        span.evidence.end = at.end;
        if moment.ns < call.called.ns {
            out.notice(
                "initcall-backwards",
                Severity::Notice,
                at,
                "these initcalls returned before they were called, by the kernel's clock: their end is not known",
            );
            return;
        }
        span.end = SpanEnd::At(moment.stamp());
        let told = usecs.filter(|_| call.fine);
        if let Some(usecs) = told {
            span.start.ns = began_ns(call, usecs, moment.ns);
        }
        if told.is_none_or(|usecs| lines_tell_the_same(&call.called, moment, usecs)) {
            out.count_start(call.span, &call.called);
        }
        out.count_end(call.span, moment);
    }

    /// What still runs inside a call that returned has returned too, unseen.
    fn lose_nested(&mut self, from: usize, pid: Option<u32>, out: &mut Out<'_>) {
        let mut i = from;
        while i < self.open.len() {
            if self.open[i].pid == pid {
                self.lose(i, out);
            } else {
                i += 1;
            }
        }
    }

    fn lose(&mut self, index: usize, out: &mut Out<'_>) {
        let call = self.open.remove(index);
        no_return(call.evidence, out);
    }

    fn probe(
        &mut self,
        text: &str,
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) -> Option<()> {
        let (device, rest) = text.split_at(text.rfind(" returned ").filter(|i| *i > 0)?);
        let (ret, usecs) = outcome(&rest[1..])?;
        let mut start = Stamp::new(before(moment.ns, usecs), moment.err_ns);
        if !self.switched {
            start.err_ns = moment.err_ns.max(JIFFY_NS);
            if let Some(outer) = self.open.iter().rfind(|o| o.is_built_in()) {
                start.ns = start.ns.max(outer.called.ns).min(moment.ns);
            }
        }
        let pid = moment.task.map(|t| t.to_string());
        let mut args = vec![("usecs", usecs)];
        args.extend(ret.map(|r| ("ret", r)));
        args.extend(pid.as_deref().map(|p| ("pid", p)));
        let end = SpanEnd::At(moment.stamp());
        let span = out.printk_span(PROBES, device, start, end, &args, at);
        out.count_end(span, moment);
        Some(())
    }

    fn wait(&mut self, text: &str, moment: &Moment, at: Evidence, out: &mut Out<'_>) -> Option<()> {
        if let Some(pid) = text.strip_prefix("waiting @ ") {
            if self.waits.len() < MAX_OPEN {
                self.waits.push((word(pid).parse().ok()?, *moment, at));
            }
            return Some(());
        }
        let rest = text.strip_prefix("continuing @ ")?;
        let pid_text = word(rest);
        let pid: u32 = pid_text.parse().ok()?;
        let index = self.waits.iter().rposition(|w| w.0 == pid)?;
        let (_, began, mut evidence) = self.waits.remove(index);
        if moment.ns < began.ns {
            return Some(());
        }
        evidence.end = at.end;
        let end = SpanEnd::At(moment.stamp());
        let args = [("pid", pid_text)];
        let span = out.printk_span(WAITS, "async wait", began.stamp(), end, &args, evidence);
        out.count_start(span, &began);
        out.count_end(span, moment);
        Some(())
    }

    /// The log has ended; `user_space`: and all built-in calls before that.
    pub(crate) fn finish(&mut self, user_space: bool, out: &mut Out<'_>) {
        for call in std::mem::take(&mut self.open) {
            if user_space && call.is_built_in() {
                no_return(call.evidence, out);
                continue;
            }
            let span: &mut Span = &mut out.timeline.spans[call.span];
            span.end = SpanEnd::OpenAtCut;
            out.notice(
                "initcall-open-at-end",
                Severity::Info,
                call.evidence,
                "these initcalls were still running when the recording stopped: record longer to see them end",
            );
        }
    }
}

fn no_return(at: Evidence, out: &mut Out<'_>) {
    out.notice(
        "initcall-without-return",
        Severity::DataLoss,
        at,
        "these initcalls have no line that says when they returned, so their time is not known: the line was lost or torn by another one; boot with a larger log_buf_len=, or with one CPU",
    );
}

/// When a call that ended at `end_ns` began: see the module's documentation.
fn began_ns(call: &Open, usecs: &str, end_ns: i64) -> i64 {
    let latest = call.nested_ns.unwrap_or(end_ns);
    // Times that are whole seconds (`dmesg -T`) bound less than N does.
    let slack_ns = i64::from(call.called.err_ns.saturating_sub(RESOLUTION_NS));
    let earliest = call.called.ns.saturating_sub(slack_ns);
    before(end_ns, usecs).max(earliest).min(latest)
}

/// Whether the instructions between the two lines are those of the function:
/// printing takes some too (11 000 in Linux 6.1), which may be 2 % of it.
fn lines_tell_the_same(called: &Moment, returned: &Moment, usecs: &str) -> bool {
    let (Some(from), Some(to)) = (called.last, returned.first) else {
        return false;
    };
    let function_ns = -before(0, usecs);
    let between_ns = to.ns.saturating_sub(from.ns);
    between_ns.saturating_sub(function_ns) <= function_ns / 50
}

/// `usecs` before `ns`.
fn before(ns: i64, usecs: &str) -> i64 {
    let us: i64 = usecs.parse().unwrap_or(0);
    ns.saturating_sub(us.saturating_mul(1_000))
}

/// `name+0x0/0x10 [module] rest`, or an address for a name, as kernels without
/// `CONFIG_KALLSYMS` print it.
fn function(text: &str) -> Option<(Function<'_>, &str)> {
    let space = memchr::memchr(b' ', text.as_bytes()).unwrap_or(text.len());
    let (symbol, rest) = text.split_at(space);
    let mut rest = rest.strip_prefix(' ').unwrap_or(rest);
    let name = match memchr::memrchr(b'+', symbol.as_bytes()) {
        Some(plus) if symbol[plus..].starts_with("+0x") => &symbol[..plus],
        _ => symbol,
    };
    let mut module = None;
    if let Some(inner) = rest.strip_prefix('[')
        && let Some(end) = memchr::memchr(b']', inner.as_bytes())
    {
        let after = &inner[end + 1..];
        (module, rest) = (
            Some(&inner[..end]),
            after.strip_prefix(' ').unwrap_or(after),
        );
    }
    (!name.is_empty()).then_some((Function { name, module }, rest))
}

/// `returned [R ]after N usec[s]`: R and N.
fn outcome(text: &str) -> Option<(Option<&str>, &str)> {
    let rest = text.strip_prefix("returned ")?;
    let (ret, rest) = match rest.strip_prefix("after ") {
        Some(rest) => (None, rest),
        None => {
            let ret = word(rest);
            (Some(ret), rest[ret.len()..].strip_prefix(" after ")?)
        }
    };
    let usecs = word(rest);
    let unit = rest[usecs.len()..].trim_start();
    let numbers = ret.is_none_or(is_number) && is_count(usecs);
    (numbers && unit.starts_with("usec")).then_some((ret, usecs))
}

fn is_number(text: &str) -> bool {
    is_count(text.strip_prefix('-').unwrap_or(text))
}

fn is_count(text: &str) -> bool {
    !text.is_empty() && text.len() < 16 && text.bytes().all(|b| b.is_ascii_digit())
}

/// Up to the first space.
fn word(text: &str) -> &str {
    // Words are short: a search that is made for long texts takes longer.
    let end = text.bytes().position(|b| b == b' ');
    end.map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions() {
        let f = |text| function(text).map(|(f, rest)| (f.name, f.module, rest));
        assert_eq!(f("a_init+0x0/0x1c @ 1"), Some(("a_init", None, "@ 1")));
        assert_eq!(
            f("a+0x0/0x1c [mod] returned"),
            Some(("a", Some("mod"), "returned"))
        );
        assert_eq!(f("0x8000dd40 @ 1"), Some(("0x8000dd40", None, "@ 1")));
        assert_eq!(f("a+0x0/0x1c [mod]"), Some(("a", Some("mod"), "")));
        assert_eq!(f(""), None);
    }

    #[test]
    fn outcomes() {
        assert_eq!(
            outcome("returned -19 after 5 usecs"),
            Some((Some("-19"), "5"))
        );
        assert_eq!(outcome("returned after 5 usec"), Some((None, "5")));
        for torn in ["returned 0 aft", "returned 0 after ", "returned 0 after 12"] {
            assert_eq!(outcome(torn), None);
        }
    }
}
