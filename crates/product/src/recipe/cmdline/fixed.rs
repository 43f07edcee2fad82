//! Parameters that are there or not.

use bootlap_artefact::arch::Arch;
use bootlap_artefact::kernel_image::KernelImage;

use super::{Line, QUIET_LEVEL, find, name_of};
use crate::cmdline::{self, is_parameter, value_of};
use crate::recipe::{Recipe, RecipeMeta};
use crate::{Edit, Parts, Target};

/// Adds words to the command line.
pub(in crate::recipe) struct Fixed {
    meta: &'static RecipeMeta,
    words: &'static [&'static str],
    /// Parameters whose presence refuses it, and why.
    unless: &'static [(&'static str, &'static str)],
    /// Whether only x86 has what it steers.
    x86: bool,
    /// What else may speak against it.
    check: fn(&[&str]) -> Result<(), String>,
}

/// A recipe of no values that adds `words`.
macro_rules! fixed {
    ($name:literal, $title:literal, $risk:literal, $words:expr) => {
        Fixed {
            meta: &RecipeMeta {
                name: $name,
                title: $title,
                risk: $risk,
                values: &[],
            },
            words: &$words,
            unless: &[],
            x86: false,
            check: |_| Ok(()),
        }
    };
}

impl Recipe for Fixed {
    fn meta(&self) -> &RecipeMeta {
        self.meta
    }

    fn edits(&self, target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
        let of = Line::of(target, parts)?;
        let line = of.text.as_str();
        let there = cmdline::words(line);
        if self.x86 && !may_be_x86(target, parts) {
            return Err("only x86 kernels know these parameters, and this is none".into());
        }
        for (name, why) in self.unless {
            if let Some(word) = there.iter().find(|w| is_parameter(w, name)) {
                return Err(format!("{word} on the command line: {why}"));
            }
        }
        (self.check)(&there)?;
        let mut missing = Vec::new();
        for word in self.words {
            match find(line, name_of(word)) {
                None => missing.push(*word),
                Some(same) if same == *word => {}
                Some(other) => {
                    return Err(format!("the command line has {other} already"));
                }
            }
        }
        if missing.is_empty() {
            let words = self.words.join(" ");
            return Err(format!("the command line has {words} already"));
        }
        of.set_if_ready_is_seen(cmdline::with(line, &missing.join(" ")))
    }
}

/// Whether the target's processor may be an x86, as far as it can be known.
fn may_be_x86(target: &Target, parts: &Parts) -> bool {
    if let Some(packages) = &target.spec.packages {
        return matches!(&*packages.architecture, "amd64" | "i386" | "x32" | "any");
    }
    let kernel = parts.kernel.as_ref().and_then(|k| k.unwrapped().ok());
    let kernel = kernel.and_then(|k| KernelImage::describe(&k).ok());
    let arch = kernel.and_then(|k| k.arch);
    arch.is_none_or(|arch| matches!(arch, Arch::X86 | Arch::X86_64))
}

/// The kernel prints only what is wrong.
///
/// On a serial console every character costs ten bit times; the messages stay
/// in the log for `dmesg`. An emulated console costs almost nothing, so the
/// saving shows on boards: 1.067 s at 115 200 baud in the reference.
pub(in crate::recipe) const QUIET: Fixed = Fixed {
    unless: &[(
        "ignore_loglevel",
        "it overrides quiet; cmdline-less-debug takes it away",
    )],
    check: |words| {
        let mut levels = words
            .iter()
            .filter_map(|w| Some((w, value_of(w, "loglevel")?)));
        match levels.next_back() {
            Some((word, level)) if matches!(level.parse(), Ok(0..=QUIET_LEVEL)) => {
                Err(format!("{word} on the command line is as quiet already"))
            }
            _ => Ok(()),
        }
    },
    ..fixed!(
        "cmdline-quiet",
        "the kernel prints only what is wrong",
        "a kernel that hangs early says less about where",
        ["quiet"]
    )
};

/// The kernel does not test its ciphers at each boot.
///
/// Distribution kernels run known-answer tests of every algorithm when it is
/// registered. A product that does not need FIPS 140 can test once, at the
/// factory.
pub(in crate::recipe) const NO_CRYPTO_TESTS: Fixed = Fixed {
    unless: &[(
        "fips",
        "FIPS 140 wants the tests, and the kernel panics without",
    )],
    ..fixed!(
        "cmdline-no-crypto-tests",
        "the kernel does not test its ciphers at each boot",
        "a broken cipher driver is not noticed at boot; not for FIPS 140",
        ["cryptomgr.notests"]
    )
};

/// Waits for RCU grace periods are cut short until `init` runs.
///
/// `synchronize_rcu` waits until every CPU has passed through the scheduler:
/// ticks, each time, while booting does little else. Expedited, the CPUs are
/// asked by interrupts instead. 18 % of the kernel's time in the reference
/// (38.7 to 31.8 ms, KVM). After the boot it is as before, which is what
/// real-time systems need.
pub(in crate::recipe) const RCU_EXPEDITED: Fixed = Fixed {
    unless: &[("rcupdate.rcu_normal", "it asks for the opposite")],
    ..fixed!(
        "cmdline-rcu-expedited",
        "the kernel does not wait out RCU grace periods while it boots",
        "interrupts between CPUs while booting; normal again when init runs",
        [
            "rcupdate.rcu_expedited=1",
            "rcupdate.rcu_normal_after_boot=1"
        ]
    )
};

/// The audit subsystem stays off.
///
/// Without `audit=0` it is set up at each boot, records from then on, and
/// without an audit daemon its records end on the console.
pub(in crate::recipe) const NO_AUDIT: Fixed = fixed!(
    "cmdline-no-audit",
    "the kernel keeps no audit log",
    "auditd, and what asks for its records, gets nothing",
    ["audit=0"]
);

/// File systems are not checked before they are mounted.
///
/// `fsck.mode=skip` is a word of systemd and of initramfs-tools. A check of a clean file system
/// reads little, but it is a program, its libraries, and a pause in the mount of the root.
pub(in crate::recipe) const NO_FSCK: Fixed = fixed!(
    "cmdline-no-fsck",
    "file systems are not checked before they are mounted",
    "damage is found later, by whoever reads what is damaged",
    ["fsck.mode=skip"]
);

/// The kernel does not look for RAID arrays of the old kind.
///
/// Built-in `md` waits for all devices and reads the superblocks of every
/// partition of type 0xfd before the root is mounted. Arrays with metadata of
/// version 1 are put together in user space anyway.
pub(in crate::recipe) const NO_RAID_AUTODETECT: Fixed = Fixed {
    check: |words| {
        let root = words
            .iter()
            .find(|w| value_of(w, "root").is_some_and(|v| v.starts_with("/dev/md")));
        root.map_or(Ok(()), |word| {
            Err(format!("{word} may be such an array; see `mdadm --detail`"))
        })
    },
    ..fixed!(
        "cmdline-no-raid-autodetect",
        "the kernel does not look for RAID arrays",
        "an array with metadata 0.90 does not come up by itself",
        ["raid=noautodetect"]
    )
};

/// The kernel does not look for a PS/2 keyboard controller.
///
/// Where there is none, each of its probes runs into a timeout.
pub(in crate::recipe) const NO_I8042: Fixed = Fixed {
    x86: true,
    ..fixed!(
        "cmdline-no-i8042",
        "the kernel does not look for PS/2 keyboards and mice",
        "a PS/2 keyboard, also a laptop's own, does not work",
        ["i8042.noaux", "i8042.nokbd", "i8042.nomux", "i8042.nopnp"]
    )
};

/// The kernel takes the CPU's and the boot loader's random numbers for good.
///
/// Until the pool is ready, `getrandom` blocks: programs that want a key or a
/// hash seed wait for interrupts to happen, for seconds on a board where little
/// does. What the CPU's instruction or the boot loader's seed gives is counted
/// at once instead.
pub(in crate::recipe) const TRUST_ENTROPY: Fixed = fixed!(
    "cmdline-trust-entropy",
    "programs do not wait for random numbers",
    "keys are as good as the CPU's generator and the boot loader's seed",
    ["random.trust_cpu=on", "random.trust_bootloader=on"]
);

/// Disks spin up all at once.
///
/// Some controllers ask for staggered spin-up, so that a rack's power supply
/// lives; then ports are probed one after the other. With one disk, or SSDs,
/// that is only waiting.
pub(in crate::recipe) const NO_SPINUP_STAGGER: Fixed = fixed!(
    "cmdline-no-spinup-stagger",
    "SATA ports are probed at the same time, whatever the controller asks for",
    "many disks that spin up at once may be too much for the power supply",
    ["libahci.ignore_sss=1"]
);

/// The kernel does not zero memory before it hands it out.
///
/// Kernels built with `CONFIG_INIT_ON_ALLOC_DEFAULT_ON` (most distributions')
/// write every page and object twice. 1.5 s of the kernel's boot in one report
/// (Heads on an X230); a few per cent elsewhere.
pub(in crate::recipe) const NO_ZEROING: Fixed = fixed!(
    "cmdline-no-zeroing",
    "the kernel does not zero memory that it allocates",
    "what leaks from uninitialised memory is no longer zeros: a security measure less",
    ["init_on_alloc=0"]
);

/// System calls begin at the same place of the kernel's stack.
///
/// Kernels built with `CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT` (most distributions')
/// draw a random number for each system call. On arm64 and RISC-V it comes from the
/// pool, and while that is not ready each is a hash of its own: 94 ms of the kiosk's
/// 381 ms of user space.
pub(in crate::recipe) const NO_KSTACK_OFFSET: Fixed = fixed!(
    "cmdline-no-kstack-offset",
    "the kernel draws no random number for each system call",
    "what lies on the kernel's stack is easier to find: a security measure less",
    ["randomize_kstack_offset=off"]
);

/// Lockup detectors are not started.
///
/// A thread for each CPU and, where there is one, a performance counter. It
/// does not concern the hardware watchdog that restarts a hung board.
pub(in crate::recipe) const NO_WATCHDOG: Fixed = fixed!(
    "cmdline-no-watchdog",
    "the kernel does not watch for lockups of its own",
    "a CPU that hangs in the kernel is not reported",
    ["nowatchdog"]
);

/// The kernel does not test whether the timer's interrupt comes.
///
/// A check for broken boards of the nineties: ten ticks. Clear Linux ships it.
pub(in crate::recipe) const NO_TIMER_CHECK: Fixed = Fixed {
    x86: true,
    ..fixed!(
        "cmdline-no-timer-check",
        "the kernel does not test whether its timer works",
        "on a board whose timer interrupt is wired wrongly, the kernel hangs",
        ["no_timer_check"]
    )
};

/// The kernel takes the time stamp counter for a good clock at once.
///
/// Otherwise another clock watches it for a while, and with it the switch to
/// high-resolution timers waits.
pub(in crate::recipe) const TSC_RELIABLE: Fixed = Fixed {
    x86: true,
    unless: &[("notsc", "it forbids the time stamp counter")],
    ..fixed!(
        "cmdline-tsc-reliable",
        "the kernel does not watch over the CPU's time stamp counter",
        "time goes wrong where firmware or a CPU stops the counter",
        ["tsc=reliable"]
    )
};

/// Drivers do not wait for suppliers that the device tree names.
///
/// With `fw_devlink=on` (the default since 5.12) a device is not probed before
/// all that its node refers to: one supplier without a driver holds it back
/// until `deferred_probe_timeout` ends.
pub(in crate::recipe) const FW_DEVLINK_PERMISSIVE: Fixed = fixed!(
    "cmdline-fw-devlink-permissive",
    "drivers do not wait for every supplier that the device tree names",
    "a driver that forgets to defer its probe fails; suspend order is no longer enforced",
    ["fw_devlink=permissive"]
);
