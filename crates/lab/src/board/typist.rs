//! Types what a target says, after what it says: each answer once per boot.

use bootlap_product::Send;
use regex::bytes::Regex;
use serde_json::{Value, json};

/// A line is looked at up to this length.
const LINE_LIMIT: usize = 4096;

/// The answers of one boot.
pub(super) struct Typist {
    answers: Vec<Answer>,
    /// The line that is being written.
    line: Vec<u8>,
}

struct Answer {
    after: Regex,
    text: String,
    sent: bool,
}

impl Typist {
    pub(super) fn new(send: &[Send]) -> Self {
        let answer = |s: &Send| {
            Some(Answer {
                // Checked when the target was read.
                after: Regex::new(&s.after).ok()?,
                text: s.text.clone(),
                sent: false,
            })
        };
        Self {
            answers: send.iter().filter_map(answer).collect(),
            line: Vec::new(),
        }
    }

    /// What is to be typed now that `bytes` have come.
    pub(super) fn hears(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut texts = Vec::new();
        if self.answers.iter().all(|a| a.sent) {
            return texts;
        }
        for part in bytes.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            let (text, ends) = match part.split_last() {
                Some((b'\n' | b'\r', text)) => (text, true),
                _ => (part, false),
            };
            self.line.extend_from_slice(text);
            if self.line.len() > LINE_LIMIT {
                self.line.drain(..self.line.len() - LINE_LIMIT);
            }
            for answer in self.answers.iter_mut().filter(|a| !a.sent) {
                if answer.after.is_match(&self.line) {
                    answer.sent = true;
                    texts.push(answer.text.clone());
                }
            }
            if ends {
                self.line.clear();
            }
        }
        texts
    }

    /// What was typed, for the manifest.
    pub(super) fn sent(&self) -> Value {
        let sent = self.answers.iter().filter(|a| a.sent);
        let sent = sent.map(|a| json!({ "after": a.after.as_str(), "text": a.text }));
        Value::Array(sent.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typist(answers: &[(&str, &str)]) -> Typist {
        let send = answers.iter().map(|(after, text)| Send {
            after: (*after).to_owned(),
            text: (*text).to_owned(),
        });
        Typist::new(&send.collect::<Vec<_>>())
    }

    #[test]
    fn each_answer_is_given_once_however_the_bytes_come() {
        let said = b"Hit any key: 2\r\n=> \r\nlogin: \r\nlogin: ";
        for size in [1, 3, 100] {
            let mut typist = typist(&[("login: $", "root\n"), ("^Hit any key", " ")]);
            let typed: Vec<String> = said.chunks(size).flat_map(|c| typist.hears(c)).collect();
            assert_eq!(typed, [" ", "root\n"], "{size}");
            assert_eq!(typist.sent().as_array().unwrap().len(), 2);
        }
    }

    #[test]
    fn a_pattern_does_not_reach_over_lines_and_a_line_is_bounded() {
        let mut typist = typist(&[("a.*b", "x")]);
        assert!(typist.hears(b"a\nb").is_empty());
        assert!(typist.hears(&[b'y'; 100_000]).is_empty());
        assert_eq!(typist.hears(b" a b"), ["x"]);
        assert_eq!(typist.hears(b" a b"), Vec::<String>::new());
        assert_eq!(typist.sent()[0]["text"], "x");
    }
}
