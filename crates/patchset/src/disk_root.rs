//! Files of the root on a disk that differ, as a script and as files: what builds the image runs
//! the script over the root that it has put together.

use super::changes::{Change, Changes};
use super::disk_root_change::Then;
use super::quote::{comment, shell};
use super::{Files, below};

/// The files themselves, in `folder`.
pub(super) fn contents(changes: &Changes<'_>, folder: &str, files: &mut Files) {
    for (path, then) in &changes.disk_root().changes {
        if let Then::Text(text) = then {
            files.file(below(folder, path.as_bytes()), *text, is_script(text));
        }
    }
}

/// A script that makes the changes in a root. It finds the files in `folder` beside itself.
pub(super) fn script(changes: &Changes<'_>, folder: &str) -> Vec<u8> {
    let mut text = format!(
        "#!/bin/sh\n# Changes the root of {} that is put together in the folder ROOT.\n",
        comment(&changes.start.spec.name)
    );
    for step in changes.steps_with(|c| matches!(c, Change::Disk(..))) {
        text += &format!("# {}\n", step.line());
    }
    text += "set -eu\nroot=${1:?usage: $0 ROOT}\nhere=$(cd -- \"$(dirname -- \"$0\")\" && pwd)\n";
    text += FUNCTIONS;
    let mut out = text.into_bytes();
    let folder = shell(folder.as_bytes());
    for (path, then) in &changes.disk_root().changes {
        let at = shell(path.as_bytes());
        let line: Vec<&[u8]> = match then {
            Then::Nothing => vec![b"rm -f -- \"$root\"/", &at, b"\n"],
            Then::Link(_) => vec![b"point ", &at, b" "],
            Then::Text(text) if is_script(text) => vec![b"put 755 ", &folder, b" ", &at, b"\n"],
            Then::Text(_) => vec![b"put 644 ", &folder, b" ", &at, b"\n"],
        };
        out.extend(line.concat());
        if let Then::Link(to) = then {
            out.extend(shell(to.as_bytes()));
            out.push(b'\n');
        }
    }
    out
}

/// A file that was there keeps its owner and its mode. Nothing is written through a link, which
/// may lead out of ROOT.
const FUNCTIONS: &str = r#"put() { # MODE FOLDER PATH
	mkdir -p -- "$root/$(dirname -- "$3")"
	if [ -f "$root/$3" ] && [ ! -L "$root/$3" ]; then
		cat -- "$here/$2/$3" >"$root/$3"
	else
		rm -f -- "$root/$3"
		cp -- "$here/$2/$3" "$root/$3"
		chmod "$1" -- "$root/$3"
	fi
}
point() { # PATH TO
	mkdir -p -- "$root/$(dirname -- "$1")"
	rm -f -- "$root/$1"
	ln -s -- "$2" "$root/$1"
}
"#;

fn is_script(text: &str) -> bool {
    text.starts_with("#!")
}
