//! `bootlap explain`: what a kernel's source tree says of initcalls.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use bootlap_analysis::functions::waits_below;
use bootlap_engine::Progress;
use bootlap_engine::evidence::{self, TOOL, initcalls};
use bootlap_engine::{Exit, Failure};
use bootlap_kbuild::{Asked, DiskTree, DotConfig, Kernel, KernelError, source_arch};
use bootlap_model::{Timeline, TrackKind};
use bootlap_report::explain::{self, ExplainReport, ExplainRow};

use crate::args::Explain;
use crate::ui::Ui;

pub(crate) fn run(args: &Explain, ui: &Ui) -> Result<Exit, Failure> {
    let tree = DiskTree::open(&args.kernel).map_err(|e| {
        let why = format!("{}: {e}", args.kernel.display());
        Failure::new(Exit::Usage, why).hint("--kernel names an unpacked source tree")
    })?;
    let (config, config_path) = config(args)?.unzip();
    let recorded = match args.log.is_empty() {
        true => None,
        false => Some(evidence::read(&args.log, &args.evidence.options())?),
    };
    let timeline = recorded.as_ref().map(|r| &r.timeline);
    let seen = timeline.map(initcalls::all).unwrap_or_default();
    let mut rows = match args.symbols.is_empty() {
        true => seen,
        false => named(&args.symbols, &seen),
    };
    if rows.is_empty() {
        let failure = Failure::new(Exit::NothingUsable, "the log has no initcalls");
        return Err(failure.hint("boot with initcall_debug and log_buf_len=16M"));
    }
    let all = rows.len();
    if args.symbols.is_empty() && args.limit > 0 {
        rows.truncate(args.limit);
    }
    let (arch, arch_by) = arch(args, config.as_ref(), timeline);
    ui.step(&format!("reading {}", args.kernel.display()));
    let kernel = Kernel::open(&tree, &arch, config).map_err(|e| {
        let hint = match &e {
            KernelError::NoTree => "--kernel names an unpacked source tree",
            KernelError::NoArch(..) => "name it with --arch",
        };
        let why = format!("{}: {e}", args.kernel.display());
        Failure::new(Exit::Usage, why).hint(hint)
    })?;
    let asked: Vec<Asked> = rows.iter().map(|r| r.explained.asked.clone()).collect();
    let everywhere = !args.symbols.is_empty();
    for (row, explained) in rows.iter_mut().zip(kernel.explain(&asked, everywhere)) {
        row.explained = explained;
    }
    if let Some(timeline) = timeline {
        waited(&mut rows, timeline);
    }
    let report = ExplainReport {
        kernel: args.kernel.display().to_string(),
        version: kernel.version.clone(),
        arch,
        arch_by: arch_by.to_owned(),
        config: config_path.map(|p| p.display().to_string()),
        tool: TOOL.to_owned(),
        rows,
        all,
        worklist: args.symbols.is_empty(),
    };
    ui.show(
        args.json,
        || explain::json(&report),
        |style| explain::text(&report, style),
    )?;
    Ok(match report.found() {
        0 => Exit::NothingUsable,
        _ => Exit::Ok,
    })
}

/// What a trace of functions, if there is one, says of the delays in each.
fn waited(rows: &mut [ExplainRow], timeline: &Timeline) {
    let name = |row: &ExplainRow| row.explained.asked.function.clone();
    let names: Vec<String> = rows.iter().map(name).collect();
    let asked: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut below = waits_below(timeline, &asked);
    for (row, name) in rows.iter_mut().zip(&names) {
        row.waits = below.remove(name).unwrap_or_default();
    }
}

/// The options that were given, or those in the tree.
fn config(args: &Explain) -> Result<Option<(DotConfig, PathBuf)>, Failure> {
    let path = match &args.config {
        Some(path) => path.clone(),
        None => {
            let path = args.kernel.join(".config");
            if !path.is_file() {
                return Ok(None);
            }
            path
        }
    };
    let bytes = fs::read(&path).map_err(|e| {
        let why = format!("{}: {e}", path.display());
        Failure::new(Exit::Usage, why)
    })?;
    let config = DotConfig::read(&bytes).map_err(|e| {
        let why = format!("{}: {e}", path.display());
        Failure::new(Exit::NothingUsable, why)
    })?;
    Ok(Some((config, path)))
}

/// The architecture, and how it is known.
fn arch(
    args: &Explain,
    config: Option<&DotConfig>,
    timeline: Option<&Timeline>,
) -> (String, &'static str) {
    if let Some(arch) = &args.arch {
        return (source_arch(arch).to_owned(), "as asked");
    }
    if let Some(arch) = config.and_then(DotConfig::arch) {
        return (arch.to_owned(), "by its options");
    }
    if let Some(arch) = timeline.and_then(arch_of_log) {
        return (arch.to_owned(), "by the log");
    }
    let here = source_arch(std::env::consts::ARCH);
    (here.to_owned(), "assumed, as it is this machine's")
}

/// What the kernel's banner says: `(…@… ) (aarch64-linux-gnu-gcc …)`, or else
/// what only one architecture prints.
fn arch_of_log(timeline: &Timeline) -> Option<&'static str> {
    const SAID: [(&str, &str); 12] = [
        ("aarch64-", "arm64"),
        ("arm-linux-", "arm"),
        ("arm-none-", "arm"),
        ("riscv64-", "riscv"),
        ("powerpc64le-", "powerpc"),
        ("s390x-", "s390"),
        ("x86_64-linux", "x86"),
        ("i686-linux", "x86"),
        ("BIOS-e820", "x86"),
        ("x86/fpu", "x86"),
        ("Booting Linux on physical CPU 0x0000000000 [", "arm64"),
        ("CPU: ARMv7", "arm"),
    ];
    let console = timeline.spans_of(TrackKind::Console);
    let mut lines = console.map(|span| timeline.text(span.name)).take(2_000);
    lines.find_map(|line| {
        let said = SAID.iter().find(|(text, _)| line.contains(text));
        said.map(|(_, arch)| *arch)
    })
}

/// The symbols that were asked for, each with what the log knows of it.
fn named(symbols: &[String], seen: &[ExplainRow]) -> Vec<ExplainRow> {
    let function = |row: &'_ ExplainRow| row.explained.asked.function.clone();
    let seen: HashMap<String, &ExplainRow> = seen.iter().map(|r| (function(r), r)).collect();
    let rows = symbols.iter().map(|symbol| {
        let mut row = ExplainRow::of(symbol);
        if let Some(known) = seen.get(&row.explained.asked.function) {
            row.time_ns = known.time_ns;
            let (asked, known) = (&mut row.explained.asked, &known.explained.asked);
            asked.module = asked.module.take().or(known.module.clone());
            asked.level = asked.level.take().or(known.level.clone());
        }
        row
    });
    rows.collect()
}
