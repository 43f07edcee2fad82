//! Rows of the log, and of the tables that `kd` makes of it.

use crate::text;

/// One call of a function.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'a> {
    /// Since the start trigger.
    pub(super) entry_ns: i64,
    /// How long it took.
    pub(super) delta: Delta,
    /// The task, −1 in an interrupt; `None` if the table has no such column.
    pub(super) pid: Option<&'a str>,
    /// The PID had a suffix that says: in an interrupt.
    pub(super) interrupt: bool,
    /// What was called.
    pub(super) function: &'a str,
    /// From where.
    pub(super) caller: Option<&'a str>,
    /// The frame pointer and three arguments.
    pub(super) args: Option<&'a str>,
}

/// How long a call took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delta {
    Ns(i64),
    NoExit,
    StackWatch,
}

/// A column of a table that `kd` printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Entry,
    Duration,
    Pid,
    /// The tree, and the name in it: the last one.
    Trace,
    /// The name where there is no tree: the first one.
    Function,
    Other,
}

/// Understands the heading of a table: `Some(None)` is the log's own, which
/// needs no names. `None` if it is no heading.
pub(super) fn heading(line: &str) -> Option<Option<Vec<Column>>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.starts_with(&["Entry", "Delta", "PID", "Function"]) {
        return Some(None);
    }
    let sums = [
        "Count", "Time", "Average", "Range", "Sub-time", "Local", "Max-sub",
    ];
    let is_sums = words.first() == Some(&"Function")
        && words.len() >= 3
        && words[1..]
            .iter()
            .all(|w| sums.contains(w) || ["Ms", "count", "Sub", "list"].contains(w));
    let tree = ["Entry", "Duration", "Local", "Pid"];
    let is_tree = words.len() >= 2
        && words.last() == Some(&"Trace")
        && words[..words.len() - 1].iter().all(|w| tree.contains(w));
    let columns = words.iter().map(|word| match *word {
        "Entry" => Column::Entry,
        "Duration" => Column::Duration,
        "Pid" => Column::Pid,
        "Trace" => Column::Trace,
        "Function" => Column::Function,
        _ => Column::Other,
    });
    (is_sums || is_tree).then(|| Some(columns.collect()))
}

/// Whether a table of `kd` says when each call was.
pub(super) fn has_times(columns: &[Column]) -> bool {
    columns.contains(&Column::Entry) && columns.contains(&Column::Duration)
}

/// A row of a table of `kd`: calls if [`has_times`], else sums.
pub(super) fn parse_columns<'a>(columns: &[Column], line: &'a str) -> Option<Row<'a>> {
    let mut row = Row {
        entry_ns: 0,
        delta: Delta::NoExit,
        pid: None,
        interrupt: false,
        function: "",
        caller: None,
        args: None,
    };
    let mut rest = line.trim();
    if columns.first() == Some(&Column::Function) {
        let (name, numbers) = rest.split_once(char::is_whitespace)?;
        let number = numbers.split_whitespace().next()?;
        let number = number.strip_prefix('-').unwrap_or(number);
        row.function = name;
        return number.bytes().all(|b| b.is_ascii_digit()).then_some(row);
    }
    for column in columns {
        if *column == Column::Trace {
            break;
        }
        let (word, next) = rest.split_once(char::is_whitespace)?;
        rest = next.trim_start();
        let number = text::decimal(word.as_bytes(), 3)?;
        match column {
            Column::Entry => row.entry_ns = number,
            Column::Duration => row.delta = delta(word)?,
            Column::Pid => row.pid = Some(word),
            _ => {}
        }
    }
    // One character a level, two spaces after each.
    let mut words = rest.split_whitespace();
    let branch =
        |w: &&str| w.len() == 1 && w.bytes().all(|b| b.is_ascii_punctuation() && b != b'_');
    row.function = words.find(|w| !branch(w))?;
    let behind = rest.split_once(row.function)?.1.trim();
    row.args = (!behind.is_empty()).then_some(behind);
    Some(row)
}

/// A row of the log.
pub(super) fn parse(line: &str) -> Option<Row<'_>> {
    let mut rest = line.trim();
    let entry = word(&mut rest)?;
    if !entry.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let entry_ns = text::decimal(entry.as_bytes(), 3)?;
    let delta = match word(&mut rest)? {
        "no" => (word(&mut rest)? == "exit").then_some(Delta::NoExit)?,
        number => delta(number)?,
    };
    let pid = word(&mut rest)?;
    let number = pid.strip_suffix('i').unwrap_or(pid);
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let function = word(&mut rest)?;
    let caller = word(&mut rest)?;
    let is_name = |name: &str| {
        let odd = |b: u8| matches!(b, b'[' | b'(' | b'=' | b',' | b':' | b'"');
        !name.bytes().any(odd) && !name.bytes().all(|b| b.is_ascii_punctuation())
    };
    if !is_name(function) || !is_name(caller) {
        return None;
    }
    Some(Row {
        entry_ns,
        delta,
        pid: Some(number),
        interrupt: number.len() < pid.len(),
        function,
        caller: Some(caller),
        args: (!rest.is_empty()).then_some(rest),
    })
}

fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    *rest = behind.trim_start();
    (!word.is_empty()).then_some(word)
}

fn delta(number: &str) -> Option<Delta> {
    Some(match number {
        // The last two as unsigned numbers of 32 and 64 bits.
        "0" | "-1" | "4294967295" | "18446744073709551615" => Delta::NoExit,
        "-2" | "4294967294" | "18446744073709551614" => Delta::StackWatch,
        number => {
            let ns = text::decimal(number.as_bytes(), 3)?;
            (ns >= 0).then_some(Delta::Ns(ns))?
        }
    })
}

/// Whether a function is an address that nobody resolved.
pub(super) fn is_address(name: &str) -> bool {
    let digits = name.strip_prefix("0x").unwrap_or(name);
    digits.len() >= 8
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
        && digits.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> (i64, Delta, &str, bool, &str, Option<&str>, Option<&str>) {
        let r = parse(line).unwrap();
        let pid = r.pid.unwrap();
        (
            r.entry_ns,
            r.delta,
            pid,
            r.interrupt,
            r.function,
            r.caller,
            r.args,
        )
    }

    #[test]
    fn rows_of_every_kind() {
        assert_eq!(
            row("   14       8687       0      setup_arch   start_kernel+0x35"),
            (
                14_000,
                Delta::Ns(8_687_000),
                "0",
                false,
                "setup_arch",
                Some("start_kernel+0x35"),
                None
            )
        );
        assert_eq!(
            row("256 8 -1i c0123456 c0008f14"),
            (
                256_000,
                Delta::Ns(8_000),
                "-1",
                true,
                "c0123456",
                Some("c0008f14"),
                None
            )
        );
        assert_eq!(
            row("9 no exit 145 f g+0x1 c1 00000001 2 3"),
            (
                9_000,
                Delta::NoExit,
                "145",
                false,
                "f",
                Some("g+0x1"),
                Some("c1 00000001 2 3")
            )
        );
        assert_eq!(row("1 4294967294 5 f g").1, Delta::StackWatch);
        for bad in [
            "",
            "1",
            "1 2 3 f",
            "x 2 3 f g",
            "1 -3 3 f g",
            "1 2 3x f g",
            "-1 2 3 f g",
            "1 2 3 [f g",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn trees_and_sums_of_kd() {
        let tree = heading(" Entry      Duration   Local       Pid    Trace")
            .unwrap()
            .unwrap();
        assert!(has_times(&tree));
        let row = parse_columns(&tree, "   24    8    6    33 |  |  |  prepare_to_copy").unwrap();
        assert_eq!(
            (row.entry_ns, row.pid, row.function),
            (24_000, Some("33"), "prepare_to_copy")
        );
        let sums = heading("Function   Count Time     Average  Local")
            .unwrap()
            .unwrap();
        assert!(!has_times(&sums));
        assert!(parse_columns(&sums, "schedule   192  5173790    26946  5173790").is_some());
        assert_eq!(heading("Function and time"), None);
        assert_eq!(heading(" Entry Delta PID Function Caller"), Some(None));
    }

    #[test]
    fn addresses() {
        assert!(is_address("c0008f14") && is_address("0xffffffff81000000"));
        assert!(!is_address("add") && !is_address("deadbeef") && !is_address("schedule"));
    }
}
