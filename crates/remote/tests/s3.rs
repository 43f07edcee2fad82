//! Boots shared over a real S3 server, and over plain HTTP. `make remote-test` builds
//! both programs and gets the server (s3s-fs, which keeps objects in a folder).

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A guest that prints `R` and halts.
const CODE: [u32; 5] = [
    0xd2a1_2009, //       mov x9, #0x9000000
    0x5280_0a41, //       mov w1, #'R'
    0xb900_0121, //       str w1, [x9]
    0xd503_207f, // halt: wfi
    0x17ff_ffff, //       b   halt
];

fn guest(dir: &Path) {
    let mut image = vec![0; 64];
    image[..4].copy_from_slice(&0x1400_0010_u32.to_le_bytes()); // b +64
    image[56..60].copy_from_slice(b"ARM\x64");
    image.extend(CODE.iter().flat_map(|word| word.to_le_bytes()));
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("Image"), image).unwrap();
    fs::write(dir.join("data"), "what else is in memory").unwrap();
    let text = "format = 1\nname = \"bare\"\n[ready]\npattern = \"R\"\n\
                [kernel]\nimage = \"Image\"\ncmdline = \"\"\n\
                [machine]\nkind = \"qemu\"\nprogram = \"qemu-system-aarch64\"\n\
                machine = \"virt\"\ncpu = \"cortex-a57\"\nmemory-mb = 64\n\
                args = [\"-device\", \"loader,file={dir}/data,addr=0x41000000,force-raw=on\"]\n";
    fs::write(dir.join("target.toml"), text).unwrap();
}

/// A server's process, which ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(command: impl FnOnce(u16) -> Command) -> Self {
        // Free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut command = command(port);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|e| panic!("{command:?}: {e}: run `make remote-test`"));
        let server = Self { child, port };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return server;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{command:?} does not listen");
    }

    fn s3(objects: &Path) -> Self {
        fs::create_dir_all(objects.join("team")).unwrap();
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin");
        Self::start(|port| {
            let mut command = Command::new(tools.join("s3s-fs"));
            command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
            command
                .args(["--access-key", "key", "--secret-key", "secret"])
                .arg(objects);
            command
        })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A place with a guest, and bootlap as a user of it calls it.
struct Bench {
    dir: tempfile::TempDir,
}

/// What came of a boot: console and stamps, how often it was made before, what was said.
type Booted = ([Vec<u8>; 2], usize, String);

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        guest(&dir.path().join("target"));
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn boot(&self, endpoint: &str, options: &[&str]) -> Booted {
        self.boot_with("secret", endpoint, options)
    }

    /// One boot with this secret for the server at `endpoint`.
    fn boot_with(&self, secret: &str, endpoint: &str, options: &[&str]) -> Booted {
        let target = self.path("target");
        let bootlap = Path::new(env!("CARGO_BIN_EXE_bootlap-remote")).with_file_name("bootlap");
        let out = Command::new(&bootlap)
            .current_dir(&target)
            .args(["boot", ".", "-n", "1", "--json", "--recheck", "0"])
            .args(options)
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("AWS_REGION", "us-east-1")
            .output()
            .unwrap_or_else(|e| panic!("{}: {e}: run `make remote-test`", bootlap.display()));
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{said}");
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        let run = target.join(report["run"].as_str().unwrap());
        let read = |name: &str| fs::read(run.join(name)).unwrap();
        let manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap();
        let kept = manifest["kept"].as_array().map_or(0, Vec::len);
        (["console", "console.stamps"].map(read), kept, said)
    }
}

const SHARE: [&str; 2] = ["--share", "s3://team/boots"];

#[test]
fn what_one_has_made_all_take_over_s3_and_http() {
    let bench = Bench::new();
    let objects = bench.path("objects");
    let server = Server::s3(&objects);
    let boot = |store: &str| bench.boot(&server.url(), &[&SHARE[..], &["--store", store]].concat());
    let (was, kept, said) = boot("../one");
    assert_eq!(kept, 0, "{said}");
    let (is, kept, said) = boot("../two");
    assert_eq!((&is, kept), (&was, 1), "{said}");
    // Any server of files will do to read them.
    let files = Server::start(|port| {
        let mut command = Command::new("python3");
        command
            .args(["-m", "http.server", "--bind", "127.0.0.1", "-d"])
            .arg(&objects);
        command.arg(port.to_string());
        command
    });
    let url = format!("{}/team/boots", files.url());
    let http = ["--share", &url, "--no-push", "--store", "../three"];
    let (is, kept, said) = bench.boot("", &http);
    assert_eq!((&is, kept), (&was, 1), "{said}");
    // One that cannot be written is told, and read all the same.
    let http = ["--share", &url, "--store", "../four", "--seed", "2"];
    let (_, kept, said) = bench.boot("", &http);
    assert_eq!(kept, 0);
    assert!(said.contains("nothing more is put there"), "{said}");
    // What is not what was written is left there.
    let shard = fs::read_dir(objects.join("team/boots/boots"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    for object in fs::read_dir(shard.path()).unwrap().flatten() {
        if object.path().to_str().unwrap().ends_with(".zst") {
            let mut bytes = fs::read(object.path()).unwrap();
            bytes[100] ^= 1;
            fs::write(object.path(), bytes).unwrap();
        }
    }
    let http = ["--share", &url, "--no-push", "--store", "../five"];
    let (is, kept, said) = bench.boot("", &http);
    assert_eq!((is, kept), (was, 0));
    assert!(said.contains("is damaged"), "{said}");
}

#[test]
fn a_machine_that_shares_nothing_but_s3_makes_boots() {
    let bench = Bench::new();
    let server = Server::s3(&bench.path("objects"));
    let (was, ..) = bench.boot("", &["--store", "../here"]);
    let on = [
        &SHARE[..],
        &["--store", "../there", "--on", "cd / && env -u HOME"],
    ]
    .concat();
    let (is, kept, said) = bench.boot(&server.url(), &on);
    assert_eq!((is, kept), (was, 0), "{said}");
    // Of the job only what the next one may want is left.
    let jobs = bench.path("objects/team/boots/jobs");
    let left = fs::read_dir(jobs).into_iter().flatten().flatten();
    let left = left.flat_map(|job| fs::read_dir(job.path()).into_iter().flatten());
    assert_eq!(left.count(), 0);
}

#[test]
fn a_server_that_fails_costs_the_boots_that_it_would_have_saved() {
    let bench = Bench::new();
    let (was, ..) = bench.boot("", &["--store", "../here"]);
    let server = Server::s3(&bench.path("objects"));
    let goes_on = |(is, kept, said): Booted, why: &str| {
        assert_eq!((&is, kept), (&was, 0), "{said}");
        assert!(said.contains("goes on without the shared store"), "{said}");
        assert!(said.contains(why), "{said}");
    };
    // Wrong credentials.
    let options = [&SHARE[..], &["--store", "../one"]].concat();
    goes_on(
        bench.boot_with("guessed", &server.url(), &options),
        "access is denied",
    );
    // It vanished.
    let gone = server.url();
    drop(server);
    let options = [&SHARE[..], &["--store", "../two"]].concat();
    goes_on(bench.boot(&gone, &options), "error sending request");
    // It takes all that is said, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let slow = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut stream = stream;
                let mut bytes = [0; 4096];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {}
            });
        }
    });
    let options = [&SHARE[..], &["--store", "../three"]].concat();
    goes_on(bench.boot(&slow, &options), "s3://team/boots");
}
