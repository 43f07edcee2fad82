//! What the kernel prints, how fast, and how often.

use bootlap_model::TrackKind;
use bootlap_product::cmdline;

use super::console::{on_a_wire, printed};
use super::seen::{configs, is_kernels, ms, options_on, parameters, steps};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &BAUD,
    &LOG_LEVEL,
    &LESS_DEBUG,
    &TWICE,
    &SCREEN,
    &TAKEOVER,
    &VERBOSE,
    &TIMES,
    &AUDIT,
    &NO_PRINTK,
];

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

rule! {
    /// The console is slower than it could be.
    ///
    /// **Why.** What is printed takes ten bit times a character, and whoever prints waits.
    ///
    /// **Evidence.** All bytes on the console, at the speed that `console=` or the target's
    /// `[board]` names, if that is 115 200 baud or less. The saving is a prediction for a
    /// board.
    ///
    /// **Fix.** `console=ttyS0,921600`; U-Boot (`baudrate`), the device tree (`stdout-path`)
    /// and the terminal have to follow.
    ///
    /// **Risk.** Not every UART divides its clock that well, not every cable bears it: try
    /// it on several boards.
    ///
    /// **Figures.** 60 kB of messages are 5.2 s at 115 200 baud; it is arithmetic.
    BAUD = "cmdline-console-baud", Kernel, baud
}

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
    let finding = Finding::new("the console is slower than it could be")
        .why(format!("{bytes} bytes at {now} baud are {}", ms(now_ns)))
        .saves_on_board(
            now_ns.saturating_sub(then_ns),
            format!("{bytes} bytes at {better} instead of {now} baud, ten bits each"),
        )
        .fix(format!(
            "use {better} baud in `console=`, in the boot loader and in the terminal, if the UART \
             can do it"
        ))
        .recipe(boot.recipe(&format!("cmdline-console-baud={better}")));
    Some(finding)
}

/// `quiet` prints what is more urgent than this.
const QUIET_LEVEL: u32 = 4;

rule! {
    /// A log level on the command line undoes `quiet`.
    ///
    /// **Why.** `quiet` and `loglevel=` set the same number, and the last one counts.
    ///
    /// **Evidence.** `loglevel=5` or more behind `quiet`; or without `quiet`, where no log
    /// was given (with one, `cmdline-quiet` counts what is printed). With a console's log the
    /// saving is predicted from the bytes that the kernel printed.
    ///
    /// **Fix.** `loglevel=4` or less, or remove it.
    ///
    /// **Risk.** A kernel that hangs early says less about where.
    ///
    /// **Figures.** 1.9 s from 7 to 6 (i.MX93, of 13.2 s).
    LOG_LEVEL = "cmdline-loglevel", Kernel, log_level
}

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
    let finding = Finding::new("a log level on the command line makes the kernel talkative")
        .why(format!("`loglevel={level}` is what counts"))
        .fix("use `loglevel=4` or less, or remove it")
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

rule! {
    /// The command line asks for messages that developers want.
    ///
    /// **Why.** `initcall_debug` prints two lines for each initcall, `earlycon` waits for
    /// each character, `ignore_loglevel` prints everything.
    ///
    /// **Evidence.** `debug`, `earlycon`, `earlyprintk`, `ignore_loglevel`,
    /// `initcall_debug`, `keep_bootcon`, `dyndbg=`, `drm.debug=`, `sched_verbose` or
    /// `rd.debug` on the command line. Of `initcall_debug`, the bytes of its lines on a
    /// console are counted as a prediction for a board.
    ///
    /// **Fix.** Remove them, once nothing is to be measured with them any more.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** As for `cmdline-quiet`; none is published for these alone.
    LESS_DEBUG = "cmdline-less-debug", Kernel, less_debug
}

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
    let finding = Finding::new("the command line asks for messages that developers want")
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

rule! {
    /// Each line of the kernel goes over the same wire twice.
    ///
    /// **Why.** Two consoles share one UART: `keep_bootcon` with `earlycon`, or two
    /// `console=` that mean the same. Each line takes twice its time.
    ///
    /// **Evidence.** Lines of the kernel's log that come twice with the same time and text.
    /// The saving is predicted from their number and the mean length of a line.
    ///
    /// **Fix.** Remove `keep_bootcon` or the second `console=`.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** Half of what the log costs; none is published.
    TWICE = "cmdline-console-twice", Kernel, twice
}

fn twice(boot: &Boot<'_>) -> Option<Finding> {
    let notices = boot.timeline().notices.iter();
    let mut notices = notices.filter(|n| n.code == "line-printed-twice");
    let notice = notices.next()?;
    let lines = u64::try_from(boot.lines().len()).ok().filter(|n| *n > 0)?;
    let bytes = (sent(boot) / lines).saturating_mul(notice.count);
    let finding = Finding::new("each line of the kernel goes over the same wire twice")
        .why(format!("{} lines came twice", notice.count))
        .saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("about {bytes} bytes at {} baud", boot.baud()),
        )
        .fix("remove `keep_bootcon` or the second `console=` from the command line")
        .seen(notice.first.iter().copied());
    Some(finding)
}

rule! {
    /// The kernel prints its log on a screen, too.
    ///
    /// **Why.** With `console=tty0` each line is drawn, and the screen scrolled, by the CPU.
    ///
    /// **Evidence.** `console=tty0` (or `tty1`) on the command line, a frame buffer console
    /// in the log, and no `quiet`.
    ///
    /// **Fix.** Remove `console=tty0`, or `quiet`.
    ///
    /// **Risk.** Nothing is seen on the screen when the boot fails.
    ///
    /// **Figures.** 176 ms (SH with a VGA console: 638 to 462 ms).
    SCREEN = "cmdline-no-tty-console", Kernel, screen
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
    let finding = Finding::new("the kernel prints its log on a screen, too")
        .why(format!("`{word}`, and `{}`", line.text))
        .saves_unknown("it depends on the size of the screen and on how much is printed")
        .fix(format!(
            "remove `{word}` from the command line, or add `quiet`"
        ))
        .recipe(boot.recipe("cmdline-no-tty-console"))
        .seen([line.evidence]);
    Some(finding)
}

/// Setting a mode and drawing takes this, binding alone does not.
const TAKEOVER_NS: i64 = 10_000_000;

rule! {
    /// The boot waits for the screen's first picture.
    ///
    /// **Why.** When the display's driver hands its frame buffer to the console, it sets a
    /// mode, which waits for the panel, and draws the text.
    ///
    /// **Evidence.** 10 ms and more of silence before `Console: switching to colour frame
    /// buffer device`, before the first program.
    ///
    /// **Fix.** `CONFIG_FRAMEBUFFER_CONSOLE=n` if the product shows no text, or
    /// `CONFIG_FRAMEBUFFER_CONSOLE_DEFERRED_TAKEOVER=y`, which waits for the first text and
    /// keeps the boot loader's picture; the display's driver as a module.
    ///
    /// **Risk.** No text on the screen.
    ///
    /// **Figures.** None is published; the boot itself tells.
    TAKEOVER = "config-framebuffer-console", Kernel, takeover
}

fn takeover(boot: &Boot<'_>) -> Option<Finding> {
    let mut steps = steps(boot);
    let (before, line) = steps.find(|(_, l)| l.text.contains(SWITCHES))?;
    if before.ns() < TAKEOVER_NS {
        return None;
    }
    let finding = Finding::new("the boot waits for the screen's first picture")
        .why(format!(
            "{} of silence before `{}`",
            ms(before.ns()),
            line.text
        ))
        .saves(
            before.ns(),
            "at most: that silence; the display needs part of it some time",
        )
        .fix(
            "build with CONFIG_FRAMEBUFFER_CONSOLE=n if the product shows no text, or with its \
             _DEFERRED_TAKEOVER",
        )
        .at(Some(before.at()))
        .seen([line.evidence]);
    Some(finding)
}

rule! {
    /// Parts of the kernel are built to say everything they do.
    ///
    /// **Why.** These options turn debug messages of a whole subsystem on, for good.
    ///
    /// **Evidence.** `CONFIG_DEBUG_DRIVER`, `CONFIG_DEBUG_KOBJECT`, `CONFIG_DEBUG_DEVRES`,
    /// `CONFIG_DEBUG_PINCTRL`, `CONFIG_DEBUG_GPIO`, `CONFIG_PCI_DEBUG`,
    /// `CONFIG_I2C_DEBUG_CORE`, `CONFIG_SPI_DEBUG`, `CONFIG_PM_DEBUG_MESSAGES` or
    /// `CONFIG_PNP_DEBUG_MESSAGES` in the `.config`.
    ///
    /// **Fix.** Turn them off; `dyndbg=` does the same for a while.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** As for `cmdline-quiet`: bytes times bit time.
    VERBOSE = "config-verbose-drivers", Kernel, verbose
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
    let finding = Finding::new("parts of the kernel are built to say everything they do")
        .why(format!("the kernel is built with {}", configs(&on)))
        .saves_unknown("it depends on how much they say, and on the console")
        .fix(format!(
            "build the product's kernel without {}",
            configs(&on)
        ));
    Some(finding)
}

/// `[    0.000000] `.
const TIME_BYTES: u64 = 15;

rule! {
    /// A log that is wanted on the console carries its times.
    ///
    /// **Why.** `[    0.123456] ` are 15 characters a line, 1.3 ms at 115 200 baud.
    ///
    /// **Evidence.** Lines with times on a console, where the command line asks for a loud
    /// log (`loglevel=5` or more, `ignore_loglevel`, `debug`); else `quiet` saves more. The
    /// saving is a prediction for a board.
    ///
    /// **Fix.** `printk.time=0`; a recorder with stamps of its own (`bootlap capture`) still
    /// tells the times.
    ///
    /// **Risk.** Times are missing in the console's log; `dmesg` has them only with it.
    ///
    /// **Figures.** None is published; it is arithmetic.
    TIMES = "cmdline-no-printk-time", Kernel, times
}

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
    let finding = Finding::new("a log that is wanted on the console carries its times")
        .why(format!("`{asked}`, and {lines} lines with times"))
        .saves_on_board(
            boot.on_the_line_ns(bytes),
            format!(
                "{TIME_BYTES} bytes a line at {} baud, ten bits each",
                boot.baud()
            ),
        )
        .fix("add `printk.time=0` to the command line");
    Some(finding)
}

/// So many are no coincidence.
const AUDIT_LINES: usize = 10;

rule! {
    /// The kernel logs audit records that nobody collects.
    ///
    /// **Why.** Without `auditd` each record is a line of the kernel's log, and is printed
    /// on the console, too.
    ///
    /// **Evidence.** Ten or more `audit: type=` lines, without `audit=0`. On a console their
    /// bytes are counted, as a prediction for a board.
    ///
    /// **Fix.** `audit=0`, or `CONFIG_AUDIT=n`; `-a never,task` in the rules if others need
    /// it.
    ///
    /// **Risk.** No record of what security modules refused.
    ///
    /// **Figures.** About 100 ms together with SELinux (systemd).
    AUDIT = "cmdline-no-audit", Kernel, audit
}

fn audit(boot: &Boot<'_>) -> Option<Finding> {
    let is_record = |l: &&crate::lines::Line<'_>| l.text.starts_with("audit: type=");
    let lines: Vec<_> = boot.lines().iter().filter(is_record).collect();
    if lines.len() < AUDIT_LINES || boot.parameter("audit") == Some("audit=0") {
        return None;
    }
    let bytes = lines.iter().fold(0_u64, |sum, l| {
        sum.saturating_add(l.evidence.end.saturating_sub(l.evidence.start))
    });
    let finding = Finding::new("the kernel logs audit records that nobody collects")
        .why(format!("{} records, {bytes} bytes", lines.len()))
        .fix("add `audit=0` to the command line, or build with CONFIG_AUDIT=n")
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

rule! {
    /// A kernel that says nothing could do without its messages.
    ///
    /// **Why.** With `quiet` the messages are still put together and stored, and their texts
    /// make the image some 100 KB larger.
    ///
    /// **Evidence.** `quiet` on the command line, `CONFIG_PRINTK=y`, and `CONFIG_EXPERT=y`,
    /// without which it cannot be turned off.
    ///
    /// **Fix.** `CONFIG_PRINTK=n`, as the very last step.
    ///
    /// **Risk.** High: nobody ever learns why a device in the field failed.
    ///
    /// **Figures.** None is published beyond those of `cmdline-quiet`.
    NO_PRINTK = "config-no-printk", Kernel, no_printk
}

fn no_printk(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["PRINTK", "EXPERT"]);
    boot.parameter("quiet").filter(|_| on.len() == 2)?;
    let finding = Finding::new("a kernel that says nothing could do without its messages")
        .why("`quiet` is on the command line, and the messages' texts are still in the image")
        .saves_unknown("some 100 KB of the image; try it as the very last step")
        .fix("build with CONFIG_PRINTK=n, if nobody will ever ask the device what went wrong");
    Some(finding)
}
