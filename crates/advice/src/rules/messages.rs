//! What the kernel prints, how fast, and how often.

use bootlap_product::cmdline;

use super::checks;
use super::console::printed;
use super::firmware::is_virtual;
use super::seen::{configs, is_kernels, ms, options_on, parameters};
use crate::dump::{is_dump, is_frame};
use crate::lines::{Begin, Sent};
use crate::serial::Cost;
use crate::{Boot, Finding, Printer};

checks! {
    "cmdline-console-baud" => baud,
    "cmdline-console-syntax" => syntax,
    "cmdline-loglevel" => log_level,
    "cmdline-less-debug" => less_debug,
    "cmdline-console-twice" => twice,
    "config-verbose-drivers" => verbose,
    "cmdline-no-printk-time" => times,
    "cmdline-no-audit" => audit,
    "kernel-stack-dump" => dumps,
    "config-no-printk" => no_printk,
}

/// All that this boot was seen to send over a console.
fn sent(boot: &Boot<'_>) -> Cost {
    Cost::of(boot.lines().iter()).with(boot.flushed(i64::MAX))
}

/// What every UART, cable and terminal can do.
const COMMON_BAUD: u64 = 115_200;

/// What most UARTs of the last 20 years can do.
const FAST_BAUD: u64 = 921_600;

/// Fewer bytes are not worth another speed.
const MANY_BYTES: u64 = 2_000;

fn baud(boot: &Boot<'_>) -> Option<Finding> {
    let said = boot.facts().cmdline.as_deref();
    boot.measured_baud()
        .or(said.and_then(cmdline::console_baud).map(u64::from))?;
    let (all, now) = (sent(boot), boot.baud());
    let bytes = all.bytes;
    if bytes < MANY_BYTES || now > COMMON_BAUD {
        return None;
    }
    let better = match now < COMMON_BAUD {
        true => COMMON_BAUD,
        false => FAST_BAUD,
    };
    let now_ns = all.ns(boot);
    // A virtual machine's console takes no notice of the speed that it is told.
    let lines = boot.lines();
    let seen_ns = lines.last()?.end_ns.saturating_sub(lines.first()?.start_ns);
    let is_boards = boot.target().is_some() || boot.measured_baud().is_some();
    if !is_boards && (is_virtual(boot) || now_ns > seen_ns) {
        return None;
    }
    let share = |ns: i64| i128::from(ns) * i128::from(now) / i128::from(better);
    let then_ns = i64::try_from(share(now_ns)).unwrap_or(now_ns);
    Some(
Finding::new()
        .why(format!("{bytes} bytes at {now} baud are {}", ms(now_ns)))
        .at(boot.flush_at())
        .saves_part_of(boot, Printer::Everybody, all, now_ns.saturating_sub(then_ns))
        .fix(format!(
            "use {better} baud in `console=`, in the boot loader and in the terminal, if the UART \
             can do it"
        ))
        .recipe(boot.recipe(&format!("cmdline-console-baud={better}"))),
    )
}

fn syntax(boot: &Boot<'_>) -> Option<Finding> {
    let words = cmdline::words(boot.facts().cmdline.as_deref()?);
    let (at, word, wrong) = words.iter().enumerate().find_map(|(at, word)| {
        // A Braille display's option is the port that it is on.
        let console = word.strip_prefix("console=")?;
        let options = console.split_once(',').filter(|c| c.0 != "brl")?.1;
        (!is_options(options)).then_some((at, *word, options))
    })?;
    // A blank before the options makes them a word of their own, which nobody reads.
    let lost = words
        .get(at + 1)
        .filter(|next| wrong.is_empty() && is_options(next));
    let said = match lost {
        Some(options) => format!("`{word} {options}`: the blank cuts the options off"),
        None => format!("`{word}`: `{wrong}` is not read as a speed"),
    };
    let finding = Finding::new().why(said).at(boot.flush_at());
    let meant = lost.and_then(|options| leading_number(options));
    let all = sent(boot);
    let slower = meant
        .zip(boot.measured_baud())
        .filter(|(meant, now)| meant > now);
    Some(match slower {
        Some((meant, now)) => {
            let saved_ns = all.share(meant - now, meant).ns(boot);
            finding
                .saves_part_of(boot, Printer::Everybody, all, saved_ns)
                .fix(format!(
                    "write the speed without a blank; this boot ran at {now} baud"
                ))
        }
        None => finding.saves_unknown("it depends on the speed that the port had before"),
    })
}

/// `115200n8r`, and what other drivers read: `mmio32,0xff5e0000,115200`, `keep`.
fn is_options(options: &str) -> bool {
    let last = options.rsplit(',').next().unwrap_or(options);
    let rest = last.trim_start_matches(|c: char| c.is_ascii_digit());
    let speed = rest.len() < last.len() && matches!(rest.len(), 0..=3);
    let form = rest.trim_start_matches(['n', 'o', 'e']);
    let form = form.strip_suffix('r').unwrap_or(form);
    let bits = form.is_empty() || matches!(form, "7" | "8");
    speed && bits || ["keep", "noreplay"].contains(&last) || last.starts_with("0x")
}

fn leading_number(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
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
    let (_, kernel) = printed(boot);
    let finding = Finding::new()
        .why(format!("`loglevel={level}` is what counts"))
        .recipe(boot.recipe("cmdline-loglevel=4"));
    Some(match kernel.bytes {
        0 => finding.saves_unknown("it depends on how much is printed; a console's log shows it"),
        _ => finding.saves_printing(boot, Printer::Kernel, kernel),
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
    let initcalls = boot.lines().all(Begin(["calling  ", "initcall "]));
    let initcalls = initcalls.filter(|l| !l.text.starts_with("initcall ") || is_kernels(boot, l));
    let printed = Cost::of(initcalls);
    let words = found.join(" ");
    let finding = Finding::new()
        .why(format!("`{words}`"))
        .fix(format!(
            "remove `{words}` once nothing is to be measured with it"
        ))
        .recipe(boot.recipe("cmdline-less-debug"));
    Some(match printed.bytes > 0 {
        true => finding.saves_printing(boot, Printer::Kernel, printed),
        false => finding.saves_unknown("it depends on how much is printed, and on the console"),
    })
}

fn twice(boot: &Boot<'_>) -> Option<Finding> {
    let notices = boot.timeline().notices.iter();
    let mut notices = notices.filter(|n| n.code == "line-printed-twice");
    let notice = notices.next()?;
    let lines = u64::try_from(boot.lines().len()).ok().filter(|n| *n > 0)?;
    // A console that takes over prints one or two lines on both; two that stay, nearly all.
    if notice.count < lines / 4 {
        return None;
    }
    let twice = sent(boot).share(notice.count, lines);
    Some(
        Finding::new()
            .why(format!("{} lines came twice", notice.count))
            .saves_printing(boot, Printer::Kernel, twice)
            .seen(notice.first.iter().copied()),
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
    let is_sent = |l: &&crate::lines::Line<'_>| l.timed && l.sent != Sent::Unknown;
    let lines: Vec<_> = boot.lines().iter().filter(is_sent).collect();
    let all = Cost::of(lines.iter().copied());
    let bytes = (lines.len() as u64).saturating_mul(TIME_BYTES);
    if lines.len() < 100 || all.bytes < bytes {
        return None;
    }
    let times = all.share(bytes, all.bytes);
    Some(
        Finding::new()
            .why(format!(
                "`{asked}`, and {TIME_BYTES} bytes of time on each of {} lines",
                lines.len()
            ))
            .saves_printing(boot, Printer::Kernel, times),
    )
}

/// So many are no coincidence.
const AUDIT_LINES: usize = 10;

fn audit(boot: &Boot<'_>) -> Option<Finding> {
    let lines: Vec<_> = boot.lines().all(Begin("audit: type=")).collect();
    if lines.len() < AUDIT_LINES || boot.parameter("audit") == Some("audit=0") {
        return None;
    }
    let printed = Cost::of(lines.iter().copied());
    let finding = Finding::new()
        .why(format!("{} records", lines.len()))
        .recipe(boot.recipe("cmdline-no-audit"))
        .seen(lines.iter().take(3).map(|l| l.evidence));
    Some(match printed.bytes > 0 {
        true => finding.saves_printing(boot, Printer::Kernel, printed),
        false => finding.saves_unknown("it depends on whether the console prints them"),
    })
}

/// Fewer may be quoted by something else.
const DUMP_LINES: usize = 8;

fn dumps(boot: &Boot<'_>) -> Option<Finding> {
    if !boot.lines().has((["+0x", "[<"], is_frame)) {
        return None;
    }
    let lines: Vec<_> = boot.lines().iter().filter(|l| is_dump(l.text)).collect();
    if lines.len() < DUMP_LINES {
        return None;
    }
    let printed = Cost::of(lines.iter().copied());
    let finding = Finding::new()
        .why(format!(
            "{} lines of stack dumps, the first `{}`",
            lines.len(),
            lines[0].text
        ))
        .seen(lines.iter().take(3).map(|l| l.evidence));
    Some(match printed.bytes > 0 {
        true => finding.saves_printing(boot, Printer::Kernel, printed),
        false => finding.saves_unknown("what went wrong may cost more than its report"),
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
