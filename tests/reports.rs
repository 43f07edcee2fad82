//! `bootlap report`: several files at once, what they are of, and that no
//! evidence is ever written over.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{bootlap, failure, root, scratch, succeeded};

/// A copy of a real boot's evidence.
fn evidence(dir: &Path) -> PathBuf {
    let from = root().join("tests/boots/debian13-systemd257");
    let to = dir.join("boot");
    fs::create_dir_all(&to).unwrap();
    for name in ["plot.json", "units.txt.gz", "dmesg.txt.gz"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
    to
}

#[test]
fn several_files_at_once() {
    let dir = scratch("reports-several");
    evidence(&dir);
    let all = ["html", "svg", "md", "json", "csv", "xml", "folded", "txt"];
    let mut command = bootlap(&dir);
    command.args(["report", "boot", "--by", "initcalls"]);
    for extension in all {
        command.args(["-o", &format!("out.{extension}")]);
    }
    succeeded(&mut command);
    let text = |extension: &str| fs::read_to_string(dir.join(format!("out.{extension}"))).unwrap();
    assert!(text("svg").contains("initcalls: the longest 40 of"));
    assert!(text("md").starts_with("### `boot`"));
    assert!(text("csv").lines().count() > 700);
    assert!(text("xml").contains("<testcase classname=\"boot\" name=\"kernel\""));
    assert!(
        text("folded")
            .lines()
            .any(|l| l.starts_with("initcalls;acpi_init"))
    );
    // Nothing is left beside them, and again gives the same.
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&dir)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names().len(), all.len() + 1);
    let before = all.map(text);
    succeeded(&mut command);
    assert_eq!(before, all.map(text));
}

#[test]
fn options_that_nothing_heeds_are_refused() {
    let dir = scratch("reports-options");
    evidence(&dir);
    let said =
        |args: &[&str], code| failure(bootlap(&dir).args(["report", "boot"]).args(args), code);
    let text = said(&["-o", "x.md", "--by", "units"], 2);
    assert!(
        text.contains("heeds --by units") && text.contains(".svg, .folded"),
        "{text}"
    );
    let text = said(&["-o", "x.svg", "--by", "gaps"], 2);
    assert!(text.contains("phases, or initcalls, or units"), "{text}");
    let text = said(&["-o", "x.svg", "--by", "processes"], 4);
    assert!(text.contains("this boot shows no processes"), "{text}");
    let text = said(&["-o", "x.doc"], 2);
    for format in [
        ".html ", ".svg ", ".md ", ".csv ", ".xml ", ".folded ", ".json ", ".txt ",
    ] {
        assert!(text.contains(format), "{format}: {text}");
    }
    let text = said(&["-o", "x.svg", "-o", "x.svg"], 2);
    assert!(text.contains("twice"), "{text}");
    let text = said(&["-o", "no/such/x.svg"], 2);
    assert!(text.contains("does its folder exist"), "{text}");
    assert_eq!(
        fs::read_dir(&dir).unwrap().count(),
        1,
        "nothing was written"
    );
}

#[test]
fn evidence_is_never_written_over() {
    let dir = scratch("reports-evidence");
    let boot = evidence(&dir);
    let plot = fs::read(boot.join("plot.json")).unwrap();
    std::os::unix::fs::symlink(boot.join("plot.json"), dir.join("link.json")).unwrap();
    let refused = |input: &str, out: &str| {
        let said = failure(bootlap(&dir).args(["report", input, "-o", out]), 2);
        assert!(said.contains("it stays as it is"), "{said}");
        assert_eq!(fs::read(boot.join("plot.json")).unwrap(), plot);
    };
    refused("boot/plot.json", "boot/plot.json");
    refused("boot/plot.json", "boot/../boot/plot.json");
    refused("boot/plot.json", "link.json");
    refused("boot", "boot/plot.json");
    // A report in a folder of evidence is no evidence: it is written again.
    for _ in 0..2 {
        succeeded(bootlap(&dir).args(["report", "boot", "-o", "boot/report.json"]));
        succeeded(bootlap(&dir).args(["report", "boot", "-o", "boot/chart.svg"]));
    }
    // A run's folder, whoever's it is.
    let run = dir.join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("manifest.json"), "{}").unwrap();
    fs::write(run.join("console.txt"), "evidence").unwrap();
    for out in ["run/manifest.json", "run/console.txt"] {
        refused("boot", out);
    }
    assert_eq!(fs::read(run.join("manifest.json")).unwrap(), b"{}");
    for _ in 0..2 {
        succeeded(bootlap(&dir).args(["report", "boot", "-o", "run/report.html"]));
    }
}
