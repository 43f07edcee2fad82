//! What is about this machine and this program: `here`, `doctor`, `completions`, `man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap here
  sudo bootlap here          also what only root may read: the kernel's log, the firmware's times
  bootlap compare bootlap-here/BEFORE bootlap-here/AFTER

Nothing is changed on this machine but the folder that is written.")]
pub(crate) struct Here {
    /// The folder for what was read [default: bootlap-here/TIME]; the page is beside it.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Do not open the page in a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print the report as JSON, and open nothing.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap doctor
  bootlap doctor --json | jq '.checks[] | select(.state != \"ok\")'

It ends with 0 if what every boot needs is there, and with 5 if not.")]
pub(crate) struct Doctor {
    /// Print what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for packages and compressed images [default: $BOOTLAP_CACHE, or bootlap in
    /// the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap completions bash > ~/.local/share/bash-completion/completions/bootlap
  bootlap completions zsh > ~/.zfunc/_bootlap
  bootlap completions fish > ~/.config/fish/completions/bootlap.fish")]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap man store list | man -l -
  bootlap man --out /usr/local/share/man/man1")]
pub(crate) struct Man {
    /// The command that the page is about [default: bootlap itself].
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder.
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}
