//! What evidence is called in reports.
//!
//! A report is handed on, so it does not tell where on somebody's disk the
//! evidence lay: whole paths are cut to what they do not share. Paths that were
//! typed relative to the current folder stay as they were typed.

use std::path::{Path, PathBuf};

use super::Recorded;

/// The folder that whole paths are told from.
pub(crate) struct Names {
    base: Option<PathBuf>,
}

impl Names {
    /// For what was given.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let whole = paths.iter().filter(|path| path.is_absolute());
        let above = whole.filter_map(|path| path.parent().map(Path::to_owned));
        Self {
            base: above.reduce(|a, b| shared(&a, &b)),
        }
    }

    /// What to call `path`.
    pub(crate) fn short(&self, path: &str) -> String {
        let rest = self
            .base
            .as_ref()
            .and_then(|base| Path::new(path).strip_prefix(base).ok());
        match rest {
            Some(rest) if !rest.as_os_str().is_empty() => rest.display().to_string(),
            _ => path.to_owned(),
        }
    }

    /// What to call what was given alone.
    pub(crate) fn alone(path: &Path) -> String {
        Self::of(&[path.to_owned()]).short(&path.display().to_string())
    }

    /// Renames what was read from `paths`.
    pub(crate) fn shorten(&self, recorded: &mut Recorded, paths: &[PathBuf]) {
        if self.base.is_none() {
            return;
        }
        for file in &mut recorded.timeline.files {
            file.name = self.short(&file.name);
        }
        let about = &mut recorded.about;
        about.target = self.short(&about.target);
        let names = paths
            .iter()
            .map(|path| self.short(&path.display().to_string()));
        about.run = names.collect::<Vec<String>>().join(" ");
    }
}

/// The folder that both paths are in.
fn shared(a: &Path, b: &Path) -> PathBuf {
    let both = a.components().zip(b.components());
    both.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(given: &[&str], path: &str) -> String {
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        Names::of(&given).short(path)
    }

    #[test]
    fn whole_paths_are_told_from_what_they_share() {
        let (a, b) = ("/home/alice/secret/a/dmesg.txt", "/home/alice/secret/b.log");
        assert_eq!(short(&[a], a), "dmesg.txt");
        assert_eq!(short(&[a, b], a), "a/dmesg.txt");
        assert_eq!(short(&[a, b], b), "b.log");
        // A folder keeps its own name.
        assert_eq!(
            short(&["/srv/logs/boot"], "/srv/logs/boot/x/y.gz/z"),
            "boot/x/y.gz/z"
        );
        assert_eq!(short(&["logs/a.log", a], "logs/a.log"), "logs/a.log");
        assert_eq!(short(&["/"], "/"), "/");
        assert_eq!(short(&["-"], "-"), "-");
    }
}
