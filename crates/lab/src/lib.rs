//! The lab: machines boot targets, and every boot becomes a run.
//!
//! ```text
//! Assembly ──► Machine (qemu, board, replay) ──events──► recorder ──► run folder
//!                      ▲                                           │
//!              experiment (variants × perturbations, in parallel) ◄──────┘
//! ```
//!
//! Nothing outlives a boot: guest images, console and control channel are
//! anonymous memory and socket pairs, and the kernel ends QEMU when the thread
//! that started it is gone.

mod board;
pub mod capture;
mod child;
pub mod clock;
pub mod examine;
pub mod experiment;
mod hooks;
mod host;
mod machine;
mod parting;
pub mod port;
mod priority;
mod qemu;
mod qmp;
mod recorder;
mod replay;
mod run;
mod shell;

pub use board::Board;
pub use hooks::{check, install};
pub use host::{Host, node};
pub use machine::{Machine, MachineEvent, MachineInfo};
pub use parting::parting;
pub use qemu::{
    HostFile, HostFiles, Inputs, Limit, Mode, Model, Places, Qemu, QemuSettings, changed,
    hangs_when_counted, in_host_time, model_words,
};
pub use recorder::{Recorder, boot};
pub use replay::Replay;
pub use run::{Captured, FORMAT, Fault, Manifest, Outcome, ReadyAt, Run, RunError, Split, State};
pub use shell::run_until;

/// What can go wrong in the lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The machine's program does not run.
    #[error("{0}")]
    Machine(String),
    /// A console's other end cannot be opened or broke.
    #[error(transparent)]
    Port(#[from] port::PortError),
    /// A run could not be written or read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The target could not be assembled.
    #[error(transparent)]
    Target(#[from] bootlap_product::TargetError),
}
