//! Constant expressions of C, as far as delays are made of them.

use std::collections::HashMap;

use crate::source::{Source, byte, is_name, name_at, skip_space};

/// Deeper brackets are no constant that anybody wrote.
const DEEPEST: usize = 24;
/// Names that are looked up for one value: they could mean each other.
const MOST_NAMES: usize = 64;

/// Jiffies are counted in these parts of a second, so that `HZ / 10` has a
/// value whatever `HZ` is.
const HZ: i64 = 1_000_000_000;

/// The constants of a file.
#[derive(Default)]
pub(crate) struct Constants {
    defined: HashMap<String, String>,
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// Its value; jiffies in ns.
    pub(crate) value: i64,
    /// Made of `HZ`, or of a conversion into jiffies.
    pub(crate) jiffies: bool,
}

impl Constants {
    /// What a file defines without parameters.
    pub(crate) fn of(source: &Source) -> Self {
        let mut constants = Self::default();
        let mut at = 0;
        while let Some(found) = next_directive(source, at) {
            let directive = source.directive(found);
            at = directive.end.max(found + 1);
            if directive.keyword != "define" {
                continue;
            }
            let from = source.skip_space(directive.rest.start);
            let name = source.name_at(from);
            let after = from + name.len();
            if name.is_empty() || byte(&source.code, after) == b'(' {
                continue;
            }
            let value = source.slice(after..directive.rest.end).trim();
            if !value.is_empty() && value.len() < 256 {
                constants.defined.insert(name.to_owned(), value.to_owned());
            }
        }
        constants
    }

    /// The value of an expression, if it is constant.
    pub(crate) fn eval(&self, text: &str) -> Option<Number> {
        let mut names = MOST_NAMES;
        self.value(text, 0, &mut names)
    }

    fn value(&self, text: &str, depth: usize, names: &mut usize) -> Option<Number> {
        let mut parser = Parser {
            code: text.as_bytes(),
            at: 0,
            constants: self,
            names,
        };
        let number = parser.sum(depth)?;
        let end = skip_space(parser.code, parser.at);
        (end >= parser.code.len()).then_some(number)
    }
}

/// The next `#` that begins a line.
pub(crate) fn next_directive(source: &Source, from: usize) -> Option<usize> {
    let code = &source.code;
    let mut at = from;
    loop {
        let rest = code.get(at..)?;
        at += memchr::memchr(b'#', rest)?;
        let before = code.get(..at)?;
        let blank = before.iter().rev().find(|b| !matches!(b, b' ' | b'\t'));
        if matches!(blank, None | Some(b'\n')) {
            return Some(at);
        }
        at += 1;
    }
}

struct Parser<'a> {
    code: &'a [u8],
    at: usize,
    constants: &'a Constants,
    names: &'a mut usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> u8 {
        self.at = skip_space(self.code, self.at);
        byte(self.code, self.at)
    }

    fn sum(&mut self, depth: usize) -> Option<Number> {
        let mut left = self.product(depth)?;
        loop {
            let add = match self.peek() {
                b'+' => true,
                b'-' => false,
                b'<' if byte(self.code, self.at + 1) == b'<' => {
                    self.at += 2;
                    let by = u32::try_from(self.product(depth)?.value).ok()?;
                    let factor = 1_i64.checked_shl(by).filter(|f| *f > 0)?;
                    left.value = left.value.checked_mul(factor)?;
                    continue;
                }
                _ => return Some(left),
            };
            self.at += 1;
            let right = self.product(depth)?;
            left.value = match add {
                true => left.value.checked_add(right.value)?,
                false => left.value.checked_sub(right.value)?,
            };
            left.jiffies |= right.jiffies;
        }
    }

    fn product(&mut self, depth: usize) -> Option<Number> {
        let mut left = self.unit(depth)?;
        loop {
            let op = self.peek();
            if !matches!(op, b'*' | b'/') {
                return Some(left);
            }
            self.at += 1;
            let right = self.unit(depth)?;
            left.value = match op {
                b'*' => left.value.checked_mul(right.value)?,
                _ => left.value.checked_div(right.value)?,
            };
            left.jiffies |= right.jiffies;
        }
    }

    fn unit(&mut self, depth: usize) -> Option<Number> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek() {
            b'(' => {
                self.at += 1;
                let inner = self.sum(depth + 1)?;
                (self.peek() == b')').then_some(())?;
                self.at += 1;
                Some(inner)
            }
            b'0'..=b'9' => self.literal(),
            _ => self.name(depth),
        }
    }

    fn literal(&mut self) -> Option<Number> {
        let rest = self.code.get(self.at..)?;
        let end = rest.iter().position(|b| !is_name(*b)).unwrap_or(rest.len());
        let text = std::str::from_utf8(rest.get(..end)?).ok()?;
        self.at += end;
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
        let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok()?,
            None if digits.len() > 1 && digits.starts_with('0') => {
                i64::from_str_radix(digits, 8).ok()?
            }
            None => digits.parse().ok()?,
        };
        Some(Number {
            value,
            jiffies: false,
        })
    }

    fn name(&mut self, depth: usize) -> Option<Number> {
        *self.names = self.names.checked_sub(1)?;
        let name = name_at(self.code, self.at).to_owned();
        self.at += name.len();
        let factor = match name.as_str() {
            "" => return None,
            "HZ" => {
                return Some(Number {
                    value: HZ,
                    jiffies: true,
                });
            }
            "secs_to_jiffies" => Some(1_000_000_000),
            "msecs_to_jiffies" => Some(1_000_000),
            "usecs_to_jiffies" => Some(1_000),
            "nsecs_to_jiffies" => Some(1),
            "USEC_PER_MSEC" | "MSEC_PER_SEC" | "NSEC_PER_USEC" => return plain(1_000),
            "USEC_PER_SEC" | "NSEC_PER_MSEC" => return plain(1_000_000),
            "NSEC_PER_SEC" => return plain(1_000_000_000),
            _ => None,
        };
        if let Some(factor) = factor {
            let inner = self.unit(depth + 1)?;
            return Some(Number {
                value: inner.value.checked_mul(factor)?,
                jiffies: true,
            });
        }
        let text = self.constants.defined.get(&name)?;
        self.constants.value(text, depth + 1, self.names)
    }
}

fn plain(value: i64) -> Option<Number> {
    Some(Number {
        value,
        jiffies: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_the_file_and_jiffies() {
        let text = "#define WAIT 5\n # define LONG (WAIT * 2 + 0x10)\n#define F(x) x\n\
                    #define A B\n#define B A A\n";
        let constants = Constants::of(&Source::new(text.as_bytes().to_vec()));
        let of = |text: &str| constants.eval(text).map(|n| (n.value, n.jiffies));
        assert_eq!(of("WAIT"), Some((5, false)));
        assert_eq!(of("LONG - 1"), Some((25, false)));
        assert_eq!(of("HZ / 10"), Some((100_000_000, true)));
        assert_eq!(of("msecs_to_jiffies(WAIT)"), Some((5_000_000, true)));
        assert_eq!(of("10 * USEC_PER_MSEC"), Some((10_000, false)));
        for unknown in ["x", "A", "F(1)", "1 / 0", "1 1", "", "9999999999999999999"] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
        assert_eq!(of(&"(".repeat(100_000)), None);
    }
}
