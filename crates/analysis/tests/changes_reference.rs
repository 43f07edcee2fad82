//! Changes of fixed series against those that Apache Otava sees.
//!
//! `changes_reference.json` comes from `changes_reference.py`, which says how
//! to run it.

use bootlap_analysis::changes::{Kind, Sensitivity, changes};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    series: Vec<f64>,
    /// Where Otava sees changes.
    otava: Vec<usize>,
}

/// Where ours differ, and why they should: one simulated result that is far
/// off, and mended by the next. Otava looks for lasting changes; a person who
/// reads which commit was bad wants that one, too, and there is no noise that
/// it could be.
const MORE: &[(&str, &[usize])] = &[("simulated, mended at once", &[10, 11])];

#[test]
fn clear_changes_are_where_otava_sees_them() {
    let reference = include_str!("changes_reference.json");
    let reference: Reference = serde_json::from_str(reference).unwrap();
    assert!(reference.cases.len() >= 14);
    for case in reference.cases {
        let kind = match case.name.starts_with("simulated") {
            true => Kind::Simulated,
            false => Kind::Measured(0.0),
        };
        let found = changes(&case.series, kind, &Sensitivity::default());
        let ours: Vec<usize> = found.iter().map(|c| c.at).collect();
        match MORE.iter().find(|(name, _)| *name == case.name) {
            Some((name, more)) => {
                assert_eq!(ours, *more, "{name}");
                assert!(case.otava.is_empty(), "{name}: Otava sees it now");
            }
            None => assert_eq!(ours, case.otava, "{}", case.name),
        }
    }
}
