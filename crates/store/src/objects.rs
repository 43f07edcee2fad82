//! Bytes under names, where several machines see them: in a folder, or in whatever
//! `bootlap-remote` reaches (S3, GCS, Azure, HTTP).

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use bootlap_product::whole_file::replace;

use crate::error::{StoreError, failed};
use crate::names::used_now;

/// The program that speaks to other servers.
const HELPER: &str = "bootlap-remote";

/// A place for objects.
#[derive(Debug)]
pub(crate) struct Objects {
    place: Place,
}

#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Remote {
        url: String,
        /// Those that nobody speaks to now.
        idle: Mutex<Vec<Helper>>,
    },
}

impl Objects {
    /// A folder, or a URL.
    pub(crate) fn at(place: &str) -> Self {
        let place = match place.strip_prefix("file://") {
            None if place.contains("://") => Place::Remote {
                url: place.trim_end_matches('/').to_owned(),
                idle: Mutex::default(),
            },
            folder => Place::Folder(folder.unwrap_or(place).into()),
        };
        Self { place }
    }

    /// Where an object is, for people and for other machines.
    pub(crate) fn show(&self, name: &str) -> String {
        match &self.place {
            Place::Folder(dir) => dir.join(name).display().to_string(),
            Place::Remote { url, .. } => format!("{url}/{name}"),
        }
    }

    /// An object's bytes; `None` if it is not there.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match &self.place {
            Place::Folder(dir) => match fs::read(dir.join(name)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(e),
            },
            Place::Remote { .. } => self.ask(&format!("get {name}"), &[]),
        }
        .map_err(|e| self.failed("read", name, e))
    }

    /// Whether an object is there.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub(crate) fn has(&self, name: &str) -> Result<bool, StoreError> {
        match &self.place {
            Place::Folder(dir) => dir.join(name).try_exists(),
            Place::Remote { .. } => self.ask(&format!("has {name}"), &[]).map(|f| f.is_some()),
        }
        .map_err(|e| self.failed("read", name, e))
    }

    /// Writes an object; readers find it whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match &self.place {
            Place::Folder(dir) => into(&dir.join(name), |path| {
                replace(path, |file| file.write_all(bytes))
            }),
            Place::Remote { .. } => {
                let asked = self.ask(&format!("put {} {name}", bytes.len()), bytes);
                asked.map(drop)
            }
        }
        .map_err(|e| self.failed("write", name, e))
    }

    /// Writes an object unless it is there: names say what the bytes are.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(crate) fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.is_used(name)? {
            true => Ok(()),
            false => self.put(name, bytes),
        }
    }

    /// The same with a file's content.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(crate) fn put_file(&self, name: &str, from: &Path) -> Result<(), StoreError> {
        if self.is_used(name)? {
            return Ok(());
        }
        match &self.place {
            Place::Folder(dir) => into(&dir.join(name), |path| copy(from, path)),
            Place::Remote { .. } => {
                let bytes = fs::read(from).map_err(|e| failed("read", from, e))?;
                return self.put(name, &bytes);
            }
        }
        .map_err(|e| self.failed("write", name, e))
    }

    /// Copies an object into a file; whether it was there.
    ///
    /// # Errors
    /// If it cannot be read, or the file not written.
    pub(crate) fn get_file(&self, name: &str, to: &Path) -> Result<bool, StoreError> {
        if let Place::Folder(dir) = &self.place {
            let from = dir.join(name);
            if !from.exists() {
                return Ok(false);
            }
            return into(to, |to| copy(&from, to))
                .map(|()| true)
                .map_err(|e| failed("write", to, e));
        }
        let Some(bytes) = self.get(name)? else {
            return Ok(false);
        };
        let written = into(to, |to| fs::write(to, bytes));
        written.map(|()| true).map_err(|e| failed("write", to, e))
    }

    /// Takes an object away, or does nothing if that cannot be done.
    pub(crate) fn remove(&self, name: &str) {
        match &self.place {
            Place::Folder(dir) => drop(fs::remove_file(dir.join(name))),
            Place::Remote { .. } => drop(self.ask(&format!("remove {name}"), &[])),
        }
    }

    /// Whether an object is there, which then stays for longer.
    fn is_used(&self, name: &str) -> Result<bool, StoreError> {
        let is = self.has(name)?;
        if let (true, Place::Folder(dir)) = (is, &self.place) {
            used_now(&dir.join(name));
        }
        Ok(is)
    }

    fn failed(&self, action: &'static str, name: &str, source: io::Error) -> StoreError {
        StoreError {
            action,
            path: self.show(name),
            source,
        }
    }

    /// Asks a helper. As many run as there are threads that ask at once; who breaks is
    /// not asked again.
    fn ask(&self, request: &str, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Place::Remote { url, idle } = &self.place else {
            return Ok(None);
        };
        let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let mut helper = match free {
            Some(helper) => helper,
            None => Helper::start(url)?,
        };
        let answer = helper.ask(request, bytes)?;
        idle().push(helper);
        answer.map_err(io::Error::other)
    }
}

/// Writes a file in a folder that need not be there.
fn into(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    write(path)
}

/// Copies a file in one step.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    replace(to, |to| io::copy(&mut from, to).map(drop))
}

/// A running `bootlap-remote`; it ends when its input does.
#[derive(Debug)]
struct Helper {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// What a helper may say: bytes, nothing, or why neither.
type Answer = Result<Option<Vec<u8>>, String>;

impl Helper {
    fn start(url: &str) -> io::Result<Self> {
        let beside = env::current_exe()
            .ok()
            .map(|own| own.with_file_name(HELPER));
        let program = beside.filter(|path| path.is_file());
        let program = program.unwrap_or_else(|| HELPER.into());
        let child = Command::new(program)
            .arg(url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => io::Error::other(format!(
                "{HELPER} is not installed: `cargo build --release -p {HELPER}`, and put it \
                 beside bootlap"
            )),
            _ => e,
        })?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        Ok(Self {
            requests: Some(child.stdin.take().ok_or_else(gone)?),
            answers: BufReader::new(child.stdout.take().ok_or_else(gone)?),
            child,
        })
    }

    fn ask(&mut self, request: &str, bytes: &[u8]) -> io::Result<Answer> {
        let gone = || io::Error::other(format!("{HELPER} has ended"));
        let requests = self.requests.as_mut().ok_or_else(gone)?;
        requests.write_all(format!("{request}\n").as_bytes())?;
        requests.write_all(bytes)?;
        requests.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let line = line.trim_end();
        if let Some(why) = line.strip_prefix("failed ") {
            return Ok(Err(why.to_owned()));
        }
        if line == "none" {
            return Ok(Ok(None));
        }
        let len = line.strip_prefix("ok ").and_then(|len| len.parse().ok());
        let len: u64 = len.ok_or_else(gone)?;
        let mut bytes = Vec::new();
        (&mut self.answers).take(len).read_to_end(&mut bytes)?;
        match bytes.len() as u64 == len {
            true => Ok(Ok(Some(bytes))),
            false => Err(gone()),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_what_was_put_there() {
        let dir = tempfile::tempdir().unwrap();
        let objects = Objects::at(dir.path().to_str().unwrap());
        assert_eq!(objects.get("a/b").unwrap(), None);
        objects.put("a/b", b"one").unwrap();
        objects.put_new("a/b", b"two").unwrap();
        assert_eq!(objects.get("a/b").unwrap().unwrap(), b"one");
        let file = dir.path().join("file");
        assert!(objects.get_file("a/b", &file).unwrap());
        assert!(!objects.get_file("a/c", &file).unwrap());
        objects.put_file("d", &file).unwrap();
        assert!(objects.has("d").unwrap());
        objects.remove("d");
        assert!(!objects.has("d").unwrap());
    }

    #[test]
    fn places_are_shown_as_other_machines_find_them() {
        let show = |place| Objects::at(place).show("boots/x");
        assert_eq!(show("/srv/boots"), "/srv/boots/boots/x");
        assert_eq!(show("file:///srv"), "/srv/boots/x");
        assert_eq!(show("s3://bucket/team/"), "s3://bucket/team/boots/x");
    }
}
