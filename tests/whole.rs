//! Whole-program tests: the real binary and real boots, all in one program, so
//! that boots which need one core each go two by two. A file's tests alone:
//! `cargo test -p bootlap --test whole capture::`.

mod support;

mod architecture;
mod boards;
mod boot;
mod boot_image;
mod built;
mod caches;
mod calibrate;
mod capture;
mod check;
mod collect;
mod compare;
mod disks;
mod elsewhere;
mod explain;
mod failures;
mod first_steps;
mod history;
mod import;
mod merge;
mod modelled;
mod pack;
mod patchset;
mod perfetto;
mod prefixes;
mod preload;
mod rc;
mod recipes;
mod recipes_cmdline;
mod recipes_initramfs;
mod recipes_loader;
mod reduce;
mod reports;
mod resume;
mod several_boots;
mod splash;
mod store;
mod terminal;
mod tune;
mod user_space;
mod waits;
