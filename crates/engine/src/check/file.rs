//! `budget.toml`: read with the line of everything that is wrong, and written.

use std::fmt::Write;

use bootlap_analysis::budget::{Bound, Budget, Limit, Measures, Metric, Unit};
use bootlap_analysis::phase::PhaseName;
use toml_edit::{Document, Item, Key, Table};

use super::amount;

/// Something that cannot be understood.
#[derive(Debug, PartialEq)]
pub(super) struct Mistake {
    /// The line, from 1.
    pub(super) line: usize,
    /// What, and the mend.
    pub(super) message: String,
}

const TOP: &[&str] = &["format", "limits", "regression"];
const WHOLE: &[&str] = &["total", "instructions", "console-bytes"];
const BY_NAME: &[&str] = &["phase", "phase-instructions", "span"];
/// What people call the phases, and what else they are called.
const PHASES: &[(&str, PhaseName)] = &[
    ("firmware", PhaseName::Firmware),
    ("boot loader", PhaseName::Bootloader),
    ("bootloader", PhaseName::Bootloader),
    ("kernel", PhaseName::Kernel),
    ("initramfs", PhaseName::Initramfs),
    ("user space", PhaseName::Userspace),
    ("userspace", PhaseName::Userspace),
    ("application", PhaseName::Application),
];

/// Reads a budget.
pub(super) fn parse(text: &str) -> Result<Budget, Mistake> {
    let doc = Document::parse(text).map_err(|e| Mistake {
        line: line_of(text, e.span().map_or(0, |s| s.start)),
        message: e.message().trim().replace('\n', "; "),
    })?;
    let reader = Reader { text };
    let top = doc.as_table();
    for (key, item) in entries(top) {
        reader.known(key, TOP)?;
        if key.get() == "format" && item.as_integer() != Some(1) {
            let why = "this bootlap reads format = 1; use a newer one for others";
            return Err(reader.wrong(key, why));
        }
    }
    if top.get("format").is_none() {
        return Err(Mistake {
            line: 1,
            message: "the file has to say its format: add a first line `format = 1`".to_owned(),
        });
    }
    let mut limits = Vec::new();
    for (section, relative) in [("limits", false), ("regression", true)] {
        if let Some((key, item)) = top.get_key_value(section) {
            reader.section(key, item, relative, &mut limits)?;
        }
    }
    if limits.is_empty() {
        return Err(Mistake {
            line: 1,
            message: "nothing is limited: add a [limits] or a [regression] section".to_owned(),
        });
    }
    limits.sort_by_key(|l| l.line);
    Ok(Budget { limits })
}

struct Reader<'t> {
    text: &'t str,
}

fn entries(table: &Table) -> impl Iterator<Item = (&Key, &Item)> {
    let keys = table.iter().map(|(key, _)| key);
    keys.filter_map(|key| table.get_key_value(key))
}

impl Reader<'_> {
    fn line(&self, key: &Key) -> usize {
        line_of(self.text, key.span().map_or(0, |s| s.start))
    }

    fn wrong(&self, key: &Key, message: impl Into<String>) -> Mistake {
        Mistake {
            line: self.line(key),
            message: message.into(),
        }
    }

    /// A key that nobody heeds would be a limit that nobody keeps.
    fn known(&self, key: &Key, known: &[&str]) -> Result<(), Mistake> {
        let name = key.get();
        if known.contains(&name) {
            return Ok(());
        }
        let all = known.join(", ");
        Err(self.wrong(
            key,
            match nearest(name, known) {
                Some(meant) => {
                    format!("unknown key {name:?}; did you mean {meant:?}? The keys here are {all}")
                }
                None => format!("unknown key {name:?}; the keys here are {all}"),
            },
        ))
    }

    fn table<'i>(&self, key: &Key, item: &'i Item) -> Result<&'i Table, Mistake> {
        item.as_table().ok_or_else(|| {
            let name = key.get();
            self.wrong(key, format!("{name} is a section: write [{name}]"))
        })
    }

    fn section(
        &self,
        key: &Key,
        item: &Item,
        relative: bool,
        limits: &mut Vec<Limit>,
    ) -> Result<(), Mistake> {
        let known = [WHOLE, BY_NAME].concat();
        for (key, item) in entries(self.table(key, item)?) {
            self.known(key, &known)?;
            let whole = match key.get() {
                "total" => Some(Metric::Total),
                "instructions" => Some(Metric::Instructions),
                "console-bytes" => Some(Metric::ConsoleBytes),
                _ => None,
            };
            match whole {
                Some(metric) => limits.push(self.limit(key, item, metric, relative)?),
                None if item.is_str() && relative && key.get() != "span" => {
                    // One limit for every phase.
                    for phase in PHASES.iter().filter(|p| p.1.text() == p.0) {
                        let metric = of_phase(key.get(), phase.1);
                        limits.push(self.limit(key, item, metric, relative)?);
                    }
                }
                None => self.by_name(key, item, relative, limits)?,
            }
        }
        Ok(())
    }

    fn by_name(
        &self,
        kind: &Key,
        item: &Item,
        relative: bool,
        limits: &mut Vec<Limit>,
    ) -> Result<(), Mistake> {
        let Some(table) = item.as_table() else {
            let what = match kind.get() {
                "span" => "unit network.service",
                _ => "kernel",
            };
            let section = if relative { "regression" } else { "limits" };
            let message = format!(
                "say of which: write a section [{section}.{}] with lines such as {what:?} = \"…\"",
                kind.get()
            );
            return Err(self.wrong(kind, message));
        };
        for (key, item) in entries(table) {
            let metric = match kind.get() {
                "span" => Metric::Span(key.get().to_owned()),
                kind => {
                    let names: Vec<&str> = PHASES.iter().map(|p| p.0).collect();
                    self.known(key, &names)?;
                    let phase = PHASES.iter().find(|p| p.0 == key.get());
                    phase.map_or(Metric::Total, |p| of_phase(kind, p.1))
                }
            };
            limits.push(self.limit(key, item, metric, relative)?);
        }
        Ok(())
    }

    fn limit(
        &self,
        key: &Key,
        item: &Item,
        metric: Metric,
        relative: bool,
    ) -> Result<Limit, Mistake> {
        let unit = metric.unit();
        let number = item.as_integer().filter(|_| unit != Unit::Ns);
        let text = match (item.as_str(), number) {
            (Some(text), _) => text.to_owned(),
            (None, Some(number)) => number.to_string(),
            (None, None) => return Err(self.wrong(key, expected(unit, relative))),
        };
        let bound = match (amount::share(&text), relative) {
            (Some(share), true) => Some(Bound::MoreShare(share)),
            (Some(_), false) => None,
            (None, true) => amount::parse(&text, unit).map(Bound::More),
            (None, false) => amount::parse(&text, unit).map(Bound::AtMost),
        };
        let bound = bound.ok_or_else(|| {
            let why = format!("{text:?} is no limit here: {}", expected(unit, relative));
            self.wrong(key, why)
        })?;
        Ok(Limit {
            metric,
            bound,
            line: self.line(key),
        })
    }
}

fn of_phase(kind: &str, phase: PhaseName) -> Metric {
    match kind {
        "phase-instructions" => Metric::PhaseInstructions(phase),
        _ => Metric::Phase(phase),
    }
}

fn expected(unit: Unit, relative: bool) -> String {
    let plain = match unit {
        Unit::Ns => "a time in quotes, such as \"1.5 s\" or \"450 ms\"",
        Unit::Instructions => "a count, such as \"1.2 G\" or \"300 M\"",
        Unit::Bytes => "a number of bytes, such as 4096 or \"4 k\"",
    };
    match relative {
        true => format!("write a share, such as \"0.1 %\", or {plain}"),
        false => format!("write {plain}"),
    }
}

/// The known name that `name` most likely was to be.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = name.to_lowercase().replace('_', "-");
    let scored = known.iter().map(|k| (strsim::levenshtein(&lower, k), *k));
    let (distance, best) = scored.min()?;
    (distance <= 1 + best.len() / 4).then_some(best)
}

/// The number of the line that holds the byte at `offset`, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.iter().filter(|b| **b == b'\n').count() + 1
}

/// A first budget: what these boots took, and so much more.
pub(super) fn first(boots: &[Measures], percent: f64) -> Option<String> {
    let value = |metric: &Metric| {
        let values = boots.iter().filter_map(|b| b.value(metric));
        let median = bootlap_analysis::stats::median(&values.collect::<Vec<i64>>())?;
        let most = median as f64 * (1.0 + percent / 100.0);
        Some(amount::rounded_up(most, metric.unit()))
    };
    let total = value(&Metric::Total)?;
    let mut text = format!(
        "# Limits of a boot; `bootlap check RUN --budget THIS-FILE` keeps them.\n\
         # docs/check.md explains every key. These are {percent} % above what was measured.\n\
         format = 1\n\n[limits]\ntotal = {total:?}\n"
    );
    for (key, metric) in [
        ("instructions", Metric::Instructions),
        ("console-bytes", Metric::ConsoleBytes),
    ] {
        if let Some(most) = value(&metric) {
            let _ = writeln!(text, "{key} = {most:?}");
        }
    }
    text += "\n[limits.phase]\n";
    for (name, phase) in PHASES.iter().filter(|p| p.1.text() == p.0) {
        if let Some(most) = value(&Metric::Phase(*phase)) {
            let key = if name.contains(' ') {
                format!("{name:?}")
            } else {
                (*name).to_owned()
            };
            let _ = writeln!(text, "{key} = {most:?}");
        }
    }
    text += "\n# Against --baseline or --history; uncomment what you want kept:\n\
             # [regression]\n# total = \"1 %\"\n# phase = \"2 %\"\n";
    if boots.iter().any(|b| b.instructions.is_some()) {
        text += "# [regression.phase-instructions]\n# kernel = \"0.05 %\"\n";
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = r#"format = 1
[limits]
total = "2 s"
instructions = "1.2 G"
console-bytes = 4096
[limits.phase]
kernel = "450 ms"
"boot loader" = "300 ms"
[limits.phase-instructions]
kernel = "400 M"
[limits.span]
"unit network.service" = "1 s"
[regression]
total = "5 ms"
console-bytes = 0
phase = "1 %"
[regression.phase-instructions]
kernel = "0.05 %"
[regression.span]
"initcall deferred_probe_initcall" = "1 ms"
"#;

    #[test]
    fn all_keys_are_read_with_their_lines() {
        let budget = parse(ALL).unwrap();
        let find = |metric: Metric, relative: bool| {
            let mut limits = budget.limits.iter();
            let limit = limits.find(|l| l.metric == metric && l.bound.is_relative() == relative);
            let limit = limit.unwrap();
            (limit.line, limit.bound)
        };
        assert_eq!(
            find(Metric::Total, false),
            (3, Bound::AtMost(2_000_000_000))
        );
        assert_eq!(
            find(Metric::Instructions, false),
            (4, Bound::AtMost(1_200_000_000))
        );
        assert_eq!(find(Metric::ConsoleBytes, false), (5, Bound::AtMost(4096)));
        let loader = Metric::Phase(PhaseName::Bootloader);
        assert_eq!(find(loader.clone(), false), (8, Bound::AtMost(300_000_000)));
        assert_eq!(find(Metric::Total, true), (14, Bound::More(5_000_000)));
        assert_eq!(find(Metric::ConsoleBytes, true), (15, Bound::More(0)));
        assert_eq!(find(loader, true), (16, Bound::MoreShare(0.01)));
        let kernel = Metric::PhaseInstructions(PhaseName::Kernel);
        assert_eq!(find(kernel, true).0, 18);
        assert_eq!(budget.limits.len(), 3 + 2 + 1 + 1 + 2 + 6 + 1 + 1);
    }

    #[test]
    fn mistakes_have_their_line_and_a_mend() {
        let wrong = |text: &str| {
            let wrong = parse(text).unwrap_err();
            (wrong.line, wrong.message)
        };
        let (line, said) = wrong("format = 1\n[limits]\ntotl = \"2 s\"\n");
        assert!(
            line == 3 && said.contains("did you mean \"total\"?"),
            "{said}"
        );
        let (line, said) = wrong("format = 1\n[limits.phase]\nkernal = \"2 s\"\n");
        assert!(
            line == 3 && said.contains("did you mean \"kernel\"?"),
            "{said}"
        );
        let (line, said) = wrong("format = 1\n[limit]\n");
        assert!(
            line == 2 && said.contains("did you mean \"limits\"?"),
            "{said}"
        );
        let (line, said) = wrong("format = 1\n\n[limits]\ntotal = 2\n");
        assert!(line == 4 && said.contains("\"1.5 s\""), "{said}");
        let (_, said) = wrong("format = 1\n[limits]\ntotal = \"5 %\"\n");
        assert!(said.contains("no limit here"), "{said}");
        let (_, said) = wrong("format = 1\n[limits]\nspan = \"1 s\"\n");
        assert!(said.contains("[limits.span]"), "{said}");
        assert_eq!(wrong("format = 2\n").0, 1);
        assert!(wrong("[limits]\n").1.contains("format = 1"));
        assert!(wrong("format = 1\n").1.contains("nothing is limited"));
        assert_eq!(wrong("format = 1\n[limits\n").0, 2);
    }

    #[test]
    fn a_first_budget_is_a_budget() {
        let boot = Measures {
            ready_ns: Some(1_346_232_536),
            instructions: Some(637_300_025),
            console_bytes: Some(14_003),
            ..Measures::default()
        };
        let text = first(&[boot], 5.0).unwrap();
        let budget = parse(&text).unwrap();
        assert_eq!(
            budget.limits[0].bound,
            Bound::AtMost(1_420_000_000),
            "{text}"
        );
        assert_eq!(budget.limits.len(), 3);
        assert_eq!(first(&[Measures::default()], 5.0), None);
    }
}
