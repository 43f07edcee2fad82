//! Which argument of which call says what.

use std::borrow::Cow;

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arg<'a> {
    /// A number, and the path that it stands for if the recording says so.
    Number { value: i64, path: Option<&'a str> },
    /// A path, as the program gave it.
    Path(Cow<'a, str>),
    /// The first string of a list.
    List(Cow<'a, str>),
    /// Flags by their names.
    Words(&'a str),
    /// It is not there, or could not be read.
    Unknown,
}

impl Arg<'_> {
    /// Whether these flags have one of this value and name.
    pub(super) fn has(&self, value: i64, name: &str) -> bool {
        match self {
            Self::Number { value: flags, .. } => flags & value != 0,
            Self::Words(words) => words.contains(name),
            _ => false,
        }
    }

    /// Whether it is just this.
    pub(super) fn is(&self, value: i64, name: &str) -> bool {
        match self {
            Self::Number { value: is, .. } => *is == value,
            Self::Words(words) => *words == name,
            _ => false,
        }
    }
}

/// The arguments of a call by their place, which the kernel's interface fixes.
pub(crate) trait Args {
    /// The one at this place, from 0 on.
    fn get(&self, place: usize) -> Arg<'_>;
}

/// What a call does, and which of its arguments say with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Opens the path behind the folder `dir`, or its first argument.
    Open {
        dir: Option<usize>,
        flags: Option<usize>,
    },
    /// Looks at a path.
    Look { dir: Option<usize> },
    /// Executes a path.
    Exec { dir: Option<usize> },
    /// Reads what is open under the number that this argument is.
    Read { fd: usize },
    /// Maps it; the argument before has flags.
    Map { fd: usize },
    /// Closes its first argument.
    Close,
    /// Closes all numbers from its first argument to its second.
    CloseRange,
    /// Gives its first argument another number.
    Dup,
    /// Goes to the folder of this path.
    Folder,
    /// Goes to the folder of this number.
    FolderOf,
}

/// What the call of this name does with files; `None` if nothing that is counted. Names
/// are strace's and the kernel's, which differ for `stat`.
pub(super) fn kind(name: &str) -> Option<Kind> {
    let dir = Some(0);
    Some(match name {
        "openat" | "openat2" => Kind::Open {
            dir,
            flags: Some(2),
        },
        "open" => Kind::Open {
            dir: None,
            flags: Some(1),
        },
        "creat" => Kind::Open {
            dir: None,
            flags: None,
        },
        "stat" | "lstat" | "newstat" | "newlstat" | "stat64" | "lstat64" | "oldstat"
        | "oldlstat" | "access" | "readlink" => Kind::Look { dir: None },
        "newfstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => {
            Kind::Look { dir }
        }
        "execve" => Kind::Exec { dir: None },
        "execveat" => Kind::Exec { dir },
        "read" | "readv" | "pread64" | "preadv" | "preadv2" | "getdents" | "getdents64"
        | "copy_file_range" | "splice" => Kind::Read { fd: 0 },
        "sendfile" | "sendfile64" => Kind::Read { fd: 1 },
        "mmap" | "mmap2" | "mmap_pgoff" => Kind::Map { fd: 4 },
        "close" => Kind::Close,
        "close_range" => Kind::CloseRange,
        "dup" | "dup2" | "dup3" | "fcntl" | "fcntl64" => Kind::Dup,
        "chdir" => Kind::Folder,
        "fchdir" => Kind::FolderOf,
        _ => return None,
    })
}

/// Whether the call of this name does something with files.
pub(crate) fn is_of_files(name: &str) -> bool {
    kind(name).is_some()
}

/// Whether it only looks for a path.
pub(crate) fn only_looks(name: &str) -> bool {
    matches!(kind(name), Some(Kind::Look { .. }))
}

/// At which place a call has its path.
pub(crate) fn path_place(name: &str) -> Option<usize> {
    match kind(name)? {
        Kind::Open { dir, .. } | Kind::Look { dir } | Kind::Exec { dir } => {
            Some(dir.map_or(0, |dir| dir + 1))
        }
        Kind::Folder => Some(0),
        _ => None,
    }
}
