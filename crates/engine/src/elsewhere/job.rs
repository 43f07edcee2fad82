//! A job: one boot with all that it takes, for a machine that has nothing of it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use bootlap_lab::{Inputs, Manifest, Places, Qemu, QemuSettings};
use bootlap_product::{Blob, Boot, sha256, sha256_of_file};
use bootlap_store::{Exchange, StoreError};
use serde::{Deserialize, Serialize};

/// The version of what a job says.
pub(super) const FORMAT: u32 = 1;

/// One boot. Bytes are named by their SHA-256, and are in the exchange.
#[derive(Serialize, Deserialize)]
pub(super) struct BootJob {
    pub(super) format: u32,
    /// The version of bootlap that wants it.
    pub(super) bootlap: String,
    /// What it depends on, as it is where it is wanted.
    pub(super) inputs: Inputs,
    settings: QemuSettings,
    boot: Boot<BlobName>,
    /// By what `Places` call them: the files that QEMU's arguments name.
    files: BTreeMap<String, String>,
    /// What is known of it before.
    pub(super) manifest: Manifest,
    /// How long it may take.
    pub(super) patience_ms: u64,
}

/// A blob without its bytes.
#[derive(Clone, Serialize, Deserialize)]
struct BlobName {
    name: String,
    offset: u64,
    sha256: String,
}

/// Where a job's file that is called so is put, if it may be.
fn path(places: &Places, name: &str) -> Option<PathBuf> {
    let known = match name.strip_prefix("{dir}/") {
        Some(rest) => is_inside(rest),
        None => matches!(name, "{root}" | "{disk}"),
    };
    known.then(|| places.real(name))
}

impl BootJob {
    /// What `machine` will boot; all of it is put into the exchange.
    pub(super) fn send(
        machine: &Qemu,
        inputs: &Inputs,
        manifest: &Manifest,
        patience_ms: u64,
        exchange: &Exchange,
    ) -> Result<Self, StoreError> {
        let boot = machine.boot().map(&mut |blob| {
            exchange.put_blob(blob.sha256(), &blob.bytes)?;
            Ok::<_, StoreError>(BlobName {
                name: blob.name.clone(),
                offset: blob.offset,
                sha256: blob.sha256().to_owned(),
            })
        })?;
        let mut files = BTreeMap::new();
        for (name, path) in machine.settings().files() {
            if !name.strip_prefix("{dir}/").is_none_or(is_inside) {
                continue;
            }
            // One that cannot be read is missed there, and told.
            if let Ok((sha256, _)) = sha256_of_file(&path) {
                exchange.put_file(&sha256, &path)?;
                files.insert(name, sha256);
            }
        }
        Ok(Self {
            format: FORMAT,
            bootlap: manifest.bootlap.clone(),
            inputs: inputs.clone(),
            // Where it is wanted is nobody's business there.
            settings: QemuSettings {
                places: Places::default(),
                ..machine.settings().clone()
            },
            boot,
            files,
            manifest: manifest.clone(),
            patience_ms,
        })
    }

    /// The machine that boots it here, with its files in `places`.
    pub(super) fn receive(&self, exchange: &Exchange, places: &Places) -> Result<Qemu, String> {
        let boot = self.boot.map(&mut |name| {
            is_hash(&name.sha256)?;
            let bytes = exchange.blob(&name.sha256).map_err(|e| e.to_string())?;
            let bytes = bytes.ok_or_else(|| missing(&name.sha256))?;
            match sha256(&bytes) == name.sha256 {
                true => Ok(Blob::new(&name.name, name.offset, bytes)),
                false => Err(damaged(&name.sha256)),
            }
        })?;
        for (name, sha256) in &self.files {
            is_hash(sha256)?;
            let path = path(places, name);
            let path = path.ok_or_else(|| format!("it has a file called {name}"))?;
            let copied = exchange.blob_to(sha256, &path);
            if !copied.map_err(|e| e.to_string())? {
                return Err(missing(sha256));
            }
            if !sha256_of_file(&path).is_ok_and(|(is, _)| is == *sha256) {
                return Err(damaged(sha256));
            }
        }
        let there = |name: &str, place: &str| match self.files.contains_key(name) {
            true => place.to_owned(),
            false => String::new(),
        };
        let settings = QemuSettings {
            places: Places {
                dir: places.dir.clone(),
                root: there("{root}", &places.root),
                disk: there("{disk}", &places.disk),
            },
            ..self.settings.clone()
        };
        Ok(Qemu::new(settings, boot))
    }
}

/// Names of blobs become paths.
fn is_hash(text: &str) -> Result<(), String> {
    let is = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is.then_some(())
        .ok_or_else(|| format!("{text:?} is no part of a job"))
}

fn missing(sha256: &str) -> String {
    format!(
        "a part of it is not there any more: blobs/{}/{sha256}",
        &sha256[..2]
    )
}

fn damaged(sha256: &str) -> String {
    format!("a part of it is damaged: blobs/{}/{sha256}", &sha256[..2])
}

/// Whether a relative path stays in its folder.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_job_stay_in_its_folder() {
        let places = Places::below(Path::new("/tmp/job"));
        let at = |name| path(&places, name).map(|path| path.display().to_string());
        assert_eq!(
            at("{dir}/a/card.img").unwrap(),
            "/tmp/job/target/a/card.img"
        );
        assert_eq!(at("{root}").unwrap(), "/tmp/job/root");
        for name in ["{dir}/../x", "{dir}//etc/x", "/etc/x", "x", "{root}/x"] {
            assert_eq!(at(name), None, "{name}");
        }
        assert!(is_hash(&sha256(b"")).is_ok());
        assert!(is_hash("../../../etc/passwd").is_err() && is_hash("é").is_err());
    }
}
