//! Several files together: detection, parts of one recording, the user's
//! moments, and clocks that are joined.

use std::io::BufRead;

use bootlap_model::Timeline;
use bootlap_sources::Hints;
use bootlap_sources::ingest::{Given, Options, Piece, ingest};

use crate::pieces::folders;
use crate::sources::{HINTS, is_sound};

/// Reads the files in `input` together.
pub fn check(input: &[u8]) {
    let given = folders(input).into_iter().enumerate();
    let given = given.map(|(i, folder)| Given {
        name: format!("folder{i}"),
        pieces: folder.into_iter().map(piece).collect(),
    });
    let options = Options {
        hints: Hints {
            ready: HINTS.ready.clone(),
            application: HINTS.application.clone(),
            marks: HINTS.marks.clone(),
        },
        ..Options::default()
    };
    let mut timeline = Timeline::default();
    let taken = ingest(given.collect(), &options, &mut timeline).expect("nothing was declared");
    let files: usize = taken.iter().map(|t| t.files.len()).sum();
    assert_eq!(files, timeline.files.len());
    is_sound(&timeline);
}

fn piece(piece: crate::pieces::Piece<'_>) -> Piece<'_> {
    let bytes = piece.bytes;
    Piece {
        name: piece.name,
        open: Box::new(move || Ok(Box::new(bytes) as Box<dyn BufRead>)),
    }
}
