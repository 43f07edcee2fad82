//! What the kernel does at every boot that once would be enough.

use super::{Rule, rule};
use crate::boot::total_ns;
use crate::lines::number_after;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&CRYPTO_TESTS, &DELAY_LOOP];

rule! {
    /// The kernel tests its ciphers at each boot.
    ///
    /// **Why.** Distribution kernels run known-answer tests of every algorithm when
    /// it is registered. Since 5.17 those of all built-in ones run in one go in the
    /// initcall `crypto_algapi_init`; before that, in each algorithm's own.
    ///
    /// **Evidence.** That initcall, which only a boot with `initcall_debug` shows;
    /// all of it is saved.
    ///
    /// **Fix.** `cryptomgr.notests` on the command line, or
    /// `CONFIG_CRYPTO_MANAGER_DISABLE_TESTS=y`.
    ///
    /// **Risk.** A broken cipher driver is not noticed at boot: test once, at the
    /// factory. Not for FIPS 140, which wants the tests.
    ///
    /// **Figures.** Kata Containers "could not measure a difference": with several
    /// CPUs the tests may run beside other work. Here the boot itself tells.
    CRYPTO_TESTS = "cmdline-no-crypto-tests", Kernel, crypto_tests
}

fn crypto_tests(boot: &Boot<'_>) -> Option<Finding> {
    let tests = boot.initcalls(|n| n == "crypto_algapi_init");
    let first = tests.first()?;
    let place = boot.place_of(first);
    let ns = total_ns(&tests);
    let finding = Finding::new("the kernel tests its ciphers at each boot")
        .why(format!(
            "initcall crypto_algapi_init takes {} ms",
            ns / 1_000_000
        ))
        .saves(ns, "that initcall, seen with initcall_debug")
        .fix(
            "add `cryptomgr.notests` to the command line, or build the kernel with \
             CONFIG_CRYPTO_MANAGER_DISABLE_TESTS=y",
        )
        .recipe(boot.recipe("cmdline-no-crypto-tests"))
        .at(place.as_ref().map(|p| p.at()))
        .seen(place.map(|p| p.span.evidence));
    Some(finding)
}

rule! {
    /// The kernel calibrates its delay loop.
    ///
    /// **Why.** `Calibrating delay loop...` counts loops over some ticks of the
    /// timer, at each boot, and finds the same number each time.
    ///
    /// **Evidence.** The time from that line to the next. Kernels that take the
    /// value from a timer say `(skipped)` and gain nothing.
    ///
    /// **Fix.** `lpj=` on the command line, with the number that the line shows.
    ///
    /// **Risk.** Delays are wrong where the CPU runs at another speed than when it
    /// was measured.
    ///
    /// **Figures.** 83 ms (BeagleBone Black, Bootlin), 212 ms (OMAP1510, eLinux), 63 ms
    /// (SAMA5D3); 25 ms on a PC with a tick of 1000 Hz.
    DELAY_LOOP = "cmdline-lpj", Kernel, delay_loop
}

fn delay_loop(boot: &Boot<'_>) -> Option<Finding> {
    let mut lines = boot.lines_with("Calibrating delay loop");
    let line = lines.find(|l| !l.text.contains("(skipped)"))?;
    let lpj = number_after(line.text, "lpj=");
    let parameter = lpj.map_or("lpj=<value>".into(), |v| format!("lpj={v}"));
    let recipe = lpj.ok_or_else(String::new);
    let finding = Finding::new("the kernel measures its delay loop at each boot")
        .why(format!(
            "the calibration takes {} ms",
            line.ns() / 1_000_000
        ))
        .saves(line.ns(), "from that line to the next")
        .fix(format!("add `{parameter}` to the command line"))
        .recipe(recipe.and_then(|v| boot.recipe(&format!("cmdline-lpj={v}"))))
        .at(Some(line.at()))
        .seen([line.evidence]);
    Some(finding)
}
