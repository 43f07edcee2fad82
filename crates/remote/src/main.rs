//! `bootlap-remote`: reads and writes objects of a store that others share, for bootlap.
//!
//! A program of its own, so that who shares nothing need not have it: what speaks to S3,
//! GCS, Azure and HTTP is larger than bootlap. Requests come on standard input, one after
//! the other, until its end:
//!
//! ```text
//! get NAME            → ok LENGTH, and the bytes; or none
//! has NAME            → ok 0; or none
//! put LENGTH NAME, and the bytes                        → ok 0
//! remove NAME         → ok 0
//! ```
//!
//! What goes wrong is told in a line, `failed WHY`. Keys and regions are taken from the
//! environment, as the vendors' own programs do.

mod place;

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

use place::Place;

/// More than any object is.
const MOST: u64 = 2 << 30;

fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        return complain("usage: bootlap-remote URL (bootlap starts it; see docs/store.md)");
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(e) => return complain(&format!("bootlap-remote cannot run: {e}")),
    };
    // Told with the first request: who asks reads no other stream.
    let place = Place::open(&url);
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    loop {
        let done = answer(&mut input, &mut output, |request| match &place {
            Ok(place) => runtime.block_on(place.answer(request)),
            Err(why) => Err(why.clone()),
        });
        match done {
            Ok(true) => {}
            Ok(false) => return ExitCode::SUCCESS,
            Err(e) => return complain(&format!("bootlap-remote: {e}")),
        }
    }
}

#[allow(clippy::print_stderr)]
fn complain(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::FAILURE
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Get(String),
    Has(String),
    Put(String, Vec<u8>),
    Remove(String),
}

/// Bytes, or nothing of that name.
type Answer = Result<Option<Vec<u8>>, String>;

/// Answers one request; whether there was one.
fn answer(
    input: &mut impl BufRead,
    output: &mut impl Write,
    with: impl FnOnce(Request) -> Answer,
) -> io::Result<bool> {
    let Some(request) = read(input)? else {
        return Ok(false);
    };
    match with(request) {
        Ok(Some(bytes)) => {
            writeln!(output, "ok {}", bytes.len())?;
            output.write_all(&bytes)?;
        }
        Ok(None) => writeln!(output, "none")?,
        Err(why) => writeln!(output, "failed {}", one_line(&why))?,
    }
    output.flush()?;
    Ok(true)
}

fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let bad = || io::Error::new(io::ErrorKind::InvalidData, format!("what is {line:?}?"));
    let (verb, rest) = line.trim_end().split_once(' ').ok_or_else(bad)?;
    Ok(Some(match verb {
        "get" => Request::Get(rest.to_owned()),
        "has" => Request::Has(rest.to_owned()),
        "remove" => Request::Remove(rest.to_owned()),
        "put" => {
            let (len, name) = rest.split_once(' ').ok_or_else(bad)?;
            let len: u64 = len.parse().map_err(|_| bad())?;
            if len > MOST {
                return Err(bad());
            }
            let mut bytes = Vec::new();
            input.take(len).read_to_end(&mut bytes)?;
            if bytes.len() as u64 != len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Request::Put(name.to_owned(), bytes)
        }
        _ => return Err(bad()),
    }))
}

/// Errors of HTTP have whole pages in them.
fn one_line(why: &str) -> String {
    let words: Vec<&str> = why.split_whitespace().collect();
    words.join(" ").chars().take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> (Vec<Request>, String) {
        let mut seen = Vec::new();
        let mut output = Vec::new();
        loop {
            let with = |request| {
                let answer = match &request {
                    Request::Get(name) if name == "a" => Ok(Some(b"bytes".to_vec())),
                    Request::Get(_) => Ok(None),
                    Request::Remove(_) => Err("two\n lines".to_owned()),
                    _ => Ok(Some(Vec::new())),
                };
                seen.push(request);
                answer
            };
            match answer(&mut input, &mut output, with) {
                Ok(true) => {}
                Ok(false) => break,
                Err(e) => {
                    output.extend(e.to_string().bytes());
                    break;
                }
            }
        }
        (seen, String::from_utf8(output).unwrap())
    }

    #[test]
    fn requests_are_answered_one_after_the_other() {
        let (seen, said) = all(b"get a\nget b c\nput 3 n\nx\nyhas n\nremove n\n");
        let wanted = [
            Request::Get("a".into()),
            Request::Get("b c".into()),
            Request::Put("n".into(), b"x\ny".to_vec()),
            Request::Has("n".into()),
            Request::Remove("n".into()),
        ];
        assert_eq!(seen, wanted);
        assert_eq!(said, "ok 5\nbytesnone\nok 0\nok 0\nfailed two lines\n");
    }

    #[test]
    fn half_a_request_is_none() {
        for input in [
            "put 10 n\nabc",
            "put x n\n",
            "drop all\n",
            "get\n",
            "put 99999999999 n\n",
        ] {
            let (seen, said) = all(input.as_bytes());
            assert!(seen.is_empty() && !said.is_empty(), "{input:?}: {said}");
        }
    }
}
