//! What any unit can do to a boot.

use super::stages::{since_kernel, until};
use super::units::{Unit, cost, units};
use super::{checks, slow_units};
use bootlap_model::{Span, TrackKind};

use crate::boot::evidence;
use crate::lines::begins;
use crate::{Boot, Finding};

checks! {
    "systemd-slow-unit" => slow_unit,
    "systemd-device-wait" => device_wait,
    "fs-data-mount" => data_mount,
    "systemd-device-timeout" => device_timeout,
    "systemd-start-timeout" => start_timeout,
    "systemd-start-job" => start_jobs,
    "systemd-sysv-scripts" => sysv,
}

/// Whether another rule knows the unit and says more of it.
fn is_known(name: &str) -> bool {
    slow_units::UNITS.iter().any(|units| units.is(name))
}

/// Findings beyond these are not the next thing to do.
const AT_MOST_FINDINGS: usize = 3;

fn slow_unit(boot: &Boot<'_>) -> Vec<Finding> {
    let Some(chain) = boot.chain() else {
        return Vec::new();
    };
    let wanted = chain
        .path()
        .iter()
        .filter(|n| n.ends_with(".service") && !is_known(n));
    let mut found: Vec<Finding> = wanted
        .filter_map(|name| {
            let title = format!("{name} starts slowly, and the boot waits for it");
            let fix = format!(
                "look at what {name} does before it is ready (`systemctl cat {name}`, journal), \
                 and take it out of the `After=` of what does not need it"
            );
            Some(cost(boot, |u| u.name == name)?.titled(title).fix(fix))
        })
        .filter(|f| f.saving.ns >= 100_000_000)
        .collect();
    found.sort_by_key(|f| std::cmp::Reverse(f.saving.ns));
    found.truncate(AT_MOST_FINDINGS);
    found
}

fn device_wait(boot: &Boot<'_>) -> Option<Finding> {
    let path = boot.chain()?.path();
    let is_one = |u: &Unit<'_>| u.name.ends_with(".device") && path.iter().any(|p| p == u.name);
    let finding = cost(boot, is_one)?;
    (finding.saving.ns >= 100_000_000).then_some(finding)
}

fn data_mount(boot: &Boot<'_>) -> Option<Finding> {
    let needed = [
        "-.mount",
        "boot",
        "usr.mount",
        "sys",
        "dev-",
        "proc",
        "run",
        "tmp.",
        "snap-",
    ];
    let path = boot.chain()?.path();
    let is_one = |u: &Unit<'_>| {
        let is_data = u.name.ends_with(".mount") && !begins(u.name, &needed);
        is_data && path.iter().any(|p| p == u.name)
    };
    cost(boot, is_one)
}

fn device_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let timeout = "Timed out waiting for device";
    let line = lines.find(timeout)?;
    let (_, device) = line.text.split_once(timeout)?;
    let device = device.trim().trim_end_matches('.').to_owned();
    let name = device.split(" - ").next().unwrap_or(&device);
    let waits = ["A start job is running for ", "Expecting device "];
    let finding = match until(lines, (waits, |t: &str| t.contains(name)), timeout) {
        Some(wait) => wait
            .found()
            .saves(wait.ns, "from the first sign of the wait to its end"),
        None => Finding::new()
            .saves_unknown("90 s unless its time-out was changed; its beginning is not in the log")
            .seen([line.evidence]),
    };
    Some(finding.why(format!("{device} timed out")))
}

fn start_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let says = [
        "start operation timed out. Terminating",
        "Timed out starting ",
    ];
    let line = lines.find(says)?;
    let all = units(boot);
    let mut named = all
        .iter()
        .filter(|u| u.name.ends_with(".service") && line.text.contains(u.name));
    let finding = Finding::new()
        .why(line.text.to_owned())
        .seen([line.evidence]);
    Some(match named.next() {
        Some(unit) => finding
            .saves(
                unit.ns,
                "at most: all of its start, if something waited for it",
            )
            .at(unit.at),
        None => finding.saves_unknown("up to TimeoutStartSec= (90 s), if something waited for it"),
    })
}

/// What systemd said that it waits for, where it did not give up: see [`device_timeout`].
fn start_jobs(boot: &Boot<'_>) -> Vec<Finding> {
    let mut jobs = boot.spans_of(TrackKind::Userspace);
    jobs.retain(|job| job.name().starts_with(Span::START_JOB));
    jobs.sort_by_key(|job| std::cmp::Reverse(job.ns()));
    let given_up = |name: &str| {
        let said = "Timed out waiting for device ";
        boot.lines().has((said, |text: &str| text.contains(name)))
    };
    let found = jobs.iter().filter_map(|job| {
        let name = &job.name()[Span::START_JOB.len()..];
        if given_up(name) {
            return None;
        }
        let finding = Finding::new()
            .titled(format!("systemd waits for {name}"))
            .why(format!(
                "it says so, and that this ran for {} s",
                job.ns() / 1_000_000_000
            ))
            .saves(
                job.ns(),
                "at most: as long as it said; what runs beside it goes on",
            )
            .at(Some(job.at()))
            .seen(evidence(std::slice::from_ref(job)));
        Some(match device(name) {
            Some(terminal) if terminal.starts_with("tty") => finding.fix(format!(
                "where nobody logs in on {terminal}, mask `serial-getty@{terminal}.service`, \
                 which waits until udev has made the device"
            )),
            Some(_) => finding,
            None => finding.fix(format!(
                "look at what {name} does before it is ready, and take it out of the `After=` of \
                 what does not need it"
            )),
        })
    });
    found.take(AT_MOST_FINDINGS).collect()
}

/// The device that a job is for: `/dev/ttyS0`, or as a unit `dev-ttyS0.device`.
fn device(job: &str) -> Option<&str> {
    let unit = || job.strip_prefix("dev-")?.strip_suffix(".device");
    job.strip_prefix("/dev/").or_else(unit)
}

fn sysv(boot: &Boot<'_>) -> Option<Finding> {
    cost(boot, |u| u.description.starts_with("LSB:"))
}
