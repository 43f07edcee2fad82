//! Looking for lines by what they say.

use std::ops::Deref;
use std::slice;

use memchr::memmem;

use super::Line;
use super::index::Index;

/// Which lines a rule wants.
///
/// Text is wanted anywhere in the line, a list means any of its texts; [`Begin`] wants them at
/// its start, and a pair adds a condition: `(" stag ", |t| t.contains("flags: "))`.
pub(crate) trait Wanted {
    /// Any line that is wanted holds one of these.
    fn words(&self) -> &[&str];
    fn accepts(&self, text: &str) -> bool;
}

/// Whether the text contains one of these.
pub(crate) fn contains(text: &str, any: &[&str]) -> bool {
    let holds = |w: &&str| memmem::find(text.as_bytes(), w.as_bytes()).is_some();
    any.iter().any(holds)
}

/// Whether the text begins with one of these.
pub(crate) fn begins(text: &str, with: &[&str]) -> bool {
    with.iter().any(|w| text.starts_with(w))
}

impl Wanted for &str {
    fn words(&self) -> &[&str] {
        slice::from_ref(self)
    }

    fn accepts(&self, text: &str) -> bool {
        contains(text, self.words())
    }
}

impl Wanted for &[&str] {
    fn words(&self) -> &[&str] {
        self
    }

    fn accepts(&self, text: &str) -> bool {
        contains(text, self)
    }
}

impl<const N: usize> Wanted for [&str; N] {
    fn words(&self) -> &[&str] {
        self
    }

    fn accepts(&self, text: &str) -> bool {
        contains(text, self)
    }
}

/// Lines that begin with this.
#[derive(Clone, Copy)]
pub(crate) struct Begin<W>(pub(crate) W);

impl<W: Wanted> Wanted for Begin<W> {
    fn words(&self) -> &[&str] {
        self.0.words()
    }

    fn accepts(&self, text: &str) -> bool {
        begins(text, self.words())
    }
}

impl<W: Wanted, F: Fn(&str) -> bool> Wanted for (W, F) {
    fn words(&self) -> &[&str] {
        self.0.words()
    }

    fn accepts(&self, text: &str) -> bool {
        self.0.accepts(text) && (self.1)(text)
    }
}

/// Lines of a boot, one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Said<'b, 'a> {
    lines: &'b [Line<'a>],
    /// And where in it they begin; none for few lines.
    index: Option<(&'b Index, usize)>,
}

impl<'a> Deref for Said<'_, 'a> {
    type Target = [Line<'a>];

    fn deref(&self) -> &Self::Target {
        self.lines
    }
}

impl<'b, 'a> From<&'b Vec<Line<'a>>> for Said<'b, 'a> {
    fn from(lines: &'b Vec<Line<'a>>) -> Self {
        Self { lines, index: None }
    }
}

impl<'b, 'a> Said<'b, 'a> {
    pub(super) fn new(lines: &'b [Line<'a>], index: &'b Index) -> Self {
        Self {
            lines,
            index: Some((index, 0)),
        }
    }

    pub(crate) fn iter(self) -> slice::Iter<'b, Line<'a>> {
        self.lines.iter()
    }

    /// Those from this one on.
    pub(crate) fn since(self, at: usize) -> Self {
        Self {
            lines: &self.lines[at..],
            index: self.index.map(|(index, first)| (index, first + at)),
        }
    }

    /// Those before this one.
    pub(crate) fn until(self, at: usize) -> Self {
        Self {
            lines: &self.lines[..at],
            ..self
        }
    }

    /// Where the wanted lines are.
    pub(crate) fn places(self, wanted: impl Wanted) -> impl Iterator<Item = usize> {
        let (lines, index) = (self.lines, self.index);
        let indexed = index.map(|(index, first)| {
            let stretches = index.stretches([first, first + lines.len()], wanted.words());
            stretches.map(move |[start, end]| [start - first, end - first])
        });
        let all = index.is_none().then_some([0, lines.len()]);
        let stretches = indexed.into_iter().flatten().chain(all);
        let places = stretches.flat_map(|[start, end]| start..end);
        places.filter(move |at| wanted.accepts(lines[*at].text))
    }

    /// The wanted lines.
    pub(crate) fn all(self, wanted: impl Wanted) -> impl Iterator<Item = &'b Line<'a>> {
        self.places(wanted).map(move |at| &self.lines[at])
    }

    /// The first of them.
    pub(crate) fn find(self, wanted: impl Wanted) -> Option<&'b Line<'a>> {
        self.all(wanted).next()
    }

    /// Whether there is one.
    pub(crate) fn has(self, wanted: impl Wanted) -> bool {
        self.find(wanted).is_some()
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{Evidence, Timeline};
    use proptest::prelude::*;

    use super::super::Sent;
    use super::*;

    fn lines(texts: &[String]) -> Vec<Line<'_>> {
        let file = Timeline::default().add_file("console", "test");
        let line = |text| Line {
            text,
            timed: false,
            start_ns: 0,
            end_ns: 0,
            next_ns: 0,
            printed: [0; 2],
            goes_on: false,
            sent: Sent::Unknown,
            bytes: 0,
            evidence: Evidence::whole(file, 0),
        };
        texts.iter().map(|text| line(text.as_str())).collect()
    }

    proptest! {
        /// What the index leaves out holds none of the words, in whatever part of the lines.
        #[test]
        fn the_index_hides_no_line(
            texts in prop::collection::vec("[a-cäß: ]{0,12}", 0..200),
            words in prop::collection::vec("[a-cäß: ]{0,6}", 1..4),
            cuts in any::<[prop::sample::Index; 2]>(),
        ) {
            let lines = lines(&texts);
            let index = Index::of(&lines);
            let [first, end] = cuts.map(|cut| cut.index(lines.len() + 1));
            let (first, end) = (first.min(end), first.max(end));
            let part = Said::new(&lines, &index).until(end).since(first);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let holds = |at: &usize| words.iter().any(|word| part[*at].text.contains(word));
            let expected: Vec<usize> = (0..part.len()).filter(holds).collect();
            let found: Vec<usize> = part.places(words.as_slice()).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_text_is_wanted_anywhere_at_the_start_or_with_more() {
        let texts = ["md: bind<a>", "raid: md: bind<b>", "md: stop"].map(str::to_owned);
        let lines = lines(&texts);
        let index = Index::of(&lines);
        let said = Said::new(&lines, &index);
        fn all(places: impl Iterator<Item = usize>) -> Vec<usize> {
            places.collect()
        }
        assert_eq!(all(said.places("md: ")), [0, 1, 2]);
        assert_eq!(all(said.places(["stop", "raid"])), [1, 2]);
        assert_eq!(all(said.places(Begin("md: "))), [0, 2]);
        let bound = ("md: ", |text: &str| text.ends_with('>'));
        assert_eq!(all(said.places(bound)), [0, 1]);
        assert_eq!(all(said.since(1).places("md: ")), [0, 1]);
    }
}
