//! What a screen costs that shows the kernel's log.

use bootlap_product::cmdline;

use super::checks;
use super::seen::{is_kernels, silence_before, steps};
use crate::lines::{Begin, Line, Said};
use crate::{Boot, Finding};

checks! {
    "cmdline-no-tty-console" => screen,
    "config-framebuffer-console" => takeover,
}

/// What the kernel says when a screen becomes its console.
const SWITCHES: &str = "Console: switching to colour frame buffer device";

fn screen(boot: &Boot<'_>) -> Option<Finding> {
    let words = cmdline::words(boot.facts().cmdline.as_deref()?);
    let is_screen = |word: &&&str| cmdline::console_of(word).is_some_and(cmdline::is_screen);
    let word = words.iter().find(is_screen)?;
    let line = boot.line(SWITCHES)?;
    if words.contains(&"quiet") || !is_kernels(boot, &line) {
        return None;
    }
    let finding = Finding::new()
        .fix(format!(
            "remove `{word}` from the command line, or add `quiet`"
        ))
        .recipe(boot.recipe("cmdline-no-tty-console"))
        .seen([line.evidence]);
    Some(match scrolled(boot.lines()) {
        Some(scrolled) => finding
            .why(format!(
                "`{word}`: when it is full, each line takes {} ms, whatever it says",
                scrolled.row_ns / 1_000_000
            ))
            .saves(
                scrolled.ns,
                format!(
                    "at most: {} lines; other CPUs may have gone on meanwhile",
                    scrolled.lines
                ),
            )
            .at(Some(scrolled.at)),
        None => finding
            .why(format!("`{word}`, and `{}`", line.text))
            .saves_unknown("it depends on the size of the screen and on how much is printed"),
    })
}

/// A screen that is full: each further line moves all of it.
struct Scrolled {
    /// What moving it by one row takes.
    row_ns: i64,
    /// What was printed then, and what that took.
    lines: usize,
    ns: i64,
    /// From the first such line to the last.
    at: [i64; 2],
}

/// So many lines in a row tell it from chance.
const WINDOW: usize = 16;

/// Moving a screen by a row takes so long where it matters, ns.
const ROW_NS: std::ops::Range<i64> = 5_000_000..250_000_000;

/// What stands before a line's text, in columns: its time.
const TIME_COLUMNS: usize = 15;

/// Lines that take the same however long they are: a serial line takes longer for longer ones,
/// and what the kernel does between two lines is never the same.
fn scrolled(lines: Said<'_, '_>) -> Option<Scrolled> {
    let mut screens = lines.places(Begin([SWITCHES]));
    screens.find_map(|at| scrolled_since(lines, at))
}

/// The same of the screen that becomes the console in this line, up to the next one.
fn scrolled_since(lines: Said<'_, '_>, at: usize) -> Option<Scrolled> {
    let size = lines[at].text[SWITCHES.len()..].trim_start();
    let columns: usize = size.split('x').next()?.parse().ok().filter(|c| *c > 0)?;
    let is_shown = |l: &&Line<'_>| !l.text.starts_with("Console: switching to ");
    let shown = lines.since(at + 1).iter().take_while(is_shown);
    let after: Vec<&Line<'_>> = shown.collect();
    let rows = |line: &Line<'_>| {
        let rows = (line.text.chars().count() + TIME_COLUMNS).div_ceil(columns);
        i64::try_from(rows).unwrap_or(i64::MAX)
    };
    let gap = |line: &Line<'_>| line.next_ns.saturating_sub(line.start_ns);
    let mut windows = after.windows(WINDOW);
    let start = windows.position(|w| is_even(w, rows, gap))?;
    let mut of_a_row: Vec<i64> = after[start..start + WINDOW]
        .iter()
        .map(|l| gap(l) / rows(l))
        .collect();
    of_a_row.sort_unstable();
    let row_ns = of_a_row[WINDOW / 2];
    let printed: Vec<&&Line<'_>> = after[start..].iter().filter(|l| l.timed).collect();
    let took = printed
        .iter()
        .map(|l| gap(l).min(row_ns.saturating_mul(rows(l))));
    Some(Scrolled {
        row_ns,
        lines: printed.len(),
        ns: took.sum(),
        at: [printed.first()?.start_ns, printed.last()?.next_ns],
    })
}

/// Whether all these lines took the same for each row: the half with the longer texts no
/// longer.
fn is_even(
    lines: &[&Line<'_>],
    rows: impl Fn(&Line<'_>) -> i64,
    gap: impl Fn(&Line<'_>) -> i64,
) -> bool {
    // Where a line's end is known it was sent over a serial line.
    if lines
        .iter()
        .any(|l| !l.timed || l.goes_on || l.end_ns > l.start_ns)
    {
        return false;
    }
    let of_a_row = |l: &Line<'_>| gap(l) / rows(l).max(1);
    let mut by_time: Vec<i64> = lines.iter().map(|l| of_a_row(l)).collect();
    by_time.sort_unstable();
    let (low, high) = (by_time[WINDOW / 4], by_time[WINDOW * 3 / 4]);
    if !ROW_NS.contains(&low) || high > low + low / 5 {
        return false;
    }
    let mut by_length: Vec<(usize, i64)> =
        lines.iter().map(|l| (l.text.len(), of_a_row(l))).collect();
    by_length.sort_unstable();
    let (short, long) = by_length.split_at(WINDOW / 2);
    let length = |half: &[(usize, i64)]| half.iter().map(|(len, _)| len).sum::<usize>() as f64;
    let time = |half: &[(usize, i64)]| half.iter().map(|(_, ns)| ns).sum::<i64>() as f64;
    let longer = length(long) / length(short).max(1.0) - 1.0;
    let later = time(long) / time(short) - 1.0;
    longer >= 0.15 && later <= longer / 2.0
}

/// Setting a mode and drawing takes this, binding alone does not.
const TAKEOVER_NS: i64 = 10_000_000;

fn takeover(boot: &Boot<'_>) -> Option<Finding> {
    let mut steps = steps(boot);
    let (before, line) = steps.find(|(_, l)| l.text.contains(SWITCHES))?;
    if before.ns() < TAKEOVER_NS {
        return None;
    }
    Some(
        Finding::new()
            .why(silence_before(before.ns(), line.text))
            .saves(
                before.ns(),
                "at most: that silence; the display needs part of it some time",
            )
            .at(Some(before.at()))
            .seen([line.evidence]),
    )
}
