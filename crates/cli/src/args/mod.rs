//! The command line.

mod calibrate;
mod check;
mod compare;
mod config;
mod evidence;
mod explain;
mod here;
mod history;
mod lab;
mod pack;
mod rc;
mod recorded;
mod splash;
mod store;
mod tune;

use std::path::PathBuf;

use bootlap_analysis::groups::Margin;
use bootlap_engine::import::Wish;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub(crate) use calibrate::Calibrate;
pub(crate) use check::Check;
pub(crate) use compare::Compare;
pub(crate) use config::with_file;
pub(crate) use evidence::{Evidence, Inspect, Report, Serve, Show};
pub(crate) use explain::Explain;
pub(crate) use here::{Completions, Doctor, Here, Man};
pub(crate) use history::{
    Action as HistoryAction, Add as HistoryAdd, History, Show as HistoryShow,
};
pub(crate) use lab::{LabArgs, cache, store};
pub(crate) use pack::{Layout, LayoutFormat, Pack};
pub(crate) use rc::Rc;
use recorded::recorded;
pub(crate) use splash::Splash;
pub(crate) use store::{Action as StoreAction, Store};
pub(crate) use tune::Tune;

/// Makes Linux boot fast, and proves it.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 90,
    after_help = "First steps:
  bootlap here                      the last boot of this very machine
  bootlap show boot.log             where the time of a log goes
  bootlap demo                      boot an example, find what slows it, change it, prove it

Runs by when they were made: @last, @2 (the one before it), kiosk@last.

Environment: BOOTLAP_CACHE (packages and images), BOOTLAP_STORE (kept boots), BOOTLAP_SHARE (a \
store that others share), COLUMNS, NO_COLOR, CLICOLOR. Defaults of options: bootlap.toml, here or \
above.

Exit codes: 0 ok, 1 internal error, 2 usage, 3 budget or regression, 4 nothing usable in the \
input, 5 the machine failed, 6 it never got ready."
)]
pub(crate) struct Args {
    /// Show no progress.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Look at the last boot of this very machine.
    Here(Here),
    /// Say what of this machine bootlap can use, and how to get what is missing.
    Doctor(Doctor),
    /// Run the whole loop on an example target: boot, explain, change, prove.
    Demo(Demo),
    /// Boot a target and record it (or play a recorded run again).
    Boot(Boot),
    /// Record a live console: a serial line, a socket, a command.
    Capture(Box<Capture>),
    /// Make a target of a disk image as it is shipped.
    Import(Import),
    /// Show what each file is, and which lines were used or skipped.
    Inspect(Inspect),
    /// Show where the time of a boot goes: a run, logs, or any mix of them.
    Show(Show),
    /// Write reports of a boot: .html, .svg, .md, .csv, .xml and more.
    Report(Report),
    /// Show the reports of a folder in a browser, on this machine only.
    Serve(Serve),
    /// Compare boots: runs, groups of them, folders of logs, experiments.
    Compare(Compare),
    /// List, verify, merge or clean the boots that are kept.
    Store(Store),
    /// Make the boot of a job that another bootlap has written (see --on).
    BootJob(BootJob),
    /// Explain initcalls: their source, option, module and delays.
    Explain(Explain),
    /// Advise what to change in a target, and what that should save.
    Advise(Advise),
    /// Estimate how fast a real board is, from one log of it.
    Calibrate(Calibrate),
    /// Measure what recipes save on a target.
    Try(Try),
    /// Search for the best set of recipes, prove it, and write it out.
    Tune(Tune),
    /// Build the kernel and the boot loader that a target builds from source.
    Build(Build),
    /// Write a changed copy of a target, and a patch set for other builds.
    Apply(Apply),
    /// Hold boots to a budget: limits, and no regression.
    Check(Box<Check>),
    /// Keep results over commits, and find the commit that changed them.
    History(History),
    /// List the files of the initramfs that a boot opens.
    Touched(Touched),
    /// List what is started from a target's disk, and what of it can be later.
    Units(Units),
    /// Find the smallest user space with which a target still passes its check.
    #[command(after_help = "Example:
  bootlap minimise my-product

Units of systemd, or init scripts, are left out, more and more of them. At the end each of what \
stays was left out alone, and the target did not get ready, failed its check (ready.check), or \
did not come to ready.later. A search that is interrupted goes on when it is started again.")]
    Minimise(Minimise),
    /// Find the fastest boot in which everything still runs, only later.
    #[command(after_help = "Example:
  bootlap defer my-product

Units of systemd, or init scripts, are started once the boot is over, as many of them as can be. \
That all of them are is looked at. A search that is interrupted goes on when it is started \
again.")]
    Defer(Minimise),
    /// Find the units that have to come before all else for the application to come soonest.
    #[command(after_help = "Example:
  bootlap first my-product

Units of systemd start before the early boot, as few of them as can be; all else follows once they \
are started. At the end each of them was left out alone, and the target got ready later, or not. A \
search that is interrupted goes on when it is started again.")]
    First(Minimise),
    /// Find the part of a recipe's list that a target needs, or takes
    Reduce(Reduce),
    /// Order init scripts by their headers, for bootlap-agent to start them.
    Rc(Rc),
    /// Make a pack for bootlap-agent replay from a trace and a root image.
    Pack(Pack),
    /// List the files that a boot reads, in order, for image makers.
    Layout(Layout),
    /// Make a picture for bootlap-agent splash, or convert its captures.
    Splash(Splash),
    /// List the recipes.
    Recipes(Catalogue),
    /// List the rules behind the advice, or show their pages.
    Rules(Rules),
    /// Print what completes commands and options in a shell.
    Completions(Completions),
    /// Print a manual page, or write all of them.
    Man(Man),
}

#[derive(ClapArgs)]
pub(crate) struct Demo {
    /// The target's folder [default: targets/kiosk, or a copy of it written to kiosk].
    pub(crate) target: Option<PathBuf>,
    /// Perturbations on each side of an experiment; fewer than 4 prove nothing.
    #[arg(short = 'k', long, alias = "layouts", value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub(crate) perturbations: u32,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap import disk.img.xz -o my-product
  bootlap boot my-product
  bootlap import output/images -o my-product
  bootlap import rootfs.ext4 --kernel bzImage -o my-product
  bootlap import raspberry-pi.img --user-space -o my-product

The image is only read. It may be raw, qcow2, VMDK, VDI or VHDX, compressed with xz, gzip, \
bzip2 or zstd. A raw image stays where it is; others are unpacked into the folder.")]
pub(crate) struct Import {
    /// The image, or the folder of a build that has one.
    pub(crate) image: PathBuf,
    /// The target's folder, which is made.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// What runs first; by default what the image is made for.
    #[arg(long, value_name = "KIND", value_parser = firmware())]
    pub(crate) firmware: Option<Wish>,
    /// A kernel that is not on the image, such as one beside a root file system.
    #[arg(long, value_name = "FILE", conflicts_with = "firmware")]
    pub(crate) kernel: Option<PathBuf>,
    /// The initramfs of that kernel.
    #[arg(long, value_name = "FILE", requires = "kernel")]
    pub(crate) initramfs: Option<PathBuf>,
    /// Start the image's user space with Debian's kernel: for the image of a board that cannot be
    /// emulated.
    #[arg(long, conflicts_with_all = ["firmware", "kernel"])]
    pub(crate) user_space: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for packages and compressed images [default: $BOOTLAP_CACHE, or bootlap in
    /// the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

/// What runs first on an imported image.
fn firmware() -> impl TypedValueParser<Value = Wish> {
    let named = |name: String| Wish::FIRMWARE.into_iter().find(|(known, _)| *known == name);
    PossibleValuesParser::new(Wish::FIRMWARE.map(|(name, _)| name))
        .map(move |name| named(name).map_or(Wish::Direct, |(_, wish)| wish))
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap boot targets/kiosk --on 'srun -n1'     starts it on each machine
  bootlap boot-job /shared/store/jobs/4f1a")]
pub(crate) struct BootJob {
    /// The job, in a store that this machine sees: STORE/jobs/ID.
    pub(crate) job: String,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap boot targets/kiosk
  bootlap boot board.toml -n 10          a real board, switched off and on ten times
  bootlap boot targets/kiosk --append 'initcall_debug ignore_loglevel' -n 1
  bootlap boot @last                     plays the last run again")]
pub(crate) struct Boot {
    /// The target's folder or file (board.toml), or a recorded run to play again.
    #[arg(value_parser = recorded())]
    pub(crate) target: PathBuf,
    /// Number of boots [default: 2 in simulated time, to check that they are equal; otherwise 1].
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) boots: Option<u32>,
    /// More words on the kernel's command line.
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub(crate) append: String,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

/// What is done with a control line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PinArg {
    /// Active.
    On,
    /// Inactive.
    Off,
    /// Active for 250 ms to begin each boot: reset, on many boards.
    Pulse,
}

/// Flow control of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlowArg {
    /// None.
    None,
    /// In software: XON and XOFF.
    Xonxoff,
    /// In hardware: RTS and CTS.
    Rtscts,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap capture /dev/ttyUSB0 --until 'login: '
  bootlap capture tcp:lab-7:2000 --power-cmd 'uhubctl -a 1 -l 1-1 -p 2' --until READY -n 10
  bootlap capture --exec 'labgrid-client -p board console' --from '^U-Boot' --for 60")]
pub(crate) struct Capture {
    /// A device (/dev/ttyUSB0), tcp:HOST:PORT, unix:PATH, or - for standard input.
    #[arg(required_unless_present = "exec", conflicts_with = "exec")]
    pub(crate) device: Option<String>,
    /// Record what this command prints.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) exec: Option<String>,
    /// Bits per second of a serial line; any value that the adapter supports.
    #[arg(short, long, value_name = "N", default_value_t = 115_200)]
    pub(crate) baud: u32,
    /// Data bits, parity and stop bits of a serial line.
    #[arg(long, value_name = "8N1", default_value = "8N1")]
    pub(crate) line: String,
    /// Flow control of a serial line.
    #[arg(long, value_enum, default_value_t = FlowArg::None)]
    pub(crate) flow: FlowArg,
    /// Stop when a line matches; without --ready it also means ready.
    #[arg(short, long, value_name = "REGEX")]
    pub(crate) until: Option<String>,
    /// The pattern that means ready; without --until it also stops the recording.
    #[arg(long, value_name = "REGEX")]
    pub(crate) ready: Option<String>,
    /// Count from the first byte of the line that matches; with -n such a line
    /// begins another boot.
    #[arg(long, value_name = "REGEX")]
    pub(crate) from: Option<String>,
    /// Stop after this time.
    #[arg(long = "for", value_name = "SECONDS", value_parser = duration)]
    pub(crate) seconds: Option<f64>,
    /// Stop when the line has been silent for this long.
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    pub(crate) idle: Option<f64>,
    /// Name a moment: it becomes a split (repeatable).
    #[arg(short, long, value_name = "NAME=REGEX")]
    pub(crate) mark: Vec<String>,
    /// The command that switches the board on; times count from its start.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) power_cmd: Option<String>,
    /// The command that switches the board off, before each boot and at the end.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) power_off_cmd: Option<String>,
    /// How long the board stays off.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = duration)]
    pub(crate) off: f64,
    /// Send TEXT once per boot, when REGEX matches or at its start; \r, \n, \xHH (repeatable).
    #[arg(long, value_name = "[REGEX=]TEXT")]
    pub(crate) send: Vec<String>,
    /// The state of DTR.
    #[arg(long, value_enum)]
    pub(crate) dtr: Option<PinArg>,
    /// The state of RTS.
    #[arg(long, value_enum)]
    pub(crate) rts: Option<PinArg>,
    /// Number of boots; a boot ends at --until, or when the next one begins.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) boots: u32,
    /// How long to wait for a device that has vanished.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = duration)]
    pub(crate) gone: f64,
    /// The run's folder (with -n the runs'); it must not exist.
    #[arg(short, long, value_name = "RUN-FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// The folder for runs; each gets its own folder in it.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "runs",
        conflicts_with = "out"
    )]
    pub(crate) runs: PathBuf,
    /// The board's name [default: the device's].
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    pub(crate) name: Option<String>,
    /// Print in the format of `grabserial -t`.
    #[arg(long, conflicts_with_all = ["raw", "json"])]
    pub(crate) grabserial: bool,
    /// Print the raw bytes, without times.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// Print events as JSON, one object per line (docs/schema/capture.json).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Seconds, with decimals.
fn duration(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('s').parse() {
        Ok(seconds) if (0.0..=1e8).contains(&seconds) => Ok(seconds),
        _ => Err("write seconds, such as 30 or 0.5".to_owned()),
    }
}

/// The name of a folder.
fn plain_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
    match !text.is_empty() && !text.starts_with('.') && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("use letters, digits, - _ + and .".to_owned()),
    }
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap advise targets/kiosk
  bootlap advise boot.log .config
  bootlap advise @last --json | jq '.findings[].title'")]
pub(crate) struct Advise {
    /// A target's folder (bootlap boots it), or evidence of a boot: runs, logs;
    /// also .config files of kernel and U-Boot, a command line, U-Boot's
    /// environment.
    #[arg(required = true, value_name = "TARGET|RUN|FILE", value_parser = recorded())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Print the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap units my-product
  bootlap try my-product systemd-defer=cups.service
  bootlap try my-product systemd-defer=$(bootlap units my-product --deferrable)
  bootlap reduce my-product systemd-unordered=$(bootlap units my-product --orderings)")]
pub(crate) struct Units {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// Print only those that can be started later, with commas between.
    #[arg(long, conflicts_with = "json")]
    pub(crate) deferrable: bool,
    /// Print only what units wait for and do without, with commas between: for
    /// systemd-unordered.
    #[arg(long, conflicts_with_all = ["json", "deferrable"])]
    pub(crate) orderings: bool,
    /// Print them as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for packages and compressed images [default: $BOOTLAP_CACHE, or bootlap in
    /// the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Minimise {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// A file for the list that was found, one a line.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Perturbations in which what was found has to get ready, and is measured; fewer than 5
    /// prove nothing.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) perturbations: u32,
    /// Changes below this count as none: a share of the boot, or a time.
    #[arg(long, value_name = "0.05%|5ms", default_value = "0.05%",
          value_parser = compare::margin)]
    pub(crate) margin: Margin,
    /// Print the outcome as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap try targets/kiosk uboot-bootdelay kernel-compression=none
  bootlap try my-product cmdline-quiet --margin 5ms --json > tried.json")]
pub(crate) struct Try {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// Recipes, each measured on its own: NAME or NAME=VALUE; `bootlap recipes` lists them.
    #[arg(required = true, value_name = "RECIPE")]
    pub(crate) recipes: Vec<String>,
    /// Measure all of them together as well.
    #[arg(long)]
    pub(crate) together: bool,
    /// Perturbations on each side before the first verdict; fewer than 5
    /// prove nothing. An unsure verdict gets twice, then four times as many.
    #[arg(short = 'k', long, alias = "layouts", value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(5..=100))]
    pub(crate) perturbations: u32,
    /// Changes below this count as none: a share of the boot, or a time.
    #[arg(long, value_name = "0.05%|5ms", default_value = "0.05%",
          value_parser = compare::margin)]
    pub(crate) margin: Margin,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap touched targets/kiosk -o touched.txt
  bootlap try targets/kiosk initramfs-touched=touched.txt")]
pub(crate) struct Touched {
    /// The target's folder; bootlap boots it twice.
    pub(crate) target: PathBuf,
    /// The list to write, one path per line, for the recipe initramfs-touched.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap touched targets/kiosk -o touched.txt
  bootlap reduce targets/kiosk initramfs-touched=touched.txt -o needed.txt
  bootlap reduce my-board cmdline-initcall-blacklist=a_init,b_init,c_init -o without.txt

A search that is interrupted goes on when it is started again in the same way.")]
pub(crate) struct Reduce {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// A recipe with a list: of what stays (initramfs-touched), of which the smallest part
    /// is found; or of changes, of which the largest is.
    #[arg(value_name = "RECIPE=LIST")]
    pub(crate) recipe: String,
    /// The list to write, one member a line.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Perturbations in which what was found has to get ready, and is measured; fewer than 5
    /// prove nothing.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) perturbations: u32,
    /// Changes below this count as none: a share of the boot, or a time.
    #[arg(long, value_name = "0.05%|5ms", default_value = "0.05%",
          value_parser = compare::margin)]
    pub(crate) margin: Margin,
    /// Print the outcome as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap apply targets/kiosk uboot-bootdelay kernel-compression=none -o fast
  bootlap apply my-product cmdline-quiet -o fast --measured tried.json")]
pub(crate) struct Apply {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// Recipes, applied in this order.
    #[arg(required = true, value_name = "RECIPE")]
    pub(crate) recipes: Vec<String>,
    /// The folder to write; it must not exist.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The output of `bootlap try --json`: its savings go into the patch set's comments.
    #[arg(long, value_name = "FILE")]
    pub(crate) measured: Option<PathBuf>,
    /// Print what was changed and written as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for packages and compressed images.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap recipes
  bootlap recipes --json | jq -r '.[].recipe'")]
pub(crate) struct Catalogue {
    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap rules
  bootlap rules systemd-late kernel-silence")]
pub(crate) struct Rules {
    /// Show the pages of these rules.
    #[arg(value_name = "RULE")]
    pub(crate) rules: Vec<String>,
    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap build my-board")]
pub(crate) struct Build {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// Print what was built as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for sources and builds.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}
