//! Recipes of the user's own: a TOML file that says what to change.
//!
//! ```toml
//! name = "fonts-later"
//! title = "the font list is made after the application"
//! risk = "a page without its fonts for the first second"
//! append = "loglevel=3"                       # words for the kernel's command line
//!
//! [set]                                       # keys of target.toml
//! "initramfs.compression" = "lz4"
//!
//! [files]                                     # place in the initramfs = file beside this one
//! "/etc/init.d/S50fonts" = "S50fonts-later"
//! ```
//!
//! Such a recipe is tried, tuned and applied like those of the catalogue, so
//! what a team knows of its product is proved in the same way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml_edit::Key;

use super::{Choice, Recipe, RecipeMeta, all};
use crate::cmdline;
use crate::{Edit, Parts, Target, TargetError};

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    risk: String,
    #[serde(default)]
    append: String,
    /// Folders and files beyond the recipe's own folder that `files` may name.
    #[serde(default)]
    outside: Vec<String>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// A recipe that was read from a file.
struct Own {
    meta: &'static RecipeMeta,
    append: String,
    edits: Vec<Edit>,
}

impl Recipe for Own {
    fn meta(&self) -> &RecipeMeta {
        self.meta
    }

    fn edits(&self, target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
        let mut edits = self.edits.clone();
        if !self.append.is_empty() {
            let kernel = target.spec.kernel.as_ref();
            let line = &kernel
                .ok_or("the target does not say its kernel.cmdline; add it")?
                .cmdline;
            let with = cmdline::with_missing(line, &self.append);
            if with != *line {
                edits.push(Edit::set("kernel.cmdline", with));
            }
        }
        let changed = target.with(&edits).map_err(|e| e.to_string())?;
        match changed.text == target.text {
            true => Err("all that it sets is so already".into()),
            false => Ok(edits),
        }
    }
}

/// Whether what was typed names a file and not a recipe of the catalogue.
pub(super) fn is_file(typed: &str) -> bool {
    let name = typed.split('=').next().unwrap_or(typed);
    // The value of one of the catalogue may be a path.
    let known = all().iter().any(|r| r.meta().name == name);
    !known && (typed.ends_with(".toml") || typed.contains('/'))
}

/// Reads a recipe from a file.
pub(super) fn read(path: &Path) -> Result<Choice, TargetError> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|e| TargetError::io("read", path, e))?;
    let wrong = |line: usize, message: String| TargetError::Spec {
        file: shown.to_string(),
        line,
        message,
    };
    let written: Written = toml_edit::de::from_str(&text).map_err(|e| {
        let at = e.span().map_or(0, |span| span.start);
        let line = text[..at].bytes().filter(|b| *b == b'\n').count() + 1;
        let mend = "a recipe has name, title, risk, append, outside, [set] and [files]";
        wrong(line, format!("{}; {mend}", e.message().trim()))
    })?;
    check_name(&written.name).map_err(|why| wrong(1, why))?;
    let dir = fs::canonicalize(path).map_err(|e| TargetError::io("read", path, e))?;
    let dir = dir.parent().unwrap_or(Path::new("/"));
    let mut edits: Vec<Edit> = Vec::new();
    for (key, value) in &written.set {
        edits.push(Edit::set(key, value));
    }
    for (place, named) in &written.files {
        let file = dir.join(named);
        let real = fs::canonicalize(&file).map_err(|e| TargetError::io("read", &file, e))?;
        let real = real
            .to_str()
            .ok_or_else(|| wrong(1, format!("{} has a name that is no text", file.display())))?;
        let outside = written
            .outside
            .iter()
            .map(|o| fs::canonicalize(dir.join(o)));
        let allowed = outside.flatten().any(|o| Path::new(real).starts_with(o));
        if !allowed && !Path::new(real).starts_with(dir) {
            let why = format!(
                "{real} lies outside of the recipe's folder: copy it there; or, if the recipe is \
                 yours to trust, write outside = [{named:?}] in front of [files]"
            );
            return Err(wrong(1, why));
        }
        let key = format!("initramfs.files.{}", Key::new(place.as_str()));
        edits.push(Edit::set(&key, real));
        edits.push(Edit::allow(real));
    }
    if edits.is_empty() && written.append.trim().is_empty() {
        return Err(wrong(
            1,
            "it changes nothing: add append, [set] or [files]".into(),
        ));
    }
    let title = match written.title.as_str() {
        "" => format!("{shown}"),
        title => title.to_owned(),
    };
    let meta = RecipeMeta {
        name: forever(written.name),
        title: forever(title),
        risk: forever(written.risk),
        values: &[],
    };
    let own = Own {
        meta: Box::leak(Box::new(meta)),
        append: written.append,
        edits,
    };
    Ok(Choice {
        recipe: Box::leak(Box::new(own)),
        value: String::new(),
    })
}

/// The catalogue lives as long as the program, and so do the few recipes that
/// a command is given.
fn forever(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Its name stands in tables, folder names and on command lines.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) || name.len() > 60 {
        return Err(format!(
            "name = {name:?}: use up to 60 letters, digits, - _ and ."
        ));
    }
    if all().iter().any(|r| r.meta().name == name) {
        return Err(format!(
            "name = {name:?}: the catalogue has a recipe of that name; take another one"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::kiosk;

    fn written(dir: &Path, text: &str) -> Result<Choice, TargetError> {
        let path = dir.join("own.toml");
        fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn a_file_sets_keys_appends_words_and_replaces_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("script"), "#!/bin/sh\n").unwrap();
        let text = "name = \"later\"\nappend = \"quiet loglevel=3\"\n[set]\n\
                    \"initramfs.compression\" = \"lz4\"\n[files]\n\
                    \"/etc/init.d/S50fonts\" = \"script\"\n";
        let choice = written(dir.path(), text).unwrap();
        assert_eq!(choice.name(), "later");
        let target = kiosk();
        let parts = Parts::default();
        let once = choice.apply(&target, &parts).unwrap();
        let spec = &once.spec;
        let cmdline = &spec.kernel.as_ref().unwrap().cmdline;
        assert!(cmdline.ends_with(" quiet loglevel=3"), "{cmdline}");
        let files = &spec.initramfs.as_ref().unwrap().files;
        assert!(files["/etc/init.d/S50fonts"].ends_with("/script"));
        let twice = choice.apply(&once, &parts).unwrap_err();
        assert!(twice.to_string().contains("so already"), "{twice}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let why = |text: &str| match written(dir.path(), text) {
            Ok(_) => panic!("{text} was taken"),
            Err(e) => e.to_string(),
        };
        let said = why("name = \"x\"\ntitel = \"y\"\n");
        assert!(
            said.contains("own.toml:2: ") && said.contains("title"),
            "{said}"
        );
        assert!(why("name = \"x\"\n").contains("changes nothing"));
        assert!(why("name = \"cmdline-quiet\"\nappend=\"a\"").contains("catalogue"));
        assert!(why("name = \"../x\"\nappend=\"a\"").contains("letters"));
        let said = why("name = \"x\"\n[files]\n\"/a\" = \"nowhere\"\n");
        assert!(said.contains("nowhere"), "{said}");
    }
}
