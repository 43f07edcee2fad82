//! Boots read from logs.

use std::io;

use bootlap_model::Timeline;
use bootlap_sources::ingest::{Given, Options, Piece, ingest};

/// What these logs of one boot say.
pub(crate) fn read(logs: &[&str]) -> Timeline {
    let given = logs.iter().enumerate().map(|(n, log)| {
        let open = || Ok(Box::new(log.as_bytes()) as Box<dyn io::BufRead>);
        let name = format!("{n}.log");
        let piece = Piece {
            name: name.clone(),
            open: Box::new(open),
        };
        Given {
            name,
            pieces: vec![piece],
        }
    });
    let mut timeline = Timeline::default();
    ingest(given.collect(), &Options::default(), &mut timeline).unwrap();
    timeline
}
