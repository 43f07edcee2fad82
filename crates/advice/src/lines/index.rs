//! Which lines can hold some words, so that hundreds of rules do not read all of them.
//!
//! As search engines for source code do it: a set of all three bytes that stand side by side
//! in a block of lines. A word can only be in a block that has all of the word's triples. Sets
//! keep hashes, so a block can be looked at in vain, and none is missed.

use super::Line;

/// How many lines share a set: few enough that a real log's sets stay a quarter full.
const BLOCK: usize = 32;

/// How many triples a set tells apart: half a kilobyte for each block.
const BITS: u32 = 12;

const WORDS: usize = (1 << BITS) / u64::BITS as usize;

/// The triples of all blocks.
#[derive(Default)]
pub(super) struct Index {
    blocks: Vec<[u64; WORDS]>,
}

/// Where in a set the triples of some bytes are: which word, which bit.
fn triples(bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    bytes.windows(3).map(|b| {
        let triple = u32::from_le_bytes([b[0], b[1], b[2], 0]);
        // Fibonacci hashing: the highest bits of the product depend on all of the factor's.
        let hash = triple.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS);
        ((hash / u64::BITS) as usize, 1 << (hash % u64::BITS))
    })
}

impl Index {
    pub(super) fn of(lines: &[Line<'_>]) -> Self {
        let set = |block: &[Line<'_>]| {
            let mut set = [0; WORDS];
            for line in block {
                for (word, bit) in triples(line.text.as_bytes()) {
                    set[word] |= bit;
                }
            }
            set
        };
        Self {
            blocks: lines.chunks(BLOCK).map(set).collect(),
        }
    }

    /// Stretches of lines between these two in which one of `words` can be: first, and behind
    /// the last.
    pub(super) fn stretches(
        &self,
        [first, end]: [usize; 2],
        words: &[&str],
    ) -> impl Iterator<Item = [usize; 2]> + use<'_> {
        let of_word = |word: &&str| triples(word.as_bytes()).collect();
        let words: Vec<Vec<(usize, u64)>> = words.iter().map(of_word).collect();
        let last = end.div_ceil(BLOCK);
        let blocks = self.blocks.iter().enumerate();
        let blocks = blocks.take(last).skip(first / BLOCK);
        let can = move |set: &[u64; WORDS]| {
            let has = |(word, bit): &(usize, u64)| set[*word] & bit != 0;
            words.iter().any(|triples| triples.iter().all(has))
        };
        blocks.filter(move |(_, set)| can(set)).map(move |(at, _)| {
            let start = at * BLOCK;
            [start.max(first), (start + BLOCK).min(end)]
        })
    }
}
