//! Security features, as far as they cost time at boot.

use super::checks;
use super::seen::{asked, init_ns, ms, options_on, parameters};
use crate::{Boot, Finding};

checks! {
    "cmdline-trust-entropy" => entropy,
    "cmdline-no-kstack-offset" => kstack_offset,
    "cmdline-no-selinux" => selinux,
    "cmdline-ima-policy" => ima,
    "config-module-signatures" => module_signatures,
}

/// A wait for entropy, and how soon the boot goes on after it.
const WAIT_NS: i64 = 100_000_000;

/// Where nothing but a silence speaks for it, it has to be longer: silences are many.
const SILENT_NS: i64 = 1_000_000_000;

fn entropy(boot: &Boot<'_>) -> Option<Finding> {
    let init = init_ns(boot)?;
    let lines = boot.lines();
    let at = lines
        .iter()
        .position(|l| l.text == "random: crng init done")?;
    let (before, done) = (lines.get(at.checked_sub(1)?)?, lines.get(at)?);
    // Warnings that were held back follow it at once, and say nothing.
    let mut behind = lines
        .iter()
        .skip(at + 1)
        .filter(|l| !l.text.starts_with("random: "));
    let goes_on = behind.next()?.start_ns.saturating_sub(done.start_ns);
    let start = before.start_ns.max(init);
    let silent_ns = done.start_ns.saturating_sub(start);
    if done.start_ns < init || silent_ns < WAIT_NS || goes_on > WAIT_NS {
        return None;
    }
    // Where it is known: a machine that works meanwhile waits for no numbers.
    let known_ns = boot.waited_ns([start, done.start_ns]);
    let waited_ns = known_ns.unwrap_or(silent_ns);
    if waited_ns < known_ns.map_or(SILENT_NS, |_| WAIT_NS) {
        return None;
    }
    Some(
        Finding::new()
            .why(format!(
                "{} of silence, then `{}`, and the boot goes on",
                ms(silent_ns),
                done.text
            ))
            .saves(waited_ns, "at most: the silence before that line")
            .recipe(boot.recipe("cmdline-trust-entropy"))
            .at(Some([start, done.start_ns]))
            .seen([done.evidence]),
    )
}

fn kstack_offset(boot: &Boot<'_>) -> Option<Finding> {
    const OPTION: &str = "RANDOMIZE_KSTACK_OFFSET_DEFAULT";
    let why = match asked(boot, "randomize_kstack_offset") {
        Some(true) => "`randomize_kstack_offset` is on".to_owned(),
        None if !options_on(boot, &[OPTION]).is_empty() => {
            format!("the kernel is built with CONFIG_{OPTION}")
        }
        _ => return None,
    };
    // Others take a clock instead.
    if options_on(boot, &["ARM64", "RISCV"]).is_empty() {
        return None;
    }
    // A log that has this line would have that one.
    let first = boot.line(" as init process")?;
    let seeded = boot.line("random: crng init done");
    if seeded.is_some_and(|line| line.start_ns <= first.start_ns) {
        return None;
    }
    Some(
        Finding::new()
            .why(format!(
                "{why}, and the first program starts before `random: crng init done`"
            ))
            .saves_unknown("it depends on how many system calls the boot makes until then")
            .recipe(boot.recipe("cmdline-no-kstack-offset"))
            .seen([first.evidence]),
    )
}

/// `153.325ms` or `1.234s` after the last ` in `, ns.
fn told_ns(text: &str) -> Option<i64> {
    let (_, time) = text.rsplit_once(" in ")?;
    let time = time.trim_end_matches('.');
    let (number, unit_ns) = match time.strip_suffix("ms") {
        Some(number) => (number, 1_000_000.0),
        None => (time.strip_suffix('s')?, 1_000_000_000.0),
    };
    let number: f64 = number.parse().ok()?;
    let ns = number * unit_ns;
    (ns.is_finite() && (0.0..1e15).contains(&ns)).then_some(ns as i64)
}

fn selinux(boot: &Boot<'_>) -> Option<Finding> {
    let policy = boot.line("Successfully loaded SELinux policy in ")?;
    let labels = boot
        .line("Relabelled /")
        .or_else(|| boot.line("Relabeled /"));
    let told = [Some(policy), labels];
    let told = told.iter().flatten().filter_map(|l| told_ns(l.text));
    let ns = told.fold(0_i64, i64::saturating_add);
    Some(
        Finding::new()
            .why(format!("loading and labelling take {}", ms(ns)))
            .saves(
                ns,
                "at most: what systemd says it takes; a smaller policy saves a part",
            )
            .at(Some(policy.at()))
            .seen(
                [policy.evidence]
                    .into_iter()
                    .chain(labels.map(|l| l.evidence)),
            ),
    )
}

fn ima(boot: &Boot<'_>) -> Option<Finding> {
    let found = parameters(boot, &["ima_policy", "ima_tcb", "ima_appraise_tcb"]);
    let broad = ["tcb", "secure_boot"];
    let found: Vec<&str> = found
        .into_iter()
        .filter(|p| broad.iter().any(|b| p.contains(b)))
        .collect();
    if found.is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("`{}` is on the command line", found.join(" ")))
            .saves_unknown("it depends on the files that the boot opens, and on the TPM"),
    )
}

fn module_signatures(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["MODULE_SIG", "MODULES"]);
    if on.len() < 2 {
        return None;
    }
    Some(
        Finding::new()
            .why("the kernel is built with CONFIG_MODULE_SIG")
            .saves_unknown("it depends on how many modules the boot loads, and on their size")
            .recipe(boot.recipe("initramfs-unsigned")),
    )
}
