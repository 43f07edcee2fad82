//! Checks for developers that a product's kernel carries along.

use super::checks;
use super::seen::{configs, options_on};
use crate::{Boot, Finding};

checks! {
    "config-kasan" => kasan,
    "config-lockdep" => lockdep,
    "config-slub-debug" => slub_debug,
    "config-kmemleak" => kmemleak,
    "config-debug-pagealloc" => pagealloc,
    "config-debug-objects" => objects,
    "cmdline-no-page-debug" => pages,
    "config-coverage" => coverage,
    "config-ubsan" => ubsan,
    "config-debug-locks" => locks,
    "config-debug-vm" => vm,
}

/// What a developer's option looks like.
struct Check {
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
        let said = self.said.iter().find_map(|text| boot.line(*text));
        let shown = match (&said, on.as_slice()) {
            (Some(line), _) => format!("the log says `{}`", line.text),
            (None, []) => return None,
            (None, on) => format!("the kernel is built with {}", configs(on)),
        };
        let off = match on.as_slice() {
            [] => configs(self.options),
            on => configs(on),
        };
        let finding = Finding::new()
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

fn kasan(boot: &Boot<'_>) -> Option<Finding> {
    let by_hardware = ("kasan: Kernel", |t: &str| t.contains("hw-tags"));
    if !options_on(boot, &["KASAN_HW_TAGS"]).is_empty() || boot.lines().has(by_hardware) {
        return None;
    }
    let check = Check {
        options: &["KASAN"],
        said: &["kasan: KernelAddressSanitizer initialized"],
        costs: "each load and store is checked",
    };
    check.find(boot)
}

fn lockdep(boot: &Boot<'_>) -> Option<Finding> {
    let check = Check {
        options: &["PROVE_LOCKING", "DEBUG_LOCK_ALLOC", "LOCK_STAT"],
        said: &[
            "Lock dependency validator: Copyright",
            "... MAX_LOCKDEP_SUBCLASSES",
        ],
        costs: "each lock that is taken is recorded and checked",
    };
    check.find(boot)
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
    Some(
        Finding::new()
            .why(format!("{shown}: each allocation writes and reads more"))
            .saves_unknown("it depends on how much the boot allocates"),
    )
}

fn kmemleak(boot: &Boot<'_>) -> Option<Finding> {
    let is_off = !options_on(boot, &["DEBUG_KMEMLEAK_DEFAULT_OFF"]).is_empty();
    let asked = boot.parameter("kmemleak");
    if asked == Some("kmemleak=off") || is_off && asked != Some("kmemleak=on") {
        return None;
    }
    let check = Check {
        options: &["DEBUG_KMEMLEAK"],
        said: &["kmemleak: Kernel memory leak detector initialized"],
        costs: "each allocation is noted with its call stack",
    };
    check.find(boot)
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
    Some(
        Finding::new()
            .why(format!("{shown}: each allocation changes the page tables"))
            .saves_unknown("it depends on how much the boot allocates"),
    )
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
        options: &["DEBUG_OBJECTS", "DEBUG_OBJECTS_SELFTEST"],
        said: &["ODEBUG: selftest passed"],
        costs: "timers and work items are looked up each time they are used",
    };
    check.find(boot)
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
    Some(
        Finding::new()
            .why(format!("`{found}` is on the command line"))
            .saves_unknown("it depends on how many pages the boot uses")
            .fix(format!("remove `{found}` from the command line")),
    )
}

fn coverage(boot: &Boot<'_>) -> Option<Finding> {
    let check = Check {
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

fn ubsan(boot: &Boot<'_>) -> Option<Finding> {
    if !options_on(boot, &["UBSAN_TRAP"]).is_empty() {
        return None;
    }
    let check = Check {
        options: &["UBSAN"],
        said: &[],
        costs: "shifts, array accesses and more are checked",
    };
    check.find(boot)
}

fn locks(boot: &Boot<'_>) -> Option<Finding> {
    if lockdep(boot).is_some() {
        return None;
    }
    let check = Check {
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

fn vm(boot: &Boot<'_>) -> Option<Finding> {
    let check = Check {
        options: &["DEBUG_VM", "DEBUG_VM_PGTABLE", "PAGE_TABLE_CHECK_ENFORCED"],
        said: &["Validating architecture page table helpers"],
        costs: "page faults and changes of page tables run assertions",
    };
    check.find(boot)
}
