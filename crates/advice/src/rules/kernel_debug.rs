//! Checks for developers that a product's kernel carries along.

use super::seen::{configs, options_on};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &KASAN,
    &LOCKDEP,
    &SLUB_DEBUG,
    &KMEMLEAK,
    &PAGEALLOC,
    &OBJECTS,
    &PAGES,
    &COVERAGE,
    &UBSAN,
    &LOCKS,
    &VM,
];

/// What a developer's option looks like.
struct Check {
    title: &'static str,
    /// Options of the `.config`, any of which turns it on.
    options: &'static [&'static str],
    /// What the kernel says if it is on.
    said: &'static [&'static str],
    /// What it costs.
    costs: &'static str,
}

impl Check {
    fn find(&self, boot: &Boot<'_>) -> Option<Finding> {
        let on = options_on(boot, self.options);
        let said = self.said.iter().find_map(|text| boot.line(text));
        let shown = match (&said, on.as_slice()) {
            (Some(line), _) => format!("the log says `{}`", line.text),
            (None, []) => return None,
            (None, on) => format!("the kernel is built with {}", configs(on)),
        };
        let off = match on.as_slice() {
            [] => configs(self.options),
            on => configs(on),
        };
        let finding = Finding::new(self.title)
            .why(format!("{shown}: {}", self.costs))
            .saves_unknown(
                "it slows everything a little instead of showing as one wait; boot a kernel \
                 without it and compare",
            )
            .fix(format!("build the product's kernel without {off}"))
            .at(said.map(|line| line.at()))
            .seen(said.map(|line| line.evidence));
        Some(finding)
    }
}

rule! {
    /// The kernel checks every memory access (KASAN).
    ///
    /// **Why.** KASAN adds a check to each load and store, and needs an eighth of
    /// the memory for its notes, which is set up at each boot.
    ///
    /// **Evidence.** `kasan: KernelAddressSanitizer initialized` in the log, or
    /// `CONFIG_KASAN=y`. KASAN with the CPU's own tags (`hw-tags`) is made for
    /// products and is not meant.
    ///
    /// **Fix.** Leave it to the kernel that is tested; build the product's without.
    ///
    /// **Risk.** Memory errors go unnoticed, as in every kernel without it.
    ///
    /// **Figures.** None is published for booting alone. Fedora's debug kernels, which
    /// have many such options, make a "drastic difference" (systemd).
    KASAN = "config-kasan", Kernel, kasan
}

fn kasan(boot: &Boot<'_>) -> Option<Finding> {
    let by_hardware = |text: &str| {
        boot.lines_with("kasan: Kernel")
            .any(|l| l.text.contains(text))
    };
    if !options_on(boot, &["KASAN_HW_TAGS"]).is_empty() || by_hardware("hw-tags") {
        return None;
    }
    let check = Check {
        title: "the kernel checks every memory access (KASAN)",
        options: &["KASAN"],
        said: &["kasan: KernelAddressSanitizer initialized"],
        costs: "each load and store is checked",
    };
    check.find(boot)
}

rule! {
    /// The kernel proves its locking correct while it runs.
    ///
    /// **Why.** Lockdep records and checks the order of every lock that is taken.
    ///
    /// **Evidence.** `Lock dependency validator` or `... MAX_LOCKDEP_SUBCLASSES` in
    /// the log, or `CONFIG_PROVE_LOCKING`, `CONFIG_DEBUG_LOCK_ALLOC` or
    /// `CONFIG_LOCK_STAT` in the `.config`.
    ///
    /// **Fix.** Build the product's kernel without them.
    ///
    /// **Risk.** None for the product; keep a kernel with them for tests.
    ///
    /// **Figures.** 100–200 ms from a few debug initcalls and about 0.5 s with tracing
    /// (AGNOS, SDM845), several options together.
    LOCKDEP = "config-lockdep", Kernel, lockdep
}

fn lockdep(boot: &Boot<'_>) -> Option<Finding> {
    let check = Check {
        title: "the kernel proves its locking correct while it runs",
        options: &["PROVE_LOCKING", "DEBUG_LOCK_ALLOC", "LOCK_STAT"],
        said: &[
            "Lock dependency validator: Copyright",
            "... MAX_LOCKDEP_SUBCLASSES",
        ],
        costs: "each lock that is taken is recorded and checked",
    };
    check.find(boot)
}

rule! {
    /// The allocator fills and checks each object (SLUB debugging).
    ///
    /// **Why.** With it on for all caches, each allocation is filled with a pattern,
    /// surrounded by red zones and checked when it is freed.
    ///
    /// **Evidence.** `CONFIG_SLUB_DEBUG_ON=y`, or `slub_debug` on the command line
    /// without caches' names. `CONFIG_SLUB_DEBUG` alone only makes it possible.
    ///
    /// **Fix.** Build without `CONFIG_SLUB_DEBUG_ON`, remove `slub_debug`.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published alone; it depends on how much the boot allocates.
    SLUB_DEBUG = "config-slub-debug", Kernel, slub_debug
}

fn slub_debug(boot: &Boot<'_>) -> Option<Finding> {
    let asked = boot
        .parameter("slub_debug")
        .or(boot.parameter("slab_debug"));
    // `slub_debug=FZ,dentry` is for one cache, `slub_debug=-` is off.
    let of_all = asked.filter(|p| !p.contains(',') && !p.ends_with("=-"));
    let option = options_on(boot, &["SLUB_DEBUG_ON"]);
    let shown = match (of_all, option.is_empty(), asked) {
        (Some(parameter), ..) => format!("`{parameter}` is on the command line"),
        (None, false, None) => "the kernel is built with CONFIG_SLUB_DEBUG_ON".to_owned(),
        _ => return None,
    };
    let finding = Finding::new("the kernel fills and checks each object that it allocates")
        .why(format!("{shown}: each allocation writes and reads more"))
        .saves_unknown("it depends on how much the boot allocates")
        .fix("remove `slub_debug` from the command line; build without CONFIG_SLUB_DEBUG_ON");
    Some(finding)
}

rule! {
    /// The kernel looks for leaked memory.
    ///
    /// **Why.** Kmemleak notes each allocation with its call stack, and scans all
    /// memory from a minute after boot on.
    ///
    /// **Evidence.** `kmemleak: Kernel memory leak detector initialized` in the log,
    /// or `CONFIG_DEBUG_KMEMLEAK=y` without `CONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF`.
    ///
    /// **Fix.** Build without it, or `kmemleak=off`.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published; it depends on how much the boot allocates.
    KMEMLEAK = "config-kmemleak", Kernel, kmemleak
}

fn kmemleak(boot: &Boot<'_>) -> Option<Finding> {
    let is_off = !options_on(boot, &["DEBUG_KMEMLEAK_DEFAULT_OFF"]).is_empty();
    let asked = boot.parameter("kmemleak");
    if asked == Some("kmemleak=off") || is_off && asked != Some("kmemleak=on") {
        return None;
    }
    let check = Check {
        title: "the kernel looks for leaked memory",
        options: &["DEBUG_KMEMLEAK"],
        said: &["kmemleak: Kernel memory leak detector initialized"],
        costs: "each allocation is noted with its call stack",
    };
    check.find(boot)
}

rule! {
    /// The kernel unmaps each page that is freed.
    ///
    /// **Why.** `debug_pagealloc` changes the page tables at each allocation and at
    /// each release, and forbids large pages for the kernel's own mapping.
    ///
    /// **Evidence.** `debug_pagealloc=on`, or `CONFIG_DEBUG_PAGEALLOC` with its
    /// `_ENABLE_DEFAULT`; the former alone only makes it possible.
    ///
    /// **Fix.** Build without it, remove the parameter.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published; it depends on how much the boot allocates.
    PAGEALLOC = "config-debug-pagealloc", Kernel, pagealloc
}

fn pagealloc(boot: &Boot<'_>) -> Option<Finding> {
    let by_default = options_on(boot, &["DEBUG_PAGEALLOC_ENABLE_DEFAULT"]);
    let shown = match boot.parameter("debug_pagealloc") {
        Some("debug_pagealloc=on") => "`debug_pagealloc=on` is on the command line",
        None if !by_default.is_empty() => {
            "the kernel is built with CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT"
        }
        _ => return None,
    };
    let finding = Finding::new("the kernel unmaps each page that is freed")
        .why(format!("{shown}: each allocation changes the page tables"))
        .saves_unknown("it depends on how much the boot allocates")
        .fix("remove `debug_pagealloc`; build without CONFIG_DEBUG_PAGEALLOC");
    Some(finding)
}

rule! {
    /// The kernel follows the life of its objects.
    ///
    /// **Why.** Timers, work items and RCU heads are looked up in a table each time
    /// they are made, used and freed.
    ///
    /// **Evidence.** `CONFIG_DEBUG_OBJECTS=y` with `CONFIG_DEBUG_OBJECTS_ENABLE_DEFAULT`
    /// not 0, unless the command line has `no_debug_objects`; or
    /// `CONFIG_DEBUG_OBJECTS_SELFTEST`.
    ///
    /// **Fix.** Build without it; `no_debug_objects` turns it off.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published.
    OBJECTS = "config-debug-objects", Kernel, objects
}

fn objects(boot: &Boot<'_>) -> Option<Finding> {
    let by_default = boot
        .kernel_config()
        .and_then(|config| config.number("DEBUG_OBJECTS_ENABLE_DEFAULT"));
    let is_asked = boot.parameter("debug_objects").is_some();
    if boot.parameter("no_debug_objects").is_some() || by_default == Some(0) && !is_asked {
        return None;
    }
    let check = Check {
        title: "the kernel follows the life of its objects",
        options: &["DEBUG_OBJECTS", "DEBUG_OBJECTS_SELFTEST"],
        said: &["ODEBUG: selftest passed"],
        costs: "timers and work items are looked up each time they are used",
    };
    check.find(boot)
}

rule! {
    /// The kernel keeps notes about each page, or poisons it.
    ///
    /// **Why.** `page_owner` stores a call stack for each page; `page_poison` writes a
    /// pattern into each that is freed and checks it when it is used again.
    ///
    /// **Evidence.** `page_owner=on` or `page_poison=1` on the command line. The
    /// options `CONFIG_PAGE_OWNER` and `CONFIG_PAGE_POISONING` only make it possible.
    ///
    /// **Fix.** Remove the parameters.
    ///
    /// **Risk.** `page_poison=1` also clears secrets from freed memory: decide with
    /// whoever asked for it; `init_on_free=1` does the same for less.
    ///
    /// **Figures.** None is published; it depends on how many pages the boot uses.
    PAGES = "cmdline-no-page-debug", Kernel, pages
}

fn pages(boot: &Boot<'_>) -> Option<Finding> {
    let on = |name| {
        let word = boot.parameter(name)?;
        let (_, value) = word.split_once('=')?;
        matches!(value, "1" | "on" | "y").then_some(word)
    };
    let names = ["page_owner", "page_poison"];
    let found: Vec<&str> = names.iter().filter_map(|name| on(name)).collect();
    if found.is_empty() {
        return None;
    }
    let found = found.join(" ");
    let finding = Finding::new("the kernel keeps notes about each page, or poisons it")
        .why(format!("`{found}` is on the command line"))
        .saves_unknown("it depends on how many pages the boot uses")
        .fix(format!("remove `{found}` from the command line"));
    Some(finding)
}

rule! {
    /// The kernel counts which of its code ran.
    ///
    /// **Why.** Coverage for tests and fuzzers adds a counter or a call to each branch.
    ///
    /// **Evidence.** `CONFIG_GCOV_PROFILE_ALL`, `CONFIG_KCOV_INSTRUMENT_ALL` or
    /// `CONFIG_PROFILE_ALL_BRANCHES` in the `.config`.
    ///
    /// **Fix.** Build the product's kernel without them.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** None is published.
    COVERAGE = "config-coverage", Kernel, coverage
}

fn coverage(boot: &Boot<'_>) -> Option<Finding> {
    let check = Check {
        title: "the kernel counts which of its code ran",
        options: &[
            "GCOV_PROFILE_ALL",
            "KCOV_INSTRUMENT_ALL",
            "PROFILE_ALL_BRANCHES",
        ],
        said: &[],
        costs: "each branch counts itself",
    };
    check.find(boot)
}

rule! {
    /// The kernel checks itself for undefined behaviour.
    ///
    /// **Why.** UBSAN adds a check to shifts, array accesses and more; the kernel
    /// becomes larger and slower.
    ///
    /// **Evidence.** `CONFIG_UBSAN=y`. With `CONFIG_UBSAN_TRAP` and only the checks of
    /// array bounds it is meant for products and costs little: that is not reported.
    ///
    /// **Fix.** Build without it, or keep `CONFIG_UBSAN_BOUNDS` with
    /// `CONFIG_UBSAN_TRAP` only.
    ///
    /// **Risk.** Less hardening if somebody relies on it.
    ///
    /// **Figures.** None is published.
    UBSAN = "config-ubsan", Kernel, ubsan
}

fn ubsan(boot: &Boot<'_>) -> Option<Finding> {
    if !options_on(boot, &["UBSAN_TRAP"]).is_empty() {
        return None;
    }
    let check = Check {
        title: "the kernel checks itself for undefined behaviour",
        options: &["UBSAN"],
        said: &[],
        costs: "shifts, array accesses and more are checked",
    };
    check.find(boot)
}

rule! {
    /// The kernel checks how its locks are used.
    ///
    /// **Why.** Each lock carries its owner and is checked at each use; sleeping in
    /// the wrong place is looked for at each call that may sleep.
    ///
    /// **Evidence.** `CONFIG_DEBUG_SPINLOCK`, `CONFIG_DEBUG_MUTEXES`,
    /// `CONFIG_DEBUG_RWSEMS` or `CONFIG_DEBUG_ATOMIC_SLEEP` in the `.config`, unless
    /// lockdep is on, too, which turns them on by itself and has a rule of its own.
    ///
    /// **Fix.** Build the product's kernel without them.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published.
    LOCKS = "config-debug-locks", Kernel, locks
}

fn locks(boot: &Boot<'_>) -> Option<Finding> {
    if lockdep(boot).is_some() {
        return None;
    }
    let check = Check {
        title: "the kernel checks how its locks are used",
        options: &[
            "DEBUG_SPINLOCK",
            "DEBUG_MUTEXES",
            "DEBUG_RWSEMS",
            "DEBUG_ATOMIC_SLEEP",
        ],
        said: &[],
        costs: "each lock is checked at each use",
    };
    check.find(boot)
}

rule! {
    /// The kernel checks its memory management at each step.
    ///
    /// **Why.** Assertions run at each page fault, each change of a page table and
    /// each walk of the list of mappings.
    ///
    /// **Evidence.** `CONFIG_DEBUG_VM`, `CONFIG_DEBUG_VM_PGTABLE` (which tests page
    /// tables once at boot: `debug_vm_pgtable: ... Validating architecture page table
    /// helpers` in the log) or `CONFIG_PAGE_TABLE_CHECK_ENFORCED`.
    ///
    /// **Fix.** Build the product's kernel without them.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published.
    VM = "config-debug-vm", Kernel, vm
}

fn vm(boot: &Boot<'_>) -> Option<Finding> {
    let check = Check {
        title: "the kernel checks its memory management at each step",
        options: &["DEBUG_VM", "DEBUG_VM_PGTABLE", "PAGE_TABLE_CHECK_ENFORCED"],
        said: &["Validating architecture page table helpers"],
        costs: "page faults and changes of page tables run assertions",
    };
    check.find(boot)
}
