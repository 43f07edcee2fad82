//! U-Boot's environment and configuration, as far as they tell without a boot.

use super::stages::{before_kernel, uboot};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &FLAT_BOOTCMD,
    &VERIFY,
    &FEATURES,
    &SILENT_CONFIG,
    &BAUD,
    &BOOTSTAGE,
    &MENU,
    &SPLASH_FILE,
];

rule! {
    /// `bootcmd` runs through nested scripts.
    ///
    /// **Why.** U-Boot's shell parses each variable anew when `run` reaches it, and every
    /// `test`, `part`, `if` costs, on one CPU at a low clock.
    ///
    /// **Evidence.** The environment: `bootcmd` calls scripts that call scripts, more
    /// than 3 deep, or more than 25 commands in all. How long that takes is not known.
    ///
    /// **Fix.** One `bootcmd` that loads by name and boots.
    ///
    /// **Risk.** What the scripts decided (board variants, A/B) is decided no more.
    ///
    /// **Figures.** -56 ms (ARM9, 400 MHz).
    FLAT_BOOTCMD = "uboot-flat-bootcmd", Bootloader, flat_bootcmd
}

/// Deeper than this nobody looks: scripts may call themselves.
const MAX_DEPTH: usize = 12;

fn flat_bootcmd(boot: &Boot<'_>) -> Option<Finding> {
    let (depth, commands) = chain(boot, "bootcmd", 0);
    let finding = Finding::new("U-Boot's `bootcmd` runs through nested scripts")
        .why(format!(
            "{depth} levels of `run`, {commands} commands if each is run once"
        ))
        .saves_unknown("it depends on which branches run; a log with times tells")
        .fix("write one `bootcmd` that loads by name and boots")
        .recipe(boot.recipe("uboot-flat-bootcmd"));
    (depth > 3 || commands > 25).then_some(finding)
}

/// How deep the scripts of a variable go, and how many commands they have.
fn chain(boot: &Boot<'_>, name: &str, depth: usize) -> (usize, usize) {
    let Some(script) = boot.variable(name).filter(|_| depth < MAX_DEPTH) else {
        return (depth, 0);
    };
    let separators = [';', '\n'];
    let commands = script.split(separators).filter(|c| !c.trim().is_empty());
    let (mut deepest, mut count) = (depth, 0_usize);
    // Each level looks at a handful, so that cycles end.
    for command in commands.take(64) {
        count += 1;
        let words = command
            .split_whitespace()
            .skip_while(|w| *w != "run")
            .skip(1);
        for called in words.take(4).filter(|_| depth < 6) {
            let (d, c) = chain(boot, called, depth + 1);
            (deepest, count) = (deepest.max(d), count.saturating_add(c).min(10_000));
        }
    }
    (deepest, count)
}

rule! {
    /// `bootm` checks the image, as `verify` is not off.
    ///
    /// **Why.** U-Boot reads every byte of the image once more for its checksum.
    ///
    /// **Evidence.** Without a log: an environment whose `bootcmd` boots with `bootm`
    /// and that has no `verify=n`. With a log, `fit-no-hash` sees the time itself.
    ///
    /// **Fix.** `verify=no` in the environment.
    ///
    /// **Risk.** A damaged image is started instead of refused. Never where signatures
    /// are checked.
    ///
    /// **Figures.** 583 to 60 ms (SAMA5D3).
    VERIFY = "uboot-verify-off", Bootloader, verify
}

fn verify(boot: &Boot<'_>) -> Option<Finding> {
    let is_off = |v: &str| v.starts_with(['n', 'N', '0', 'f', 'F']);
    let checks = boot
        .variable("bootcmd")
        .is_some_and(|c| c.contains("bootm"));
    let off = boot.variable("verify").is_some_and(is_off);
    if !checks || off || !uboot(boot).is_empty() {
        return None;
    }
    let finding = Finding::new("U-Boot checks the images that it boots")
        .why("`bootcmd` uses `bootm`, and `verify` is not off")
        .saves_unknown("bytes of the image by the speed of the checksum; no boot was seen")
        .fix("set `verify=no`, unless the check is part of a signature")
        .recipe(boot.recipe("uboot-verify-off"));
    Some(finding)
}

/// Commands that a product seldom needs, and how its `bootcmd` would name them.
const FEATURES_BY_OPTION: [(&str, &str); 6] = [
    ("CMD_USB", "usb"),
    ("CMD_DHCP", "dhcp"),
    ("CMD_PXE", "pxe"),
    ("CMD_FASTBOOT", "fastboot"),
    ("CMD_SATA", "sata"),
    ("CMD_BMP", "bmp"),
];

rule! {
    /// U-Boot contains what its `bootcmd` does not use.
    ///
    /// **Why.** A larger U-Boot takes longer to load, and drivers that are built in are
    /// initialised.
    ///
    /// **Evidence.** U-Boot's `.config`: at least 3 of the commands usb, dhcp, pxe,
    /// fastboot, sata and bmp, none of which the known `bootcmd` (and what it runs)
    /// names.
    ///
    /// **Fix.** Switch them and their drivers off, as far as updates and rescue do not
    /// need them.
    ///
    /// **Risk.** Fewer ways to rescue a board.
    ///
    /// **Figures.** None is published; nothing is gained where SPL starts the kernel.
    FEATURES = "uboot-features", Bootloader, features
}

fn features(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.uboot_config()?;
    let bootcmd = boot
        .variable("bootcmd")
        .or_else(|| config.text("BOOTCOMMAND"))?;
    // Scanning scripts use whatever there is.
    if ["distro_bootcmd", "bootflow", "boot_targets"]
        .iter()
        .any(|s| bootcmd.contains(s))
    {
        return None;
    }
    let environment = boot.facts().environment.as_ref();
    let mut scripts = bootcmd.to_owned();
    for called in bootcmd.split_whitespace() {
        let called = called.trim_end_matches(';');
        scripts.push_str(environment.and_then(|e| e.get(called)).unwrap_or_default());
    }
    let unused = FEATURES_BY_OPTION
        .iter()
        .filter(|(o, c)| config.is_on(o) && !scripts.contains(c));
    let unused: Vec<&str> = unused.map(|(option, _)| *option).collect();
    let finding = Finding::new("U-Boot contains what its `bootcmd` does not use")
        .why(format!("CONFIG_{}", unused.join(", CONFIG_")))
        .saves_unknown("the time to load what they take, and of their drivers' initialisation")
        .fix("switch these commands and their drivers off, unless updates or rescue need them");
    (unused.len() >= 3).then_some(finding)
}

rule! {
    /// U-Boot is built without a silent console.
    ///
    /// **Why.** Each character costs ten bit times, and without
    /// `CONFIG_SILENT_CONSOLE` nobody can switch the output off.
    ///
    /// **Evidence.** U-Boot's `.config` says that the option is not set. How much is
    /// printed, a log tells: see `uboot-silent`.
    ///
    /// **Fix.** `CONFIG_SILENT_CONSOLE=y` and `silent=1` in the environment.
    ///
    /// **Risk.** No messages when U-Boot itself fails; a pre-console buffer keeps them.
    ///
    /// **Figures.** None but the arithmetic: 2 kB at 115 200 baud are 174 ms.
    SILENT_CONFIG = "uboot-config-silent", Bootloader, silent_config
}

fn silent_config(boot: &Boot<'_>) -> Option<Finding> {
    let off = boot.uboot_config()?.get("SILENT_CONSOLE") == Some("n");
    off.then(|| {
        Finding::new("U-Boot is built without a silent console")
            .why("CONFIG_SILENT_CONSOLE is not set, so `silent=1` does nothing")
            .saves_unknown("ten bit times for each byte that it prints; take a log to see how many")
            .fix("build U-Boot with CONFIG_SILENT_CONSOLE=y and set `silent=1`")
    })
}

/// What nearly every USB adapter and UART can do.
const FAST_BAUD: u64 = 921_600;

rule! {
    /// The boot loader's console runs at a low speed.
    ///
    /// **Why.** What has to be printed at all is printed eight times faster at 921 600
    /// baud than at 115 200.
    ///
    /// **Evidence.** The bytes that the console shows before the kernel starts, from 1 kB
    /// on; the saving is a prediction for a board. An alternative to `uboot-silent`, not
    /// in addition.
    ///
    /// **Fix.** `CONFIG_BAUDRATE=921600`, or `baudrate` in the environment, and the same
    /// for the kernel's `console=`.
    ///
    /// **Risk.** Long or unshielded lines garble; terminals must be set, too.
    ///
    /// **Figures.** None but the arithmetic: 60 kB are 5.2 s at 115 200 baud.
    BAUD = "uboot-baud", Bootloader, baud
}

fn baud(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let length = |at: &bootlap_model::Evidence| at.end.saturating_sub(at.start);
    let bytes = lines
        .iter()
        .map(|l| length(&l.evidence))
        .fold(0_u64, u64::saturating_add);
    let now = boot.baud();
    if bytes < 1000 || now >= FAST_BAUD {
        return None;
    }
    let ns = boot.on_the_line_ns(bytes);
    let then = (i128::from(ns) * i128::from(now) / i128::from(FAST_BAUD)) as i64;
    let finding = Finding::new("U-Boot's console runs at a low speed")
        .why(format!("{bytes} bytes at {now} baud"))
        .saves_on_board(
            ns.saturating_sub(then),
            format!("{bytes} bytes at {now} and at {FAST_BAUD} baud, ten bits each"),
        )
        .fix("set CONFIG_BAUDRATE=921600 (and the kernel's `console=` alike), or make it silent");
    Some(finding)
}

rule! {
    /// U-Boot does not measure itself.
    ///
    /// **Why.** Without stamps nobody knows what U-Boot and SPL spend; bootstage notes
    /// the time of each step and hands it to Linux in the device tree.
    ///
    /// **Evidence.** U-Boot's `.config` says that `CONFIG_BOOTSTAGE` is not set, and there
    /// is no console log of U-Boot, whose times would tell more.
    ///
    /// **Fix.** `CONFIG_BOOTSTAGE=y`, `CONFIG_BOOTSTAGE_REPORT=y`, `CONFIG_BOOTSTAGE_FDT=y`,
    /// `CONFIG_SPL_BOOTSTAGE=y`, `CONFIG_BOOTSTAGE_STASH=y`.
    ///
    /// **Risk.** None; it saves nothing by itself.
    ///
    /// **Figures.** None: it is a means to measure.
    BOOTSTAGE = "uboot-bootstage", Bootloader, bootstage
}

fn bootstage(boot: &Boot<'_>) -> Option<Finding> {
    let off = boot.uboot_config()?.get("BOOTSTAGE") == Some("n");
    (off && uboot(boot).is_empty()).then(|| {
        Finding::new("U-Boot does not measure itself, and no log of it is here")
            .why("CONFIG_BOOTSTAGE is not set")
            .saves_unknown("nothing by itself: it shows where the time goes")
            .fix("build with CONFIG_BOOTSTAGE, _REPORT, _FDT, _STASH and CONFIG_SPL_BOOTSTAGE")
    })
}

rule! {
    /// A menu of U-Boot or extlinux waits.
    ///
    /// **Why.** `extlinux.conf` with `TIMEOUT 50` and a prompt waits for 5 s;
    /// `bootmenu_delay` waits in the same way.
    ///
    /// **Evidence.** The time of `Enter choice:` in U-Boot's log; without a log,
    /// `bootmenu_delay` in the environment together with `bootmenu_0`.
    ///
    /// **Fix.** `TIMEOUT 1` (tenths of a second; 0 waits for ever in some versions) or no
    /// `PROMPT`; `bootmenu_delay=0`.
    ///
    /// **Risk.** Another entry is harder to reach.
    ///
    /// **Figures.** None but the arithmetic.
    MENU = "uboot-menu", Bootloader, menu
}

fn menu(boot: &Boot<'_>) -> Option<Finding> {
    let fix = "set `TIMEOUT 1` in extlinux.conf (tenths of a second), or `bootmenu_delay=0`";
    let title = "a menu of U-Boot waits for a choice";
    let lines = uboot(boot);
    if let Some(line) = lines.iter().find(|l| l.text.starts_with("Enter choice:")) {
        let finding = Finding::new(title)
            .why(format!("it waits for {} ms", line.ns() / 1_000_000))
            .saves(line.ns(), "from that line to the next")
            .fix(fix)
            .at(Some(line.at()))
            .seen([line.evidence]);
        return Some(finding);
    }
    let delay: u32 = boot.variable("bootmenu_delay")?.trim().parse().ok()?;
    let is_menu = lines.is_empty() && boot.variable("bootmenu_0").is_some() && delay > 0;
    is_menu.then(|| {
        Finding::new(title)
            .why(format!("`bootmenu_delay={delay}`, and there is a menu"))
            .saves_on_board(
                i64::from(delay) * 1_000_000_000,
                "the seconds that it states",
            )
            .fix(fix)
    })
}

rule! {
    /// The boot loader shows a splash from a file.
    ///
    /// **Why.** Mounting a file system, reading a bitmap and decoding it happens before
    /// the kernel is loaded. A bitmap in raw blocks, or built in, is one read.
    ///
    /// **Evidence.** U-Boot's environment: `splashfile` together with `splashsource` (a
    /// file system).
    ///
    /// **Fix.** A small bitmap (8 bit, as large as its content), at a raw offset
    /// (`splashimage`), or `CONFIG_VIDEO_LOGO`.
    ///
    /// **Risk.** None; an early picture is worth some milliseconds to users.
    ///
    /// **Figures.** A logo in less than 1 s after power-up is possible (OpenVario,
    /// Cubieboard2).
    SPLASH_FILE = "uboot-splash-file", Bootloader, splash_file
}

fn splash_file(boot: &Boot<'_>) -> Option<Finding> {
    let (file, source) = (boot.variable("splashfile")?, boot.variable("splashsource")?);
    let from_files =
        source.ends_with("_fs") || before_kernel(boot).iter().any(|l| l.text.contains(file));
    (from_files && !file.is_empty()).then(|| {
        Finding::new("the boot loader shows a splash from a file")
            .why(format!("`splashfile={file}`, `splashsource={source}`"))
            .saves_unknown("it depends on the medium and the bitmap; take it out once to see")
            .fix("make the bitmap small and keep it in raw blocks, or build it in (CONFIG_VIDEO_LOGO)")
    })
}
