//! Fragments of U-Boot's and of the kernel's configuration.

use bootlap_artefact::arch::Arch;
use bootlap_artefact::compress::Compression;
use bootlap_artefact::hash::Hash;

use super::changes::{Change, Changes};
use super::quote::{comment, kconfig};

/// What U-Boot needs to be built with, or none if nothing.
pub(super) fn uboot(changes: &Changes<'_>) -> Option<String> {
    fragment(changes, "U-Boot", &uboot_options)
}

/// What the kernel needs to be built with, or none if nothing.
pub(super) fn linux(changes: &Changes<'_>) -> Option<String> {
    fragment(changes, "the kernel", &linux_options)
}

/// The options of one change.
type Options<'a> = &'a dyn Fn(&Changes<'_>, &Change) -> Vec<String>;

fn fragment(changes: &Changes<'_>, of: &str, options: Options<'_>) -> Option<String> {
    // Steps that need the same, such as those of one command line, share it.
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for step in &changes.steps {
        let mut own: Vec<String> = Vec::new();
        for option in step.changes.iter().flat_map(|c| options(changes, c)) {
            if !own.contains(&option) {
                own.push(option);
            }
        }
        let about = format!("# {}\n", step.line());
        match groups.iter_mut().find(|(_, options)| *options == own) {
            _ if own.is_empty() => {}
            Some((abouts, _)) => abouts.push_str(&about),
            None => groups.push((about, own)),
        }
    }
    let groups = groups.iter();
    let body: String = groups
        .map(|(abouts, options)| format!("\n{abouts}{}\n", options.join("\n")))
        .collect();
    (!body.is_empty()).then(|| {
        format!(
            "# Configuration of {of} for the target {}:\n\
             # scripts/kconfig/merge_config.sh .config FRAGMENT\n{body}",
            comment(&changes.start.spec.name)
        )
    })
}

/// Also what the environment in flash says, so that U-Boot does the same when
/// there is none.
fn uboot_options(changes: &Changes<'_>, change: &Change) -> Vec<String> {
    match change {
        Change::Variable(name, Some(value)) => match &**name {
            "bootdelay" => {
                let delay = value.trim().parse::<i64>().ok();
                delay
                    .map(|d| format!("CONFIG_BOOTDELAY={d}"))
                    .into_iter()
                    .collect()
            }
            "silent" => vec!["CONFIG_SILENT_CONSOLE=y".to_owned()],
            _ => Vec::new(),
        },
        Change::Kernel(compression) => named(match compression {
            Compression::Gzip => "CONFIG_GZIP=y",
            Compression::Bzip2 => "CONFIG_BZIP2=y",
            Compression::Lzma => "CONFIG_LZMA=y",
            Compression::Lz4 => "CONFIG_LZ4=y",
            Compression::Zstd => "CONFIG_ZSTD=y",
            _ => "",
        }),
        Change::Hash(hash) => named(match hash {
            Hash::None => "",
            Hash::Crc32 => "CONFIG_CRC32=y",
            Hash::Sha1 => "CONFIG_SHA1=y",
            Hash::Sha256 => "CONFIG_SHA256=y",
        }),
        Change::WordAdded(_) | Change::WordRemoved(_) if changes.environment.is_some() => {
            let kernel = changes.tuned.spec.kernel.as_ref();
            let line = kernel.and_then(|k| kconfig(&k.cmdline));
            let line = line.map(|line| format!("CONFIG_BOOTARGS={line}"));
            line.map_or_else(Vec::new, |line| {
                vec!["CONFIG_USE_BOOTARGS=y".to_owned(), line]
            })
        }
        _ => Vec::new(),
    }
}

fn linux_options(changes: &Changes<'_>, change: &Change) -> Vec<String> {
    match change {
        Change::Initramfs(compression) => {
            let reads = match compression {
                Compression::Gzip => "CONFIG_RD_GZIP=y",
                Compression::Bzip2 => "CONFIG_RD_BZIP2=y",
                Compression::Lzma => "CONFIG_RD_LZMA=y",
                Compression::Xz => "CONFIG_RD_XZ=y",
                Compression::Lz4 | Compression::Lz4Legacy => "CONFIG_RD_LZ4=y",
                Compression::Zstd => "CONFIG_RD_ZSTD=y",
                Compression::None | Compression::Lzo => "",
            };
            let mut options = named("CONFIG_BLK_DEV_INITRD=y");
            options.extend(named(reads));
            options
        }
        // With a boot loader, its `bootargs` carries the line.
        Change::WordAdded(_) | Change::WordRemoved(_) | Change::NoBootloader
            if changes.environment.is_none() =>
        {
            let kernel = changes.tuned.spec.kernel.as_ref();
            let Some(line) = kernel.and_then(|k| kconfig(&k.cmdline)) else {
                return Vec::new();
            };
            let x86 = matches!(changes.arch, Some(Arch::X86 | Arch::X86_64));
            let mut options = named(if x86 { "CONFIG_CMDLINE_BOOL=y" } else { "" });
            options.push(format!("CONFIG_CMDLINE={line}"));
            options
        }
        _ => Vec::new(),
    }
}

fn named(option: &str) -> Vec<String> {
    let said = Some(option).filter(|o| !o.is_empty());
    said.map(str::to_owned).into_iter().collect()
}

/// Whether the command line can stand in a configuration.
pub(super) fn holds_cmdline(changes: &Changes<'_>) -> bool {
    let kernel = changes.tuned.spec.kernel.as_ref();
    kernel.is_none_or(|k| kconfig(&k.cmdline).is_some())
}

/// What a kernel is built with instead of being told so by a word on its
/// command line.
pub(super) fn built_in(word: &str) -> Option<&'static str> {
    match word {
        "quiet" => Some("CONFIG_CONSOLE_LOGLEVEL_DEFAULT=4"),
        "cryptomgr.notests" => Some(
            "CONFIG_CRYPTO_MANAGER_DISABLE_TESTS=y (since Linux 6.16: CONFIG_CRYPTO_SELFTESTS \
             off)",
        ),
        _ => None,
    }
}
