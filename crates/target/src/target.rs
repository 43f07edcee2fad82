//! A target: the text of its `target.toml`, and the typed view of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml_edit::{Document, DocumentMut, Item, Table, Value};

use crate::spec::Spec;
use crate::{Assembly, Cache, Parts, Progress, TargetError};

/// What is booted.
#[derive(Clone, Debug)]
pub struct Target {
    /// The folder that holds `target.toml` and that paths in it start from.
    pub dir: PathBuf,
    /// The typed description.
    pub spec: Spec,
    /// The description as text.
    pub text: String,
    /// What was changed since the file was read.
    pub edits: Vec<Edit>,
}

/// One change of a `target.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The dotted path of the key, e.g. `bootloader.environment.bootdelay`.
    pub key: String,
    /// Its new value.
    pub value: String,
}

impl Edit {
    /// Sets `key` to the text `value`.
    pub fn set(key: &str, value: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
        }
    }
}

impl Target {
    /// Reads a target from its folder or its `target.toml`.
    ///
    /// # Errors
    /// If there is no such file, or with file, line and mend if it does not
    /// describe a target.
    pub fn load(path: &Path) -> Result<Self, TargetError> {
        let file = if path.is_dir() {
            path.join("target.toml")
        } else {
            path.to_owned()
        };
        let text = fs::read_to_string(&file).map_err(|e| TargetError::io("read", &file, e))?;
        let dir = file.parent().unwrap_or(Path::new(".")).to_owned();
        Self::parse(dir, text, &file.display().to_string())
    }

    /// Reads a target from the text of its description.
    ///
    /// # Errors
    /// With `file`, line and mend if the text does not describe a target.
    pub fn parse(dir: PathBuf, text: String, file: &str) -> Result<Self, TargetError> {
        let fail = |offset: usize, message: String| TargetError::Spec {
            file: file.to_owned(),
            line: text[..offset.min(text.len())].matches('\n').count() + 1,
            message,
        };
        let spec: Spec = toml_edit::de::from_str(&text).map_err(|e| {
            let offset = e.span().map_or(0, |span| span.start);
            fail(offset, e.message().replace('\n', "; "))
        })?;
        if let Some((key, message)) = crate::spec_check::check(&spec) {
            return Err(fail(offset_of(&text, key), message));
        }
        Ok(Self {
            dir,
            spec,
            text,
            edits: Vec::new(),
        })
    }

    /// The target with some keys changed; comments and order stay.
    ///
    /// # Errors
    /// If the changed description is not a valid one.
    pub fn with(&self, edits: &[Edit]) -> Result<Self, TargetError> {
        let broken = |why: String| TargetError::Recipe(format!("{}: {why}", self.spec.name));
        let mut doc: DocumentMut = self.text.parse().map_err(|e| broken(format!("{e}")))?;
        for edit in edits {
            set(&mut doc, edit);
        }
        let file = self.dir.join("target.toml").display().to_string();
        let mut changed = Self::parse(self.dir.clone(), doc.to_string(), &file)?;
        changed.edits = self.edits.clone();
        changed.edits.extend_from_slice(edits);
        Ok(changed)
    }

    /// The identity of the description: SHA-256 in hex.
    pub fn sha256(&self) -> String {
        crate::cache::sha256(self.text.as_bytes())
    }

    /// Finds the parts, fetching packages if need be.
    ///
    /// # Errors
    /// If a part is missing or cannot be had.
    pub fn parts(&self, cache: &Cache, progress: Progress<'_>) -> Result<Parts, TargetError> {
        Parts::resolve(self, cache, progress)
    }

    /// Puts the parts together into what a machine boots.
    ///
    /// # Errors
    /// If parts are broken or do not fit together.
    pub fn assemble(
        &self,
        parts: &Parts,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Assembly, TargetError> {
        crate::assemble::assemble(self, parts, cache, progress)
    }

    /// Writes the target, as changed, to a new folder.
    ///
    /// # Errors
    /// If the folder exists already, or cannot be written.
    pub fn write_to(&self, dir: &Path) -> Result<(), TargetError> {
        if dir.exists() {
            return Err(TargetError::Recipe(format!(
                "{} exists already: name a new folder with -o, nothing is written over",
                dir.display()
            )));
        }
        copy_folder(&self.dir, dir)?;
        let file = dir.join("target.toml");
        fs::write(&file, &self.text).map_err(|e| TargetError::io("write", &file, e))
    }
}

/// Where the value of a dotted key stands in `text`, or of the nearest table
/// above it.
fn offset_of(text: &str, key: &str) -> usize {
    let Ok(doc) = Document::parse(text) else {
        return 0;
    };
    let mut item = doc.as_item();
    let mut offset = 0;
    for name in key.split('.') {
        let Some(next) = item.get(name) else { break };
        offset = next.span().map_or(offset, |span| span.start);
        item = next;
    }
    offset
}

fn set(doc: &mut DocumentMut, edit: &Edit) {
    let mut names: Vec<&str> = edit.key.split('.').collect();
    let last = names.pop().unwrap_or_default();
    let mut table: &mut Table = doc.as_table_mut();
    for name in names {
        let item = table
            .entry(name)
            .or_insert_with(|| Item::Table(Table::new()));
        if !item.is_table() {
            return; // the description is then rejected or unchanged when parsed
        }
        table = item.as_table_mut().expect("just checked");
    }
    let decor = table
        .get(last)
        .and_then(Item::as_value)
        .map(|v| v.decor().clone());
    let mut value = Value::from(edit.value.as_str());
    if let Some(decor) = decor {
        *value.decor_mut() = decor;
    }
    table.insert(last, Item::Value(value));
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), TargetError> {
    fs::create_dir_all(to).map_err(|e| TargetError::io("create", to, e))?;
    let entries = fs::read_dir(from).map_err(|e| TargetError::io("read", from, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| TargetError::io("read", from, e))?;
        let (source, dest) = (entry.path(), to.join(entry.file_name()));
        let kind = entry
            .file_type()
            .map_err(|e| TargetError::io("read", &source, e))?;
        if kind.is_dir() {
            copy_folder(&source, &dest)?;
        } else if kind.is_symlink() {
            let points_to =
                fs::read_link(&source).map_err(|e| TargetError::io("read", &source, e))?;
            std::os::unix::fs::symlink(points_to, &dest)
                .map_err(|e| TargetError::io("write", &dest, e))?;
        } else {
            fs::copy(&source, &dest).map_err(|e| TargetError::io("copy", &source, e))?;
        }
    }
    Ok(())
}
