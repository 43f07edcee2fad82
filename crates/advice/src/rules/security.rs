//! Security features, as far as they cost time at boot.

use super::seen::{asked, init_ns, ms, options_on, parameters};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&ENTROPY, &KSTACK_OFFSET, &SELINUX, &IMA, &MODULE_SIGNATURES];

/// A wait for entropy, and how soon the boot goes on behind it.
const WAIT_NS: i64 = 100_000_000;

rule! {
    /// User space waits for random numbers.
    ///
    /// **Why.** `getrandom` blocks until the kernel has collected entropy; on a board
    /// without a hardware generator, or a guest without `virtio-rng`, that may take long.
    ///
    /// **Evidence.** 100 ms and more of silence before `random: crng init done`, after the
    /// first program started, if the boot goes on within 100 ms behind it. In simulated
    /// time only what the machine had nothing to do meanwhile.
    ///
    /// **Fix.** A source: `CONFIG_HW_RANDOM` with the SoC's driver built in, `rng-seed` from
    /// the boot loader, `virtio-rng` for guests; `random.trust_cpu=on
    /// random.trust_bootloader=on` (the default since 6.2) credits what is there.
    ///
    /// **Risk.** Keys are only as random as the source that is trusted.
    ///
    /// **Figures.** 2.3 s (QEMU guest without and with `virtio-rng`); 60 s for Docker
    /// (boot2docker).
    ENTROPY = "cmdline-trust-entropy", Kernel, entropy
}

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
    let waited_ns = boot.waited_ns([start, done.start_ns]).unwrap_or(silent_ns);
    if waited_ns < WAIT_NS {
        return None;
    }
    let finding = Finding::new("user space waits for random numbers")
        .why(format!(
            "{} of silence, then `{}`, and the boot goes on",
            ms(silent_ns),
            done.text
        ))
        .saves(waited_ns, "at most: the silence before that line")
        .fix(
            "give the kernel a source of entropy: the SoC's generator (CONFIG_HW_RANDOM), an \
             `rng-seed` from the boot loader, or `random.trust_cpu=on random.trust_bootloader=on`",
        )
        .recipe(boot.recipe("cmdline-trust-entropy"))
        .at(Some([start, done.start_ns]))
        .seen([done.evidence]);
    Some(finding)
}

rule! {
    /// Each system call draws a random number, and there is no entropy.
    ///
    /// **Why.** The kernel puts its stack somewhere else for each system call. On arm64 and
    /// RISC-V the number comes from the pool of random numbers; until that is ready, the
    /// kernel hashes the pool again for each.
    ///
    /// **Evidence.** `CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT=y` or `randomize_kstack_offset=on`
    /// on one of these, and no `random: crng init done` before the first program starts.
    ///
    /// **Fix.** Entropy as soon as the kernel starts, which costs nothing: `rng-seed` from the
    /// boot loader, the SoC's generator. Else `randomize_kstack_offset=off`.
    ///
    /// **Risk.** None with a seed. Without the measure, what lies on the kernel's stack is
    /// easier to find for whoever has found a hole.
    ///
    /// **Figures.** 94 ms of the kiosk's 381 ms of user space (`bootlap try targets/kiosk cmdline-no-kstack-offset`).
    KSTACK_OFFSET = "cmdline-no-kstack-offset", Kernel, kstack_offset
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
    let finding = Finding::new("each system call draws a random number, and there is no entropy")
        .why(format!(
            "{why}, and the first program starts before `random: crng init done`"
        ))
        .saves_unknown("it depends on how many system calls the boot makes until then")
        .fix(
            "give the kernel a seed before it starts (`rng-seed` from the boot loader, the SoC's \
             generator); else, if security does not need it, `randomize_kstack_offset=off`",
        )
        .recipe(boot.recipe("cmdline-no-kstack-offset"))
        .seen([first.evidence]);
    Some(finding)
}

/// `153.325ms` or `1.234s` behind the last ` in `, ns.
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

rule! {
    /// The policy of SELinux is loaded before anything starts.
    ///
    /// **Why.** The service manager reads the policy, some MB, hands it to the kernel, and
    /// labels `/dev` and `/run` again.
    ///
    /// **Evidence.** The times in `Successfully loaded SELinux policy in ...` and
    /// `Relabelled /dev ... in ...`, which systemd prints.
    ///
    /// **Fix.** A policy with only the product's domains; without SELinux `selinux=0`.
    ///
    /// **Risk.** High without it: a program that is broken into may do anything.
    ///
    /// **Figures.** About 100 ms with audit (systemd's documentation).
    SELINUX = "cmdline-no-selinux", Kernel, selinux
}

fn selinux(boot: &Boot<'_>) -> Option<Finding> {
    let policy = boot.line("Successfully loaded SELinux policy in ")?;
    let labels = boot
        .line("Relabelled /")
        .or_else(|| boot.line("Relabeled /"));
    let told = [Some(policy), labels];
    let told = told.iter().flatten().filter_map(|l| told_ns(l.text));
    let ns = told.fold(0_i64, i64::saturating_add);
    let finding = Finding::new("the policy of SELinux is loaded before anything starts")
        .why(format!("loading and labelling take {}", ms(ns)))
        .saves(
            ns,
            "at most: what systemd says it takes; a smaller policy saves a part",
        )
        .fix("build a policy with only the product's domains; `selinux=0` if it needs none")
        .at(Some(policy.at()))
        .seen(
            [policy.evidence]
                .into_iter()
                .chain(labels.map(|l| l.evidence)),
        );
    Some(finding)
}

rule! {
    /// The kernel measures each file before it is used.
    ///
    /// **Why.** With a policy that covers all programs and libraries, IMA reads and hashes
    /// each of them whole before it is opened, and extends the TPM.
    ///
    /// **Evidence.** `ima_policy=` with `tcb`, `appraise_tcb` or `secure_boot`, `ima_tcb` or
    /// `ima_appraise_tcb` on the command line.
    ///
    /// **Fix.** A policy for what matters; or dm-verity and fs-verity, which check blocks
    /// when they are read.
    ///
    /// **Risk.** High: attestation that relies on the measurements fails.
    ///
    /// **Figures.** None is published; it is the bytes of all files that are opened, divided
    /// by the speed of the hash, and a TPM's time for each.
    IMA = "cmdline-ima-policy", Kernel, ima
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
    let finding = Finding::new("the kernel measures each file before it is used")
        .why(format!("`{}` is on the command line", found.join(" ")))
        .saves_unknown("it depends on the files that the boot opens, and on the TPM")
        .fix("narrow the policy to what matters, or check blocks with dm-verity instead");
    Some(finding)
}

rule! {
    /// The signature of each module is checked.
    ///
    /// **Why.** The kernel hashes a module and checks an RSA signature before it links it;
    /// SHA-512 is slow on 32-bit CPUs.
    ///
    /// **Evidence.** `CONFIG_MODULE_SIG=y` in the `.config`, with modules.
    ///
    /// **Fix.** Build in what the boot needs. On an image that is checked as a whole
    /// (dm-verity) `CONFIG_MODULE_SIG=n`; else `CONFIG_MODULE_SIG_SHA256=y` and a key of an
    /// elliptic curve.
    ///
    /// **Risk.** High: without any check a module of anybody's runs in the kernel.
    ///
    /// **Figures.** None is published; it is modules times their size and a signature each.
    MODULE_SIGNATURES = "config-module-signatures", Kernel, module_signatures
}

fn module_signatures(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["MODULE_SIG", "MODULES"]);
    if on.len() < 2 {
        return None;
    }
    let finding = Finding::new("the signature of each module is checked")
        .why("the kernel is built with CONFIG_MODULE_SIG")
        .saves_unknown("it depends on how many modules the boot loads, and on their size")
        .fix("build in what the boot needs; on an image that is checked as a whole, leave it out");
    Some(finding)
}
