//! `targets/kiosk`, carried inside the program, for `bootlap demo` where there is no clone.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

macro_rules! files {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../../../targets/kiosk/", $path)))),*]
    };
}

/// Each file below the target's folder.
const FILES: [(&str, &str); 11] = files![
    "target.toml"
    "initramfs/init"
    "initramfs/etc/init.d/rcS"
    "initramfs/etc/init.d/S10devices"
    "initramfs/etc/init.d/S20logging"
    "initramfs/etc/init.d/S30sysinfo"
    "initramfs/etc/init.d/S40network"
    "initramfs/etc/init.d/S50fonts"
    "initramfs/etc/init.d/S90kiosk"
    "initramfs/srv/www/index.html"
    "initramfs/usr/bin/kiosk"
];

/// Writes the target into `folder`, which must not exist.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    for (path, text) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, text)?;
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;

    /// Paths, modes and bytes of all that lies below a folder.
    fn inside(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        let mut left = vec![folder.to_owned()];
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    left.push(path);
                    continue;
                }
                let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                let bytes = fs::read(&path).unwrap();
                all.insert(path.strip_prefix(folder).unwrap().to_owned(), (mode, bytes));
            }
        }
        all
    }

    #[test]
    fn it_is_the_target_of_the_repository() {
        let dir = tempfile::tempdir().unwrap();
        let written = dir.path().join("kiosk");
        write(&written).unwrap();
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/kiosk");
        assert_eq!(inside(&written), inside(&own));
    }
}
