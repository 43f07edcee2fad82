//! What the kernel does at every boot that once would be enough.

use bootlap_model::{SpanEnd, TrackKind};

use super::{Rule, RuleMeta};
use crate::boot::{evidence, spans_in, total_ns};
use crate::{Boot, Finding, Saving, SavingKind};

/// Shorter than this is not worth a line, ns.
const WORTH_IT_NS: i64 = 1_000_000;

/// The kernel tests its ciphers.
///
/// Since 5.17 the tests of all algorithms that are built in run in
/// `crypto_algapi_init`; before that, in each algorithm's own initcall. The
/// saving is that initcall, which needs a boot with `initcall_debug` to see.
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
        // The explained boot has its own times: it cannot point into this one.
        let own = boot.explained.is_none();
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
            at_ns: tests
                .first()
                .filter(|_| own)
                .map(|t| [t.start_ns, t.end_ns]),
            evidence: if own { evidence(&tests) } else { Vec::new() },
        });
    }
}

/// The kernel measures its delay loop.
///
/// Kernels that take the value from a timer say `(skipped)` and gain nothing
/// from `lpj=`. The saving is the silence inside the line.
pub(super) struct DelayLoop;

impl Rule for DelayLoop {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "cmdline-lpj",
            title: "the kernel calibrates its delay loop",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let timeline = boot.timeline;
        let lines = spans_in(timeline, TrackKind::Console, |n| {
            n.contains("Calibrating delay loop") && !n.contains("(skipped)")
        });
        let Some(line) = lines.first() else { return };
        let text = timeline.text(line.span.name);
        let next = |at: i64| {
            let after = spans_in(timeline, TrackKind::Console, |_| true);
            after.iter().map(|s| s.start_ns).filter(|s| *s > at).min()
        };
        let Some(end_ns) = next(line.start_ns) else {
            return;
        };
        let lpj = text
            .split_once("lpj=")
            .map(|(_, v)| v.trim_end_matches(|c: char| !c.is_ascii_digit()).to_owned());
        let ns = end_ns.saturating_sub(line.start_ns);
        if ns < WORTH_IT_NS || matches!(line.span.end, SpanEnd::Unknown) {
            return;
        }
        let parameter = lpj
            .as_deref()
            .map_or("lpj=<value>".into(), |v| format!("lpj={v}"));
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
            evidence: evidence(&lines),
        });
    }
}
