//! Lines that two boots print in the same order.

use std::collections::BTreeMap;

use bootlap_model::Stamp;

/// A line of one boot, without its stamp.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// When its burst began.
    pub(crate) at: Stamp,
}

/// The lines that occur once in either boot and keep their order, as many as
/// possible, as pairs of indices (the heart of a patience diff).
///
/// A line that occurs twice could be paired wrongly, and would move time that
/// did not move.
pub(super) fn common(before: &[Line], after: &[Line]) -> Vec<(usize, usize)> {
    let (in_before, in_after) = (unique(before), unique(after));
    let mut pairs: Vec<(usize, usize)> = in_before
        .iter()
        .filter_map(|(text, &i)| Some((i, *in_after.get(text)?)))
        .collect();
    pairs.sort_unstable();
    longest_rising(&pairs)
}

/// The same for texts alone.
pub(crate) fn common_texts(before: &[String], after: &[String]) -> Vec<(usize, usize)> {
    let lines = |texts: &[String]| -> Vec<Line> {
        let line = |text: &String| Line {
            text: text.clone(),
            at: Stamp::new(0, 0),
        };
        texts.iter().map(line).collect()
    };
    common(&lines(before), &lines(after))
}

fn unique(lines: &[Line]) -> BTreeMap<&str, usize> {
    let mut at: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (i, line) in lines.iter().enumerate() {
        let place = at.entry(&line.text);
        place.and_modify(|p| *p = None).or_insert(Some(i));
    }
    let once = at.into_iter();
    once.filter_map(|(text, i)| Some((text, i?))).collect()
}

/// The longest subsequence whose second numbers rise (patience sorting).
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // By length − 1: the pair with the least second number that ends a rising
    // sequence of this length; and for each pair what stands before it.
    let mut tops: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (i, pair) in pairs.iter().enumerate() {
        let length = tops.partition_point(|&top| pairs[top].1 < pair.1);
        previous.push(length.checked_sub(1).map(|l| tops[l]));
        if length == tops.len() {
            tops.push(i);
        } else {
            tops[length] = i;
        }
    }
    let mut chain = Vec::new();
    let mut at = tops.last().copied();
    while let Some(i) = at {
        chain.push(pairs[i]);
        at = previous[i];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        let at = Stamp::new(0, 0);
        let line = |c: char| Line {
            text: c.to_string(),
            at,
        };
        text.chars().map(line).collect()
    }

    #[test]
    fn lines_pair_up_in_order_and_only_if_unique() {
        let pairs = |a, b| common(&lines(a), &lines(b));
        assert_eq!(pairs("abcd", "axcd"), [(0, 0), (2, 2), (3, 3)]);
        assert_eq!(pairs("abab", "ab"), []);
        // b moved: of (a b c) and (b a c) two keep their order.
        assert_eq!(pairs("abc", "bac").len(), 2);
        assert_eq!(pairs("", "abc"), []);
    }
}
