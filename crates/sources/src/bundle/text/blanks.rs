//! Blanks that do not break, as mail programs and wikis make of two plain ones.

use super::{Undo, are_only_then, is_log};

/// The first byte of such a blank in UTF-8, and its second.
const UNBREAKABLE: [u8; 2] = [0xc2, 0xa0];

/// Whether most lines are a log's only with plain blanks.
pub(super) fn are_unbreakable(head: &[u8]) -> bool {
    memchr::memmem::find(head, &UNBREAKABLE).is_some() && are_only_then::<Blanks>(head, is_log)
}

#[derive(Default)]
pub(super) struct Blanks {
    /// The last byte was the first of one, or of another character.
    begun: bool,
}

impl Undo for Blanks {
    fn byte(&mut self, byte: u8, plain: &mut Vec<u8>) {
        let [first, second] = UNBREAKABLE;
        if self.begun && byte == second {
            plain.push(b' ');
            self.begun = false;
            return;
        }
        self.end(plain);
        match byte == first {
            true => self.begun = true,
            false => plain.push(byte),
        }
    }

    fn end(&mut self, plain: &mut Vec<u8>) {
        if std::mem::take(&mut self.begun) {
            plain.push(UNBREAKABLE[0]);
        }
    }
}
