//! Who has made a boot: signatures with SSH keys, which people have, by `ssh-keygen`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What is signed is a kept boot, and nothing else that bears the same key.
const NAMESPACE: &str = "bootlap-boot";

/// Signs with a private key, or a public one whose private one the agent has.
#[derive(Clone, Debug)]
pub struct Signer {
    key: PathBuf,
}

impl Signer {
    /// With the key in this file.
    pub fn new(key: impl Into<PathBuf>) -> Self {
        Self { key: key.into() }
    }

    /// The signature of these bytes.
    ///
    /// # Errors
    /// If there is no such key, or no `ssh-keygen`.
    pub fn sign(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut command = keygen("sign");
        command.arg("-f").arg(&self.key);
        let out = run(&mut command, bytes)?;
        match out.status.success() {
            true => Ok(out.stdout),
            false => Err(said(&out)),
        }
    }
}

/// Whose boots are taken: a file as `ssh-keygen(1)` describes it under ALLOWED SIGNERS.
#[derive(Clone, Debug)]
pub struct Signers {
    allowed: PathBuf,
}

impl Signers {
    /// Those in this file.
    pub fn new(allowed: impl Into<PathBuf>) -> Self {
        Self {
            allowed: allowed.into(),
        }
    }

    /// Which of them has signed these bytes.
    ///
    /// # Errors
    /// If it was none of them.
    pub fn who(&self, bytes: &[u8], signature: &[u8]) -> io::Result<String> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(signature)?;
        let found = self.ask("find-principals", file.path(), None, b"")?;
        let who = String::from_utf8_lossy(&found.stdout);
        let who = who.lines().next().unwrap_or_default();
        if !found.status.success() || who.is_empty() {
            return Err(said(&found));
        }
        let verified = self.ask("verify", file.path(), Some(who), bytes)?;
        match verified.status.success() {
            true => Ok(who.to_owned()),
            false => Err(said(&verified)),
        }
    }

    fn ask(
        &self,
        what: &str,
        signature: &Path,
        who: Option<&str>,
        bytes: &[u8],
    ) -> io::Result<Output> {
        let mut command = keygen(what);
        command
            .arg("-f")
            .arg(&self.allowed)
            .arg("-s")
            .arg(signature);
        if let Some(who) = who {
            command.args(["-I", who]);
        }
        run(&mut command, bytes)
    }
}

fn keygen(what: &str) -> Command {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", what, "-n", NAMESPACE]);
    command
}

fn run(command: &mut Command, bytes: &[u8]) -> io::Result<Output> {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            io::Error::other("ssh-keygen is not installed (apt-get install openssh-client)")
        }
        _ => e,
    })?;
    if let Some(mut input) = child.stdin.take() {
        // One that fails does not read to the end, and says why.
        let _ = input.write_all(bytes);
    }
    child.wait_with_output()
}

fn said(out: &Output) -> io::Error {
    let said = [&out.stderr, &out.stdout].map(|s| String::from_utf8_lossy(s).into_owned());
    let said = said.join(" ");
    let said: Vec<&str> = said.split_whitespace().collect();
    io::Error::other(format!("ssh-keygen says: {}", said.join(" ")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A key pair: its file, and its line among allowed signers.
    fn key(dir: &Path, name: &str) -> (PathBuf, String) {
        let path = dir.join(name);
        let mut command = Command::new("ssh-keygen");
        command
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&path);
        assert!(command.status().unwrap().success());
        let public = fs::read_to_string(path.with_extension("pub")).unwrap();
        (path, format!("{name}@team {public}"))
    }

    #[test]
    fn only_what_an_allowed_signer_has_signed_is_theirs() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, line) = key(dir.path(), "ci");
        let (theirs, _) = key(dir.path(), "mallory");
        let allowed = dir.path().join("allowed");
        fs::write(&allowed, line).unwrap();
        let signers = Signers::new(&allowed);
        let signature = Signer::new(&ours).sign(b"boot").unwrap();
        assert_eq!(signers.who(b"boot", &signature).unwrap(), "ci@team");
        assert!(signers.who(b"other", &signature).is_err());
        let signature = Signer::new(&theirs).sign(b"boot").unwrap();
        assert!(signers.who(b"boot", &signature).is_err());
        assert!(signers.who(b"boot", b"nonsense").is_err());
        assert!(Signer::new(dir.path().join("none")).sign(b"boot").is_err());
    }
}
