//! Tests and measurements that the kernel makes of itself at each boot.

use bootlap_model::TrackKind;

use super::checks;
use super::seen::{configs, init_ns, is_kernels, ms, options_on};
use crate::lines::{Begin, Line, Wanted};
use crate::{Boot, Finding};

checks! {
    "config-ftrace-selftest" => tracers,
    "config-kunit" => kunit,
    "config-builtin-tests" => built_in_tests,
    "config-lock-selftest" => locking_api,
    "config-signature-selftest" => certificates,
    "config-debug-wx" => page_tables,
    "config-raid6-benchmark" => raid6,
    "config-xor-benchmark" => xor,
    "cmdline-no-memtest" => memtest,
}

/// How long these lines and what followed them took together.
fn lasted(lines: &[Line<'_>]) -> i64 {
    lines.iter().fold(0, |sum, l| sum.saturating_add(l.ns()))
}

/// A finding about lines that each stand before the work they name.
fn about(lines: &[Line<'_>], basis: &str) -> Option<Finding> {
    let (first, last) = (lines.first()?, lines.last()?);
    Some(
        Finding::new()
            .why(format!("from `{}` on: {}", first.text, ms(lasted(lines))))
            .saves(lasted(lines), basis)
            .at(Some([first.start_ns, last.next_ns]))
            .seen([first.evidence]),
    )
}

/// The kernel's own lines that are wanted.
fn said<'a>(boot: &Boot<'a>, wanted: impl Wanted) -> Vec<Line<'a>> {
    let lines = boot.lines().all(wanted).copied();
    lines.filter(|l| is_kernels(boot, l)).collect()
}

fn tracers(boot: &Boot<'_>) -> Option<Finding> {
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
    let lines = said(boot, Begin(begins));
    if let Some(finding) = about(&lines, "from each of these lines to the next") {
        return Some(finding);
    }
    if options_on(boot, &["FTRACE_STARTUP_TEST"]).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why("the kernel is built with CONFIG_FTRACE_STARTUP_TEST")
            .saves_unknown("a log of the boot shows it: `Testing tracer ...` lines"),
    )
}

fn kunit(boot: &Boot<'_>) -> Option<Finding> {
    if let Some(first) = said(boot, Begin(["KTAP version", "TAP version"])).first() {
        let results = said(boot, Begin(["ok ", "not ok "]));
        let last = results.iter().rfind(|l| l.start_ns >= first.start_ns)?;
        let ns = last.start_ns.saturating_sub(first.start_ns);
        let finding = Finding::new()
            .why(format!(
                "from `{}` to the last result: {}",
                first.text,
                ms(ns)
            ))
            .saves(ns, "from the first of these lines to the last")
            .at(Some([first.start_ns, last.start_ns]))
            .seen([first.evidence]);
        return Some(finding);
    }
    let is_off = matches!(boot.parameter("kunit.enable"), Some("kunit.enable=0"));
    // A log that was seen whole and has no such line: nothing ran.
    if is_off || init_ns(boot).is_some() || options_on(boot, &["KUNIT"]).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why("the kernel is built with CONFIG_KUNIT")
            .saves_unknown("it depends on which suites are built in, too"),
    )
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
    Some(
        Finding::new()
            .why(format!("{} built in", configs(&on)))
            .saves_unknown("boot with `initcall_debug`: their initcalls show it"),
    )
}

fn locking_api(boot: &Boot<'_>) -> Option<Finding> {
    if let Some(first) = boot.line("| Locking API testsuite:") {
        let at = boot.between("| Locking API testsuite:", "testcases passed!")?;
        let ns = at[1].saturating_sub(at[0]);
        let finding = Finding::new()
            .why(format!("the test suite takes {}", ms(ns)))
            .saves(ns, "from its first line to its last")
            .at(Some(at))
            .seen([first.evidence]);
        return Some(finding);
    }
    if init_ns(boot).is_some() || options_on(boot, &["DEBUG_LOCKING_API_SELFTESTS"]).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why("the kernel is built with CONFIG_DEBUG_LOCKING_API_SELFTESTS")
            .saves_unknown("a log of the boot shows it"),
    )
}

fn certificates(boot: &Boot<'_>) -> Option<Finding> {
    let begins = "Running certificate verification ";
    let lines = said(boot, (Begin(begins), |t: &str| t.contains("selftest")));
    if let Some(finding) = about(&lines, "from that line to the next") {
        return Some(finding);
    }
    let option = options_on(boot, &["FIPS_SIGNATURE_SELFTEST"]);
    if option.is_empty() || init_ns(boot).is_some() {
        return None;
    }
    Some(
        Finding::new()
            .why("the kernel is built with CONFIG_FIPS_SIGNATURE_SELFTEST")
            .saves_unknown("a log of the boot shows it"),
    )
}

fn page_tables(boot: &Boot<'_>) -> Option<Finding> {
    let spans = boot.spans(TrackKind::Kernel, "protect kernel memory");
    let walk = spans.first()?;
    let done = boot.line("Checked W+X mappings")?;
    let mut lines = boot.lines().iter();
    let before = lines.rfind(|l| l.start_ns < done.start_ns);
    let start = before.map_or(walk.start_ns, |l| l.start_ns.max(walk.start_ns));
    let ns = done.start_ns.saturating_sub(start);
    Some(
        Finding::new()
            .why(format!("up to `{}` it takes {}", done.text, ms(ns)))
            .saves(
                ns,
                "at most: from the line before; protecting the memory is part of it",
            )
            .at(Some([start, done.start_ns]))
            .seen([done.evidence]),
    )
}

fn raid6(boot: &Boot<'_>) -> Option<Finding> {
    let measured = said(boot, (Begin("raid6: "), |t: &str| t.contains("gen()")));
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
    Some(
        Finding::new()
            .why(format!("{} variants in {}", measured.len(), ms(ns)))
            .saves(ns, "from the first measurement to `raid6: using algorithm`")
            .at(Some([start, end]))
            .seen([first.evidence]),
    )
}

fn xor(boot: &Boot<'_>) -> Option<Finding> {
    let begin = "xor: measuring software checksum speed";
    let line = boot.line(begin).filter(|l| is_kernels(boot, l))?;
    let at = boot.between(begin, "xor: using function")?;
    let ns = at[1].saturating_sub(at[0]);
    Some(
        Finding::new()
            .why(format!("the measurement takes {}", ms(ns)))
            .saves(ns, "from that line to `xor: using function`")
            .at(Some(at))
            .seen([line.evidence]),
    )
}

fn memtest(boot: &Boot<'_>) -> Option<Finding> {
    let is_one = |t: &str| t.starts_with("early_memtest:") || t.contains(" pattern ");
    let lines = said(boot, (["early_memtest:", " pattern "], is_one));
    let lines: Vec<Line<'_>> = match boot.line("early_memtest: # of tests") {
        Some(first) => lines
            .into_iter()
            .filter(|l| l.start_ns >= first.start_ns)
            .collect(),
        None => Vec::new(),
    };
    if let Some(finding) = about(&lines, "from each of these lines to the next") {
        // Before the timer runs, all lines have the time 0.
        let is_timed = lasted(&lines) > 0;
        let unknown = "the kernel's clock does not run yet; a stamped console shows it";
        return Some(match is_timed {
            true => finding,
            false => finding.saves_unknown(unknown),
        });
    }
    let parameter = boot.parameter("memtest").filter(|p| *p != "memtest=0")?;
    Some(
        Finding::new()
            .why(format!("`{parameter}` is on the command line"))
            .saves_unknown("it depends on the size of the memory; a stamped console shows it"),
    )
}
