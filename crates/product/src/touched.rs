//! Which files of the initramfs a boot opens.
//!
//! The kernel keeps when each file was read last, in an initramfs too, and
//! nothing switches that off there (the root is mounted without `relatime`). So
//! a wrapper is started in the place of the first program: it sets all these
//! times to one known moment, starts the first program, and some seconds after
//! the boot was ready says on the console which files were read since. It
//! brings a shell of its own (Debian's static BusyBox for the target's
//! architecture), so nothing is asked of the target.
//!
//! A directory that was listed keeps what lies in it: who listed it may have
//! asked no more of a file than its name and size.
//!
//! What was read before the first program ran (firmware, mostly) shows in that
//! the two times of a file already differ when the wrapper starts.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::cmdline::{self, is_parameter, value_of};
use crate::initramfs::Look;
use crate::{Edit, Parts, Target, TargetError};

/// Where the wrapper and its shell lie.
const OWN: &str = ".bootlap";
/// What begins a line that names a file.
const MARK: &[u8] = b"BOOTLAP-TOUCHED ";
/// What ends them.
const END: &str = "BOOTLAP-TOUCHED-END";

/// A target that boots as `target` does and then says what was opened, `after_s`
/// seconds after its first program started. The wrapper is written to `script`.
///
/// # Errors
/// If the target has no initramfs that starts its first program, or does not
/// say for which architecture it is, or if `script` cannot be written.
pub fn observed(target: &Target, script: &Path, after_s: u64) -> Result<Target, TargetError> {
    let refuse = |why: &str| TargetError::Recipe(format!("{}: {why}", target.spec.name));
    let spec = &target.spec;
    let (Some(initramfs), Some(kernel)) = (&spec.initramfs, &spec.kernel) else {
        return Err(refuse("there is no initramfs whose files could be watched"));
    };
    if initramfs.only.is_some() {
        return Err(refuse(
            "initramfs.only has left files out already; take it out to watch all of them",
        ));
    }
    if spec.packages.is_none() {
        return Err(refuse(
            "the watcher needs a shell for the target; add [packages] with its architecture",
        ));
    }
    let words = cmdline::words(&kernel.cmdline);
    let init = words.iter().rev().find_map(|w| value_of(w, "rdinit"));
    let init = init.unwrap_or("/init");
    write_script(script, init, after_s).map_err(|e| TargetError::io("write", script, e))?;
    let script = fs::canonicalize(script).map_err(|e| TargetError::io("read", script, e))?;
    let script = script
        .to_str()
        .ok_or_else(|| refuse("the runs' folder has a name that is no text"))?;
    let line = cmdline::changed(&kernel.cmdline, |w| {
        (!is_parameter(w, "rdinit")).then(|| w.to_owned())
    });
    let line = cmdline::with(&line, &format!("rdinit=/{OWN}/init"));
    let mut edits = vec![
        Edit::allow(script),
        Edit::set("kernel.cmdline", line),
        Edit::set("ready.pattern", END),
        Edit::set(&format!("initramfs.files.\"/{OWN}/init\""), script),
        Edit::set(
            &format!("initramfs.files.\"/{OWN}/busybox\""),
            "package:busybox-static/bin/busybox",
        ),
    ];
    if spec.ready.check.is_some() {
        edits.push(Edit::set("ready.check", "true"));
    }
    target.with(&edits)
}

fn write_script(script: &Path, init: &str, after_s: u64) -> std::io::Result<()> {
    // A day after 1970: a board without a clock starts at 0. What the shell
    // starts in the background reads /dev/null, which nobody has made yet.
    let text = format!(
        "#!/{OWN}/busybox sh\n\
         b=/{OWN}/busybox\n\
         [ -e /dev/null ] || {{ $b mkdir -p /dev; $b mknod /dev/null c 1 3; }}\n\
         $b find / -xdev -path '/{OWN}' -prune -o '(' -type f -o -type l -o -type d ')' -print0 \
         >/{OWN}/names\n\
         each() {{ $b xargs -0 $b \"$@\" </{OWN}/names; }}\n\
         each stat -c '%X %Y %n' >/{OWN}/before\n\
         each touch -h -c -d @86400\n\
         (\n\
         \t$b sleep {after_s}\n\
         \twhile read -r read written name; do\n\
         \t\t[ \"$read\" = \"$written\" ] || [ -d \"$name\" ] || echo \"BOOTLAP-TOUCHED $name\"\n\
         \tdone </{OWN}/before\n\
         \teach stat -c '%X %n' | while read -r read name; do\n\
         \t\t[ \"$read\" = 86400 ] || echo \"BOOTLAP-TOUCHED $name\"\n\
         \tdone\n\
         \techo {END}\n\
         ) &\n\
         exec '{}' \"$@\"\n",
        init.replace('\'', "'\\''")
    );
    fs::write(script, text)?;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755))
}

/// The list for `initramfs.only`: the files and links of `parts`' initramfs
/// that an observed boot named on its console.
///
/// # Errors
/// If it names none, with what may be the cause.
pub fn list(console: &[u8], parts: &Parts) -> Result<Vec<u8>, TargetError> {
    let mut named = BTreeSet::new();
    for line in console.split(|b| *b == b'\n') {
        // The kernel may have printed something in front.
        if let Some(at) = memchr::memmem::find(line, MARK) {
            let name = line.get(at + MARK.len()..).unwrap_or_default();
            let name = name.trim_ascii_end();
            named.insert(name.strip_prefix(b"/").unwrap_or(name));
        }
    }
    let mut out = Vec::new();
    for entry in parts.initramfs.iter().flatten() {
        let is_file = matches!(entry.what.look(), Look::File { .. } | Look::Link { .. });
        let path = entry.path.as_slice();
        let slash = memchr::memrchr(b'/', path);
        let folder = slash.and_then(|at| path.get(..at)).unwrap_or_default();
        if is_file && (named.contains(path) || named.contains(folder)) {
            out.push(b'/');
            out.extend_from_slice(&entry.path);
            out.push(b'\n');
        }
    }
    if out.is_empty() {
        return Err(TargetError::Recipe(
            "the boot named no file that it opened: did it leave the initramfs for another root \
             (switch_root)? Such a boot cannot be watched"
                .to_owned(),
        ));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initramfs::{Entry, What};
    use crate::target::tests::{PLAIN, kiosk, parse};

    #[test]
    fn the_wrapper_starts_what_the_target_would() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("init");
        let text = kiosk()
            .text
            .replace("console=ttyAMA0", "rdinit=/my/init console=ttyAMA0");
        let observed = observed(&parse(&text).unwrap(), &script, 3).unwrap();
        let line = observed.spec.kernel.unwrap().cmdline;
        assert_eq!(line, "console=ttyAMA0,115200 rdinit=/.bootlap/init");
        let files = observed.spec.initramfs.unwrap().files;
        assert_eq!(files["/.bootlap/init"], script.display().to_string());
        assert_eq!(observed.spec.ready.pattern, END);
        let written = fs::read_to_string(&script).unwrap();
        assert!(written.contains("sleep 3\n"), "{written}");
        assert!(written.ends_with("exec '/my/init' \"$@\"\n"), "{written}");
        // It is a script that a shell understands.
        let check = std::process::Command::new("sh")
            .arg("-n")
            .arg(&script)
            .status();
        assert!(check.unwrap().success());
    }

    #[test]
    fn what_cannot_be_watched_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("init");
        let why = |text: &str| {
            let target = parse(text).unwrap();
            observed(&target, &script, 1).unwrap_err().to_string()
        };
        assert!(why(PLAIN).contains("no initramfs"));
        let bare = format!("{PLAIN}[initramfs]\n");
        assert!(why(&bare).contains("add [packages]"));
        assert!(why(&format!("{bare}only = 'list'\n")).contains("take it out"));
    }

    #[test]
    fn only_files_of_the_initramfs_are_listed() {
        let entry = |path: &[u8], what| Entry {
            path: path.to_vec(),
            what,
        };
        let file = || What::File {
            executable: false,
            bytes: Vec::new(),
        };
        let parts = Parts {
            initramfs: Some(vec![
                entry(b"bin", What::Dir),
                entry(b"bin/a b", file()),
                entry(b"bin/not", file()),
                entry(b"fonts/sans", file()),
                entry(b"fonts/old/serif", file()),
                entry(
                    b"init",
                    What::Link {
                        to: b"bin/a b".to_vec(),
                    },
                ),
            ]),
            ..Parts::default()
        };
        let console = b"x\r\n[ 1.0] y BOOTLAP-TOUCHED /bin/a b\r\nBOOTLAP-TOUCHED /init\r\n\
                        BOOTLAP-TOUCHED /fonts\nBOOTLAP-TOUCHED /made\nBOOTLAP-TOUCHED-END\n";
        assert_eq!(
            list(console, &parts).unwrap(),
            b"/bin/a b\n/fonts/sans\n/init\n"
        );
        assert!(
            list(b"", &parts)
                .unwrap_err()
                .to_string()
                .contains("switch_root")
        );
    }
}
