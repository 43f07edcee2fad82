//! Times in colour: `dmesg --color=always`.

use super::{Undo, are_only_then, is_end};
use crate::cleaner::Cleaner;
use crate::dmesg::prefix::{self, Time};

/// Whether most lines have a time only once their colours are gone.
pub(super) fn is_coloured(head: &[u8]) -> bool {
    let has_time = |line: &[u8]| prefix::parse(line).is_some_and(|p| p.time != Time::None);
    memchr::memchr(0x1b, head).is_some() && are_only_then::<Coloured>(head, has_time)
}

#[derive(Default)]
pub(super) struct Coloured(Cleaner);

impl Undo for Coloured {
    fn byte(&mut self, byte: u8, plain: &mut Vec<u8>) {
        let ends = is_end(byte);
        if ends {
            self.0.line_ends();
        }
        if ends || self.0.is_text(byte) {
            plain.push(byte);
        }
    }
}
