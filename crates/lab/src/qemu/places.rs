//! Where the files of a boot are on this host, and names for them that are the same
//! on every host.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The files of a boot; each is empty if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The target's folder, `{dir}`.
    pub dir: String,
    /// The disk that was made of the target's root, `{root}`.
    pub root: String,
    /// The image that the target boots from, `{disk}`.
    pub disk: String,
}

impl Places {
    /// The same with all of it below a folder.
    pub fn below(dir: &Path) -> Self {
        let at = |name| dir.join(name).display().to_string();
        Self {
            dir: at("target"),
            root: at("root"),
            disk: at("disk"),
        }
    }

    fn files(&self) -> [(&'static str, &str); 2] {
        [("{root}", &self.root), ("{disk}", &self.disk)]
    }

    /// What a path is called on every host; its own name if it is none of these.
    pub fn named(&self, path: &str) -> String {
        for (name, place) in self.files() {
            if !place.is_empty() && path == place {
                return name.to_owned();
            }
        }
        match path.strip_prefix(&self.dir) {
            Some(rest) if !self.dir.is_empty() && rest.starts_with('/') => format!("{{dir}}{rest}"),
            _ => path.to_owned(),
        }
    }

    /// Where the file that is called so is on this host.
    pub fn real(&self, name: &str) -> PathBuf {
        if let Some((_, place)) = self.files().iter().find(|(n, _)| *n == name) {
            return place.into();
        }
        match name.strip_prefix("{dir}") {
            Some(rest) => format!("{}{rest}", self.dir).into(),
            None => name.into(),
        }
    }

    /// An argument of QEMU with its names filled in.
    pub(super) fn filled(&self, arg: &str) -> String {
        arg.replace("{dir}", &self.dir)
            .replace("{root}", &self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places_are_each_others_inverse() {
        let places = Places {
            dir: "/home/me/kiosk".into(),
            root: "/cache/root.ext4".into(),
            disk: "/srv/vm.img".into(),
        };
        for (path, name) in [
            ("/home/me/kiosk/a/b", "{dir}/a/b"),
            ("/home/me/kiosk2/a", "/home/me/kiosk2/a"),
            ("/cache/root.ext4", "{root}"),
            ("/srv/vm.img", "{disk}"),
            ("/usr/share/OVMF", "/usr/share/OVMF"),
        ] {
            assert_eq!(places.named(path), name);
            assert_eq!(places.real(name), Path::new(path));
        }
        assert_eq!(
            places.filled("file={root},x={dir}/y"),
            "file=/cache/root.ext4,x=/home/me/kiosk/y"
        );
        assert_eq!(Places::default().named(""), "");
    }
}
