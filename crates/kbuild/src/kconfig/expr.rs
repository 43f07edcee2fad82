//! Expressions: `PCI && (X86 || COMPILE_TEST) && !UML`.

use std::fmt;

use super::lex::{Token, tokens};
use crate::dot_config::{DotConfig, State};

/// Deeper brackets are no expression that anybody wrote.
const DEEPEST: usize = 32;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`, `<=`, `>` or `>=`: of numbers, and not computed here.
    Order(&'static str),
}

/// What must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// An option, `y`, `m`, `n`, a number or a macro.
    Name(String),
    /// `!a`
    Not(Box<Expr>),
    /// `a && b && …`
    And(Vec<Expr>),
    /// `a || b || …`
    Or(Vec<Expr>),
    /// `a = b`
    Compare(String, Op, String),
}

impl Expr {
    /// Reads an expression; `None` if it is none. What follows it is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let tokens = tokens(text);
        Self::from_tokens(&tokens)
    }

    /// See [`parse`](Self::parse).
    pub(super) fn from_tokens(tokens: &[Token]) -> Option<Self> {
        let mut parser = Parser { tokens, at: 0 };
        parser.or(0)
    }

    /// Whether it holds, and as how much.
    pub fn eval(&self, config: &DotConfig) -> State {
        match self {
            Expr::Name(name) => value(name, config),
            Expr::Not(inner) => match inner.eval(config) {
                State::No => State::Yes,
                State::Module => State::Module,
                State::Yes => State::No,
            },
            Expr::And(all) => least(all.iter().map(|e| e.eval(config))),
            Expr::Or(any) => any
                .iter()
                .map(|e| e.eval(config))
                .max()
                .unwrap_or(State::No),
            Expr::Compare(a, op, b) => {
                let text = |name: &'_ str| -> String {
                    let known = config.value(name).map(str::to_owned);
                    let quoted = name.trim_matches('"');
                    let literal = matches!(name, "y" | "m" | "n") || quoted.len() < name.len();
                    let literal = literal || name.starts_with(|c: char| c.is_ascii_digit());
                    let otherwise = if literal { quoted } else { "n" };
                    known.unwrap_or_else(|| otherwise.to_owned())
                };
                match op {
                    Op::Equal if text(a) == text(b) => State::Yes,
                    Op::Unequal if text(a) != text(b) => State::Yes,
                    Op::Order(_) => State::Yes,
                    _ => State::No,
                }
            }
        }
    }
}

fn least(states: impl Iterator<Item = State>) -> State {
    states.min().unwrap_or(State::Yes)
}

fn value(name: &str, config: &DotConfig) -> State {
    match name {
        "y" => State::Yes,
        "m" => State::Module,
        "n" => State::No,
        // What a compiler can do is not known: it could.
        macro_call if macro_call.starts_with('$') => State::Yes,
        name => config.state(name),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl Parser<'_> {
    fn is(&mut self, symbol: &str) -> bool {
        let is = matches!(self.tokens.get(self.at), Some(Token::Symbol(s)) if *s == symbol);
        self.at += usize::from(is);
        is
    }

    fn or(&mut self, depth: usize) -> Option<Expr> {
        let mut any = vec![self.and(depth)?];
        while self.is("||") {
            any.push(self.and(depth)?);
        }
        Some(one_or(any, Expr::Or))
    }

    fn and(&mut self, depth: usize) -> Option<Expr> {
        let mut all = vec![self.unary(depth)?];
        while self.is("&&") {
            all.push(self.unary(depth)?);
        }
        Some(one_or(all, Expr::And))
    }

    fn unary(&mut self, depth: usize) -> Option<Expr> {
        if depth > DEEPEST {
            return None;
        }
        if self.is("!") {
            return Some(Expr::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.is("(") {
            let inner = self.or(depth + 1)?;
            return self.is(")").then_some(inner);
        }
        let name = self.name()?;
        let ops = [
            ("=", Op::Equal),
            ("!=", Op::Unequal),
            ("<=", Op::Order("<=")),
            (">=", Op::Order(">=")),
            ("<", Op::Order("<")),
            (">", Op::Order(">")),
        ];
        for (symbol, op) in ops {
            if self.is(symbol) {
                return Some(Expr::Compare(name, op, self.name()?));
            }
        }
        Some(Expr::Name(name))
    }

    fn name(&mut self) -> Option<String> {
        let name = match self.tokens.get(self.at)? {
            Token::Word(word) => word.clone(),
            Token::Text(text) => format!("\"{text}\""),
            Token::Symbol(_) => return None,
        };
        self.at += 1;
        Some(name)
    }
}

fn one_or(mut several: Vec<Expr>, make: fn(Vec<Expr>) -> Expr) -> Expr {
    match several.pop() {
        Some(only) if several.is_empty() => only,
        Some(last) => {
            several.push(last);
            make(several)
        }
        None => make(several),
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Name(name) => f.write_str(name),
            Expr::Not(inner) => match **inner {
                Expr::Name(_) => write!(f, "!{inner}"),
                _ => write!(f, "!({inner})"),
            },
            Expr::And(all) => joined(f, all, " && ", |e| matches!(e, Expr::Or(_))),
            Expr::Or(any) => joined(f, any, " || ", |_| false),
            Expr::Compare(a, op, b) => {
                let op = match op {
                    Op::Equal => "=",
                    Op::Unequal => "!=",
                    Op::Order(op) => op,
                };
                write!(f, "{a}{op}{b}")
            }
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expr],
    between: &str,
    in_brackets: fn(&Expr) -> bool,
) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            f.write_str(between)?;
        }
        if in_brackets(part) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Expr::parse(text).map_or("none".to_owned(), |e| e.to_string())
    }

    #[test]
    fn and_binds_closer_than_or() {
        assert_eq!(shown("A&&(B || C) && !D"), "A && (B || C) && !D");
        assert_eq!(shown("A || B && C=y"), "A || B && C=y");
        assert_eq!(shown("!(A && B)"), "!(A && B)");
        assert_eq!(shown("$(cc-option,-fx) && A"), "$(cc-option,-fx) && A");
        assert_eq!(shown("A &&"), "none");
        assert_eq!(shown(&"(".repeat(100_000)), "none");
        assert_eq!(shown(&"!".repeat(100_000)), "none");
    }

    #[test]
    fn values_are_those_of_the_config() {
        let config = DotConfig::read(b"CONFIG_A=y\nCONFIG_M=m\n").unwrap();
        let eval = |text: &str| Expr::parse(text).unwrap().eval(&config).text();
        assert_eq!(eval("A && M"), "m");
        assert_eq!(eval("A || M"), "y");
        assert_eq!(eval("!A || B"), "n");
        assert_eq!(eval("M=m && B=n && A!=n"), "y");
    }
}
