//! One slow service goes on from a checkpoint of it.

use bootlap_image::units::MASKS;

use super::Plain;
use super::systemd::{disk_of, started, text_at};
use super::systemd_unordered::file;
use crate::initramfs::RESUME;
use crate::{Edit, Parts, Target};

/// One slow service of systemd goes on from a checkpoint of it.
///
/// The value is its unit. After the first boot, 20 s after all has started, CRIU writes down what the
/// service's process has in memory; the service runs on. From then on each start of it goes on from
/// there, and what it did until then is not done again. Where that fails, or the kernel or a file
/// that its command names is another, it starts as before. CRIU has to be on the root (`criu`), and
/// in the kernel (`CONFIG_CHECKPOINT_RESTORE`). `disk.state` has experiments measure the boots behind
/// the first one.
pub(super) const CHECKPOINTED: Plain = Plain::new(
    "systemd-checkpoint",
    "a service of systemd goes on from a checkpoint of it",
    "what it has in memory is as it was then: random numbers, times, and what it knew of files that \
     have changed since; what it prints is not kept; a restart of it goes back there, too",
    checkpointed,
)
.takes(&[""]);

const SCRIPT: &str = include_str!("checkpoint.sh");
pub(super) const PLACE: &str = "/usr/lib/bootlap/checkpoint";
const CRIU: &str = "/usr/sbin/criu";
/// What a unit may say besides its command: anything else could be a part of the process that CRIU
/// does not bring back.
const ALLOWED: [&str; 18] = [
    "Environment",
    "EnvironmentFile",
    "ExecReload",
    "ExecStartPre",
    "ExecStop",
    "KillMode",
    "KillSignal",
    "RemainAfterExit",
    "Restart",
    "RestartSec",
    "StandardError",
    "StandardOutput",
    "SuccessExitStatus",
    "SyslogIdentifier",
    "TimeoutSec",
    "TimeoutStartSec",
    "TimeoutStopSec",
    "WorkingDirectory",
];

fn checkpointed(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let name = value.trim();
    if !name.ends_with(".service") {
        return Err("name the service, as in systemd-checkpoint=app.service".into());
    }
    if target.spec.kernel.is_none() {
        return Err(
            "only where the machine gives the kernel its command line does a first boot end by \
             itself; apply bootloader-none first"
                .into(),
        );
    }
    let disk = disk_of(parts)?;
    let (partition, units) = disk.units()?;
    let place = format!("{partition}:{PLACE}");
    if let Some(disk) = &target.spec.disk {
        if disk.texts.contains_key(&place) {
            return Err("a service goes on from a checkpoint already".into());
        }
        if disk.room.contains_key(&format!("{partition}:/{RESUME}")) {
            return Err(
                "with resume-image all that runs goes on, and the root keeps nothing".into(),
            );
        }
    }
    if !disk.root_has(CRIU) {
        return Err(format!(
            "the root has no {CRIU}: install the package criu in it"
        ));
    }
    let unit = started(&units, name)?;
    let command = command(&file(target, parts, partition, name, unit)?)?;
    let default = &units.default;
    let maker = format!("bootlap-checkpoint-{name}");
    let wanted = |unit: &str| {
        let link = format!("{partition}:{MASKS}/{default}.wants/{unit}");
        Edit::set(&format!("disk.links.{link:?}"), format!("../{unit}"))
    };
    Ok(vec![
        Edit::set(&format!("disk.texts.{place:?}"), SCRIPT),
        text_at(
            partition,
            &format!("{name}.d/bootlap-checkpoint.conf"),
            format!(
                "[Service]\nType=forking\nPIDFile=/run/bootlap-checkpoint.{name}.pid\nExecStart=\n\
                 ExecStart={PLACE} start {name} {command}\n"
            ),
        ),
        text_at(partition, &maker, makes(default, name)),
        text_at(partition, ENDS, ends(default, &maker)),
        wanted(&maker),
        wanted(ENDS),
        Edit::set("disk.state", "after-first-boot"),
    ])
}

/// A service's command, if CRIU can bring back all that its unit says of it; `text` is its file.
fn command(text: &str) -> Result<String, String> {
    let joined = text.replace("\\\n", " ");
    let mut section = "";
    let mut command = None;
    for line in joined.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let said = line
            .split_once('=')
            .filter(|_| section == "[Service]" && !line.starts_with('#'));
        let Some((key, value)) = said.map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        match key {
            "ExecStart" if command.is_some() => return Err("it has two commands".into()),
            "ExecStart" if !value.starts_with('/') => {
                return Err(format!("its command is not plain: {value}"));
            }
            "ExecStart" => command = Some(value.to_owned()),
            "Type" if matches!(value, "simple" | "exec" | "idle") => {}
            "Type" => {
                return Err(format!(
                    "it says itself when it is there (Type={value}), which one that goes on from a \
                     checkpoint does not"
                ));
            }
            key if ALLOWED.contains(&key) => {}
            key => {
                return Err(format!(
                    "its unit says {key}=, which CRIU may not bring back"
                ));
            }
        }
    }
    command.ok_or_else(|| "its unit has no command".into())
}

/// Makes the checkpoint where there is none.
fn makes(default: &str, name: &str) -> String {
    format!(
        "[Unit]\nDescription=Make a checkpoint of {name}\nAfter={default} {name}\n\
         ConditionPathExists=!/var/lib/bootlap/checkpoints/{name}/of\n\n\
         [Service]\nType=oneshot\nStandardOutput=tty\nStandardError=tty\n\
         ExecStartPre=/bin/sleep 20\nExecStart={PLACE} make {name}\n"
    )
}

const ENDS: &str = "bootlap-first-boot.service";

/// The first boot of an experiment is over when the machine switches itself off; no other boot has
/// that word on its command line. A target waits for what it wants, unless that waits for it.
fn ends(default: &str, behind: &str) -> String {
    format!(
        "[Unit]\nDescription=End the first boot\nAfter={default} {behind}\nRequires={behind}\n\
         ConditionKernelCommandLine=bootlap.first-boot\n\n\
         [Service]\nType=oneshot\nExecStart=/bin/systemctl poweroff\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_a_plain_service_has_a_checkpoint() {
        let unit =
            |lines: &str| command(&format!("[Unit]\nUser=x\n[Service]\n{lines}\n[Install]\n"));
        assert_eq!(
            unit("Type=exec\n# User=a\nExecStart=/usr/bin/python3 \\\n /a \"b c\"\nRestart=always"),
            Ok("/usr/bin/python3   /a \"b c\"".to_owned())
        );
        for (lines, said) in [
            ("ExecStart=/a\nUser=app", "User="),
            ("ExecStart=/a\nPrivateTmp=yes", "PrivateTmp="),
            ("ExecStart=/a\nType=notify", "Type=notify"),
            ("ExecStart=-/a", "not plain"),
            ("ExecStart=/a\nExecStart=/b", "two commands"),
            ("Restart=no", "no command"),
        ] {
            let why = unit(lines).unwrap_err();
            assert!(why.contains(said), "{lines}: {why}");
        }
    }

    /// The script with a CRIU that notes what it is asked for, and fails if there is a file `broken`.
    #[test]
    fn a_checkpoint_that_does_not_fit_is_left_and_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["bin", "var/lib", "run"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let put = |path: &str, text: &str| {
            fs::write(at(path), text).unwrap();
            fs::set_permissions(at(path), fs::Permissions::from_mode(0o755)).unwrap();
        };
        put(
            "bin/criu",
            "#!/bin/sh\necho criu $1 >>told\n[ ! -e broken ]\n",
        );
        put("server", "#!/bin/sh\necho started >>told\n");
        let inside = |path: &str| at(path).to_str().unwrap().to_owned();
        let script = SCRIPT
            .replace("/var/lib", &inside("var/lib"))
            .replace("/run/", &inside("run/"))
            .replace("/proc/sys/kernel/ns_last_pid", "/dev/null")
            // What it starts is seen.
            .replace("2>&1 &\n", "2>&1 &\n\twait\n");
        put("checkpoint", &script);
        let path = format!("{}:/usr/bin:/bin", inside("bin"));
        let told = |words: &[&str]| {
            let mut run = Command::new("./checkpoint");
            let run = run.args(words).current_dir(dir.path()).env("PATH", &path);
            let said = run.output().unwrap();
            let told = fs::read_to_string(at("told")).unwrap_or_default();
            fs::remove_file(at("told")).ok();
            (said.status.success(), told)
        };
        let start = ["start", "a.service", "./server", "word"];
        let make = ["make", "a.service"];
        let did = |told: &str| (true, told.to_owned());
        assert_eq!(told(&start), did("started\n"));
        assert_eq!(told(&make), did("criu dump\n"));
        assert_eq!(told(&make), did(""), "there is one");
        assert_eq!(told(&start), did("criu restore\n"));
        // What its command names has changed, or CRIU fails.
        put("server", "#!/bin/sh\n# new\necho started >>told\n");
        assert_eq!(told(&start), did("started\n"));
        assert_eq!(told(&make), did("criu dump\n"));
        fs::write(at("broken"), "").unwrap();
        assert_eq!(told(&start), did("criu restore\nstarted\n"));
        assert!(!told(&make).0, "and none is kept");
        assert_eq!(told(&start), did("started\n"));
    }
}
