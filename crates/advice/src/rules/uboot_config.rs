//! U-Boot's environment and configuration, as far as they tell without a boot.

use super::checks;
use super::stages::{before_kernel, uboot};
use crate::lines::{Begin, Said};
use crate::{Boot, Finding};

checks! {
    "uboot-flat-bootcmd" => flat_bootcmd,
    "uboot-verify-off" => verify,
    "uboot-features" => features,
    "uboot-config-silent" => silent_config,
    "uboot-baud" => baud,
    "uboot-bootstage" => bootstage,
    "uboot-menu" => menu,
    "uboot-splash-file" => splash_file,
}

/// Deeper than this nobody looks: scripts may call themselves.
const MAX_DEPTH: usize = 12;

fn flat_bootcmd(boot: &Boot<'_>) -> Option<Finding> {
    let (depth, commands) = chain(boot, "bootcmd", 0);
    let finding = Finding::new()
        .why(format!(
            "{depth} levels of `run`, {commands} commands if each is run once"
        ))
        .saves_unknown("it depends on which branches run; a log with times tells")
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

fn verify(boot: &Boot<'_>) -> Option<Finding> {
    let is_off = |v: &str| v.starts_with(['n', 'N', '0', 'f', 'F']);
    let checks = boot
        .variable("bootcmd")
        .is_some_and(|c| c.contains("bootm"));
    let off = boot.variable("verify").is_some_and(is_off);
    if !checks || off || !uboot(boot).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why("`bootcmd` uses `bootm`, and `verify` is not off")
            .saves_unknown("bytes of the image by the speed of the checksum; no boot was seen")
            .recipe(boot.recipe("uboot-verify-off")),
    )
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
    let finding = Finding::new()
        .why(format!("CONFIG_{}", unused.join(", CONFIG_")))
        .saves_unknown("the time to load what they take, and of their drivers' initialisation");
    (unused.len() >= 3).then_some(finding)
}

fn silent_config(boot: &Boot<'_>) -> Option<Finding> {
    let off = boot.uboot_config()?.get("SILENT_CONSOLE") == Some("n");
    off.then(|| {
        Finding::new()
            .why("CONFIG_SILENT_CONSOLE is not set, so `silent=1` does nothing")
            .saves_unknown("ten bit times for each byte that it prints; take a log to see how many")
    })
}

/// What nearly every USB adapter and UART can do.
const FAST_BAUD: u64 = 921_600;

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
    Some(
        Finding::new()
            .why(format!("{bytes} bytes at {now} baud"))
            .saves_on_board(
                ns.saturating_sub(then),
                format!("{bytes} bytes at {now} and at {FAST_BAUD} baud, ten bits each"),
            ),
    )
}

fn bootstage(boot: &Boot<'_>) -> Option<Finding> {
    let off = boot.uboot_config()?.get("BOOTSTAGE") == Some("n");
    (off && uboot(boot).is_empty()).then(|| {
        Finding::new()
            .why("CONFIG_BOOTSTAGE is not set")
            .saves_unknown("nothing by itself: it shows where the time goes")
    })
}

/// `TIMEOUT 1` in extlinux.conf, in U-Boot 2023.01; 0 is for ever.
const SHORTEST_MENU_NS: i64 = 1_000_000_000;

fn menu(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let mut menus = Said::from(&lines).all(Begin("Enter choice:"));
    if let Some(line) = menus.find(|l| l.ns() > SHORTEST_MENU_NS) {
        let left = line.ns() - SHORTEST_MENU_NS;
        let finding = Finding::new()
            .why(format!("it waits for {} ms", line.ns() / 1_000_000))
            .saves(
                left,
                "from that line to the next, but for a second, the shortest wait",
            )
            .at(Some(line.at()))
            .recipe(boot.recipe("loader-timeout"))
            .seen([line.evidence]);
        return Some(finding);
    }
    let delay: u32 = boot.variable("bootmenu_delay")?.trim().parse().ok()?;
    let is_menu = lines.is_empty() && boot.variable("bootmenu_0").is_some() && delay > 0;
    is_menu.then(|| {
        Finding::new()
            .why(format!("`bootmenu_delay={delay}`, and there is a menu"))
            .saves_on_board(
                i64::from(delay) * 1_000_000_000,
                "the seconds that it states",
            )
    })
}

fn splash_file(boot: &Boot<'_>) -> Option<Finding> {
    let (file, source) = (boot.variable("splashfile")?, boot.variable("splashsource")?);
    let from_files = source.ends_with("_fs") || before_kernel(boot).has(file);
    (from_files && !file.is_empty()).then(|| {
        Finding::new()
            .why(format!("`splashfile={file}`, `splashsource={source}`"))
            .saves_unknown("it depends on the medium and the bitmap; take it out once to see")
    })
}
