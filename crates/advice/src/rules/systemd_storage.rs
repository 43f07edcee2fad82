//! Units that check, mount, fill and clean file systems.

use super::units::Slow;
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&FLUSH, &FSCK, &REMOUNT, &GROW, &TMPFILES, &CACHES];

/// The units that these rules look at.
pub(super) static UNITS: &[&Slow] = &[
    &FLUSH_UNITS,
    &FSCK_UNITS,
    &REMOUNT_UNITS,
    &GROW_UNITS,
    &TMPFILES_UNITS,
    &CACHES_UNITS,
];

rule! {
    /// The journal is moved to slow storage during the boot.
    ///
    /// **Why.** `systemd-journal-flush` opens the stored journals and writes what was
    /// logged so far; large ones on a card take long.
    ///
    /// **Evidence.** The start of `systemd-journal-flush.service` as systemd, the
    /// journal or the console shows it. Where the order of units is known, the saving
    /// is what this boot, replayed without it, gains; where nothing waited for it,
    /// nothing is said.
    ///
    /// **Fix.** `SystemMaxUse=` small, or `Storage=volatile` and a copy later.
    ///
    /// **Risk.** Logs are lost when it crashes.
    ///
    /// **Figures.** 45.8 s (Raspberry Pi 3, a journal of 700 MB on a card).
    FLUSH = "systemd-journal-flush", Userspace, flush
}

pub(super) static FLUSH_UNITS: Slow = Slow {
    names: &[
        "systemd-journal-flush.service",
        "Flush Journal to Persistent Storage",
    ],
    title: "the journal is moved to slow storage during the boot",
    fix: "limit it (`SystemMaxUse=16M`) or keep it in memory (`Storage=volatile`)",
};

fn flush(boot: &Boot<'_>) -> Option<Finding> {
    FLUSH_UNITS.find(boot)
}

rule! {
    /// File systems are checked before they are mounted.
    ///
    /// **Why.** A check reads metadata at each boot, all of it after an unclean
    /// shutdown or when a count is reached.
    ///
    /// **Evidence.** The start of `systemd-fsck-root.service`, `systemd-fsck@….service`
    /// as systemd, the journal or the console shows it. Where the order of units is
    /// known, the saving is what this boot, replayed without it, gains; where nothing
    /// waited for it, nothing is said.
    ///
    /// **Fix.** A read-only root; 0 in the sixth field of `/etc/fstab` for what need
    /// not be checked; `tune2fs -c 0 -i 0`; data later or in the background.
    ///
    /// **Risk.** Damage is found later.
    ///
    /// **Figures.** None is published.
    FSCK = "fs-fsck", Filesystem, fsck
}

pub(super) static FSCK_UNITS: Slow = Slow {
    names: &[
        "systemd-fsck-root.service",
        "systemd-fsck@*",
        "File System Check on*",
    ],
    title: "file systems are checked before they are mounted",
    fix: "mount the root read-only, and set the check order in /etc/fstab to 0 where it is not needed",
};

fn fsck(boot: &Boot<'_>) -> Option<Finding> {
    FSCK_UNITS.find(boot)
}

rule! {
    /// The root is mounted read-only first and remounted.
    ///
    /// **Why.** The kernel mounts it by `ro`, systemd by `/etc/fstab` a second time,
    /// which writes.
    ///
    /// **Evidence.** The start of `systemd-remount-fs.service` as systemd, the journal
    /// or the console shows it. Where the order of units is known, the saving is what
    /// this boot, replayed without it, gains; where nothing waited for it, nothing is
    /// said.
    ///
    /// **Fix.** Stay read-only, with an overlay or tmpfs for state; or `rw` on the
    /// command line and no line for `/` in `/etc/fstab`.
    ///
    /// **Risk.** Without `ro`, no check before writing.
    ///
    /// **Figures.** 236 to 302 ms (STM32MP1, Raspberry Pi Zero).
    REMOUNT = "fs-remount", Filesystem, remount
}

pub(super) static REMOUNT_UNITS: Slow = Slow {
    names: &[
        "systemd-remount-fs.service",
        "Remount Root and Kernel File Systems",
    ],
    title: "the root is mounted twice",
    fix: "keep it read-only, or mount it `rw` at once and drop its line in /etc/fstab",
};

fn remount(boot: &Boot<'_>) -> Option<Finding> {
    REMOUNT_UNITS.find(boot)
}

rule! {
    /// A file system is grown during the boot.
    ///
    /// **Why.** Images grow to their medium at the first boot; a unit that stays
    /// enabled looks each time.
    ///
    /// **Evidence.** The start of `systemd-growfs@…`, `systemd-repart.service`,
    /// `resize2fs_once.service` as systemd, the journal or the console shows it. Where
    /// the order of units is known, the saving is what this boot, replayed without it,
    /// gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Do it in the factory, or disable the unit behind it; `x-systemd.growfs`
    /// only where it is needed.
    ///
    /// **Risk.** A larger medium is not used without it. If this was the first boot,
    /// nothing is wrong.
    ///
    /// **Figures.** None is published.
    GROW = "fs-growfs", Filesystem, grow
}

pub(super) static GROW_UNITS: Slow = Slow {
    names: &[
        "systemd-growfs@*",
        "systemd-growfs-root.service",
        "systemd-repart.service",
        "resize2fs_once.service",
        "rpi-resize.service",
    ],
    title: "a file system is grown during the boot",
    fix: "grow it once (in the factory), and disable the unit; ignore this after a first boot",
};

fn grow(boot: &Boot<'_>) -> Option<Finding> {
    GROW_UNITS.find(boot)
}

rule! {
    /// Temporary files and folders are made or cleaned slowly.
    ///
    /// **Why.** `systemd-tmpfiles` goes through all configurations and folders;
    /// recursive entries (`R`, `Z`) walk trees.
    ///
    /// **Evidence.** The start of `systemd-tmpfiles-setup*.service` as systemd, the
    /// journal or the console shows it. Where the order of units is known, the saving
    /// is what this boot, replayed without it, gains; where nothing waited for it,
    /// nothing is said.
    ///
    /// **Fix.** Keep `/tmp` and `/run` in memory; take recursive lines out of
    /// `/usr/lib/tmpfiles.d` by files of the same name in `/etc/tmpfiles.d`;
    /// `SYSTEMD_LOG_LEVEL=debug systemd-tmpfiles --create --boot` shows which.
    ///
    /// **Risk.** A program may miss its folder.
    ///
    /// **Figures.** None is published.
    TMPFILES = "systemd-tmpfiles", Userspace, tmpfiles
}

pub(super) static TMPFILES_UNITS: Slow = Slow {
    names: &[
        "systemd-tmpfiles-setup*",
        "systemd-tmpfiles-clean.service",
        "Create Volatile Files and Directories",
    ],
    title: "temporary files and folders are made slowly",
    fix: "keep /tmp in memory, and override recursive lines in /etc/tmpfiles.d",
};

fn tmpfiles(boot: &Boot<'_>) -> Option<Finding> {
    TMPFILES_UNITS.find(boot)
}

rule! {
    /// Caches are built during the boot.
    ///
    /// **Why.** The linker cache, hardware database and message catalogue depend only
    /// on the image, so an image can bring them.
    ///
    /// **Evidence.** The start of `ldconfig.service`, `systemd-hwdb-update.service`,
    /// `systemd-journal-catalog-update.service` as systemd, the journal or the console
    /// shows it. Where the order of units is known, the saving is what this boot,
    /// replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Build them with the image and `touch /etc/.updated /var/.updated`
    /// behind it, newer than `/usr`.
    ///
    /// **Risk.** Forgotten after an update, they are old.
    ///
    /// **Figures.** 5.6 s for `ldconfig` (a live system), 324 ms for the catalogue
    /// (Raspberry Pi Zero).
    CACHES = "systemd-caches", Userspace, caches
}

pub(super) static CACHES_UNITS: Slow = Slow {
    names: &[
        "ldconfig.service",
        "systemd-hwdb-update.service",
        "systemd-journal-catalog-update.service",
        "systemd-update-done.service",
        "Rebuild Dynamic Linker Cache",
        "Rebuild Hardware Database",
        "Rebuild Journal Catalog",
    ],
    title: "caches are built during the boot that the image could bring",
    fix: "build them with the image and `touch /etc/.updated /var/.updated`",
};

fn caches(boot: &Boot<'_>) -> Option<Finding> {
    CACHES_UNITS.find(boot)
}
