//! Exit codes, and how errors become them.

use std::process::ExitCode;

use bootlap_lab::LabError;
use bootlap_lab::port::PortError;
use bootlap_product::TargetError;
use bootlap_rootfs::RootfsError;

/// What the exit code says; scripts rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All went well.
    Ok = 0,
    /// Something that should not happen, or the host refused (disk, memory).
    Internal = 1,
    /// What was asked for does not make sense: a wrong option, a broken
    /// `target.toml`, an unknown recipe.
    Usage = 2,
    /// A budget or a limit of regression is broken.
    Broken = 3,
    /// Nothing usable in the input.
    NothingUsable = 4,
    /// The machine does not start or broke.
    MachineFailed = 5,
    /// The target never got ready.
    NeverReady = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// An error on its way to the person, with the exit code it means.
#[derive(Debug)]
pub struct Failure {
    /// What a program should exit with.
    pub exit: Exit,
    /// What went wrong, and where.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(exit: Exit, message: impl ToString) -> Self {
        Self {
            exit,
            message: message.to_string(),
            hint: None,
        }
    }

    /// The same with what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<TargetError> for Failure {
    fn from(e: TargetError) -> Self {
        let exit = match &e {
            TargetError::Spec { .. } | TargetError::Recipe(_) | TargetError::MissingPart(_) => {
                Exit::Usage
            }
            TargetError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Exit::Usage
            }
            TargetError::Io { .. } => Exit::Internal,
            TargetError::Packages(_) => Exit::MachineFailed,
            TargetError::Artefact { .. } => Exit::NothingUsable,
        };
        let refused = matches!(&e, TargetError::Io { action, source, .. }
            if *action != "read" && is_refused(source));
        match refused {
            true => Failure::new(exit, e).hint(
                "if that is bootlap's cache: name another folder with --cache, or in BOOTLAP_CACHE",
            ),
            false => Failure::new(exit, e),
        }
    }
}

/// Whether a folder is not this user's to write.
fn is_refused(e: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(e.kind(), PermissionDenied | ReadOnlyFilesystem)
}

impl From<RootfsError> for Failure {
    fn from(e: RootfsError) -> Self {
        let exit = match &e {
            RootfsError::Io { source, .. } if source.kind() != std::io::ErrorKind::NotFound => {
                Exit::Internal
            }
            RootfsError::Io { .. } => Exit::Usage,
            RootfsError::Content { .. } => Exit::NothingUsable,
        };
        Failure::new(exit, e)
    }
}

impl From<LabError> for Failure {
    fn from(e: LabError) -> Self {
        match e {
            LabError::Machine(_) => Failure::new(Exit::MachineFailed, e),
            LabError::Port(e) => e.into(),
            LabError::Run(e) => e.into(),
            LabError::Target(e) => e.into(),
        }
    }
}

impl From<PortError> for Failure {
    fn from(e: PortError) -> Self {
        let exit = match &e {
            PortError::Address(_) => Exit::Usage,
            PortError::Open(_) | PortError::Io { .. } => Exit::MachineFailed,
        };
        Failure::new(exit, e)
    }
}

impl From<bootlap_lab::RunError> for Failure {
    fn from(e: bootlap_lab::RunError) -> Self {
        let exit = match &e {
            bootlap_lab::RunError::Io { source, .. }
                if source.kind() != std::io::ErrorKind::NotFound =>
            {
                Exit::Internal
            }
            _ => Exit::NothingUsable,
        };
        Failure::new(exit, e)
    }
}
