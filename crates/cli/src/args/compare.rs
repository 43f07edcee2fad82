//! Arguments of `bootlap compare`.

use std::path::PathBuf;

use bootlap_analysis::groups::Margin;
use bootlap_report::table::By;
use clap::Args;

use super::Evidence;
use super::evidence::by;
use super::recorded::recorded;

#[derive(Args)]
#[command(after_help = "Examples:
  bootlap compare dmesg-before/ dmesg-after/
  bootlap compare old/ new/ --ready 'login:' --margin 5ms -o change.md
  bootlap compare @2 @last
  bootlap compare runs/kiosk-try/20261121-101500
A folder is a group of boots: its runs, or its files with one boot in each \
(a sub-folder or an archive in it is one boot, too).")]
pub(crate) struct Compare {
    /// Boots before: a run, a file, a folder of them, or a whole experiment.
    #[arg(value_name = "A", value_parser = recorded())]
    pub(crate) before: PathBuf,
    /// Boots after; an experiment is compared with its own baseline.
    #[arg(value_name = "B", value_parser = recorded())]
    pub(crate) after: Option<PathBuf>,
    /// Changes below this count as none: a share of the boot, or a time.
    #[arg(long, value_name = "1%|5ms", default_value = "1%", value_parser = margin)]
    pub(crate) margin: Margin,
    /// List only these, changed or not.
    #[arg(long, value_parser = by(LISTED))]
    pub(crate) by: Option<By>,
    /// Number of rows in a list; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) limit: usize,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// A file to write: .html, .svg, .md, .json, .csv or .txt. Repeatable.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

/// What can be listed of groups.
const LISTED: &[By] = &[
    By::Phases,
    By::Initcalls,
    By::Units,
    By::Processes,
    By::Functions,
    By::Spans,
];

/// `1%`, `0.5 %`, `5ms`, `200us`, `0.1s`.
pub(super) fn margin(text: &str) -> Result<Margin, String> {
    let text = text.trim();
    let units = [
        ("%", 0.0),
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    let parsed = units.iter().find_map(|(unit, scale)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some((number, *scale))
    });
    match parsed {
        Some((share, 0.0)) if (0.0..=100.0).contains(&share) => Ok(Margin::Share(share / 100.0)),
        Some((number, scale)) if scale > 0.0 && (0.0..=1e9).contains(&(number * scale / 1e9)) => {
            Ok(Margin::Ns((number * scale).round() as i64))
        }
        _ => Err("write a share such as 1% or a time such as 5ms".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_shares_or_times() {
        assert_eq!(margin("1%"), Ok(Margin::Share(0.01)));
        assert_eq!(margin("0.5 %"), Ok(Margin::Share(0.005)));
        assert_eq!(margin("5ms"), Ok(Margin::Ns(5_000_000)));
        assert_eq!(margin("200us"), Ok(Margin::Ns(200_000)));
        assert_eq!(margin("0.1s"), Ok(Margin::Ns(100_000_000)));
        for wrong in ["", "5", "-1%", "101%", "ms", "nan%", "infs", "1e99s"] {
            assert!(margin(wrong).is_err(), "{wrong}");
        }
    }
}
