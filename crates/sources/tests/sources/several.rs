//! Several pieces given one by one.

use std::io::BufRead;

use bootlap_model::Timeline;
use bootlap_sources::ingest::{Given, Options, Piece, ingest};

const TRACE: &[u8] = b"1.000000 execve(\"/sbin/init\", [\"init\"], 0x7ff /* 3 vars */) = 0 <0.1>\n\
    1.200000 exit_group(0) = ?\n1.200001 +++ exited with 0 +++\n";

/// Two traces by `strace -ff`, whose parts are called alike: found by fuzzing,
/// where each file was counted for both.
#[test]
fn parts_that_are_called_alike_are_of_two_recordings() {
    let given = ["boot.50", "boot.51", "boot.50", "boot.51"].map(|name| Given {
        name: name.to_owned(),
        pieces: vec![Piece {
            name: name.to_owned(),
            open: Box::new(|| Ok(Box::new(TRACE) as Box<dyn BufRead>)),
        }],
    });
    let mut timeline = Timeline::default();
    let taken = ingest(given.into(), &Options::default(), &mut timeline).unwrap();
    let files: Vec<_> = taken.iter().map(|t| t.files.len()).collect();
    assert_eq!(files, [1, 1, 1, 1]);
    assert_eq!(timeline.files.len(), 4);
}
