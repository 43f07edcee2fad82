//! `extlinux.conf` and `syslinux.cfg`: one language, read by U-Boot and by SYSLINUX.

use super::{Entry, Loader, Wait, readable};
use crate::volume::{Place, Volume};

const UBOOT: [&str; 2] = ["extlinux/extlinux.conf", "boot/extlinux/extlinux.conf"];
const SYSLINUX: [&str; 7] = [
    "syslinux.cfg",
    "syslinux/syslinux.cfg",
    "boot/syslinux/syslinux.cfg",
    "isolinux/isolinux.cfg",
    "boot/isolinux/isolinux.cfg",
    "extlinux.conf",
    "boot/extlinux/extlinux.conf",
];

/// As U-Boot finds it on a disk.
pub(super) fn uboot(volumes: &[Volume]) -> Option<Loader> {
    find(volumes, "U-Boot", &UBOOT)
}

pub(super) fn syslinux(volumes: &[Volume]) -> Option<Loader> {
    find(volumes, "SYSLINUX", &SYSLINUX)
}

fn find(volumes: &[Volume], name: &'static str, paths: &[&str]) -> Option<Loader> {
    let (volume, path, text) = readable(volumes).find_map(|(volume, files)| {
        let found = paths.iter().find_map(|p| Some((*p, files.text(p)?)));
        found.map(|(path, text)| (volume, path, text))
    })?;
    let mut loader = config(&text, name);
    // Paths begin at the configuration's folder.
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for entry in &mut loader.entries {
        let devicetree = std::iter::once(&mut entry.devicetree).filter(|path| !path.is_empty());
        let paths = std::iter::once(&mut entry.kernel).chain(&mut entry.initramfs);
        for path in paths.chain(devicetree).filter(|p| !p.starts_with('/')) {
            *path = format!("/{folder}/{path}");
        }
    }
    loader.config = Some(Place {
        volume,
        path: path.to_owned(),
    });
    Some(loader)
}

fn config(text: &str, name: &'static str) -> Loader {
    let mut loader = Loader {
        name,
        ..Loader::default()
    };
    let mut labels: Vec<String> = Vec::new();
    let (mut default, mut prompt, mut menu) = (String::new(), false, false);
    let mut timeout: u32 = 0;
    for line in text.lines().map(str::trim) {
        let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let value = value.trim();
        let key = key.to_ascii_lowercase();
        let entry = loader.entries.last_mut();
        match (key.as_str(), entry) {
            ("label", _) => {
                labels.push(value.to_owned());
                loader.entries.push(Entry {
                    title: value.to_owned(),
                    ..Entry::default()
                });
            }
            ("default", _) => value.clone_into(&mut default),
            ("timeout", _) => timeout = value.parse().unwrap_or(0),
            ("prompt", _) => prompt = value != "0",
            ("ui", _) => menu = true,
            ("menu", entry) => {
                let (word, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
                match (word.to_ascii_lowercase().as_str(), entry) {
                    ("label", Some(entry)) => {
                        rest.trim().replace('^', "").clone_into(&mut entry.title)
                    }
                    ("default", Some(_)) => default = labels.last().cloned().unwrap_or_default(),
                    _ => {}
                }
            }
            ("kernel" | "linux", Some(entry)) => value.clone_into(&mut entry.kernel),
            ("initrd", Some(entry)) => {
                entry.initramfs = value
                    .split(',')
                    .map(|path| path.trim().to_owned())
                    .collect();
            }
            ("append", Some(entry)) => {
                let words = value.split_whitespace();
                let (initrd, words): (Vec<_>, Vec<_>) =
                    words.partition(|word| word.starts_with("initrd="));
                for path in initrd
                    .iter()
                    .filter_map(|word| word.strip_prefix("initrd="))
                {
                    entry.initramfs.extend(path.split(',').map(str::to_owned));
                }
                entry.cmdline = words.join(" ");
            }
            ("fdt" | "devicetree" | "fdtdir" | "devicetreedir", Some(entry)) => {
                value.clone_into(&mut entry.devicetree);
            }
            _ => {}
        }
    }
    loader.default = labels.iter().position(|label| *label == default);
    if loader.default.is_none() && labels.len() == 1 {
        loader.default = Some(0);
    }
    // SYSLINUX asks nobody without a prompt or a menu. U-Boot does, and waits whole seconds.
    loader.wait = match (timeout, name) {
        (0, "U-Boot") => Wait::Forever,
        (tenths, "U-Boot") => Wait::Tenths(tenths.div_ceil(10).saturating_mul(10)),
        _ if !prompt && !menu => Wait::Tenths(0),
        (0, _) => Wait::Forever,
        (tenths, _) => Wait::Tenths(tenths),
    };
    loader
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read() {
        let text = "## made by u-boot-menu\nDEFAULT l0\nMENU TITLE U-Boot menu\nPROMPT 1\n\
                    TIMEOUT 50\n\nlabel l0\n\tmenu label Debian GNU/Linux\n\tlinux /vmlinuz\n\t\
                    initrd /initrd.img\n\tfdtdir /dtb/\n\tappend root=/dev/vda2 ro quiet\n\n\
                    label l0r\n\tlinux /vmlinuz\n\tappend single initrd=/a.img,/b.img\n";
        let loader = config(text, "U-Boot");
        assert_eq!(loader.wait, Wait::Tenths(50));
        assert_eq!(loader.default, Some(0));
        for (text, uboot, syslinux) in [
            ("prompt 0\ntimeout 5\n", Wait::Tenths(10), Wait::Tenths(0)),
            ("prompt 0\ntimeout 0\n", Wait::Forever, Wait::Tenths(0)),
            ("prompt 1\n", Wait::Forever, Wait::Forever),
            (
                "ui menu.c32\ntimeout 5\n",
                Wait::Tenths(10),
                Wait::Tenths(5),
            ),
        ] {
            assert_eq!(config(text, "U-Boot").wait, uboot, "{text}");
            assert_eq!(config(text, "SYSLINUX").wait, syslinux, "{text}");
        }
        let [one, two] = loader.entries.as_slice() else {
            panic!("{loader:?}")
        };
        assert_eq!(one.title, "Debian GNU/Linux");
        assert_eq!(one.kernel, "/vmlinuz");
        assert_eq!(one.cmdline, "root=/dev/vda2 ro quiet");
        assert_eq!(one.devicetree, "/dtb/");
        assert_eq!(two.initramfs, ["/a.img", "/b.img"]);
        assert_eq!(two.cmdline, "single");
    }
}
