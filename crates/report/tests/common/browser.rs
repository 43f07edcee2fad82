//! Chromium, which opens what reports are made of.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The document that `html` becomes, after its scripts ran, and what the
/// console of the browser got to hear. `name` is unique among the tests.
pub(crate) fn rendered(name: &str, html: &str, fragment: &str) -> (String, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Left from an earlier run, if that was stopped.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("page.html");
    std::fs::write(&file, html).unwrap();
    let output = Command::new(chromium())
        .args("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(' '))
        .args("--disable-background-networking --disable-component-update".split(' '))
        .args("--disable-sync --enable-logging=stderr --window-size=1100,2000".split(' '))
        // Frames are drawn and timers run before the document is dumped.
        .arg("--virtual-time-budget=2000")
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg("--dump-dom")
        .arg(format!("file://{}#{fragment}", file.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    let console = log.lines().filter(|line| line.contains("CONSOLE"));
    let console = console.map(str::to_owned).collect();
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        console,
    )
}

/// The browser that the tests run; they need one.
fn chromium() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|candidate| candidate.is_file());
    found.expect("pages and charts are tested in a real browser: apt-get install chromium")
}
