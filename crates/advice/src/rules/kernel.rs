//! What the kernel does at every boot that once would be enough.

use super::checks;
use crate::boot::total_ns;
use crate::lines::number_after;
use crate::{Boot, Finding};

checks! {
    "cmdline-no-crypto-tests" => crypto_tests,
    "cmdline-lpj" => delay_loop,
}

/// Seen of 6.12 and not of 6.1: threads test, and hardly anybody waits for them.
const TESTS_IN_THREADS: (u32, u32) = (6, 12);

fn crypto_tests(boot: &Boot<'_>) -> Option<Finding> {
    let tests = boot.initcalls(&["crypto_algapi_init"]);
    let first = tests.first()?;
    let place = boot.place_of(first);
    let ns = total_ns(&tests);
    let in_threads = boot.kernel_version().is_some_and(|v| v >= TESTS_IN_THREADS);
    let basis = match in_threads {
        true => {
            "that initcall, seen with initcall_debug; this kernel goes on testing beside what \
             follows, so more may come"
        }
        false => "that initcall, seen with initcall_debug",
    };
    Some(
        Finding::new()
            .why(format!(
                "initcall crypto_algapi_init takes {} ms",
                ns / 1_000_000
            ))
            .saves(ns, basis)
            .recipe(boot.recipe("cmdline-no-crypto-tests"))
            .at(place.as_ref().map(|p| p.at()))
            .seen(place.map(|p| p.span.evidence)),
    )
}

fn delay_loop(boot: &Boot<'_>) -> Option<Finding> {
    let measures = |t: &str| !t.contains("(skipped)");
    let line = boot.line(("Calibrating delay loop", measures))?;
    let lpj = number_after(line.text, "lpj=");
    let parameter = lpj.map_or("lpj=<value>".into(), |v| format!("lpj={v}"));
    let recipe = lpj.ok_or_else(String::new);
    Some(
        Finding::new()
            .why(format!(
                "the calibration takes {} ms",
                line.ns() / 1_000_000
            ))
            .saves(line.ns(), "from that line to the next")
            .fix(format!("add `{parameter}` to the command line"))
            .recipe(recipe.and_then(|v| boot.recipe(&format!("cmdline-lpj={v}"))))
            .at(Some(line.at()))
            .seen([line.evidence]),
    )
}
