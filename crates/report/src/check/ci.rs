//! A budget as CI servers read it: JUnit, and annotations of GitHub Actions.

use std::fmt::Write;

use bootlap_analysis::budget::{State, Unit};

use super::{CheckReport, fault, sentence};
use crate::format::exact_seconds;
use crate::xml::{escaped, escaped_lines};

/// JUnit: a test case per limit; a broken one fails, an unknown one is skipped.
///
/// As in the JUnit file of a report, there is no time stamp: the same boots give
/// the same file.
pub fn junit(report: &CheckReport) -> String {
    let name = match report.about.target.as_str() {
        "" => "boot".to_owned(),
        target => escaped(target),
    };
    let tests = report.judged.len();
    let (failures, skipped) = (report.count(State::Broken), report.count(State::Unknown));
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"bootlap check\" {counts}>\n  \
         <testsuite name=\"{name}\" {counts} skipped=\"{skipped}\">\n    <properties>\n"
    );
    let about = &report.about;
    let properties = [
        ("budget", report.budget.clone()),
        ("baseline", report.baseline.clone().unwrap_or_default()),
        ("boots", report.boots.join(" ")),
        ("time", about.time.clone()),
        ("tool", about.tool.clone()),
    ];
    for (key, value) in properties.iter().filter(|(_, value)| !value.is_empty()) {
        let value = escaped(value);
        let _ = writeln!(xml, "      <property name=\"{key}\" value=\"{value}\"/>");
    }
    xml += "    </properties>\n";
    for judged in &report.judged {
        let metric = &judged.limit.metric;
        let kind = match judged.limit.bound.is_relative() {
            true => "regression",
            false => "limit",
        };
        let time = match (metric.unit(), judged.value) {
            (Unit::Ns, Some(ns)) => format!(" time=\"{}\"", exact_seconds(ns.max(0))),
            _ => String::new(),
        };
        let what = escaped(&format!("{kind}: {}", metric.text()));
        let _ = write!(
            xml,
            "    <testcase classname=\"{name}\" name=\"{what}\"{time}"
        );
        let message = escaped(&sentence(judged));
        xml += &match judged.state {
            State::Ok => "/>\n".to_owned(),
            State::Unknown => {
                format!(">\n      <skipped message=\"{message}\"/>\n    </testcase>\n")
            }
            State::Broken => {
                let text = escaped_lines(&fault(judged).unwrap_or_default());
                format!(
                    ">\n      <failure type=\"{kind}\" message=\"{message}\">{text}</failure>\n    \
                     </testcase>\n"
                )
            }
        };
    }
    xml += "  </testsuite>\n</testsuites>\n";
    xml
}

/// Workflow commands of GitHub Actions: an error per broken limit, a warning
/// per unknown one, each at its line of the budget.
pub fn github(report: &CheckReport) -> String {
    let mut out = String::new();
    for judged in report.judged.iter().filter(|j| j.state != State::Ok) {
        let (level, word) = match judged.state {
            State::Broken => ("error", "is over its budget"),
            _ => ("warning", "cannot be judged"),
        };
        let title = format!(
            "{}: {} {word}",
            report.about.target,
            judged.limit.metric.text()
        );
        let mut text = sentence(judged);
        if let Some(fault) = fault(judged) {
            text += "\n";
            text += &fault;
        }
        let _ = writeln!(
            out,
            "::{level} file={},line={},title={}::{}",
            property(&report.budget),
            judged.limit.line,
            property(title.trim_start_matches([':', ' '])),
            data(&text)
        );
    }
    out
}

/// The text of a workflow command. What is no text at all is made visible
/// first, but for line ends.
fn data(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(crate::clean::clean).collect();
    let text = lines.join("\n").replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command: there `:` and `,` end it, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_commands_cannot_be_ended() {
        assert_eq!(data("100 %\nof, it: all\r"), "100 %25%0Aof, it: all␍");
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
        assert!(!data("x\n::error::y").contains('\n'));
    }
}
