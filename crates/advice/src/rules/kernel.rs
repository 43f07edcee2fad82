//! What the kernel does at every boot that once would be enough.

use bootlap_model::TrackKind;

use super::{Rule, RuleMeta};
use crate::boot::{Found, spans_in, total_ns};
use crate::{Boot, Finding, Saving, SavingKind};

/// Shorter than this is not worth a line, ns.
const WORTH_IT_NS: i64 = 1_000_000;

/// The kernel tests its ciphers.
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
pub(super) struct CryptoTests;

impl Rule for CryptoTests {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "cmdline-no-crypto-tests",
            title: "the kernel tests its ciphers at each boot",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let timeline = boot.explained.unwrap_or(boot.timeline);
        let tests = spans_in(timeline, TrackKind::Initcall, |n| n == "crypto_algapi_init");
        let ns = total_ns(&tests);
        if ns < WORTH_IT_NS {
            return;
        }
        let first = tests.into_iter().next();
        let place = match boot.explained {
            Some(_) => first.and_then(|test| boot.silence_like(&test)),
            None => first,
        };
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "the kernel tests its ciphers at each boot".into(),
            why: format!("initcall crypto_algapi_init takes {} ms", ns / 1_000_000),
            saving: Saving {
                ns,
                kind: SavingKind::ThisBoot,
                basis: "that initcall, seen with initcall_debug".into(),
            },
            fix: "add `cryptomgr.notests` to the command line, or build the kernel with \
                  CONFIG_CRYPTO_MANAGER_DISABLE_TESTS=y"
                .into(),
            recipe: boot.recipe("cmdline-no-crypto-tests").ok(),
            at_ns: place.as_ref().map(|p| [p.start_ns, p.end_ns]),
            evidence: place.iter().map(|p| p.span.evidence).collect(),
        });
    }
}

/// The kernel measures its delay loop.
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
pub(super) struct DelayLoop;

impl Rule for DelayLoop {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "cmdline-lpj",
            title: "the kernel calibrates its delay loop",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let console = spans_in(boot.timeline, TrackKind::Console, |_| true);
        let text = |line: &Found<'_>| boot.timeline.text(line.span.name);
        let measures = |line: &&Found<'_>| {
            let text = text(line);
            text.contains("Calibrating delay loop") && !text.contains("(skipped)")
        };
        let Some(line) = console.iter().find(measures) else {
            return;
        };
        let after = console.iter().map(|s| s.start_ns);
        let Some(end_ns) = after.filter(|s| *s > line.start_ns).min() else {
            return;
        };
        let ns = end_ns.saturating_sub(line.start_ns);
        if ns < WORTH_IT_NS {
            return;
        }
        let lpj = number_after(text(line), "lpj=");
        let parameter = lpj.map_or("lpj=<value>".into(), |v| format!("lpj={v}"));
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "the kernel measures its delay loop at each boot".into(),
            why: format!("the calibration takes {} ms", ns / 1_000_000),
            saving: Saving {
                ns,
                kind: SavingKind::ThisBoot,
                basis: "from that line to the next".into(),
            },
            fix: format!("add `{parameter}` to the command line"),
            recipe: lpj.and_then(|v| boot.recipe(&format!("cmdline-lpj={v}")).ok()),
            at_ns: Some([line.start_ns, end_ns]),
            evidence: vec![line.span.evidence],
        });
    }
}

/// The digits right behind `key`.
fn number_after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(key)?;
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| &rest[..end])
}
