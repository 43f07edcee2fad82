//! Every kind of port: bytes in, bytes out, and what happens when it goes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bootlap_lab::port::{Address, Port, PortEvent, Settings, monotonic_ns};
use rustix::pty::OpenptFlags;

/// The board's side of a pseudo terminal, and the name of ours.
fn board() -> (fs::File, PathBuf) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master: OwnedFd = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let name = std::ffi::OsStr::from_bytes(name.to_bytes()).into();
    (master.into(), name)
}

fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn open(address: &str) -> Port {
    Port::open(&Address::parse(address).unwrap(), &Settings::default()).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Reads until `wanted` has come; fails when anything else happens.
fn expect(port: &mut Port, wanted: &[u8]) -> i64 {
    let (mut all, mut buffer, mut last) = (Vec::new(), [0; 4096], 0);
    while all.len() < wanted.len() {
        match port.read(&mut buffer, soon()).unwrap() {
            PortEvent::Bytes { len, ns } => {
                all.extend_from_slice(&buffer[..len]);
                assert!(ns >= last);
                last = ns;
            }
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&all)),
        }
    }
    assert_eq!(all, wanted);
    last
}

fn event(port: &mut Port) -> PortEvent {
    port.read(&mut [0; 4096], soon()).unwrap()
}

#[test]
fn a_terminal_gives_its_bytes_untouched_and_takes_ours() {
    let (mut board, name) = board();
    let mut port = open(name.to_str().unwrap());
    let all: Vec<u8> = (0..=255).collect();
    let before = monotonic_ns();
    board.write_all(&all).unwrap();
    let at = expect(&mut port, &all);
    assert!((before..=monotonic_ns()).contains(&at));

    port.control().write(b"boot\r\x03\x11").unwrap();
    let mut got = [0; 7];
    board.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"boot\r\x03\x11");

    let none = port.read(&mut [0; 16], Instant::now() + Duration::from_millis(5));
    assert_eq!(none.unwrap(), PortEvent::Deadline);
}

#[test]
fn a_terminal_is_for_one_program_at_a_time() {
    let (_board, name) = board();
    let held = open(name.to_str().unwrap());
    let address = Address::Tty(name);
    let said = Port::open(&address, &Settings::default()).err().unwrap();
    assert!(said.to_string().contains("in use"), "{said}");
    drop(held);
    Port::open(&address, &Settings::default()).unwrap();
}

#[test]
fn a_pseudo_terminal_that_closed_is_not_opened_again() {
    let (board, name) = board();
    let mut port = open(name.to_str().unwrap());
    drop(board);
    assert!(matches!(event(&mut port), PortEvent::Ended { .. }));
    assert!(matches!(event(&mut port), PortEvent::Ended { .. }));
}

#[test]
fn a_device_that_vanishes_is_found_again() {
    let dir = scratch("port-gone");
    let device = dir.join("adapter");
    let (mut first, name) = board();
    std::os::unix::fs::symlink(&name, &device).unwrap();
    let mut port = open(device.to_str().unwrap());
    first.write_all(b"before").unwrap();
    expect(&mut port, b"before");

    fs::remove_file(&device).unwrap();
    drop(first);
    assert!(matches!(event(&mut port), PortEvent::Gone { .. }));
    let control = port.control();
    assert!(
        control
            .write(b"x")
            .unwrap_err()
            .to_string()
            .contains("gone")
    );
    let shortly = Instant::now() + Duration::from_millis(30);
    assert_eq!(
        port.read(&mut [0; 16], shortly).unwrap(),
        PortEvent::Deadline
    );

    let (mut second, name) = board();
    std::os::unix::fs::symlink(&name, &device).unwrap();
    assert!(matches!(event(&mut port), PortEvent::Returned { .. }));
    second.write_all(b"after").unwrap();
    expect(&mut port, b"after");
    control.write(b"y").unwrap();
}

#[test]
fn sockets_are_read_and_connected_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let number = listener.local_addr().unwrap().port();
    let mut port = open(&format!("tcp:127.0.0.1:{number}"));
    let (mut server, _) = listener.accept().unwrap();
    server.write_all(b"over the net").unwrap();
    expect(&mut port, b"over the net");
    drop(server);
    assert!(matches!(event(&mut port), PortEvent::Gone { .. }));
    assert!(matches!(event(&mut port), PortEvent::Returned { .. }));
    listener.accept().unwrap().0.write_all(b"again").unwrap();
    expect(&mut port, b"again");

    let path = scratch("port-unix").join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let mut port = open(&format!("unix:{}", path.display()));
    listener.accept().unwrap().0.write_all(b"local").unwrap();
    expect(&mut port, b"local");
}

#[test]
fn a_command_is_a_console_and_says_how_it_ended() {
    let mut port =
        open("exec:printf 'out\\n'; printf 'err\\n' >&2; read x; echo \"got $x\"; exit 3");
    expect(&mut port, b"out\nerr\n");
    port.control().write(b"this\n").unwrap();
    expect(&mut port, b"got this\n");
    let PortEvent::Ended { why, .. } = event(&mut port) else {
        panic!()
    };
    assert!(why.contains("exit status: 3"), "{why}");
}

#[test]
fn a_command_and_its_children_end_with_the_port() {
    let dir = scratch("port-exec");
    let pids = dir.join("pids");
    // One of them does not want to go.
    let command = format!(
        "exec:(trap '' HUP TERM; while :; do sleep 1000; done) & echo $! >> {0}; sleep 1000 & echo $! >> {0}; \
         echo $$ >> {0}; echo up; wait",
        pids.display()
    );
    let mut port = open(&command);
    expect(&mut port, b"up\n");
    drop(port);
    let pids = fs::read_to_string(&pids).unwrap();
    assert_eq!(pids.lines().count(), 3);
    // They are told to end; a busy host takes a moment for that.
    let end = soon();
    while pids.lines().any(alive) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    for pid in pids.lines() {
        assert!(!alive(pid), "{pid} was left behind");
    }
}

/// A zombie that nobody has taken in yet is as good as gone.
fn alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|s| !s.contains(") Z "))
}

#[test]
fn what_cannot_be_opened_says_why() {
    let said = |address: &str| {
        let address = Address::parse(address).unwrap();
        Port::open(&address, &Settings::default())
            .err()
            .unwrap()
            .to_string()
    };
    assert!(said("/dev/ttyNONE7").contains("there is no /dev/ttyNONE7"));
    assert!(said("/dev/null").contains("no serial line"));
    assert!(said("unix:/nonexistent/socket").contains("no such socket"));
    let file = scratch("port-file").join("boot.log");
    fs::write(&file, "U-Boot").unwrap();
    assert!(said(file.to_str().unwrap()).contains("bootlap show"));
    // A port that was just free.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    assert!(said(&format!("tcp:127.0.0.1:{free}")).contains("ser2net"));
}
