//! `bootlap serve`: the reports of a folder in a browser, for who works on a machine without one.
//!
//! It answers this machine alone: it listens on the loopback, and asks that a request names it, so
//! that no page from elsewhere can read reports through the browser. Only files of reports are
//! given, and only from below the folder.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bootlap_engine::{Exit, Failure, Progress};
use bootlap_report::xml::escaped;

use crate::args::Serve;
use crate::ui::Ui;

/// What reports are, and how browsers are told.
const KINDS: [(&str, &str); 7] = [
    ("html", "text/html; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("md", "text/plain; charset=utf-8"),
    ("txt", "text/plain; charset=utf-8"),
    ("csv", "text/plain; charset=utf-8"),
    ("json", "application/json"),
    ("xml", "text/xml; charset=utf-8"),
];
/// A request is no longer.
const LONGEST: u64 = 8 << 10;
/// Who says nothing for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Reports that are listed, and how deep in the folder they are looked for.
const LISTED: usize = 500;
const DEEPEST: usize = 6;

pub(crate) fn run(args: &Serve, ui: &Ui) -> Result<Exit, Failure> {
    let folder = &args.folder;
    let root = folder.canonicalize().ok().filter(|root| root.is_dir());
    let root = root.ok_or_else(|| {
        let why = format!("{} is no folder", folder.display());
        Failure::new(Exit::Usage, why).hint("`bootlap report @last -o boot.html` writes a report")
    })?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|e| {
        let why = format!("cannot listen on port {}: {e}", args.port);
        Failure::new(Exit::Usage, why).hint("name another with --port; 0 takes any that is free")
    })?;
    let port = listener
        .local_addr()
        .map_or(args.port, |address| address.port());
    let count = match reports(&root).len() {
        1 => "1 report".to_owned(),
        n => format!("{n} reports"),
    };
    ui.print(&format!(
        "http://127.0.0.1:{port}/ shows {count} of {}",
        folder.display()
    ));
    ui.note(&format!(
        "Ctrl-C ends it. From another machine: ssh -L {port}:127.0.0.1:{port} this-machine"
    ));
    for stream in listener.incoming().flatten() {
        let root = root.clone();
        // Browsers open connections in advance, and say nothing on them.
        std::thread::spawn(move || {
            // Who breaks off has seen enough.
            let _ = answer(&stream, &root, port);
        });
    }
    Ok(Exit::Ok)
}

/// Reads one request and answers it.
fn answer(mut stream: &TcpStream, root: &Path, port: u16) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.take(LONGEST)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut host = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let named = line
            .split_once(':')
            .filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        host = host.or(named.map(|(_, value)| value.trim().to_owned()));
    }
    let (status, kind, body) = match response(&first, host.as_deref(), root, port) {
        Ok((kind, body)) => ("200 OK", kind, body),
        Err(status) => (
            status,
            "text/plain; charset=utf-8",
            format!("{status}\n").into_bytes(),
        ),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    if !first.starts_with("HEAD ") {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// The kind and the bytes of what was asked for, or the status that says why not.
fn response(
    first: &str,
    host: Option<&str>,
    root: &Path,
    port: u16,
) -> Result<(&'static str, Vec<u8>), &'static str> {
    let mut words = first.split(' ');
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    if method != "GET" && method != "HEAD" {
        return Err("405 Method Not Allowed");
    }
    let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    if !host.is_some_and(|host| own.iter().any(|own| own == host)) {
        return Err("421 Misdirected Request");
    }
    let path = decoded(target.split(['?', '#']).next().unwrap_or_default());
    let path = path.and_then(|path| path.strip_prefix('/').map(str::to_owned));
    let path = path.ok_or("400 Bad Request")?;
    if path.is_empty() {
        return Ok((KINDS[0].1, index(root).into_bytes()));
    }
    let kind = kind_of(Path::new(&path)).ok_or("404 Not Found")?;
    // A link out of the folder is followed, and then found to be outside.
    let file = root
        .join(&path)
        .canonicalize()
        .map_err(|_| "404 Not Found")?;
    if !file.starts_with(root) || !file.is_file() {
        return Err("404 Not Found");
    }
    fs::read(file)
        .map(|bytes| (kind, bytes))
        .map_err(|_| "404 Not Found")
}

fn kind_of(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?;
    KINDS
        .iter()
        .find(|(e, _)| *e == extension)
        .map(|(_, kind)| *kind)
}

/// `%41` as `A`; `None` where that makes no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// A path as an address.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// The reports below a folder, the newest first.
fn reports(root: &Path) -> Vec<(SystemTime, PathBuf)> {
    let mut found = Vec::new();
    let mut left = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
                continue;
            };
            if kind.is_dir() && depth < DEEPEST {
                left.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|e| e == "html") {
                let made = entry.metadata().and_then(|m| m.modified());
                found.push((made.unwrap_or(SystemTime::UNIX_EPOCH), path));
            }
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.truncate(LISTED);
    found
}

fn index(root: &Path) -> String {
    let mut page =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>reports</title>\
                    <style>:root{color-scheme:light dark}body{font:15px/1.6 system-ui,sans-serif;\
                    margin:24px}</style><h1>reports</h1><ul>"
            .to_owned();
    for (_, path) in reports(root) {
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
            continue;
        };
        let _ = write!(
            page,
            "<li><a href=\"/{}\">{}</a></li>",
            encoded(name),
            escaped(name)
        );
    }
    page + "</ul></html>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("reports");
        fs::create_dir_all(root.join("a b")).unwrap();
        fs::write(root.join("a b/boot.html"), "<html>a boot").unwrap();
        fs::write(root.join("secret"), "key").unwrap();
        fs::write(dir.path().join("outside.html"), "outside").unwrap();
        std::os::unix::fs::symlink("../outside.html", root.join("link.html")).unwrap();
        dir
    }

    #[test]
    fn reports_of_the_folder_are_given_and_nothing_else() {
        let dir = folder();
        let root = dir.path().join("reports").canonicalize().unwrap();
        let ask = |line: &str, host: &str| {
            response(line, Some(host), &root, 8017)
                .map(|(_, body)| String::from_utf8(body).unwrap())
        };
        let get = |path: &str| ask(&format!("GET {path} HTTP/1.1"), "127.0.0.1:8017");
        assert_eq!(get("/a%20b/boot.html").unwrap(), "<html>a boot");
        assert!(
            get("/")
                .unwrap()
                .contains("<a href=\"/a%20b/boot.html\">a b/boot.html</a>")
        );
        for path in [
            "/secret",
            "/link.html",
            "/../outside.html",
            "/a%20b/../../outside.html",
            "/%2e%2e/outside.html",
            "//etc/passwd.html",
            "/a%20b",
            "/none.html",
        ] {
            assert_eq!(get(path), Err("404 Not Found"), "{path}");
        }
        assert_eq!(get("/%zz.html"), Err("400 Bad Request"));
        assert_eq!(
            ask("POST / HTTP/1.1", "127.0.0.1:8017"),
            Err("405 Method Not Allowed")
        );
        // A name that somebody else made point here.
        assert_eq!(
            ask("GET / HTTP/1.1", "evil.example:8017"),
            Err("421 Misdirected Request")
        );
        assert_eq!(
            response("GET / HTTP/1.1", None, &root, 8017),
            Err("421 Misdirected Request")
        );
    }
}
