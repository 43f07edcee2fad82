//! Distribution packages of any architecture, unpacked into the cache.
//!
//! apt gets a state folder of its own, so the host's package database, its
//! lists and its dpkg architectures are neither used nor changed. Where to
//! fetch from is asked of the host's own apt configuration; nothing is
//! installed and no package script runs.

mod files;
mod sums;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Cache, Progress, TargetError};

/// Where a package's control fields are kept beside its files.
pub(crate) const CONTROL: &str = ".bootlap-control";

/// Whether a file of this name in a package's folder is ours.
pub(crate) fn is_ours(name: &std::ffi::OsStr) -> bool {
    name == CONTROL || name == sums::SUMS
}

/// Whether this can be the name of a package or an architecture. Names become
/// folders and arguments of apt, so no others are let through.
pub(crate) fn is_name(name: &str) -> bool {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.".contains(&b);
    let first = name.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphanumeric()) && name.bytes().all(good)
}

/// Stands for an architecture where packages are sources.
const SOURCE: &str = "source";

/// The unpacked packages of one architecture, or of none: their sources.
pub(crate) struct Store {
    dir: PathBuf,
    architecture: String,
}

impl Store {
    /// The distribution's sources, each with its own patches applied.
    pub(crate) fn of_sources(cache: &Cache) -> Self {
        Self::new(cache, SOURCE)
    }

    pub(crate) fn new(cache: &Cache, architecture: &str) -> Self {
        Self {
            dir: cache.root().join("packages").join(architecture),
            architecture: architecture.to_owned(),
        }
    }

    /// The folder that `package` is unpacked in; fetched if it is not there.
    pub(crate) fn folder(
        &self,
        package: &str,
        progress: Progress<'_>,
    ) -> Result<PathBuf, TargetError> {
        let at = self.dir.join("unpacked").join(package);
        if at.exists() {
            return Ok(at);
        }
        // Somebody else may be fetching the same at this moment.
        let _lock = self.lock()?;
        if at.exists() {
            return Ok(at);
        }
        self.sweep();
        progress(&format!(
            "fetching {package} ({}) from the distribution",
            self.architecture
        ));
        let new = self.update(progress)?;
        let fetched = self.fetch(package).or_else(|e| {
            if new {
                return Err(e);
            }
            // Old lists name versions that the archive has dropped since.
            let _ = fs::remove_file(self.updated());
            self.update(progress)?;
            self.fetch(package)
        })?;
        let made = fs::create_dir_all(self.dir.join("unpacked"));
        made.and_then(|()| fs::rename(&fetched, &at))
            .map_err(|e| TargetError::io("create", &at, e))?;
        Ok(at)
    }

    /// Whether what is at `path` in a package's folder is what the package brought. If not,
    /// the folder goes, so that [`Self::folder`] fetches the package again.
    pub(crate) fn keep_if_whole(
        &self,
        folder: &Path,
        path: &Path,
        progress: Progress<'_>,
    ) -> Result<bool, TargetError> {
        if sums::are_whole(folder, path)? {
            return Ok(true);
        }
        let _lock = self.lock()?;
        let shown = path.display();
        progress(&format!(
            "{shown} is not what its package brought: fetching it again"
        ));
        fs::remove_dir_all(folder).map_err(|e| TargetError::io("remove", folder, e))?;
        Ok(false)
    }

    /// Removes what a killed bootlap left half fetched; the lock is held.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("partial.") {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Waits until no other bootlap changes this store; held until dropped.
    fn lock(&self) -> Result<fs::File, TargetError> {
        let path = self.dir.join("lock");
        let lock = || {
            fs::create_dir_all(&self.dir)?;
            let file = fs::File::create(&path)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|e| TargetError::io("lock", &path, e))
    }

    /// The version of an unpacked package, e.g. `6.1.176-1`.
    pub(crate) fn version(&self, package: &str) -> String {
        self.field(package, "Version")
    }

    /// The first package that an unpacked one depends on: what a metapackage
    /// such as `linux-image-arm64` stands for today.
    pub(crate) fn first_dependency(&self, package: &str) -> Option<String> {
        let depends = self.field(package, "Depends");
        let name = depends.split([',', '|', '(', ' ']).next()?.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn field(&self, package: &str, field: &str) -> String {
        let control = self.dir.join("unpacked").join(package).join(CONTROL);
        let control = fs::read_to_string(control).unwrap_or_default();
        let value = control
            .lines()
            .find_map(|l| l.strip_prefix(field)?.strip_prefix(": "));
        value.unwrap_or_default().to_owned()
    }

    /// Is there once the lists are.
    fn updated(&self) -> PathBuf {
        self.dir.join("apt/updated")
    }

    /// Reads the package lists unless they are there; whether it did.
    fn update(&self, progress: Progress<'_>) -> Result<bool, TargetError> {
        if self.updated().exists() {
            return Ok(false);
        }
        progress("reading the distribution's package lists");
        self.read_lists(&self.sources()?, progress)?;
        Ok(true)
    }

    /// Reads the package lists of the archives in `sources`.
    fn read_lists(&self, sources: &str, progress: Progress<'_>) -> Result<(), TargetError> {
        let (apt, done) = (self.dir.join("apt"), self.updated());
        for folder in ["lists/partial", "cache/archives/partial"] {
            let path = apt.join(folder);
            fs::create_dir_all(&path).map_err(|e| TargetError::io("create", &path, e))?;
        }
        for (name, text) in [("status", ""), ("sources.list", sources)] {
            let path = apt.join(name);
            fs::write(&path, text).map_err(|e| TargetError::io("write", &path, e))?;
        }
        let strict = ["update", "-qq", "-o", "APT::Update::Error-Mode=any"];
        match self.apt("apt-get", &strict, &self.dir) {
            // They are asked for again as long as some are missing.
            Err(e) if self.has_lists() => {
                // One of several archives may be in the middle of its own update:
                // what the others have is enough, or the package is missed later.
                progress(&format!("going on without some package lists: {e}"));
                Ok(())
            }
            Err(e) => Err(e),
            Ok(_) => fs::write(&done, "").map_err(|e| TargetError::io("write", &done, e)),
        }
    }

    /// Whether apt has the list of at least one archive.
    fn has_lists(&self) -> bool {
        let entries = fs::read_dir(self.dir.join("apt/lists"));
        entries.into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.contains("_Packages") || name.contains("_Sources")
        })
    }

    /// The host's own archives of the distribution, as lines of a sources.list.
    fn sources(&self) -> Result<String, TargetError> {
        let mut command = Command::new("apt-get");
        command.args([
            "indextargets",
            "--format",
            "$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)",
            "Created-By: Packages",
        ]);
        let out = run(&mut command)?;
        let lines: BTreeSet<String> = out.lines().filter_map(|l| self.source_line(l)).collect();
        if lines.is_empty() {
            return Err(TargetError::Packages(
                "apt knows no archive of Debian or Ubuntu yet: run `apt-get update` as root, \
                 then try again"
                    .into(),
            ));
        }
        Ok(lines.into_iter().collect())
    }

    fn source_line(&self, target: &str) -> Option<String> {
        let fields: Vec<&str> = target.split('|').collect();
        let &[origin, uri, release, component] = fields.as_slice() else {
            return None;
        };
        let wanted = match origin {
            "Debian" => component == "main",
            "Ubuntu" => matches!(component, "main" | "universe"),
            _ => false,
        };
        // Backports would change what a target is made of.
        if !wanted || release.contains("backports") {
            return None;
        }
        let in_archive = matches!(&*self.architecture, "amd64" | "i386" | SOURCE);
        let uri = if origin == "Ubuntu" && !in_archive {
            ubuntu_ports(uri)
        } else {
            uri.to_owned()
        };
        let keyring = format!(
            "/usr/share/keyrings/{}-archive-keyring.gpg",
            origin.to_lowercase()
        );
        let options = if Path::new(&keyring).exists() {
            format!("[signed-by={keyring}] ")
        } else {
            String::new()
        };
        let kind = match self.is_source() {
            true => "deb-src",
            false => "deb",
        };
        Some(format!("{kind} {options}{uri} {release} {component}\n"))
    }

    fn is_source(&self) -> bool {
        self.architecture == SOURCE
    }

    /// Downloads and unpacks a package; the folder is not yet in its place.
    fn fetch(&self, package: &str) -> Result<PathBuf, TargetError> {
        let work = self
            .dir
            .join(format!("partial.{}.{package}", std::process::id()));
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).map_err(|e| TargetError::io("create", &work, e))?;
        let unpacked = match self.is_source() {
            true => self.fetch_source_into(package, &work),
            false => self.fetch_into(package, &work),
        };
        if unpacked.is_err() {
            let _ = fs::remove_dir_all(&work);
        }
        unpacked
    }

    fn fetch_into(&self, package: &str, work: &Path) -> Result<PathBuf, TargetError> {
        self.apt("apt-get", &["download", "-qq", package], work)?;
        let deb = fetched(package, work, "deb")?;
        let mut unpack = Command::new("dpkg-deb");
        run(unpack.arg("-x").arg(&deb).arg(work))?;
        let mut field = Command::new("dpkg-deb");
        let control = run(field.arg("-f").arg(&deb).args(["Version", "Depends"]))?;
        let file = work.join(CONTROL);
        fs::write(&file, control).map_err(|e| TargetError::io("write", &file, e))?;
        fs::remove_file(&deb).map_err(|e| TargetError::io("remove", &deb, e))?;
        sums::write(work)?;
        Ok(work.to_owned())
    }

    fn fetch_source_into(&self, package: &str, work: &Path) -> Result<PathBuf, TargetError> {
        let (archives, tree) = (work.join("archives"), work.join("tree"));
        fs::create_dir(&archives).map_err(|e| TargetError::io("create", &archives, e))?;
        self.download_source(package, &archives)?;
        let about = fetched(package, &archives, "dsc")?;
        let mut unpack = Command::new("dpkg-source");
        // apt has checked what it fetched.
        unpack.args(["--extract", "--no-check", "--no-copy"]);
        run(unpack.arg(&about).arg(&tree))?;
        let said = fs::read_to_string(&about).map_err(|e| TargetError::io("read", &about, e))?;
        let version = said.lines().find(|l| l.starts_with("Version: "));
        let file = work.join(CONTROL);
        let control = fs::write(&file, version.unwrap_or_default());
        control.map_err(|e| TargetError::io("write", &file, e))?;
        fs::remove_dir_all(&archives).map_err(|e| TargetError::io("remove", &archives, e))?;
        Ok(work.to_owned())
    }

    /// A mirror may list in one of its archives what it has only in another, and
    /// apt asks the first one for it; so each is asked alone, too.
    fn download_source(&self, package: &str, to: &Path) -> Result<(), TargetError> {
        let args = ["source", "-qq", "--download-only", package];
        let Err(error) = self.apt("apt-get", &args, to) else {
            return Ok(());
        };
        let (all, one) = (self.dir.join("apt/sources.list"), "one.list");
        let lists = fs::read_to_string(&all).map_err(|e| TargetError::io("read", &all, e))?;
        for line in lists.lines() {
            let path = self.dir.join("apt").join(one);
            fs::write(&path, line).map_err(|e| TargetError::io("write", &path, e))?;
            if self.apt_of(one, "apt-get", &args, to).is_ok() {
                return Ok(());
            }
        }
        Err(error)
    }

    fn apt(&self, program: &str, args: &[&str], dir: &Path) -> Result<String, TargetError> {
        self.apt_of("sources.list", program, args, dir)
    }

    /// apt with the archives that the file `list` names.
    fn apt_of(
        &self,
        list: &str,
        program: &str,
        args: &[&str],
        dir: &Path,
    ) -> Result<String, TargetError> {
        let state = self.dir.join("apt");
        let state = fs::canonicalize(&state).unwrap_or(state);
        let state = state.display();
        let arch = match self.is_source() {
            // Sources have none, but apt wants one.
            true => "amd64",
            false => &*self.architecture,
        };
        let mut command = Command::new(program);
        command.current_dir(dir);
        for option in [
            format!("APT::Architecture={arch}"),
            format!("APT::Architectures={arch}"),
            format!("Dir::State={state}"),
            format!("Dir::State::status={state}/status"),
            format!("Dir::State::Lists={state}/lists"),
            format!("Dir::Cache={state}/cache"),
            format!("Dir::Etc::SourceList={state}/{list}"),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            // The lists may be where apt's own user must not look.
            "APT::Sandbox::User=".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        command.args(args);
        run(&mut command)
    }
}

/// The file that apt has put into `dir`.
fn fetched(package: &str, dir: &Path, extension: &str) -> Result<PathBuf, TargetError> {
    let entries = fs::read_dir(dir).map_err(|e| TargetError::io("read", dir, e))?;
    let mut paths = entries.flatten().map(|e| e.path());
    let found = paths.find(|p| p.extension().is_some_and(|x| x == extension));
    found.ok_or_else(|| TargetError::Packages(format!("apt fetched nothing for {package}")))
}

/// Ubuntu keeps the other architectures on a sister host of its archive; of a
/// mirror that is called otherwise nobody knows, so it is asked as it is.
fn ubuntu_ports(uri: &str) -> String {
    let domain = ["archive.", "security."].iter().find_map(|host| {
        let (_, domain) = uri.split_once(host)?;
        domain.trim_end_matches('/').strip_suffix("/ubuntu")
    });
    domain.map_or(uri.to_owned(), |domain| {
        format!("http://ports.{domain}/ubuntu-ports/")
    })
}

fn run(command: &mut Command) -> Result<String, TargetError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|e| {
        TargetError::Packages(format!(
            "cannot run {program}: {e}; parts named `package:…` need apt and dpkg (a Debian or \
             Ubuntu host), `source-package:…` dpkg-dev, too; elsewhere name files of your own"
        ))
    })?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    // apt's first error is the cause, its last line a summary.
    let cause = said.lines().find(|l| l.starts_with("E: "));
    let said = cause.or_else(|| said.lines().rev().find(|l| !l.trim().is_empty()));
    let args: Vec<_> = command
        .get_args()
        .map(|a| a.to_string_lossy())
        .filter(|a| !a.contains("::") && a != "-o")
        .collect();
    Err(TargetError::Packages(format!(
        "`{program} {}` failed: {}; is the network there, and does the package exist?",
        args.join(" "),
        said.unwrap_or("it said nothing").trim()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ubuntu_keeps_other_architectures_elsewhere() {
        let ports = ubuntu_ports("http://de.archive.example.org/ubuntu/");
        assert_eq!(ports, "http://ports.example.org/ubuntu-ports/");
        let ports = ubuntu_ports("http://security.example.org/ubuntu");
        assert_eq!(ports, "http://ports.example.org/ubuntu-ports/");
        let mirror = "http://mirror.example.org/ubuntu/";
        assert_eq!(ubuntu_ports(mirror), mirror);
    }

    #[test]
    fn a_damaged_package_goes_and_a_whole_one_stays() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&Cache::at(dir.path().to_owned()), "arm64");
        let folder = store.dir.join("unpacked/p");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("vmlinuz");
        fs::write(&file, "kernel").unwrap();
        sums::write(&folder).unwrap();
        let said = std::cell::RefCell::new(String::new());
        let progress = |line: &str| said.borrow_mut().push_str(line);
        assert!(store.keep_if_whole(&folder, &file, &progress).unwrap());
        fs::write(&file, "kernek").unwrap();
        assert!(!store.keep_if_whole(&folder, &file, &progress).unwrap());
        assert!(!folder.exists());
        assert!(said.into_inner().contains("fetching it again"));
    }

    #[test]
    fn what_a_killed_fetch_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&Cache::at(dir.path().to_owned()), "arm64");
        let left = store.dir.join("partial.1.busybox-static");
        let kept = store.dir.join("unpacked/busybox-static");
        for folder in [&left, &kept] {
            fs::create_dir_all(folder).unwrap();
        }
        store.sweep();
        assert!(!left.exists() && kept.exists());
    }

    #[test]
    fn an_archive_whose_lists_do_not_match_spoils_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&Cache::at(dir.path().join("cache")), "armhf");
        let archive = |name: &str| {
            let at = dir.path().join(name);
            fs::create_dir(&at).unwrap();
            let package = format!("Package: {name}\nVersion: 1\nArchitecture: armhf\n\n");
            fs::write(at.join("Packages"), package).unwrap();
            format!("deb [trusted=yes] file:{} ./\n", at.display())
        };
        let (whole, torn) = (archive("whole"), archive("torn"));
        let of_another = format!("Origin: x\nSHA256:\n {} 7 Packages\n", "0".repeat(64));
        fs::write(dir.path().join("torn/Release"), of_another).unwrap();
        let said = std::cell::RefCell::new(String::new());
        let progress = |line: &str| said.borrow_mut().push_str(line);

        let error = store.read_lists(&torn, &progress).unwrap_err().to_string();
        assert!(error.contains("Failed to fetch"), "{error}");
        assert_eq!(*said.borrow(), "");

        store
            .read_lists(&format!("{whole}{torn}"), &progress)
            .unwrap();
        let said = said.into_inner();
        assert!(said.contains("without some package lists"), "{said}");
        let known = store.apt("apt-cache", &["pkgnames"], dir.path()).unwrap();
        assert_eq!(known.trim(), "whole");
        assert!(!store.updated().exists(), "they are asked for again");

        store.read_lists(&whole, &|_| ()).unwrap();
        assert!(store.updated().exists());
    }

    #[test]
    fn names_cannot_be_paths_or_options() {
        for good in ["linux-image-arm64", "libstdc++6", "0ad", "g++", "arm64"] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "", "..", ".", "-o", "+x", "a/b", "a b", "A", "a\0", "a:b", "é",
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn control_fields() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&Cache::at(dir.path().to_owned()), "arm64");
        let at = dir.path().join("packages/arm64/unpacked/meta");
        fs::create_dir_all(&at).unwrap();
        let control = "Version: 6.1-2\nDepends: linux-image-6.1.0-9-arm64 (= 6.1-2), x | y\n";
        fs::write(at.join(CONTROL), control).unwrap();
        assert_eq!(store.version("meta"), "6.1-2");
        let first = store.first_dependency("meta");
        assert_eq!(first.as_deref(), Some("linux-image-6.1.0-9-arm64"));
        assert_eq!(store.first_dependency("other"), None);
    }
}
