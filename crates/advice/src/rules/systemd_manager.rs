//! systemd itself: what it prints, reads and runs before and beside units.

use bootlap_model::{Milestone, Span, TrackKind};
use bootlap_product::cmdline;

use super::checks;
use super::seen::{init_ns, ms};
use super::stages::{since_kernel, stage};
use super::units::units;
use crate::boot::{evidence, total_ns};
use crate::lines::{Begin, number_after};
use crate::serial::Cost;
use crate::{Boot, Finding, Printer};

checks! {
    "systemd-late" => late,
    "systemd-early-boot" => early_boot,
    "systemd-show-status" => status,
    "cmdline-console-size" => console_size,
    "cmdline-systemd-debug" => debug,
    "systemd-generators" => generators,
    "systemd-unit-files" => unit_files,
    "systemd-two-network-managers" => two_networks,
    "systemd-selinux-policy" => selinux,
    "systemd-first-boot" => first_boot,
}

/// What runs before systemd in less than this is no cause of a slow boot, ns.
const LATE_NS: i64 = 1_000_000_000;

fn late(boot: &Boot<'_>) -> Option<Finding> {
    let begin = init_ns(boot)?;
    let minimal = boot.recipe("initramfs-minimal");
    let left = boot.moment(&[Milestone::SwitchRoot]);
    let end = left.or_else(|| boot.moment(&[Milestone::ManagerStart]))?;
    // An initramfs that says where it ends is a phase of its own for everybody.
    if left.is_some() && minimal.is_err() || end.saturating_sub(begin) < LATE_NS {
        return None;
    }
    let between = boot.lines().iter();
    let between = between.filter(|l| begin <= l.start_ns && l.start_ns < end);
    let silence = between.max_by_key(|l| l.ns());
    let before = ms(end.saturating_sub(begin));
    let openrc = (" is starting up ", |t: &str| t.contains("OpenRC "));
    let is_systemd = !boot.lines().has(Begin("INIT: version ")) && !boot.lines().has(openrc);
    let is_first = left.is_none() && boot.line(Span::IN_INITRAMFS).is_none();
    let (manager, title) = match (is_systemd, is_first) {
        (true, true) => ("systemd", ""),
        (true, false) => (
            "the root's systemd",
            "the root's systemd starts long after the kernel's first program",
        ),
        (false, _) => ("init", "init starts long after the kernel's first program"),
    };
    let program = boot.lines().all(" as init process").find_map(|l| {
        let program = l.text.strip_prefix("Run ")?;
        program.strip_suffix(" as init process")
    });
    let (fix, recipe) = match program {
        Some(program) if program != "/init" => (
            format!(
                "see what {program} does before it logs: is it a wrapper, is it read slowly, does it load a policy (SELinux, IMA)?"
            ),
            Err(String::new()),
        ),
        _ => match minimal {
            Err(why) if boot.target().is_some() => (
                format!(
                    "`initramfs-minimal`, which mounts the root and no more, does not apply here: {why}"
                ),
                Err(why),
            ),
            minimal => (String::new(), minimal),
        },
    };
    Some(
        Finding::new()
            .titled(title)
            .fix(fix)
            .recipe(recipe)
            .why(match silence {
                Some(line) => format!(
                    "{before} from the kernel's first program to {manager}, {} of them behind {:?}",
                    ms(line.ns()),
                    line.text
                ),
                None => format!("{before} from the kernel's first program to {manager}"),
            })
            .saves(
                end.saturating_sub(begin),
                "at most: what has to run before systemd remains",
            )
            .at(Some([begin, end]))
            .seen(silence.map(|l| l.evidence)),
    )
}

/// An early boot that takes less is not worth a target of one's own, ns.
const EARLY_NS: i64 = 500_000_000;

fn early_boot(boot: &Boot<'_>) -> Option<Finding> {
    let begin = boot.moment(&[Milestone::ManagerStart])?;
    let is_end = |text: &str| {
        let reached = text.find("Reached target ").map(|at| &text[at..]);
        reached.is_some_and(|t| t.contains("sysinit.target") || t.contains("System Initialization"))
    };
    let line = since_kernel(boot).find(("Reached target ", is_end))?;
    let ns = line.start_ns.saturating_sub(begin);
    // What comes first already does not wait for it.
    let first = boot.parameter("systemd.unit").is_some();
    (ns >= EARLY_NS && !first).then(|| {
        Finding::new()
            .why(format!(
                "{} from systemd's first line to sysinit.target",
                ms(ns)
            ))
            .saves_unknown("how much of it the application needs, a boot without the rest tells")
            .at(Some([begin, line.start_ns]))
            .seen([line.evidence])
    })
}

fn status(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let is_whole = |t: &str| {
        let goes_on = t.ends_with("...") || t.ends_with('…');
        goes_on || !t.starts_with("Starting ")
    };
    let begins = Begin(["Starting ", "[  OK  ] ", "[FAILED] ", "[DEPEND] "]);
    let shown = stage(lines, (begins, is_whole))?;
    lines.find(Begin("[  OK  ] Reached target "))?;
    let cost = Cost::of(lines.all((begins, is_whole)));
    let finding = shown
        .found()
        .why(format!("{} lines, {} bytes", shown.seen.len(), cost.bytes))
        .recipe(boot.recipe("systemd-status-auto"))
        .saves_printing(boot, Printer::Systemd, cost);
    (cost.bytes >= 1000).then_some(finding)
}

/// The first that was seen to ask; 252 does not.
const ASKS_FOR_SIZE: u32 = 257;

fn console_size(boot: &Boot<'_>) -> Option<Finding> {
    let runs = |text: &str| text.contains(" running in system mode");
    let line = since_kernel(boot).find(("systemd[1]: systemd ", runs))?;
    let version = number_after(line.text, "systemd[1]: systemd ")?.parse::<u32>();
    let version = version.ok().filter(|version| *version >= ASKS_FOR_SIZE)?;
    let console = cmdline::console_of(boot.parameter("console")?)?;
    let told = [
        "systemd.tty.rows.console",
        "systemd.tty.term.console",
        "TERM",
    ];
    if cmdline::is_screen(console) || told.iter().any(|name| boot.parameter(name).is_some()) {
        return None;
    }
    Some(
        Finding::new()
            .why(format!(
                "systemd {version} asks the terminal on {console} for its size, and waits"
            ))
            .saves_unknown("it depends on how often it asks, and on whether anything answers")
            .recipe(boot.recipe("cmdline-console-size"))
            .at(Some(line.at()))
            .seen([line.evidence]),
    )
}

fn debug(boot: &Boot<'_>) -> Option<Finding> {
    let words = [
        "systemd.log_level=debug",
        "systemd.log_target=console",
        "udev.log_level=debug",
        "udev.log_priority=debug",
        "rd.udev.log_level=debug",
        "rd.debug",
        "systemd.log_target=kmsg",
    ];
    let set = |word: &&&str| boot.parameter(word.split('=').next().unwrap_or(word)) == Some(**word);
    let found: Vec<&str> = words.iter().filter(set).copied().collect();
    (!found.is_empty()).then(|| {
        Finding::new()
            .why(found.join(" "))
            .saves_unknown("it depends on how much is logged, and on the console's speed")
            .fix(format!(
                "take `{}` out of the command line",
                found.join(" ")
            ))
    })
}

/// One stage of the manager's own start.
fn manager(boot: &Boot<'_>, name: &str, title: &str) -> Option<Finding> {
    let stages = boot.spans(TrackKind::Userspace, name);
    let first = stages.first()?;
    let ns = total_ns(&stages);
    let finding = Finding::new()
        .titled(title)
        .why(format!(
            "it takes {} ms, before the first unit starts",
            ns / 1_000_000
        ))
        .saves(ns, "at most: what cannot be removed remains")
        .at(Some(first.at()))
        .seen(evidence(&stages));
    (ns >= 100_000_000).then_some(finding)
}

fn generators(boot: &Boot<'_>) -> Option<Finding> {
    manager(boot, "generators", "generators delay systemd's first unit")
}

fn unit_files(boot: &Boot<'_>) -> Option<Finding> {
    manager(
        boot,
        "load unit files",
        "systemd reads its unit files slowly",
    )
}

fn two_networks(boot: &Boot<'_>) -> Option<Finding> {
    let waits = [
        "NetworkManager-wait-online.service",
        "systemd-networkd-wait-online.service",
        "ifupdown-wait-online.service",
    ];
    let all = units(boot);
    let found: Vec<&str> = waits
        .into_iter()
        .filter(|w| all.iter().any(|u| u.name == *w))
        .collect();
    (found.len() > 1).then(|| {
        Finding::new()
            .why(found.join(" and "))
            .saves_unknown("see `systemd-wait-online` for what the waits cost")
            .seen(
                all.iter()
                    .filter(|u| found.contains(&u.name))
                    .map(|u| u.evidence),
            )
    })
}

fn selinux(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line("Successfully loaded SELinux policy in ")?;
    let (_, time) = line.text.split_once(" policy in ")?;
    let time = time.trim_end_matches('.');
    let ns = match time.strip_suffix("ms") {
        Some(ms) => ms.parse::<f64>().ok()? * 1e6,
        None => time.strip_suffix('s')?.parse::<f64>().ok()? * 1e9,
    };
    let finding = Finding::new()
        .why(line.text.to_owned())
        .saves(ns as i64, "at most: a smaller policy takes its share")
        .at(Some(line.at()))
        .seen([line.evidence]);
    (ns > 0.0).then_some(finding)
}

fn first_boot(boot: &Boot<'_>) -> Option<Finding> {
    let says = ["Initializing machine ID from", "Detected first boot"];
    let lines = since_kernel(boot);
    let first = stage(lines, says)?;
    let presets = ["Detected first boot", "Populated /etc with preset"];
    let why = match lines.has(presets) {
        true => "it made a machine id and presets units",
        false => "it made a machine id",
    };
    Some(
        first
            .found()
            .why(why)
            .recipe(boot.recipe("systemd-machine-id"))
            .saves_unknown("compare with a second boot: if it says so again, the id is not stored"),
    )
}
