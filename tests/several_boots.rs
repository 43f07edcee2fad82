//! A file with several boots in it is as many boots to every command, and `FILE#2` names
//! the second.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{bootlap, failure, json, root, scratch, succeeded};

/// The end of a boot, and four boots: each is slower than the one before.
fn log() -> PathBuf {
    root().join("tests/fixtures/journal/handmade/syslog-four-boots/input")
}

/// What its boots say of themselves.
const TOTALS_MS: [i64; 4] = [5_200, 5_520, 5_840, 6_160];

fn nth(number: usize) -> String {
    format!("{}#{number}", log().display())
}

#[test]
fn the_first_is_shown_and_each_can_be_named() {
    let dir = scratch("several-boots-show");
    let mut show = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    let whole = show
        .current_dir(&dir)
        .arg("show")
        .arg(log())
        .output()
        .unwrap();
    let said = String::from_utf8(whole.stderr).unwrap();
    assert!(said.contains("holds 4 boots; this is the first"), "{said}");
    assert!(said.contains("input#2"), "{said}");
    for (number, total) in (1..).zip(TOTALS_MS) {
        let shown = json(bootlap(&dir).args(["show", "--json", &nth(number)]));
        let took = shown["extent"]["end_ns"].as_i64().unwrap() / 1_000_000;
        assert_eq!(took, total, "{number}");
    }
    let none = failure(bootlap(&dir).args(["show", &nth(5)]), 2);
    assert!(none.contains("4 boots are in"), "{none}");
}

#[test]
fn lines_are_those_of_the_file() {
    let dir = scratch("several-boots-places");
    let text = std::fs::read_to_string(log()).unwrap();
    let line = |what: &str| text.lines().position(|l| l.contains(what)).unwrap() + 1;
    let mut inspect = bootlap(&dir);
    inspect.args(["inspect", "--json", &nth(2)]);
    let lines = json(&mut inspect)[0]["lines"]["total"].as_u64().unwrap() as usize;
    // It ends before the third boot begins, and has the lines before it.
    assert!(
        line("= 5.520s") <= lines && lines < line("= 5.840s"),
        "{lines}"
    );
}

#[test]
fn a_page_shows_all_of_them_and_leads_to_each() {
    let dir = scratch("several-boots-page");
    let said = succeeded(
        bootlap(&dir)
            .args(["report"])
            .arg(log())
            .args(["--each", "-o", "all.html"]),
    );
    assert!(said.stdout.is_empty());
    let page = std::fs::read_to_string(dir.join("all.html")).unwrap();
    // The log's own words, and the median of the four totals.
    assert!(page.contains("<strong>5.680 s</strong> to startup finished, the median of 4 boots"));
    assert!(page.contains("The slowest boot against the median one"));
    for number in 1..=4 {
        let name = format!("all-{number}.html");
        assert!(
            page.contains(&format!("<a href=\"{name}\"><circle")),
            "{name}"
        );
        let boot = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(boot.contains(&format!("input#{number}")));
    }
    // Other formats are of one boot, and a single boot has no page of many.
    failure(
        bootlap(&dir)
            .arg("report")
            .arg(log())
            .args(["--each", "-o", "one.svg"]),
        2,
    );
    failure(
        bootlap(&dir).args(["report", &nth(2), "--each", "-o", "one.html"]),
        2,
    );
    assert!(!dir.join("one.html").exists());
}

#[test]
fn groups_count_each() {
    let dir = scratch("several-boots-groups");
    let log = log().display().to_string();
    let compared = json(bootlap(&dir).args(["compare", "--json", &log, &log]));
    assert_eq!(compared["before"]["boots"].as_array().unwrap().len(), 4);
    let ready = ["--ready", "Startup finished in", "--budget", "budget.toml"];
    let check = || {
        let mut command = bootlap(&dir);
        command.args(["check", &log]).args(ready);
        command
    };
    succeeded(check().arg("--init"));
    let checked = json(check().arg("--json"));
    assert_eq!(checked["boots"].as_array().unwrap().len(), 4);
}

#[test]
fn each_row_of_a_table_is_a_boot() {
    let dir = scratch("several-boots-table");
    let row = |n: u32, late: u32| {
        let ready = 6100 + late + n * 37 % 11;
        format!("{n},0,512,1204,{},{ready}\n", 2900 + n % 7)
    };
    let table = |name: &str, late: u32| {
        let rows: String = (1..=12).map(|n| row(n, late)).collect();
        let text = format!("boot,power_on_ms,uboot_ms,kernel_start_ms,mounted_ms,ready_ms\n{rows}");
        std::fs::write(dir.join(name), text).unwrap();
    };
    table("before.csv", 0);
    table("after.csv", 400);
    let compared = json(bootlap(&dir).args(["compare", "--json", "before.csv", "after.csv"]));
    assert_eq!(compared["before"]["boots"].as_array().unwrap().len(), 12);
    let shift = compared["total"]["shift_ns"].as_i64();
    let shift = shift.unwrap_or_else(|| panic!("{}", compared["total"]));
    assert!((395_000_000..=405_000_000).contains(&shift), "{shift}");
    let shown = json(bootlap(&dir).args(["show", "--json", "after.csv#12"]));
    let late = 6500 + 12 * 37 % 11;
    assert_eq!(shown["ready_ns"].as_i64(), Some(late * 1_000_000));
    // Places are those of the file: the row is its 13th line.
    assert_eq!(shown["spans"][0]["evidence"]["line"], 13);
}
