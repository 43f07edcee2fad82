//! A target: the text of its `target.toml`, and the typed view of it.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use toml_edit::{Document, DocumentMut};

use crate::board_model::BoardTable;
use crate::cmdline;
use crate::mistake::Mistake;
use crate::spec::Spec;
use crate::{BoardModel, Edit, Machine, TargetError};

/// What is booted.
#[derive(Clone, Debug)]
pub struct Target {
    /// The folder that holds `target.toml` and that paths in it start from.
    pub dir: PathBuf,
    /// The file that describes it, as it was named.
    pub file: PathBuf,
    /// What boots it.
    pub machine: Machine,
    /// How fast the real board is that it stands for, if it says so.
    pub board: Option<BoardModel>,
    /// The typed description.
    pub spec: Spec,
    /// The description as text.
    pub text: String,
    /// What was changed since the file was read.
    pub edits: Vec<Edit>,
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
        let bytes = fs::read(&file).map_err(|e| TargetError::io("read", &file, e))?;
        let shown = file.display().to_string();
        let text = String::from_utf8(bytes).map_err(|e| TargetError::Spec {
            file: shown.clone(),
            line: line_of(e.as_bytes(), e.utf8_error().valid_up_to()),
            message: "not UTF-8 text; save the file as UTF-8".into(),
        })?;
        // The parent of a bare file name is empty, which no system call takes.
        let dir = file.parent().filter(|d| !d.as_os_str().is_empty());
        Self::parse(dir.unwrap_or(Path::new(".")).to_owned(), text, &shown)
    }

    /// Reads a target from the text of its description.
    ///
    /// # Errors
    /// With `file`, line and mend if the text does not describe a target.
    pub fn parse(dir: PathBuf, text: String, file: &str) -> Result<Self, TargetError> {
        let fail = |offset: usize, message: String| TargetError::Spec {
            file: file.to_owned(),
            line: line_of(text.as_bytes(), offset),
            message,
        };
        // First of all: another format may have other keys.
        if let Some(message) = crate::spec_check::unknown_format(&text) {
            return Err(fail(offset_of(&text, "format"), message));
        }
        let spec: Spec = toml_edit::de::from_str(&text).map_err(|e| {
            let offset = e.span().map_or(0, |span| span.start);
            fail(offset, crate::spec_check::with_mend(e.message()))
        })?;
        let mistake = |wrong: Mistake| fail(offset_of(&text, &wrong.key), wrong.message);
        let machine = crate::spec_check::check(&spec).map_err(mistake)?;
        let board = spec.board.as_ref().map(BoardTable::model).transpose();
        let board = board.map_err(mistake)?;
        Ok(Self {
            dir,
            file: file.into(),
            machine,
            board,
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
            edit.apply(&mut doc).map_err(broken)?;
        }
        let file = self.file.display().to_string();
        let mut changed = Self::parse(self.dir.clone(), doc.to_string(), &file)?;
        changed.edits = self.edits.clone();
        changed.edits.extend_from_slice(edits);
        Ok(changed)
    }

    /// Whether its edits behind the first `known` are of what its parts are: those have to be found
    /// anew then. How an initramfs is packed is, where that is on a disk.
    pub fn has_other_parts(&self, known: usize) -> bool {
        let on_disk = self.spec.disk.is_some() && self.spec.kernel.is_none();
        let is_packing = |edit: &Edit| on_disk && edit.key == "initramfs.compression";
        let mut new = self.edits[known..].iter();
        new.any(|edit| edit.names_parts() || is_packing(edit))
    }

    /// Whether the initramfs and the root may hold what lies at `real`, a path
    /// without links: it is in the target's folder, or `outside` names it.
    pub(crate) fn allows(&self, real: &Path) -> bool {
        let outside = self.spec.outside.iter().map(|o| self.dir.join(o));
        let mut roots = iter::once(self.dir.clone()).chain(outside);
        roots.any(|root| fs::canonicalize(root).is_ok_and(|root| real.starts_with(root)))
    }

    /// Whether it is one file with a name of its own, such as `board.toml`,
    /// and not a folder: what lies beside that file may be anything.
    pub fn is_lone(&self) -> bool {
        self.file.file_name() != Some("target.toml".as_ref())
    }

    /// What to name it by in a command: its folder, or its lone file.
    pub fn typed(&self) -> &Path {
        if self.is_lone() {
            &self.file
        } else {
            &self.dir
        }
    }

    /// The identity of the description: SHA-256 in hex.
    pub fn sha256(&self) -> String {
        crate::cache::sha256(self.text.as_bytes())
    }

    /// The speed of the serial console in baud, as the kernel's command line
    /// says it.
    pub fn console_baud(&self) -> Option<u32> {
        cmdline::console_baud(&self.spec.kernel.as_ref()?.cmdline)
    }
}

/// The number of the line that holds the byte at `offset`, from 1.
fn line_of(text: &[u8], offset: usize) -> usize {
    let before = &text[..offset.min(text.len())];
    before.iter().filter(|b| **b == b'\n').count() + 1
}

/// Where the value of a dotted key stands in `text`, or of the nearest table
/// above it. A number is an index: `mark.0.pattern`.
fn offset_of(text: &str, key: &str) -> usize {
    let Ok(doc) = Document::parse(text) else {
        return 0;
    };
    let mut item = doc.as_item();
    let mut offset = 0;
    for name in key.split('.') {
        let next = match name.parse::<usize>() {
            Ok(index) => item.get(index),
            Err(_) => item.get(name),
        };
        let Some(next) = next else { break };
        offset = next.span().map_or(offset, |span| span.start);
        item = next;
    }
    offset
}

#[cfg(test)]
pub(crate) mod tests;
