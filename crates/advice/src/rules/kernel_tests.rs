//! Tests and measurements that the kernel makes of itself at each boot.

use bootlap_model::TrackKind;

use super::seen::{configs, init_ns, is_kernels, ms, options_on};
use super::{Rule, rule};
use crate::lines::Line;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &TRACERS,
    &KUNIT,
    &BUILT_IN_TESTS,
    &LOCKING_API,
    &CERTIFICATES,
    &PAGE_TABLES,
    &RAID6,
    &XOR,
    &MEMTEST,
];

/// How long these lines and what followed them took together.
fn lasted(lines: &[Line<'_>]) -> i64 {
    lines.iter().fold(0, |sum, l| sum.saturating_add(l.ns()))
}

/// A finding about lines that each stand before the work they name.
fn about(title: &str, lines: &[Line<'_>], basis: &str) -> Option<Finding> {
    let (first, last) = (lines.first()?, lines.last()?);
    let finding = Finding::new(title)
        .why(format!("from `{}` on: {}", first.text, ms(lasted(lines))))
        .saves(lasted(lines), basis)
        .at(Some([first.start_ns, last.next_ns]))
        .seen([first.evidence]);
    Some(finding)
}

/// The kernel's own lines that `wanted` accepts.
fn said<'a>(boot: &Boot<'a>, wanted: impl Fn(&str) -> bool) -> Vec<Line<'a>> {
    let lines = boot.lines().iter().copied();
    let lines = lines.filter(|l| wanted(l.text) && is_kernels(boot, l));
    lines.collect()
}

rule! {
    /// The kernel tests its tracers at each boot.
    ///
    /// **Why.** Each tracer and each trace event is switched on, exercised and
    /// switched off, with waits in between.
    ///
    /// **Evidence.** The time of `Testing tracer NAME: PASSED`, `Testing event NAME: OK`
    /// and `Running tests on ...` lines in the log; else
    /// `CONFIG_FTRACE_STARTUP_TEST=y`.
    ///
    /// **Fix.** `CONFIG_FTRACE_STARTUP_TEST=n`.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** About 0.5 s for tracing and debugging options together (AGNOS,
    /// SDM845).
    TRACERS = "config-ftrace-selftest", Kernel, tracers
}

fn tracers(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel tests its tracers at each boot";
    let fix = "build the kernel without CONFIG_FTRACE_STARTUP_TEST";
    let begins = [
        "Testing tracer ",
        "Testing event ",
        "Testing all events",
        "Testing dynamic ftrace",
        "Testing ftrace ",
        "Running tests on trace events",
        "Running tests again, along with the function tracer",
        "Running postponed tracer tests",
    ];
    let lines = said(boot, |text| begins.iter().any(|b| text.starts_with(b)));
    if let Some(finding) = about(title, &lines, "from each of these lines to the next") {
        return Some(finding.fix(fix));
    }
    if options_on(boot, &["FTRACE_STARTUP_TEST"]).is_empty() {
        return None;
    }
    let finding = Finding::new(title)
        .why("the kernel is built with CONFIG_FTRACE_STARTUP_TEST")
        .saves_unknown("a log of the boot shows it: `Testing tracer ...` lines")
        .fix(fix);
    Some(finding)
}

rule! {
    /// Unit tests run inside the kernel at each boot.
    ///
    /// **Why.** KUnit suites that are built in run before the first program.
    ///
    /// **Evidence.** The time from `KTAP version` (`TAP version` before 6.0) to the last
    /// `ok N suite` line; else `CONFIG_KUNIT=y`, unless the command line has
    /// `kunit.enable=0`.
    ///
    /// **Fix.** `CONFIG_KUNIT=n`, or as a module.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published; the boot itself tells.
    KUNIT = "config-kunit", Kernel, kunit
}

fn kunit(boot: &Boot<'_>) -> Option<Finding> {
    let title = "unit tests run inside the kernel at each boot";
    let fix = "build the kernel without CONFIG_KUNIT, or with it as a module";
    let starts = |text: &str| text.starts_with("KTAP version") || text.starts_with("TAP version");
    if let Some(first) = said(boot, starts).first() {
        let results = said(boot, |t| t.starts_with("ok ") || t.starts_with("not ok "));
        let last = results.iter().rfind(|l| l.start_ns >= first.start_ns)?;
        let ns = last.start_ns.saturating_sub(first.start_ns);
        let finding = Finding::new(title)
            .why(format!(
                "from `{}` to the last result: {}",
                first.text,
                ms(ns)
            ))
            .saves(ns, "from the first of these lines to the last")
            .fix(fix)
            .at(Some([first.start_ns, last.start_ns]))
            .seen([first.evidence]);
        return Some(finding);
    }
    let is_off = matches!(boot.parameter("kunit.enable"), Some("kunit.enable=0"));
    // A log that was seen whole and has no such line: nothing ran.
    if is_off || init_ns(boot).is_some() || options_on(boot, &["KUNIT"]).is_empty() {
        return None;
    }
    let finding = Finding::new(title)
        .why("the kernel is built with CONFIG_KUNIT")
        .saves_unknown("it depends on which suites are built in, too")
        .fix(fix);
    Some(finding)
}

rule! {
    /// Test drivers are built into the kernel.
    ///
    /// **Why.** Most of `lib/test_*.c` and all torture tests begin to work when they are
    /// initialised; as modules they do so only when somebody loads them.
    ///
    /// **Evidence.** `CONFIG_TEST_...=y`, `CONFIG_..._TORTURE_TEST=y` or
    /// `CONFIG_..._SELFTEST(S)=y` in the `.config`, apart from those that have rules of
    /// their own.
    ///
    /// **Fix.** Turn them off, or build them as modules.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published; the initcalls `test_*_init` of a boot with
    /// `initcall_debug` show it.
    BUILT_IN_TESTS = "config-builtin-tests", Kernel, built_in_tests
}

fn built_in_tests(boot: &Boot<'_>) -> Option<Finding> {
    // Options that have their own rule, or are no test that runs at boot.
    let others = [
        "DEBUG_OBJECTS_SELFTEST",
        "CRYPTO_SELFTESTS",
        "FIPS_SIGNATURE_SELFTEST",
    ];
    let is_test = |name: &str| {
        let test = name.starts_with("TEST_")
            || name.ends_with("_TORTURE_TEST")
            || name.ends_with("_SELFTEST")
            || name.ends_with("_SELFTESTS");
        test && !others.contains(&name) && !name.starts_with("DEBUG_LOCKING_API")
    };
    let options = boot.kernel_config()?.iter();
    let on = options.filter(|(name, value)| *value == "y" && is_test(name));
    let on: Vec<&str> = on.map(|(name, _)| name).take(8).collect();
    if on.is_empty() {
        return None;
    }
    let finding = Finding::new("test drivers are built into the kernel")
        .why(format!("{} built in", configs(&on)))
        .saves_unknown("boot with `initcall_debug`: their initcalls show it")
        .fix("turn them off, or build them as modules");
    Some(finding)
}

rule! {
    /// The kernel tests its lock checker at each boot.
    ///
    /// **Why.** `CONFIG_DEBUG_LOCKING_API_SELFTESTS` runs hundreds of cases and prints a
    /// table of them.
    ///
    /// **Evidence.** The time from `| Locking API testsuite:` to
    /// `Good, all N testcases passed!`; else the option.
    ///
    /// **Fix.** Build without it.
    ///
    /// **Risk.** None for the product.
    ///
    /// **Figures.** None is published; the boot itself tells.
    LOCKING_API = "config-lock-selftest", Kernel, locking_api
}

fn locking_api(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel tests its lock checker at each boot";
    let fix = "build the kernel without CONFIG_DEBUG_LOCKING_API_SELFTESTS";
    if let Some(first) = boot.line("| Locking API testsuite:") {
        let at = boot.between("| Locking API testsuite:", "testcases passed!")?;
        let ns = at[1].saturating_sub(at[0]);
        let finding = Finding::new(title)
            .why(format!("the test suite takes {}", ms(ns)))
            .saves(ns, "from its first line to its last")
            .fix(fix)
            .at(Some(at))
            .seen([first.evidence]);
        return Some(finding);
    }
    if init_ns(boot).is_some() || options_on(boot, &["DEBUG_LOCKING_API_SELFTESTS"]).is_empty() {
        return None;
    }
    let finding = Finding::new(title)
        .why("the kernel is built with CONFIG_DEBUG_LOCKING_API_SELFTESTS")
        .saves_unknown("a log of the boot shows it")
        .fix(fix);
    Some(finding)
}

rule! {
    /// The kernel tests its check of signatures at each boot.
    ///
    /// **Why.** FIPS 140 wants a known answer from the check of certificates before it is
    /// used; RSA on a small CPU takes its time.
    ///
    /// **Evidence.** The time from `Running certificate verification selftests` (`...
    /// RSA selftest`, `... ECDSA selftest` since 6.10) to the next line; else
    /// `CONFIG_FIPS_SIGNATURE_SELFTEST=y`.
    ///
    /// **Fix.** `CONFIG_FIPS_SIGNATURE_SELFTEST=n`.
    ///
    /// **Risk.** Not for products that are to be certified for FIPS 140.
    ///
    /// **Figures.** None is published; the boot itself tells.
    CERTIFICATES = "config-signature-selftest", Kernel, certificates
}

fn certificates(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel tests its check of signatures at each boot";
    let fix = "build the kernel without CONFIG_FIPS_SIGNATURE_SELFTEST, unless FIPS 140 wants it";
    let begins = "Running certificate verification ";
    let lines = said(boot, |t| t.starts_with(begins) && t.contains("selftest"));
    if let Some(finding) = about(title, &lines, "from that line to the next") {
        return Some(finding.fix(fix));
    }
    let option = options_on(boot, &["FIPS_SIGNATURE_SELFTEST"]);
    if option.is_empty() || init_ns(boot).is_some() {
        return None;
    }
    let finding = Finding::new(title)
        .why("the kernel is built with CONFIG_FIPS_SIGNATURE_SELFTEST")
        .saves_unknown("a log of the boot shows it")
        .fix(fix);
    Some(finding)
}

rule! {
    /// The kernel walks all its page tables before the first program.
    ///
    /// **Why.** `CONFIG_DEBUG_WX` looks for memory that is writable and executable, once,
    /// after the kernel has protected itself.
    ///
    /// **Evidence.** The time up to `Checked W+X mappings: passed` from the line before
    /// it. Protecting the memory is part of that and stays, so it is the most that can
    /// be saved.
    ///
    /// **Fix.** `CONFIG_DEBUG_WX=n`, and check once in the factory or the test lab.
    ///
    /// **Risk.** A driver that maps memory so is not noticed in the field.
    ///
    /// **Figures.** None is published; the boot itself tells.
    PAGE_TABLES = "config-debug-wx", Kernel, page_tables
}

fn page_tables(boot: &Boot<'_>) -> Option<Finding> {
    let spans = boot.spans(TrackKind::Kernel, "protect kernel memory");
    let walk = spans.first()?;
    let done = boot.line("Checked W+X mappings")?;
    let mut lines = boot.lines().iter();
    let before = lines.rfind(|l| l.start_ns < done.start_ns);
    let start = before.map_or(walk.start_ns, |l| l.start_ns.max(walk.start_ns));
    let ns = done.start_ns.saturating_sub(start);
    let finding = Finding::new("the kernel walks all its page tables before the first program")
        .why(format!("up to `{}` it takes {}", done.text, ms(ns)))
        .saves(
            ns,
            "at most: from the line before; protecting the memory is part of it",
        )
        .fix("build the kernel with CONFIG_DEBUG_WX=n, and check in the test lab")
        .at(Some([start, done.start_ns]))
        .seen([done.evidence]);
    Some(finding)
}

rule! {
    /// The kernel measures which RAID 6 code is fastest.
    ///
    /// **Why.** Each variant runs for some ticks of the timer, at each boot, and the
    /// same one wins each time. Btrfs brings it along, RAID or not.
    ///
    /// **Evidence.** The time from the first `raid6: NAME gen()` line to `raid6: using
    /// algorithm`. `raid6: skipped pq benchmark` means that it is off already.
    ///
    /// **Fix.** `CONFIG_RAID6_PQ_BENCHMARK=n`; or Btrfs and RAID 4/5/6 as modules, which
    /// are loaded when they are needed.
    ///
    /// **Risk.** The variant that is taken without measuring may be a little slower.
    ///
    /// **Figures.** About 0.39 s on an Atom E3815; a "few seconds" to tens of ms (LKL).
    RAID6 = "config-raid6-benchmark", Kernel, raid6
}

fn raid6(boot: &Boot<'_>) -> Option<Finding> {
    let is_measured = |t: &str| t.starts_with("raid6: ") && t.contains("gen()");
    let measured = said(boot, is_measured);
    let first = measured.first()?;
    let lines = boot.lines().iter();
    let mut before = lines.rev().filter(|l| l.start_ns <= first.start_ns);
    // The result stands behind its measurement, so that began a line earlier.
    let start = before.nth(1).map_or(first.start_ns, |l| l.start_ns);
    let one = measured
        .get(1)
        .map_or(0, |l| l.start_ns.saturating_sub(first.start_ns));
    let start = start.max(first.start_ns.saturating_sub(one));
    let end = boot.line("raid6: using algorithm")?.start_ns;
    let ns = end.saturating_sub(start);
    let finding = Finding::new("the kernel measures which RAID 6 code is fastest")
        .why(format!("{} variants in {}", measured.len(), ms(ns)))
        .saves(ns, "from the first measurement to `raid6: using algorithm`")
        .fix("build the kernel with CONFIG_RAID6_PQ_BENCHMARK=n, or Btrfs and RAID as modules")
        .at(Some([start, end]))
        .seen([first.evidence]);
    Some(finding)
}

rule! {
    /// The kernel measures which XOR code is fastest.
    ///
    /// **Why.** RAID 5 and Btrfs want the fastest way to XOR blocks; measuring takes some
    /// ticks for each variant, at each boot.
    ///
    /// **Evidence.** The time from `xor: measuring software checksum speed` to
    /// `xor: using function`. Where the kernel knows better (`xor: automatically using
    /// best checksumming function`) nothing is measured.
    ///
    /// **Fix.** Build what needs it (Btrfs, RAID 4/5/6) as modules.
    ///
    /// **Risk.** None, unless the root filesystem is on them.
    ///
    /// **Figures.** Part of the 0.39 s of RAID 6 on an Atom E3815.
    XOR = "config-xor-benchmark", Kernel, xor
}

fn xor(boot: &Boot<'_>) -> Option<Finding> {
    let begin = "xor: measuring software checksum speed";
    let line = boot.line(begin).filter(|l| is_kernels(boot, l))?;
    let at = boot.between(begin, "xor: using function")?;
    let ns = at[1].saturating_sub(at[0]);
    let finding = Finding::new("the kernel measures which XOR code is fastest")
        .why(format!("the measurement takes {}", ms(ns)))
        .saves(ns, "from that line to `xor: using function`")
        .fix("build Btrfs and RAID 4/5/6 as modules, if the root filesystem is not on them")
        .at(Some(at))
        .seen([line.evidence]);
    Some(finding)
}

rule! {
    /// The kernel tests all memory at each boot.
    ///
    /// **Why.** `memtest=N` writes and reads N patterns over all free memory.
    ///
    /// **Evidence.** The time from `early_memtest: # of tests` to the last
    /// `early_memtest:` or pattern line; else the parameter.
    ///
    /// **Fix.** Remove `memtest=`.
    ///
    /// **Risk.** Bad memory is not noticed: test it in the factory.
    ///
    /// **Figures.** None is published; it is memory size times patterns.
    MEMTEST = "cmdline-no-memtest", Kernel, memtest
}

fn memtest(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel tests all memory at each boot";
    let lines = said(boot, |t| {
        t.starts_with("early_memtest:") || t.contains(" pattern ")
    });
    let lines: Vec<Line<'_>> = match boot.line("early_memtest: # of tests") {
        Some(first) => lines
            .into_iter()
            .filter(|l| l.start_ns >= first.start_ns)
            .collect(),
        None => Vec::new(),
    };
    let fix = "remove `memtest=` from the command line";
    if let Some(finding) = about(title, &lines, "from each of these lines to the next") {
        // Before the timer runs, all lines have the time 0.
        let is_timed = lasted(&lines) > 0;
        let unknown = "the kernel's clock does not run yet; a stamped console shows it";
        return Some(match is_timed {
            true => finding.fix(fix),
            false => finding.saves_unknown(unknown).fix(fix),
        });
    }
    let parameter = boot.parameter("memtest").filter(|p| *p != "memtest=0")?;
    let finding = Finding::new(title)
        .why(format!("`{parameter}` is on the command line"))
        .saves_unknown("it depends on the size of the memory; a stamped console shows it")
        .fix(fix);
    Some(finding)
}
