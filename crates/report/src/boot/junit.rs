//! `.xml`: JUnit, for the test page of a CI server.
//!
//! A boot is a test suite: each phase is a test case that passed and took that
//! long, and so is `ready`, which fails if the boot never got there. Properties
//! say what the numbers are of; the summary stands in `system-out`.
//!
//! There is no official schema. This is what that of Jenkins' xUnit plugin
//! (`junit-10.xsd`) takes, and nothing that GitLab, Azure or Ant's would refuse
//! but for a time stamp, which is left out: the same boot gives the same file.

use std::io::Write;

use crate::Report;
use crate::boot::headline::{Outcome, alone};
use crate::boot::text;
use crate::format::{duration, exact_seconds};
use crate::sink::{Sink, SinkError};
use crate::table::By;
use crate::terminal::Style;
use crate::xml::{escaped, escaped_lines};

/// The format.
pub const JUNIT: Sink = Sink {
    name: "junit",
    title: "JUnit, for a CI server: never ready is a failure",
    extensions: &["xml"],
    choices: &[],
    write,
};

fn write(report: &Report<'_>, _: Option<By>, out: &mut dyn Write) -> Result<(), SinkError> {
    Ok(out.write_all(suite(report).as_bytes())?)
}

fn suite(report: &Report<'_>) -> String {
    let name = match report.about.target.as_str() {
        "" => "boot".to_owned(),
        target => escaped(target),
    };
    let seen_ns = report.answers.extent().map_or(0, |e| e.duration_ns());
    let ready_ns = report.about.ready_ns;
    let time = seconds(ready_ns.unwrap_or(seen_ns));
    let tests = report.phases.len() + 1;
    let outcome = Outcome::of(report);
    let failures = u8::from(matches!(outcome, Outcome::NotReady(_)));
    let skipped = u8::from(matches!(outcome, Outcome::Seen(_)));
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"bootlap\" {counts} time=\"{time}\">\n  \
         <testsuite name=\"{name}\" {counts} skipped=\"{skipped}\" time=\"{time}\">\n    \
         <properties>\n"
    );
    for (key, value) in properties(report) {
        let value = escaped(&value);
        xml += &format!("      <property name=\"{key}\" value=\"{value}\"/>\n");
    }
    xml += "    </properties>\n";
    let case = |what: &str, ns: i64| {
        let time = seconds(ns);
        format!("    <testcase classname=\"{name}\" name=\"{what}\" time=\"{time}\"")
    };
    for phase in &report.phases {
        xml += &case(phase.name.text(), phase.duration_ns());
        xml += "/>\n";
    }
    let end = match outcome {
        Outcome::Ended { what, .. } => what,
        _ => "ready",
    };
    xml += &case(end, ready_ns.unwrap_or(seen_ns));
    xml += &match outcome {
        Outcome::Ready { .. } | Outcome::Ended { .. } => "/>\n".to_owned(),
        Outcome::NotReady(_) => failure(report),
        Outcome::Seen(_) => ">\n      <skipped message=\"nobody said what ready looks like: \
            --ready REGEX\"/>\n    </testcase>\n"
            .to_owned(),
    };
    let text = text(report, &Style::default());
    xml += &format!("    <system-out>{}\n</system-out>\n", escaped_lines(&text));
    xml += "  </testsuite>\n</testsuites>\n";
    xml
}

/// Times of tests are not negative.
fn seconds(ns: i64) -> String {
    exact_seconds(ns.max(0))
}

fn failure(report: &Report<'_>) -> String {
    let said = alone(report);
    let said = said.trim_start_matches([':', ' ']);
    let text = match report.gaps.iter().max_by_key(|g| g.end.ns) {
        Some(last) => format!("The last line that was seen: {}", last.after.trim()),
        None => "Nothing was seen on the console.".to_owned(),
    };
    format!(
        ">\n      <failure type=\"never-ready\" message=\"{}\">{}</failure>\n    </testcase>\n",
        escaped(&format!("never ready: {said}")),
        escaped_lines(&text)
    )
}

/// What the numbers are of, and what they are compared with.
fn properties(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let about = &report.about;
    let mut all = vec![
        ("target", about.target.clone()),
        ("run", about.run.clone()),
        ("machine", about.machine.clone()),
        ("mode", about.mode.clone()),
        ("time", about.time.clone()),
        ("console_sha256", about.console_sha256.clone()),
        ("tool", about.tool.clone()),
    ];
    let instructions = about.instructions.map(|n| n.to_string());
    all.push(("instructions", instructions.unwrap_or_default()));
    let identical = about.identical.map(|same| same.to_string());
    all.push(("identical", identical.unwrap_or_default()));
    if let Some(before) = &report.before {
        all.push(("before_run", before.about.run.clone()));
        if let Some(ns) = before.about.ready_ns {
            all.push(("before_ready_s", seconds(ns)));
            all.push(("before_ready", duration(ns)));
        }
    }
    all.retain(|(_, value)| !value.is_empty());
    all
}
