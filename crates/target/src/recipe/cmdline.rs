//! Recipes for the kernel's command line.

use super::{Recipe, RecipeMeta};
use crate::cmdline::{self, is_parameter};
use crate::{Edit, Parts, Target};

fn line(target: &Target) -> Result<&str, String> {
    let kernel = target.spec.kernel.as_ref();
    let kernel = kernel.ok_or("the target does not say its kernel.cmdline; add it")?;
    Ok(&kernel.cmdline)
}

/// The edit that adds `parameter` to what the kernel reads, unless one called
/// `name` is there already.
fn add(target: &Target, name: &str, parameter: &str) -> Result<Vec<Edit>, String> {
    let line = line(target)?;
    let words = cmdline::words(line);
    if let Some(word) = words.iter().find(|w| is_parameter(w, name)) {
        return Err(format!("the command line has {word} already"));
    }
    Ok(vec![Edit::set(
        "kernel.cmdline",
        cmdline::with(line, parameter),
    )])
}

/// `quiet` stands for this `loglevel=` (`CONFIG_CONSOLE_LOGLEVEL_QUIET`).
const QUIET_LEVEL: u32 = 4;

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
        for word in cmdline::words(line(target)?) {
            if is_parameter(word, "ignore_loglevel") {
                return Err("ignore_loglevel on the command line overrides quiet".into());
            }
            let level = word.strip_prefix("loglevel=").and_then(|l| l.parse().ok());
            if matches!(level, Some(0..=QUIET_LEVEL)) {
                return Err(format!("{word} on the command line is as quiet already"));
            }
        }
        add(target, "quiet", "quiet")
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
        add(target, "cryptomgr.notests", "cryptomgr.notests")
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
        let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        // 0 is what the kernel takes for *not given*.
        if !digits || !matches!(value.parse::<u64>(), Ok(1..)) {
            return Err(
                "it needs the number that the kernel found, as in cmdline-lpj=1314816; \
                 `bootlap advise` reads it from a boot"
                    .into(),
            );
        }
        add(target, "lpj", &format!("lpj={value}"))
    }
}
