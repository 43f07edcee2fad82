//! What the kernel prints, how fast, and how often.

use bootlap_model::TrackKind;
use bootlap_product::cmdline;

use super::checks;
use super::console::{on_a_wire, printed};
use super::seen::{configs, is_kernels, ms, options_on, parameters, silence_before, steps};
use crate::{Boot, Finding};

checks! {
    "cmdline-console-baud" => baud,
    "cmdline-loglevel" => log_level,
    "cmdline-less-debug" => less_debug,
    "cmdline-console-twice" => twice,
    "cmdline-no-tty-console" => screen,
    "config-framebuffer-console" => takeover,
    "config-verbose-drivers" => verbose,
    "cmdline-no-printk-time" => times,
    "cmdline-no-audit" => audit,
    "config-no-printk" => no_printk,
}

/// All bytes that this boot was seen to send over a console.
fn sent(boot: &Boot<'_>) -> u64 {
    let timeline = boot.timeline();
    let spans = timeline.spans_of(TrackKind::Console);
    let spans = spans.filter(|span| on_a_wire(timeline, span));
    spans.fold(0, |sum: u64, span| {
        let bytes = span.evidence.end.saturating_sub(span.evidence.start);
        sum.saturating_add(bytes)
    })
}

/// What every UART, cable and terminal can do.
const COMMON_BAUD: u64 = 115_200;

/// What most UARTs of the last 20 years can do.
const FAST_BAUD: u64 = 921_600;

/// Fewer bytes are not worth another speed.
const MANY_BYTES: u64 = 2_000;

fn baud(boot: &Boot<'_>) -> Option<Finding> {
    cmdline::console_baud(boot.facts().cmdline.as_deref()?)?;
    let (bytes, now) = (sent(boot), boot.baud());
    if bytes < MANY_BYTES || now > COMMON_BAUD {
        return None;
    }
    let better = match now < COMMON_BAUD {
        true => COMMON_BAUD,
        false => FAST_BAUD,
    };
    let now_ns = boot.on_the_line_ns(bytes);
    let share = |ns: i64| i128::from(ns) * i128::from(now) / i128::from(better);
    let then_ns = i64::try_from(share(now_ns)).unwrap_or(now_ns);
    Some(
Finding::new()
        .why(format!("{bytes} bytes at {now} baud are {}", ms(now_ns)))
        .saves_on_board(
            now_ns.saturating_sub(then_ns),
            format!("{bytes} bytes at {better} instead of {now} baud, ten bits each"),
        )
        .fix(format!(
            "use {better} baud in `console=`, in the boot loader and in the terminal, if the UART \
             can do it"
        ))
        .recipe(boot.recipe(&format!("cmdline-console-baud={better}"))),
    )
}

/// `quiet` prints what is more urgent than this.
const QUIET_LEVEL: u32 = 4;

fn log_level(boot: &Boot<'_>) -> Option<Finding> {
    let words = cmdline::words(boot.facts().cmdline.as_deref()?);
    let level = |word: &&str| word.strip_prefix("loglevel=")?.parse::<u32>().ok();
    let last = words
        .iter()
        .rfind(|w| **w == "quiet" || level(w).is_some())?;
    let level = level(last).filter(|level| *level > QUIET_LEVEL)?;
    let undoes = words.contains(&"quiet");
    if !undoes && !boot.lines().is_empty() {
        return None;
    }
    let (_, bytes) = printed(boot);
    let finding = Finding::new()
        .why(format!("`loglevel={level}` is what counts"))
        .recipe(boot.recipe("cmdline-loglevel=4"));
    Some(match bytes.min(sent(boot)) {
        0 => finding.saves_unknown("it depends on how much is printed; a console's log shows it"),
        _ => finding.saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes of the kernel's log at {} baud", boot.baud()),
        ),
    })
}

/// Parameters that only make the boot say more.
const TALKATIVE: [&str; 10] = [
    "debug",
    "earlycon",
    "earlyprintk",
    "ignore_loglevel",
    "initcall_debug",
    "keep_bootcon",
    "dyndbg",
    "drm.debug",
    "sched_verbose",
    "rd.debug",
];

fn less_debug(boot: &Boot<'_>) -> Option<Finding> {
    let found = parameters(boot, &TALKATIVE);
    if found.is_empty() {
        return None;
    }
    let initcalls = boot.lines().iter().filter(|l| {
        l.text.starts_with("calling  ") || l.text.starts_with("initcall ") && is_kernels(boot, l)
    });
    let bytes = initcalls.fold(0_u64, |sum, l| {
        sum.saturating_add(l.evidence.end.saturating_sub(l.evidence.start))
    });
    let words = found.join(" ");
    let finding = Finding::new()
        .why(format!("`{words}`"))
        .fix(format!(
            "remove `{words}` once nothing is to be measured with it"
        ))
        .recipe(boot.recipe("cmdline-less-debug"));
    Some(match bytes > 0 && sent(boot) > 0 {
        true => finding.saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes about initcalls at {} baud", boot.baud()),
        ),
        false => finding.saves_unknown("it depends on how much is printed, and on the console"),
    })
}

fn twice(boot: &Boot<'_>) -> Option<Finding> {
    let notices = boot.timeline().notices.iter();
    let mut notices = notices.filter(|n| n.code == "line-printed-twice");
    let notice = notices.next()?;
    let lines = u64::try_from(boot.lines().len()).ok().filter(|n| *n > 0)?;
    let bytes = (sent(boot) / lines).saturating_mul(notice.count);
    Some(
        Finding::new()
            .why(format!("{} lines came twice", notice.count))
            .saves_on_board(
                boot.on_the_line_ns(bytes),
                format!("about {bytes} bytes at {} baud", boot.baud()),
            )
            .seen(notice.first.iter().copied()),
    )
}

/// What the kernel says when a screen becomes its console.
const SWITCHES: &str = "Console: switching to colour frame buffer device";

fn screen(boot: &Boot<'_>) -> Option<Finding> {
    let words = cmdline::words(boot.facts().cmdline.as_deref()?);
    let is_screen = |word: &&&str| {
        let tty = word.strip_prefix("console=tty");
        tty.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    let word = words.iter().find(is_screen)?;
    let line = boot.line(SWITCHES)?;
    if words.contains(&"quiet") || !is_kernels(boot, &line) {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("`{word}`, and `{}`", line.text))
            .saves_unknown("it depends on the size of the screen and on how much is printed")
            .fix(format!(
                "remove `{word}` from the command line, or add `quiet`"
            ))
            .recipe(boot.recipe("cmdline-no-tty-console"))
            .seen([line.evidence]),
    )
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

fn verbose(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(
        boot,
        &[
            "DEBUG_DRIVER",
            "DEBUG_KOBJECT",
            "DEBUG_DEVRES",
            "DEBUG_PINCTRL",
            "DEBUG_GPIO",
            "PCI_DEBUG",
            "I2C_DEBUG_CORE",
            "SPI_DEBUG",
        ],
    );
    if on.is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("the kernel is built with {}", configs(&on)))
            .saves_unknown("it depends on how much they say, and on the console")
            .fix(format!(
                "build the product's kernel without {}",
                configs(&on)
            )),
    )
}

/// `[    0.000000] `.
const TIME_BYTES: u64 = 15;

fn times(boot: &Boot<'_>) -> Option<Finding> {
    let loud = |p: &str| match p.strip_prefix("loglevel=") {
        Some(level) => level.parse::<u32>().is_ok_and(|level| level > QUIET_LEVEL),
        None => true,
    };
    let asked = parameters(boot, &["loglevel", "ignore_loglevel", "debug"]);
    let asked = asked.into_iter().find(|p| loud(p))?;
    let spans = boot.timeline().spans_of(TrackKind::Console);
    let is_timed = |text: &str| crate::lines::message(text).len() < text.trim().len();
    let lines = spans.filter(|span| is_timed(boot.timeline().text(span.name)));
    let lines = u64::try_from(lines.count()).unwrap_or(0);
    if sent(boot) == 0 || lines < 100 {
        return None;
    }
    let bytes = lines.saturating_mul(TIME_BYTES);
    Some(
        Finding::new()
            .why(format!("`{asked}`, and {lines} lines with times"))
            .saves_on_board(
                boot.on_the_line_ns(bytes),
                format!(
                    "{TIME_BYTES} bytes a line at {} baud, ten bits each",
                    boot.baud()
                ),
            ),
    )
}

/// So many are no coincidence.
const AUDIT_LINES: usize = 10;

fn audit(boot: &Boot<'_>) -> Option<Finding> {
    let is_record = |l: &&crate::lines::Line<'_>| l.text.starts_with("audit: type=");
    let lines: Vec<_> = boot.lines().iter().filter(is_record).collect();
    if lines.len() < AUDIT_LINES || boot.parameter("audit") == Some("audit=0") {
        return None;
    }
    let bytes = lines.iter().fold(0_u64, |sum, l| {
        sum.saturating_add(l.evidence.end.saturating_sub(l.evidence.start))
    });
    let finding = Finding::new()
        .why(format!("{} records, {bytes} bytes", lines.len()))
        .recipe(boot.recipe("cmdline-no-audit"))
        .seen(lines.iter().take(3).map(|l| l.evidence));
    Some(match sent(boot) > 0 {
        true => finding.saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes at {} baud, ten bits each", boot.baud()),
        ),
        false => finding.saves_unknown("it depends on whether the console prints them"),
    })
}

fn no_printk(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["PRINTK", "EXPERT"]);
    boot.parameter("quiet").filter(|_| on.len() == 2)?;
    Some(
        Finding::new()
            .why("`quiet` is on the command line, and the messages' texts are still in the image")
            .saves_unknown("some 100 KB of the image; try it as the very last step"),
    )
}
