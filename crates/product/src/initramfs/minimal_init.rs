//! The first program of an initramfs that does nothing but mount the root: it loads the modules,
//! finds the root, goes on from an image or reads ahead if the root has what for, and starts the
//! root's init.

/// A list on the root, paths from there on: what `/init` reads ahead once the root is mounted.
pub(crate) const PRELOAD: &str = "usr/lib/bootlap/preload";
/// On the root, what bootlap-agent has recorded of a boot.
const PACK: &str = "var/lib/bootlap/boot.pack";
/// On the root, the options with which the agent records as long as there is nothing of that.
const RECORD: &str = "etc/bootlap/record";
/// On the root, that agent.
pub(crate) const AGENT: &str = "usr/sbin/bootlap-agent";
/// On the root, the place of an image of the running system, which the agent makes and starts
/// from.
pub(crate) const RESUME: &str = "var/lib/bootlap/resume.image";
/// On the root, what enters it: util-linux has it in every distribution.
pub(crate) const ENTERS: [&str; 2] = ["usr/sbin/switch_root", "sbin/switch_root"];

/// What enters the root, and starts its init.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enter {
    /// klibc's program, in the initramfs.
    RunInit,
    /// util-linux' or BusyBox's, in the initramfs.
    SwitchRoot,
    /// One of [`ENTERS`].
    OfRoot,
}

/// A module.
#[derive(Debug)]
pub(super) struct Module {
    /// With `_`; the command line may have `-` for it.
    pub(super) name: String,
    /// Its file, from the folder of the kernel's version on.
    pub(super) file: String,
}

/// What loads the modules.
#[derive(Debug)]
pub(super) enum Load<'m> {
    /// All of them are built in.
    Nothing,
    /// By their names: modprobe finds the files.
    Modprobe(&'m [String]),
    /// In this order, from the running kernel's version in a folder.
    Insmod(&'m str, &'m [Module]),
}

impl Load<'_> {
    fn script(&self) -> String {
        match self {
            Load::Nothing => String::new(),
            Load::Modprobe(names) => format!("modprobe -a -q {}\n", names.join(" ")),
            Load::Insmod(folder, modules) => {
                let load = |one: &Module| {
                    let name = one.name.replace('_', "[-_]");
                    format!("load '{name}' {}\n", one.file)
                };
                let all: String = modules.iter().map(load).collect();
                format!("{}{all}", INSMOD.replace("FOLDER", folder))
            }
        }
    }
}

/// As modprobe does it: of the kernel that runs, and with what the command line says for the module.
const INSMOD: &str = r#"read -r version </proc/sys/kernel/osrelease
load() {
	options=
	for word in $line; do
		case $word in
		$1.*) options="$options ${word#*.}" ;;
		esac
	done
	insmod "/FOLDER/$version/$2" $options
}
"#;

/// Starts it in the background, in the folder of the root, which stays that wherever it is mounted by
/// then. A shell opens /dev/null for it, which whoever enters the root takes away: so what follows
/// waits until it has closed the pipe to here, and then has begun.
fn in_background(command: &str) -> String {
    format!("begun=$({{ exec >/dev/null 2>&1; {command}; }} &)")
}

/// The program that the kernel starts: any POSIX shell reads it.
pub(super) fn script(load: &Load<'_>, enter: Enter, cat: bool) -> String {
    let load = load.script();
    let preload = match cat {
        true => {
            let start = in_background(&format!("cat $(cat {PRELOAD})"));
            format!("[ -f {PRELOAD} ] && {start}\n")
        }
        false => String::new(),
    };
    // It does not come back if it can start from the image. If it does, the boot goes on, and the
    // disk has to stay as it is for the next image.
    let resume = format!(
        "if [ -x {AGENT} ] && [ -f {RESUME} ]; then\n\
         \t{AGENT} resume /root/{RESUME}\n\
         \t{AGENT} overlay /root\n\
         \tcd /root\n\
         fi\n"
    );
    // The agent needs /dev, /proc and /sys, so these are there first.
    let replay = in_background(&format!("exec {AGENT} replay --chroot . --renew"));
    let agent = format!(
        "if [ -x {AGENT} ] && [ -f {PACK} ]; then\n\
         \t{replay}\n\
         elif [ -x {AGENT} ] && [ -f {RECORD} ]; then\n\
         \tread -r how <{RECORD}\n\
         \t{AGENT} record --chroot . --background $how\n\
         fi\n"
    );
    let start = "/root \"$init\" \"$@\"";
    let enter = match enter {
        Enter::RunInit => {
            format!("exec run-init {start} <root/dev/console >root/dev/console 2>&1")
        }
        Enter::SwitchRoot => format!("exec switch_root {start}"),
        Enter::OfRoot => {
            let all = ENTERS.map(|path| format!("/root/{path}")).join(" ");
            format!(
                "for enter in {all}; do\n\t[ ! -x $enter ] || exec $enter {start}\ndone\n\
                 echo \"bootlap: the root has no switch_root\"\nexec sh"
            )
        }
    };
    format!(
        r#"#!/bin/sh
# Made by bootlap: mounts the root that the command line names, and starts its init.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin
: >/dev/null
mount -t devtmpfs -o mode=0755 dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
read -r line </proc/cmdline
{load}mode=ro init=/sbin/init root= type= flags=
for word in $line; do
	case $word in
	root=*) root=${{word#root=}} ;;
	rootfstype=*) type=${{word#rootfstype=}} ;;
	rootflags=*) flags=,${{word#rootflags=}} ;;
	init=*) init=${{word#init=}} ;;
	ro | rw) mode=$word ;;
	esac
done
# What this kernel mounts, and members of a RAID, which look like it: for all that it knows, blkid
# reads more than a MiB of each disk.
types=linux_raid_member
while read -r kind name; do
	[ -n "$name" ] || types=$types,$kind
done </proc/filesystems
# The kernel takes capitals, too; blkid does not.
case $root in
PARTUUID=*[A-F]*)
	rest=${{root#*=}} root=PARTUUID=
	while [ -n "$rest" ]; do
		digit=${{rest%"${{rest#?}}"}} rest=${{rest#?}}
		case $digit in
		A) digit=a ;; B) digit=b ;; C) digit=c ;;
		D) digit=d ;; E) digit=e ;; F) digit=f ;;
		esac
		root=$root$digit
	done
	;;
esac
# Whether there is one such disk that $root names.
is_one() {{
	disks= count=0 at= is= same= want=$root
	case $root in
	PARTUUID=*) want=PART_ENTRY_UUID=${{root#*=}} ;;
	PARTLABEL=*) want=PART_ENTRY_NAME=${{root#*=}} ;;
	esac
	for disk in /sys/class/block/*; do
		set -- "$disk"/*/partition
		[ -e "$1" ] || disks="$disks /dev/${{disk##*/}}"
	done
	for word in $(blkid -p -n $types -o export $disks 2>/dev/null) DEVNAME=; do
		case $word in
		DEVNAME=*)
			[ -z "$same" ] || [ -z "$is" ] || count=$((count + 1)) disk=$at kind=$is
			at=${{word#*=}} is= same=
			;;
		TYPE=linux_raid_member) ;;
		TYPE=*) is=${{word#*=}} ;;
		esac
		[ "$word" != "$want" ] || same=yes
	done
	[ $count = 1 ] && type=${{type:-$kind}}
}}
find_disk() {{
	case $root in
	/dev/*) disk=$root ;;
	*) is_one || disk=$(blkid -l -o device -t "$root") ;;
	esac
	[ -b "$disk" ]
}}
tries=0
until find_disk; do
	if [ $tries -ge 100 ]; then
		echo "bootlap: there is no $root; the modules here may not be those of its disk"
		exec sh
	fi
	tries=$((tries + 1))
	sleep 0.1
done
[ -n "$type" ] || type=$(blkid -p -n $types -o value -s TYPE "$disk")
[ -n "$type" ] || type=$(blkid -o value -s TYPE "$disk")
if ! mount ${{type:+-t "$type"}} -o "$mode$flags" "$disk" /root; then
	echo "bootlap: $disk cannot be mounted"
	exec sh
fi
cd /root
{resume}{preload}for folder in dev proc sys; do mount -n -o move "/$folder" "/root/$folder"; done
{agent}cd /
{enter}
"#
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    /// A program, and the folders to it.
    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_the_root_has_enters_it() {
        let text = script(&Load::Nothing, Enter::OfRoot, false);
        let (_, enters) = text.split_once("\ncd /\n").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let entered = |place: Option<&str>| {
            let root = dir.path().join("root");
            fs::remove_dir_all(&root).ok();
            if let Some(place) = place {
                put(&root.join(place), "#!/bin/sh\necho entered \"$@\"\n");
            }
            let text = enters.replace("/root", root.to_str().unwrap());
            let text =
                format!("init=/sbin/init; set -- single\n{text}").replace("exec sh", "exit 1");
            let out = Command::new("sh").args(["-c", &text]).output().unwrap();
            let said = String::from_utf8(out.stdout).unwrap();
            said.replace(root.to_str().unwrap(), "/root")
        };
        for place in ENTERS {
            assert_eq!(entered(Some(place)), "entered /root /sbin/init single\n");
        }
        assert!(entered(None).contains("no switch_root"));
    }

    /// What `/init` takes for the root, with a blkid that says `one` of what it is asked for with
    /// `-n` and `all` else.
    fn found_root(root: &str, one: &str, all: &str) -> String {
        let init = script(&Load::Nothing, Enter::SwitchRoot, false);
        let (_, rest) = init.split_once("# What this kernel mounts").unwrap();
        let (find, _) = rest.split_once("if ! mount").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(&dir.path().join(path), text);
        put("filesystems", "nodev\tproc\n\text3\n\text4\n");
        for path in ["a/dev", "a/a1/partition", "a1/partition", "b/dev"] {
            put(&format!("class/{path}"), "");
        }
        let asked = dir.path().join("asked");
        put(
            "bin/blkid",
            &format!(
                "#!/bin/sh\necho \"$@\" >>{}\ncase $* in *-n*) echo '{one}' ;; *) echo '{all}' ;; esac\n",
                asked.display()
            ),
        );
        let find = find
            .replace(
                "/proc/filesystems",
                dir.path().join("filesystems").to_str().unwrap(),
            )
            .replace(
                "/sys/class/block",
                dir.path().join("class").to_str().unwrap(),
            )
            .replace("[ -b \"$disk\" ]", "[ -n \"$disk\" ]")
            .replace("-ge 100", "-ge 0")
            .replace("exec sh", "exit 1");
        let path = format!("{}:/usr/bin:/bin", dir.path().join("bin").display());
        let out = Command::new("sh")
            .args([
                "-c",
                &format!("root={root} type=\n#{find}\necho \"$disk $type\""),
            ])
            .env("PATH", path)
            .output()
            .unwrap();
        let first = fs::read_to_string(&asked).unwrap_or_default();
        let first = first.lines().next().unwrap_or_default();
        format!(
            "{first}: {}",
            String::from_utf8(out.stdout).unwrap().trim_end()
        )
    }

    #[test]
    fn the_root_is_found_without_a_look_for_all_that_there_is() {
        let quick = "-p -n linux_raid_member,ext3,ext4 -o export /dev/a1 /dev/b";
        let disk = "DEVNAME=/dev/b\nUUID=other\nTYPE=ext4\n\nDEVNAME=/dev/a1\nLABEL=top\nUUID=1-2\n\
                    TYPE=ext4\nPART_ENTRY_NAME=main\nPART_ENTRY_UUID=3-4";
        for root in ["UUID=1-2", "LABEL=top", "PARTUUID=3-4", "PARTLABEL=main"] {
            assert_eq!(
                found_root(root, disk, ""),
                format!("{quick}: /dev/a1 ext4"),
                "{root}"
            );
        }
        let hexadecimal = disk.replace("3-4", "0abcdef9-02");
        let found = found_root("PARTUUID=0ABcDEF9-02", &hexadecimal, "");
        assert_eq!(found, format!("{quick}: /dev/a1 ext4"));
        // A member of a RAID has the file system's UUID, and is not it; nor is one of two.
        let member = "DEVNAME=/dev/a1\nUUID=1-2\nTYPE=linux_raid_member";
        let twice = "DEVNAME=/dev/a1\nUUID=1-2\nTYPE=ext4\n\nDEVNAME=/dev/b\nUUID=1-2\nTYPE=ext4";
        for one in [member, twice, "", "DEVNAME=/dev/a1\nUUID=1-2"] {
            let found = found_root("UUID=1-2", one, "/dev/md0");
            assert!(found.contains(": /dev/md0 "), "{one}: {found}");
        }
        // Whoever names the device is not asked which it is, but for its type.
        let typed = "-p -n linux_raid_member,ext3,ext4 -o value -s TYPE /dev/a1: /dev/a1 ext4";
        assert_eq!(found_root("/dev/a1", "ext4", ""), typed);
    }

    #[test]
    fn what_the_root_lists_is_read_ahead() {
        let init = script(&Load::Nothing, Enter::SwitchRoot, true);
        let line = init.lines().find(|line| line.contains(PRELOAD)).unwrap();
        // Where the shell looks once /dev has moved.
        let empty = init.find(": >/dev/null\n").unwrap();
        assert!(empty < init.find("mount -t devtmpfs").unwrap());
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        let list = root.join(PRELOAD);
        fs::create_dir_all(list.parent().unwrap()).unwrap();
        fs::create_dir(root.join("etc")).unwrap();
        fs::write(root.join("etc/a"), "a").unwrap();
        fs::write(root.join("etc/b"), "b").unwrap();
        let out = dir.path().join("out");
        let read = || {
            let line = line.replace("/dev/null 2>&1", "../out");
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]).current_dir(&root);
            shell.status().unwrap();
            out.exists()
        };
        assert!(!read(), "nothing is listed");
        fs::write(&list, "etc/b\netc/gone\netc/a\n").unwrap();
        assert!(read(), "what follows waits until it has begun");
        soon(&out, "ba");
    }

    /// Waits until a file has this content: who writes it is not waited for.
    fn soon(path: &Path, wanted: &str) {
        let patience = Instant::now() + Duration::from_secs(60);
        while fs::read_to_string(path).unwrap_or_default() != wanted {
            assert!(Instant::now() < patience, "{}", path.display());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn modules_have_the_options_of_the_command_line() {
        let files = [("usb_storage", "usb-storage.ko"), ("sd_mod", "sd_mod.ko")];
        let modules = files.map(|(name, file)| Module {
            name: name.into(),
            file: file.into(),
        });
        let text = Load::Insmod("usr/lib/modules", &modules).script();
        let text = text.replace("read -r version </proc/sys/kernel/osrelease", "version=6.1");
        let line = "quiet usb_storage.quirks=1:2:u,3:4:f sd_mod_x=1 usb-storage.delay_use=0";
        let shell = format!("line='{line}'\ninsmod() {{ echo \"$@\"; }}\n{text}");
        let out = Command::new("sh").args(["-c", &shell]).output().unwrap();
        assert_eq!(
            String::from_utf8(out.stdout).unwrap(),
            "/usr/lib/modules/6.1/usb-storage.ko quirks=1:2:u,3:4:f delay_use=0\n\
             /usr/lib/modules/6.1/sd_mod.ko\n"
        );
    }

    #[test]
    fn the_agent_of_the_root_starts_from_an_image_or_lays_memory_over_it() {
        let init = script(&Load::Nothing, Enter::SwitchRoot, true);
        let (before, rest) = init.split_once("\ncd /root\n").unwrap();
        assert!(before.contains("mount -t sysfs sys /sys"));
        let (resume, _) = rest.split_once("[ -f usr/lib/bootlap/preload").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(&dir.path().join(path), text);
        let told = || {
            let path = format!("{}:/usr/bin:/bin", dir.path().join("bin").display());
            let shell = Command::new("sh")
                .args(["-c", &resume.replace("cd /root", "true")])
                .env("PATH", path)
                .current_dir(dir.path())
                .status();
            assert!(shell.unwrap().success());
            fs::read_to_string(dir.path().join("told")).unwrap_or_default()
        };
        put(AGENT, "#!/bin/sh\necho \"$@\" >>told\nexit 1\n");
        assert_eq!(told(), "", "there is no place for an image");
        put(RESUME, "");
        assert_eq!(
            told(),
            "resume /root/var/lib/bootlap/resume.image\noverlay /root\n"
        );
    }

    #[test]
    fn the_agent_of_the_root_replays_or_records() {
        let init = script(&Load::Nothing, Enter::SwitchRoot, false);
        let (before, rest) = init
            .rsplit_once("\nif [ -x usr/sbin/bootlap-agent")
            .unwrap();
        let (agent, _) = rest.split_once("cd /\n").unwrap();
        let moved = before.find("mount -n -o move").unwrap();
        assert!(before.find("\ncd /root\n").unwrap() < moved);
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(&dir.path().join(path), text);
        let told = dir.path().join("told");
        let run = || {
            let agent = format!("if [ -x {AGENT}{}", agent);
            let shell = Command::new("sh")
                .args(["-c", &agent])
                .current_dir(dir.path())
                .status();
            assert!(shell.unwrap().success());
        };
        put(AGENT, "#!/bin/sh\necho \"$@\" >told\n");
        run();
        assert!(!told.exists(), "nothing is asked for");
        put(RECORD, "--until-mark ready\n");
        run();
        soon(&told, "record --chroot . --background --until-mark ready\n");
        put(PACK, "");
        run();
        soon(&told, "replay --chroot . --renew\n");
        fs::remove_file(&told).unwrap();
        put(AGENT, "another machine's program");
        run();
        assert!(!told.exists());
    }
}
