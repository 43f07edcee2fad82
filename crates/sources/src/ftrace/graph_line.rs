//! Lines of `function_graph`, with any of its columns.
//!
//! ```text
//!  1)               |  do_sys_openat2() {
//!  1)   2.904 us    |    __d_lookup_rcu();
//!  1) + 13.140 us   |  } /* do_sys_openat2 */                                         funcgraph-tail
//!    12.645390 |   1)     wc-226     | + 13.140 us   |          }                     -abstime, -proc
//!    16.635064 |   1)     wc-282     |  ...1. |               |  lookup_fast() {      latency-format
//!    14.121485 |   0)     wc-247     |         walk_component() {                     nofuncgraph-duration
//!   2.945 us    |            __d_lookup_rcu();                                        nofuncgraph-cpu
//!  1)               |  /* sched_switch: prev_comm=wc … */                             an event
//!  4)   ==========> |                                                                 an interrupt (-irqs)
//!  0)     init-1     =>     wc-247                                                    another thread
//!  2)   1.5 us      |  probe(dev=0x…); /* = -517 */                                   -args, -retval
//! ```
//!
//! Columns are told apart by what is in them, as their header may be missing
//! (`trace_pipe`). The depth of a call is how far it is indented. A mark
//! before a duration says that it is long (`+` 10 µs, `!` 100 µs, `#` 1 ms,
//! `*` 10 ms, `@` 100 ms, `$` 1 s).

use bootlap_model::Stamp;

use super::event_line::task;
use crate::text;
use crate::trace::{Function, Task, What};

/// A line of `function_graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GraphLine<'a> {
    pub(crate) at: Option<Stamp>,
    pub(crate) cpu: Option<u32>,
    pub(crate) task: Option<Task<'a>>,
    pub(crate) what: Shape<'a>,
}

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape<'a> {
    /// A function is entered or returns.
    Call(What<'a>),
    /// `/* event: fields */`
    Comment(&'a str),
    /// The CPU goes on with this thread.
    Banner(Task<'a>),
    /// An interrupt begins or ends.
    Interrupt,
    /// `(Overruns: 12)`: calls that were not recorded.
    Overruns,
}

/// The line, if it is one of `function_graph`.
pub(crate) fn parse(line: &str) -> Option<GraphLine<'_>> {
    let mut graph = GraphLine {
        at: None,
        cpu: None,
        task: None,
        what: Shape::Interrupt,
    };
    let mut rest = line;
    loop {
        let Some(bar) = memchr::memchr(b'|', rest.as_bytes()) else {
            return last_column(rest, graph);
        };
        let (mut column, behind) = (&rest[..bar], &rest[bar + 1..]);
        if graph.cpu.is_none()
            && let Some((cpu, more)) = cpu(column)
        {
            graph.cpu = Some(cpu);
            column = more;
            rest = &rest[bar - column.len()..];
        }
        let cell = column.trim_ascii();
        if cell.is_empty() {
            graph.what = function(behind, None)?;
            return Some(graph);
        }
        if let Some(at) = time(cell) {
            graph.at = Some(at);
        } else if let Some(ns) = duration(cell) {
            graph.what = function(behind, Some(ns))?;
            return Some(graph);
        } else if matches!(cell, "==========>" | "<==========") {
            return Some(graph);
        } else if let Some((comm, pid)) = task(cell).filter(|_| graph.task.is_none()) {
            graph.task = Some(Task { comm, pid });
        } else if !is_flags(cell) {
            return last_column(rest, graph);
        }
        rest = behind;
    }
}

/// What is left when there is no further column: a function, or a banner.
fn last_column<'a>(rest: &'a str, mut graph: GraphLine<'a>) -> Option<GraphLine<'a>> {
    let mut text = rest;
    if graph.cpu.is_none()
        && let Some((cpu, more)) = cpu(rest)
    {
        graph.cpu = Some(cpu);
        text = more;
    }
    if let Some((_, next)) = text.split_once("=>")
        && let Some((comm, pid)) = task(next.trim_ascii())
    {
        graph.what = Shape::Banner(Task { comm, pid });
        return Some(graph);
    }
    graph.what = function(text, None)?;
    Some(graph)
}

/// ` 1) …`: the CPU, and what is after.
fn cpu(text: &str) -> Option<(u32, &str)> {
    let trimmed = text.trim_ascii_start();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let behind = trimmed.get(digits..)?.strip_prefix(')')?;
    Some((trimmed[..digits].parse().ok()?, behind))
}

/// `12.345678`
fn time(cell: &str) -> Option<Stamp> {
    let number = cell.as_bytes();
    if !number.first()?.is_ascii_digit() || !number.last()?.is_ascii_digit() {
        return None;
    }
    let err_ns = text::resolution_ns(number, 1_000_000_000);
    Some(Stamp::new(text::seconds_ns(number)?, err_ns))
}

/// `+ 13.140 us`, in ns.
pub(crate) fn duration(cell: &str) -> Option<i64> {
    let number = cell.strip_suffix("us")?.trim_ascii_end();
    let number = number
        .trim_start_matches(['+', '!', '#', '*', '@', '$'])
        .trim_ascii_start();
    text::decimal(number.as_bytes(), 3)
}

/// `d..1.`: what the CPU was doing.
fn is_flags(cell: &str) -> bool {
    (3..=8).contains(&cell.len())
        && cell
            .bytes()
            .all(|b| b == b'.' || b == b'#' || b.is_ascii_alphanumeric())
}

/// The last column: what is called or returns.
pub(crate) fn function(text: &str, duration_ns: Option<i64>) -> Option<Shape<'_>> {
    let body = text.trim_ascii_start();
    let depth = u32::try_from(text.len() - body.len()).ok()?;
    let body = body.trim_ascii_end();
    if let Some(rest) = body.strip_prefix('}') {
        let (name, value) = comment(rest).map_or((None, None), returned);
        return Some(Shape::Call(What::Return {
            name,
            depth,
            duration_ns,
            value,
        }));
    }
    if body.starts_with("/*") {
        return comment(body).map(Shape::Comment);
    }
    if body.starts_with("(Overruns:") {
        return Some(Shape::Overruns);
    }
    if matches!(body, "==========>" | "<==========") {
        return Some(Shape::Interrupt);
    }
    let body = without_depth(body);
    let open = body.find('(')?;
    let function = named(&body[..open])?;
    let rest = &body[open + 1..];
    let (code, value) = match rest.rfind("/*") {
        Some(from) => (
            rest[..from].trim_ascii_end(),
            comment(&rest[from..]).and_then(|c| returned(c).1),
        ),
        None => (rest, None),
    };
    let (code, is_leaf) = match code.strip_suffix(';') {
        Some(code) => (code, true),
        None => (code.strip_suffix('{')?.trim_ascii_end(), false),
    };
    let function = Function {
        args: code.strip_suffix(')')?,
        ..function
    };
    Some(Shape::Call(if is_leaf {
        What::Leaf {
            function,
            depth,
            duration_ns,
            value,
        }
    } else {
        What::Call { function, depth }
    }))
}

/// Less the ` (2)` of `trace-cmd report -O fgraph:depth`.
fn without_depth(body: &str) -> &str {
    match body.strip_suffix(')').and_then(|b| b.rsplit_once(" (")) {
        Some((call, depth)) if depth.bytes().all(|b| b.is_ascii_digit()) => call.trim_ascii_end(),
        _ => body,
    }
}

/// The inside of `/* … */`.
fn comment(text: &str) -> Option<&str> {
    let inside = text.trim_ascii().strip_prefix("/*")?;
    Some(inside.strip_suffix("*/").unwrap_or(inside).trim_ascii())
}

/// `do_sys_open`, `do_sys_open = 0x3`, `= -2`, `<-caller ret=0x0`,
/// `do_sys_open ret=0x0`: the name and the value.
fn returned(text: &str) -> (Option<&str>, Option<&str>) {
    let value = text
        .rsplit_once("ret=")
        .or_else(|| text.rsplit_once("= "))
        .map(|(_, value)| value.trim_ascii());
    let word = text.split(' ').next().unwrap_or_default();
    let name = (!word.is_empty() && !word.starts_with(['=', '<']) && !word.starts_with("ret="))
        .then_some(word);
    (name, value)
}

/// `name`, or `name [module]`.
pub(crate) fn named(text: &str) -> Option<Function<'_>> {
    let (name, module) = match text.trim_ascii().split_once(' ') {
        Some((name, module)) => (
            name,
            Some(module.trim_ascii().strip_prefix('[')?.strip_suffix(']')?),
        ),
        None => (text.trim_ascii(), None),
    };
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b"_.$:+/".contains(&b);
    (!name.is_empty() && name.bytes().all(is_name)).then_some(Function {
        name,
        module,
        args: "",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, depth: u32) -> Shape<'_> {
        Shape::Call(What::Call {
            function: Function {
                name,
                ..Function::default()
            },
            depth,
        })
    }

    fn leaf(name: &str, depth: u32, duration_ns: Option<i64>) -> Shape<'_> {
        Shape::Call(What::Leaf {
            function: Function {
                name,
                ..Function::default()
            },
            depth,
            duration_ns,
            value: None,
        })
    }

    fn back(name: Option<&'static str>, depth: u32, duration_ns: Option<i64>) -> Shape<'static> {
        Shape::Call(What::Return {
            name,
            depth,
            duration_ns,
            value: None,
        })
    }

    #[test]
    fn columns_on_and_off() {
        let us = |n: i64| Some(n);
        let all = "   12.645390 |   1)     wc-226     | + 13.140 us   |          }";
        let line = parse(all).unwrap();
        assert_eq!(line.at, Some(Stamp::new(12_645_390_000, 1_000)));
        assert_eq!((line.cpu, line.task.unwrap().pid), (Some(1), 226));
        assert_eq!(line.what, back(None, 10, us(13_140)));
        for (text, what) in [
            (" 1)               |  f() {", call("f", 2)),
            (" 1)   2.904 us    |    f();", leaf("f", 4, us(2_904))),
            (
                " 76) $ 50412985 us |  } /* f */",
                back(Some("f"), 2, us(50_412_985_000)),
            ),
            (" 1)  ...1. |               |  f() {", call("f", 2)),
            (
                " 1)  ...1. | # 3325.948 us |  }",
                back(None, 2, us(3_325_948)),
            ),
            (
                "   14.121485 |   0)     wc-247     |         f() {",
                call("f", 9),
            ),
            (" 1)   f();", leaf("f", 3, None)),
            (" 1)   2.904 us    |  f(); (0)", leaf("f", 2, us(2_904))),
            ("+ 14.522 us   |  f();", leaf("f", 2, us(14_522))),
            ("              |    f() {", call("f", 4)),
            ("        } /* f */", back(Some("f"), 8, None)),
            (" 4)   ==========> |", Shape::Interrupt),
            (" 4)   <========== |", Shape::Interrupt),
            (
                " 1)               |  /* sched_switch: a | b */",
                Shape::Comment("sched_switch: a | b"),
            ),
        ] {
            assert_eq!(parse(text).map(|l| l.what), Some(what), "{text}");
        }
    }

    #[test]
    fn banners() {
        let line = parse(" 0)     init-1     =>     wc-247    ").unwrap();
        let next = Task {
            comm: "wc",
            pid: 247,
        };
        assert_eq!((line.cpu, line.what), (Some(0), Shape::Banner(next)));
        let line = parse(" 1)  kworker-1:2-7  =>  a b-9   ").unwrap();
        assert!(matches!(
            line.what,
            Shape::Banner(Task {
                comm: "a b",
                pid: 9
            })
        ));
    }

    #[test]
    fn values_and_arguments() {
        let value = |text| match parse(text).unwrap().what {
            Shape::Call(What::Leaf { value, .. } | What::Return { value, .. }) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(value(" 1)   1.0 us |  f(); /* = -517 */"), Some("-517"));
        assert_eq!(value(" 1)   1.0 us |  } /* f = 0x3 */"), Some("0x3"));
        assert_eq!(value(" 1)   1.0 us |  } /* f ret=0x3 */"), Some("0x3"));
        assert_eq!(
            value(" 1)   1.0 us |  f(); /* <-g+0x1/0x2 ret=7 */"),
            Some("7")
        );
        let Shape::Call(What::Call { function, .. }) =
            parse(" 1)   |  f [ext4](a=1, s=\"(x)\") { /* <-g */")
                .unwrap()
                .what
        else {
            panic!()
        };
        assert_eq!(function.args, "a=1, s=\"(x)\"");
        assert_eq!((function.name, function.module), ("f", Some("ext4")));
    }

    #[test]
    fn what_is_none() {
        for text in [
            "",
            "text",
            "| |",
            " 1)",
            "int main() x",
            "[    0.1] f() {",
            "1.2 | 3 |",
        ] {
            assert_eq!(parse(text).map(|l| l.what), None, "{text}");
        }
    }
}
