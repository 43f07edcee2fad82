//! Events of the binary log (`-b events`): a name and values.

/// The values of an event: `8846`, `[0,1234,com.x/.Main]`, and with
/// `-v descriptive` names before them: `[time=8846]`.
pub(super) fn values(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let values = inside.unwrap_or(text).split(',');
    values.map(|v| v.rsplit_once('=').map_or(v, |(_, v)| v).trim())
}

/// The time since the kernel's start that an event carries, in ms.
pub(super) fn boot_ms(tag: &str, text: &str) -> Option<i64> {
    if !is_boot_event(tag) {
        return None;
    }
    let value = values(text).next()?;
    value
        .parse()
        .ok()
        .filter(|ms| (0..i64::MAX / 1_000_000).contains(ms))
}

/// Events whose value is the time since the kernel's start.
pub(super) fn is_boot_event(tag: &str) -> bool {
    tag.starts_with("boot_progress_")
        || matches!(tag, "sf_stop_bootanim" | "wm_boot_animation_done")
}

/// What goes on between two events of a boot, named as Android's own parts.
pub(super) fn stage(from: &str, to: &str) -> String {
    let short = |tag: &str| tag.trim_start_matches("boot_progress_").to_owned();
    let name = match (&short(from)[..], &short(to)[..]) {
        ("start", "preload_start") => "start Android runtime",
        ("preload_start", "preload_end") => "preload classes and resources",
        ("preload_end", "system_run") => "start system server",
        ("system_run", "pms_start") => "start first services",
        ("pms_start", "pms_system_scan_start") => "start package manager",
        ("pms_system_scan_start", "pms_data_scan_start" | "pms_scan_end") => "scan system packages",
        ("pms_data_scan_start", "pms_scan_end") => "scan data packages",
        ("pms_scan_end", "pms_ready") => "ready package manager",
        ("pms_ready", "ams_ready") => "start other services",
        ("ams_ready", "enable_screen") => "start home screen",
        ("enable_screen", "sf_stop_bootanim") => "stop boot animation",
        ("sf_stop_bootanim", "wm_boot_animation_done") => "end boot animation",
        (from, to) => return format!("{from} → {to}"),
    };
    name.to_owned()
}

/// How long an activity took to start: `[0,1234,com.x/.Main,987,987]`
/// (am_activity_launch_time, wm_activity_launch_time), to Android 4.1 without
/// the user.
pub(super) fn launch(text: &str) -> Option<(&str, i64)> {
    let mut values = values(text).skip_while(|v| !v.contains('/'));
    let name = values.next()?;
    let ms: i64 = values.next()?.parse().ok()?;
    Some((name, ms.checked_mul(1_000_000).filter(|ns| *ns >= 0)?))
}

/// A process of an application: `[0,1234,10023,com.x,service,com.x/.S]`
/// (am_proc_start), to Android 4.1 without the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Started<'a> {
    pub(super) pid: u32,
    pub(super) uid: &'a str,
    pub(super) name: &'a str,
    /// Why: `activity`, `service`, `broadcast`, `content provider`.
    pub(super) why: &'a str,
    pub(super) component: &'a str,
}

pub(super) fn started(text: &str) -> Option<Started<'_>> {
    let all: Vec<&str> = values(text).take(8).collect();
    let is_number = |v: &&str| v.bytes().all(|b| b.is_ascii_digit());
    let numbers = all
        .iter()
        .take_while(|v| !v.is_empty() && is_number(v))
        .count();
    let (pid, rest) = match numbers {
        2 => (all[0], &all[1..]),
        3 => (all[1], &all[2..]),
        _ => return None,
    };
    let at = |i: usize| rest.get(i).copied().unwrap_or_default();
    Some(Started {
        pid: pid.parse().ok()?,
        uid: at(0),
        name: at(1),
        why: at(2),
        component: at(3),
    })
}

/// The pid and name of `[0,1234,com.x,…]` (am_proc_bound, am_proc_died).
pub(super) fn of_process(text: &str) -> Option<u32> {
    let mut before = None;
    for value in values(text).take(4) {
        match value.parse::<u32>() {
            Ok(number) => before = Some(number),
            Err(_) => break,
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events() {
        assert_eq!(boot_ms("boot_progress_start", "8846"), Some(8846));
        assert_eq!(boot_ms("sf_stop_bootanim", "[time=26801]"), Some(26801));
        assert_eq!(boot_ms("boot_progress_start", "-1"), None);
        assert_eq!(boot_ms("auditd", "1"), None);
        assert_eq!(launch("[0,9,a/.B,98,99]"), Some(("a/.B", 98_000_000)));
        assert_eq!(launch("[9,a/.B,98]"), Some(("a/.B", 98_000_000)));
        let p = started("[0,1234,10023,com.x,service,com.x/.S]").unwrap();
        assert_eq!(
            (p.pid, p.uid, p.name, p.why),
            (1234, "10023", "com.x", "service")
        );
        assert_eq!(started("[1234,10023,com.x,service,c]").unwrap().pid, 1234);
        assert_eq!((started("[]"), started("x")), (None, None));
        assert_eq!(of_process("[0,1234,com.x]"), Some(1234));
        assert_eq!(stage("boot_progress_a", "boot_progress_b"), "a → b");
    }
}
