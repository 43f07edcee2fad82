//! Messages that say how long something took, which is over by then.

use crate::text::decimal;

/// Something that ended when its message was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Took<'a> {
    pub(super) track: &'static str,
    pub(super) name: String,
    pub(super) ns: i64,
    /// What the last digit is worth.
    pub(super) err_ns: u32,
    /// How many of it there were.
    pub(super) count: Option<&'a str>,
}

const MS: u32 = 1_000_000;

/// What a message says of time.
pub(super) fn took<'a>(tag: &str, text: &'a str) -> Option<Took<'a>> {
    match tag {
        "Zygote" | "ZygoteInit" => preloaded(text).or_else(|| timing("zygote", text)),
        "SystemServiceManager" => service(text),
        "PackageManager" | "PackageManagerService" => packages(text),
        "SurfaceFlinger" => boot_finished(text),
        "ActivityManager" | "ActivityTaskManager" | "ActivityTaskMgr" => displayed(text),
        "HidlServiceManagement" | "ServiceManager" | "ServiceManagerCppClient" => waited(text),
        _ if tag.starts_with("dex2oat") => dex2oat(text),
        _ if tag.starts_with("SystemServer") => timing("system server", text),
        _ if tag.starts_with("Zygote") => timing("zygote", text),
        _ if tag.starts_with("PackageManager") => timing("package manager", text),
        _ if tag.starts_with("SystemUI") => timing("system UI", text),
        _ if tag.contains("Timing") => timing("other timings", text),
        _ => None,
    }
}

/// `...preloaded 4162 classes in 2113ms.`, also `resources`, `miui sdk
/// resources`, `shared libraries`.
fn preloaded(text: &str) -> Option<Took<'_>> {
    let text = text.trim_start_matches('.').trim_start();
    let rest = text
        .strip_prefix("preloaded ")
        .or_else(|| text.strip_prefix("Preloaded "))?;
    let (count, rest) = rest.split_once(' ')?;
    let (what, time) = rest.rsplit_once(" in ")?;
    let (ns, err_ns) = duration(time)?;
    count.parse::<u64>().ok()?;
    Some(Took {
        track: "zygote",
        name: format!("preload {what}"),
        ns,
        err_ns,
        count: Some(count),
    })
}

/// `StartActivityManager took to complete: 123ms`.
fn timing<'a>(track: &'static str, text: &'a str) -> Option<Took<'a>> {
    let (name, time) = text.split_once(" took to complete: ")?;
    let (ns, err_ns) = duration(time)?;
    let name = name.trim().to_owned();
    let count = None;
    Some(Took {
        track,
        name,
        ns,
        err_ns,
        count,
    })
}

/// `Service com.android.server.x took 85 ms in onStart`.
fn service(text: &str) -> Option<Took<'_>> {
    let (name, rest) = text.strip_prefix("Service ")?.split_once(" took ")?;
    let (time, what) = rest.split_once(" in ")?;
    let (ns, err_ns) = duration(time)?;
    Some(Took {
        track: "system server",
        name: format!("{} {}", name.trim(), what.trim()),
        ns,
        err_ns,
        count: None,
    })
}

/// `Time to scan packages: 1.234 seconds` (to Android 9), `Finished scanning
/// system apps. Time: 1234 ms, packageCount: 120 , …` (from 8).
fn packages(text: &str) -> Option<Took<'_>> {
    let (name, time, count) = if let Some(rest) = text.strip_prefix("Time to scan packages: ") {
        ("scan packages", rest, None)
    } else {
        let (what, rest) = text
            .strip_prefix("Finished scanning ")?
            .split_once(". Time: ")?;
        let (time, rest) = rest.split_once(',').unwrap_or((rest, ""));
        let count = rest.trim_start().strip_prefix("packageCount:");
        let count = count.and_then(|c| c.split_ascii_whitespace().next());
        let name = match what {
            "system apps" => "scan system apps",
            "non-system apps" => "scan non-system apps",
            _ => "scan apps",
        };
        (name, time, count.map(|c| c.trim_end_matches(',')))
    };
    let (ns, err_ns) = duration(time)?;
    let name = name.to_owned();
    Some(Took {
        track: "package manager",
        name,
        ns,
        err_ns,
        count,
    })
}

/// `Boot is finished (1234 ms)`: since SurfaceFlinger was started.
fn boot_finished(text: &str) -> Option<Took<'_>> {
    let time = text.strip_prefix("Boot is finished (")?;
    let (ns, err_ns) = duration(time.split_once(')')?.0)?;
    Some(Took {
        track: "surface flinger",
        name: "until boot is finished".to_owned(),
        ns,
        err_ns,
        count: None,
    })
}

/// `Displayed com.x/.Main: +1s234ms`, perhaps ` (total +2s5ms)`; from Android
/// 13 `Displayed com.x/.Main for user 0: +1s234ms`.
fn displayed(text: &str) -> Option<Took<'_>> {
    let rest = text
        .strip_prefix("Displayed ")
        .or_else(|| text.strip_prefix("Fully drawn "))?;
    let (name, time) = rest.split_once(": +")?;
    let time = time.split_once(' ').map_or(time, |(time, _)| time);
    let name = name.split_once(' ').map_or(name, |(name, _)| name);
    let (ns, err_ns) = (android_duration(time)?, MS);
    let verb = if text.starts_with('D') {
        "display"
    } else {
        "draw"
    };
    Some(Took {
        track: "activities",
        name: format!("{verb} {name}"),
        ns,
        err_ns,
        count: None,
    })
}

/// `Waited one second for android.hardware.x@1.0::IX/default`, again each second.
fn waited(text: &str) -> Option<Took<'_>> {
    let rest = text.strip_prefix("Waited one second for ")?;
    let name = rest.split_ascii_whitespace().next()?;
    Some(Took {
        track: "waits for services",
        name: name.trim_end_matches('.').to_owned(),
        ns: 1_000_000_000,
        err_ns: MS,
        count: None,
    })
}

/// `dex2oat took 1.234s (5.6s cpu) (threads: 4) …`.
fn dex2oat(text: &str) -> Option<Took<'_>> {
    let time = text.strip_prefix("dex2oat took ")?;
    let (ns, err_ns) = duration(time.split(' ').next()?)?;
    Some(Took {
        track: "dex2oat",
        name: "dex2oat".to_owned(),
        ns,
        err_ns,
        count: None,
    })
}

/// `2113ms.`, `85 ms`, `1.234 seconds`, `1.234s`, `123us`: ns, and what the
/// last digit is worth.
fn duration(text: &str) -> Option<(i64, u32)> {
    let text = text.trim().trim_end_matches('.');
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start().split(' ').next()?;
    let places = match unit {
        "s" | "seconds" | "sec" => 9,
        "ms" | "milliseconds" => 6,
        "us" => 3,
        "ns" => 0,
        _ => return None,
    };
    let ns = decimal(number.as_bytes(), places)?;
    let err = crate::text::resolution_ns(number.as_bytes(), 10u64.pow(places));
    Some((ns, err))
}

/// `1h2m3s456ms`, each part or not (TimeUtils.formatDuration).
fn android_duration(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut ms = 0i64;
    let mut any = false;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i64 = rest[..end].parse().ok()?;
        let unit_end = rest[end..].find(|c: char| c.is_ascii_digit());
        let unit_end = unit_end.map_or(rest.len(), |at| end + at);
        let factor = match &rest[end..unit_end] {
            "d" => 86_400_000,
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1_000,
            "ms" => 1,
            _ => return None,
        };
        ms = number.checked_mul(factor)?.checked_add(ms)?;
        rest = &rest[unit_end..];
        any = true;
    }
    any.then(|| ms.checked_mul(1_000_000))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(tag: &str, text: &str, name: &str, ms: i64, count: Option<&str>) {
        let t = took(tag, text).unwrap();
        assert_eq!((&t.name[..], t.ns / 1_000_000, t.count), (name, ms, count));
    }

    #[test]
    fn durations() {
        is(
            "Zygote",
            "...preloaded 4162 classes in 2113ms.",
            "preload classes",
            2113,
            Some("4162"),
        );
        is(
            "Zygote",
            "...preloaded 8 miui sdk resources in 9ms.",
            "preload miui sdk resources",
            9,
            Some("8"),
        );
        is(
            "SystemServerTiming",
            "StartPower took to complete: 12ms",
            "StartPower",
            12,
            None,
        );
        is(
            "SystemServiceManager",
            "Service a.b.C took 85 ms in onStart",
            "a.b.C onStart",
            85,
            None,
        );
        is(
            "PackageManager",
            "Time to scan packages: 1.234 seconds",
            "scan packages",
            1234,
            None,
        );
        let scan =
            "Finished scanning system apps. Time: 950 ms, packageCount: 120 , timePerPackage: 7";
        is("PackageManager", scan, "scan system apps", 950, Some("120"));
        is(
            "SurfaceFlinger",
            "Boot is finished (1234 ms)",
            "until boot is finished",
            1234,
            None,
        );
        is(
            "ActivityManager",
            "Displayed a/.B: +1s234ms",
            "display a/.B",
            1234,
            None,
        );
        is(
            "ActivityTaskManager",
            "Displayed a/.B for user 0: +2m0s1ms (total +1h)",
            "display a/.B",
            120_001,
            None,
        );
        is(
            "dex2oat32",
            "dex2oat took 1.234s (5.6s cpu) (threads: 4)",
            "dex2oat",
            1234,
            None,
        );
    }

    #[test]
    fn other_messages() {
        for text in [
            "",
            "preloaded",
            "...preloaded x classes in 1ms.",
            "Displayed a: +",
            "Displayed a: +9x",
            "Displayed a: +99999999999999999h",
            "Service a took long in b",
        ] {
            for tag in [
                "Zygote",
                "ActivityManager",
                "SystemServiceManager",
                "dex2oat",
            ] {
                assert_eq!(took(tag, text), None, "{tag} {text}");
            }
        }
    }
}
