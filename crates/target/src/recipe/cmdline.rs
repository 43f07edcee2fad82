//! Recipes for the kernel's command line.

use super::{Recipe, RecipeMeta};
use crate::{Edit, Parts, Target};

/// The edit that appends `parameter`, unless one that starts with `key` is
/// there already.
fn append(target: &Target, key: &str, parameter: &str) -> Result<Vec<Edit>, String> {
    let cmdline = &target.spec.kernel.cmdline;
    let there = |word: &str| {
        word.strip_prefix(key)
            .is_some_and(|r| r.is_empty() || r.starts_with('='))
    };
    if let Some(word) = cmdline.split_whitespace().find(|w| there(w)) {
        return Err(format!("the command line has {word} already"));
    }
    let longer = format!("{} {parameter}", cmdline.trim_end());
    Ok(vec![Edit::set("kernel.cmdline", longer.trim_start())])
}

/// The kernel prints only what is wrong.
///
/// On a serial console every character costs ten bit times; the messages stay
/// in the log for `dmesg`. An emulated console costs almost nothing, so the
/// saving shows on boards: 1.067 s at 115 200 baud in the reference.
pub(super) struct Quiet;

impl Recipe for Quiet {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "cmdline-quiet",
            title: "the kernel prints only what is wrong",
            risk: "a kernel that hangs early says less about where",
            values: &[],
        }
    }

    fn edits(&self, target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
        append(target, "quiet", "quiet")
    }
}

/// The kernel does not test its ciphers at each boot.
///
/// Distribution kernels run known-answer tests of every algorithm when it is
/// registered. A product that does not need FIPS 140 can test once, at the
/// factory.
pub(super) struct NoCryptoTests;

impl Recipe for NoCryptoTests {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "cmdline-no-crypto-tests",
            title: "the kernel does not test its ciphers at each boot",
            risk: "a broken cipher driver is not noticed at boot; not for FIPS 140",
            values: &[],
        }
    }

    fn edits(&self, target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
        append(target, "cryptomgr.notests", "cryptomgr.notests")
    }
}

/// The kernel takes the speed of its delay loop as given.
///
/// Takes the number from the log of an earlier boot:
/// `Calibrating delay loop... 262.96 BogoMIPS (lpj=1314816)`. Kernels that
/// derive it from a timer (`(skipped), value calculated using timer
/// frequency`) do not measure anything and gain nothing.
pub(super) struct Lpj;

impl Recipe for Lpj {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "cmdline-lpj",
            title: "the kernel does not calibrate its delay loop",
            risk: "delays are wrong if the CPU runs at another speed than when it was measured",
            values: &[""],
        }
    }

    fn edits(&self, target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        if value.parse::<u64>().is_err() {
            return Err(
                "it needs the number that the kernel found, as in cmdline-lpj=1314816; \
                 `bootlap advise` reads it from a boot"
                    .into(),
            );
        }
        append(target, "lpj", &format!("lpj={value}"))
    }
}
