//! The scripts of a folder: `rcN.d`, whose names say an order, or `init.d`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use bootlap_wire::plan::{MAX_NAME, MAX_SCRIPTS};

use super::facility::Facilities;
use super::header::Header;
use crate::RootfsError;

/// As much of a script as can have its header, and of an `insserv.conf`.
const HEAD: u64 = 64 * 1024;

/// A script that a boot starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its file's name.
    pub name: String,
    /// Its place among others by name: 20 of `S20network`.
    pub number: Option<u8>,
    /// What it says of itself.
    pub header: Option<Header>,
}

impl Script {
    /// Its name without `S20` and `.sh`, which others may wait for.
    pub fn base(&self) -> &str {
        let name = match self.number {
            Some(_) => self.name.get(3..).unwrap_or(&self.name),
            None => &self.name,
        };
        name.strip_suffix(".sh").unwrap_or(name)
    }

    /// Whether it belongs to what starts before all runlevels.
    pub fn is_of_boot(&self) -> bool {
        let levels = self.header.as_ref().and_then(|h| h.default_start.as_ref());
        levels.is_some_and(|levels| levels.iter().any(|l| l.eq_ignore_ascii_case("S")))
    }
}

/// A folder of init scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Where it is on the target, e.g. `/etc/rcS.d`.
    pub on_target: String,
    /// What starts, in the order in which it would start one by one.
    pub scripts: Vec<Script>,
    /// What does not, and why, by name.
    pub left_out: Vec<(String, String)>,
    /// The facilities of the root that it is in.
    pub facilities: Facilities,
    /// Names that others have provided before: those of `rcS.d`, to a runlevel's folder.
    pub provided: BTreeSet<String>,
}

impl Folder {
    /// Reads `dir`, which is on this machine a part of the target's root. Where any
    /// name begins with `S` and two digits, only such scripts start; else those whose
    /// header has them started at some runlevel.
    ///
    /// # Errors
    /// If it cannot be read, or has more than 512 scripts.
    pub fn read(dir: &Path) -> Result<Self, RootfsError> {
        let listed = fs::read_dir(dir).map_err(|e| RootfsError::io("read", dir, e))?;
        let mut names: Vec<String> = Vec::new();
        for entry in listed {
            let entry = entry.map_err(|e| RootfsError::io("read", dir, e))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        let (root, on_target) = root_of(dir);
        let provided = match dir.file_name().and_then(|name| name.to_str()) {
            Some("rc2.d" | "rc3.d" | "rc4.d" | "rc5.d") => {
                provided_by(&dir.with_file_name("rcS.d"))
            }
            _ => BTreeSet::new(),
        };
        let folder = Folder {
            on_target,
            facilities: facilities(&root),
            provided,
            ..Folder::default()
        };
        folder.with(names, |name| head(&dir.join(name), &root), dir)
    }

    /// Sorts out what starts among files of these names, whose first bytes `head`
    /// gives, or why it cannot; `dir` is what errors name.
    ///
    /// # Errors
    /// If more than 512 scripts start.
    pub fn with(
        self,
        mut names: Vec<String>,
        head: impl Fn(&str) -> Result<Vec<u8>, String>,
        dir: &Path,
    ) -> Result<Self, RootfsError> {
        let mut folder = self;
        names.sort();
        let numbered = names.iter().any(|name| number(name).is_some());
        for name in names {
            if name.starts_with('.') {
                continue;
            }
            let script = match is_plain(&name) {
                true => script(&name, numbered, &head),
                false => Err("its name has blanks or other odd characters".to_owned()),
            };
            match script {
                Ok(script) => folder.scripts.push(script),
                Err(why) => folder.left_out.push((name, why)),
            }
        }
        if folder.scripts.len() > MAX_SCRIPTS {
            let what = dir.display().to_string();
            let why =
                format!("more than {MAX_SCRIPTS} scripts; name the folder that a boot starts");
            return Err(RootfsError::content(&what, why));
        }
        folder
            .scripts
            .sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
        Ok(folder)
    }
}

/// One that starts, or why it does not.
fn script(
    name: &str,
    numbered: bool,
    head: impl Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Script, String> {
    let number = number(name);
    if numbered && number.is_none() {
        let why = match name.starts_with('K') {
            true => "it is stopped here",
            false => "its name has no number, and those of others do",
        };
        return Err(why.to_owned());
    }
    let header = Header::read(&head(name)?);
    if !numbered {
        match header.as_ref().map(|h| &h.default_start) {
            None => return Err("it has no header and no number".to_owned()),
            Some(Some(levels)) if levels.is_empty() => {
                return Err("its Default-Start names no runlevel".to_owned());
            }
            Some(None) => return Err("its header has no Default-Start".to_owned()),
            Some(Some(levels)) if !levels.iter().any(|l| starts(l)) => {
                return Err(format!("it starts only at {}", levels.join(" ")));
            }
            Some(Some(_)) => {}
        }
    }
    Ok(Script {
        name: name.to_owned(),
        number,
        header,
    })
}

/// Runlevels that a boot may go through; not halt, single user and reboot.
fn starts(level: &str) -> bool {
    ["S", "s", "2", "3", "4", "5"].contains(&level)
}

/// 20 of `S20network`.
pub fn number(name: &str) -> Option<u8> {
    let digits = name.strip_prefix('S')?.get(..2)?;
    let is_number = digits.bytes().all(|b| b.is_ascii_digit()) && name.len() > 3;
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Names that a plan and a line of a log can hold.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != char::REPLACEMENT_CHARACTER;
    name.len() <= MAX_NAME && name.chars().all(plain)
}

/// The root of the target that `dir` is in, and what it is called there: what comes
/// from the last `etc` on, else `/etc/init.d`.
fn root_of(dir: &Path) -> (PathBuf, String) {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let parts: Vec<Component<'_>> = absolute.components().collect();
    let etc = parts.iter().rposition(|c| c.as_os_str() == "etc");
    match etc {
        Some(etc) => {
            let root = parts.iter().take(etc).collect();
            let inside: PathBuf = parts.iter().skip(etc).collect();
            (root, format!("/{}", inside.display()))
        }
        None => (absolute, "/etc/init.d".to_owned()),
    }
}

/// The names that what starts in a folder provides; none if it cannot be read.
fn provided_by(dir: &Path) -> BTreeSet<String> {
    let scripts = Folder::read(dir).map_or_else(|_| Vec::new(), |folder| folder.scripts);
    let names = scripts.into_iter().flat_map(|script| {
        let base = script.base().to_owned();
        let header = script.header.into_iter().flat_map(|h| h.provides);
        header.chain([base])
    });
    names.collect()
}

/// What `etc/insserv.conf` of a root says, and the files of `etc/insserv.conf.d`, which
/// packages bring.
fn facilities(root: &Path) -> Facilities {
    let conf = head(&root.join("etc/insserv.conf"), root);
    let mut facilities = conf.map_or_else(|_| Facilities::default(), |c| Facilities::of_conf(&c));
    let listed = fs::read_dir(root.join("etc/insserv.conf.d"));
    let entries = listed.into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        // A folder, for one, says nothing.
        facilities.extend(&head(&file, root).unwrap_or_default());
    }
    facilities
}

/// The first bytes of a script. A link of a root that lies in a folder may say where
/// its file is on the target.
fn head(path: &Path, root: &Path) -> Result<Vec<u8>, String> {
    let mut path = path.to_owned();
    if let Ok(link) = fs::read_link(&path)
        && let Ok(inside) = link.strip_prefix("/")
    {
        path = root.join(inside);
    }
    let metadata = fs::metadata(&path).map_err(|e| format!("it cannot be read: {e}"))?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&path);
    file.and_then(|file| file.take(HEAD).read_to_end(&mut bytes))
        .map_err(|e| format!("it cannot be read: {e}"))?;
    Ok(bytes)
}
