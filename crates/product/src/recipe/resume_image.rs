//! Starts come from an image of the running system.

use std::fs;

use bootlap_artefact::elf;
use bootlap_image::units::MASKS;

use super::cmdline::{Line, find};
use super::list::members;
use super::systemd::{disk_of, started, text_at};
use super::systemd_checkpoint::PLACE as CHECKPOINT;
use super::{Plain, typed_file};
use crate::cmdline::{changed, console_of, words};
use crate::initramfs::{AGENT, RESUME};
use crate::parts::DiskPart;
use crate::{Edit, Machine, Parts, Target};

/// Starts come from an image of the running system.
///
/// The value is the path of a bootlap-agent that is built with `resume`, and behind a comma the
/// units to be restarted after each start: what fetches the time, or says that the application is
/// there; `serial-getty@ttyS0.service` for a login on that console. The first boot makes the image, 20 s after all has started, and restarts; from then on
/// `/init` of `initramfs-minimal` starts from it, or goes on with the boot if it does not fit. The
/// root is mounted read-only, with memory above. `disk.state` has experiments measure the starts
/// behind that first boot. Rule `resume-image` says whether it pays.
pub(super) const RESUMED: Plain = Plain::new(
    "resume-image",
    "starts come from an image of the running system",
    "what is written to the root is gone at the next start; keys, random numbers and connections in \
     memory are those of the image; the first boot takes longer",
    resumed,
)
.takes(&[""]);

const UNIT: &str = "bootlap-resume-image.service";
/// Where systemd itself is, by which the root's machine is known.
const SYSTEMD: &str = "/usr/lib/systemd/systemd";
/// The image gets so much of the machine's memory: it has what is in use, packed.
const SHARE: u32 = 8;
/// MiB that it gets at least.
const LEAST: u32 = 64;

fn resumed(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let mut named = members(value).into_iter();
    let agent = named.next().ok_or(
        "it needs the path of a bootlap-agent for the target's machine, as in \
         resume-image=agent/build/x86-64/bootlap-agent,app.service",
    )?;
    let Machine::Qemu(machine) = &target.machine else {
        return Err("the disk of a board is not changed here (docs/resume.md)".into());
    };
    let initramfs = target.spec.initramfs.as_ref();
    if initramfs.is_none_or(|initramfs| initramfs.minimal.is_none()) {
        return Err(
            "it is /init of initramfs-minimal that starts from the image; apply that first".into(),
        );
    }
    let disk = disk_of(parts)?;
    let (partition, units) = disk.units()?;
    let line = Line::of(target, parts)?;
    let restarted: Vec<String> = named.collect();
    for name in restarted.iter().filter(|name| !is_login(name, &line.text)) {
        started(&units, name)?;
    }
    if disk.mounts_others(partition)? {
        return Err(
            "/etc/fstab mounts other disks, of which an image cannot know whether they are as they \
             were; mount them when it was started from (docs/resume.md)"
                .into(),
        );
    }
    let agent = typed_file(&agent)?;
    check_agent(&agent, disk, partition)?;
    if let Some(word) = ["nohibernate", "noresume"]
        .iter()
        .find_map(|word| find(&line.text, word))
    {
        return Err(format!("the command line forbids it: {word}"));
    }
    let place = |path: &str| format!("{partition}:/{path}");
    let room = place(RESUME);
    if let Some(disk) = &target.spec.disk {
        if disk.room.contains_key(&room) {
            return Err(format!("{room} is there already"));
        }
        if disk
            .texts
            .contains_key(&format!("{partition}:{CHECKPOINT}"))
        {
            return Err("a service has a checkpoint, and this root would not keep it".into());
        }
    }
    let default = &units.default;
    let link = format!("{partition}:{MASKS}/{default}.wants/{UNIT}");
    let mut edits = vec![
        Edit::allow(&agent),
        Edit::set(&format!("disk.files.{:?}", place(AGENT)), agent),
        Edit::number(
            &format!("disk.room.{room:?}"),
            (machine.memory_mb / SHARE).max(LEAST),
        ),
        text_at(partition, UNIT, unit(default, &restarted)),
        Edit::set(&format!("disk.links.{link:?}"), format!("../{UNIT}")),
        Edit::set("disk.state", "after-first-boot"),
    ];
    if find(&line.text, "rw").is_some() {
        let words = changed(&line.text, |word| {
            Some(if word == "rw" { "ro" } else { word }.into())
        });
        edits.extend(line.set(words));
    }
    Ok(edits)
}

/// Whether it is the login on a console that the command line names: a generator has it started.
fn is_login(name: &str, line: &str) -> bool {
    let instance = name.strip_prefix("serial-getty@");
    let console = instance.and_then(|rest| rest.strip_suffix(".service"));
    let mut words = words(line).into_iter();
    console.is_some() && words.any(|word| console_of(word) == console)
}

/// Looks whether the root can run an agent at all.
fn check_agent(path: &str, disk: &DiskPart, partition: u32) -> Result<(), String> {
    let agent = fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    if elf::needs(&agent).is_none_or(|needs| needs.interpreter.is_some()) {
        return Err(format!("{path} is no static program, as bootlap-agent is"));
    }
    let systemd = disk.part("systemd", &format!("disk:{partition}:{SYSTEMD}"));
    // It may lie elsewhere.
    let machine = systemd.ok().and_then(|systemd| machine_of(&systemd.bytes));
    match machine {
        Some(machine) if machine_of(&agent) != Some(machine) => Err(format!(
            "{path} is of another machine than the root's systemd"
        )),
        _ => Ok(()),
    }
}

/// What an ELF file is made for: its class, byte order and machine.
fn machine_of(file: &[u8]) -> Option<[u8; 4]> {
    let head = file.get(..20)?.strip_prefix(b"\x7fELF")?;
    Some([head[0], head[1], head[14], head[15]])
}

/// Makes the image, once, and does what has to be done after each start from it.
fn unit(default: &str, restarted: &[String]) -> String {
    let after: String = restarted.iter().map(|name| format!(" {name}")).collect();
    let restart = match after.as_str() {
        "" => String::new(),
        names => format!("ExecStart=/bin/systemctl restart{names}\n"),
    };
    format!(
        "[Unit]\nDescription=Make an image to start from\nAfter={default}{after}\n\n\
         [Service]\nType=oneshot\nStandardOutput=tty\nStandardError=tty\n\
         ExecStartPre=/bin/sleep 20\n\
         ExecStart=/{AGENT} hibernate --reboot /media/root-ro/{RESUME}\n{restart}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_restarted_has_started_before() {
        let text = unit(
            "graphical.target",
            &["app.service".into(), "b.timer".into()],
        );
        assert!(text.contains("After=graphical.target app.service b.timer\n"));
        assert!(
            text.ends_with("resume.image\nExecStart=/bin/systemctl restart app.service b.timer\n")
        );
        assert!(!unit("graphical.target", &[]).contains("systemctl"));
    }

    #[test]
    fn a_login_is_on_a_console_of_the_kernel() {
        let line = "ro console=tty0 console=ttyS0,115200";
        assert!(is_login("serial-getty@ttyS0.service", line));
        for other in ["serial-getty@ttyS1.service", "getty@ttyS0.service", "a"] {
            assert!(!is_login(other, line), "{other}");
        }
    }
}
