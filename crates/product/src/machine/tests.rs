use super::*;
use crate::target::tests::{FLASH, PLAIN, parse};
use crate::{Target, TargetError};

const BOARD: &str = r#"format = 1
name = "b"

[ready]
pattern = "READY"

[machine]
kind = "serial"
device = "/dev/ttyUSB0"
power-on = "relay on"
power-off = "relay off"
"#;

const COMMAND: &str = r#"format = 1
name = "c"

[ready]
pattern = "READY"

[machine]
kind = "command"
run = "console board"
"#;

fn board(text: &str) -> Board {
    match parse(text).unwrap().machine {
        Machine::Board(board) => board,
        Machine::Qemu(_) => panic!("not a board:\n{text}"),
    }
}

#[test]
fn a_board_needs_little_and_the_rest_has_defaults() {
    let serial = board(BOARD);
    assert!(matches!(
        &serial.console,
        Console::Serial { device, baud: 115_200 } if device == "/dev/ttyUSB0"
    ));
    assert!(matches!(&serial.power.start, Start::On(on) if on == "relay on"));
    assert_eq!(serial.power.off.as_deref(), Some("relay off"));
    assert_eq!((serial.power.settle_s, serial.power.timeout_s), (2, 30));
    assert!(serial.send.is_empty() && serial.quiet_s.is_none());

    let command = board(COMMAND);
    assert!(matches!(&command.console, Console::Command { run } if run == "console board"));
    assert!(matches!(command.power.start, Start::Console));
    let cycled = board(&format!("{COMMAND}power-cycle = 'pdu cycle 3'\n"));
    assert!(matches!(cycled.power.start, Start::Cycle(_)));
}

#[test]
fn every_key_of_a_board_is_read() {
    let all = BOARD.replace(
        "power-on",
        "baud = 1500000\nsettle-s = 0\npower-timeout-s = 5\nquiet-s = 30\n\
         send = [{ after = 'login: $', text = \"root\\n\" }]\npower-on",
    );
    let board = board(&all);
    let Console::Serial { baud, .. } = board.console else {
        panic!("a serial line");
    };
    assert_eq!(baud, 1_500_000);
    assert_eq!((board.power.settle_s, board.power.timeout_s), (0, 5));
    assert_eq!(board.quiet_s, Some(30));
    assert_eq!(board.send[0].after, "login: $");
    assert_eq!(board.send[0].text, "root\n");
}

#[test]
fn a_board_may_say_what_is_on_it() {
    let text = format!("{BOARD}[kernel]\ncmdline = 'quiet'\n[bootloader]\nenvironment.a = 'b'\n");
    let target = parse(&text).unwrap();
    let kernel = target.spec.kernel.as_ref().unwrap();
    assert_eq!((kernel.cmdline.as_str(), &kernel.image), ("quiet", &None));
    let parts = target
        .parts(&crate::Cache::at("none".into()), &|_| {})
        .unwrap();
    assert!(parts.kernel.is_none() && parts.bootloader.is_none());
    // All of it, too; and with nothing to put together there is no assembly.
    parse(&format!(
        "{text}[fit]\nhash = 'crc32'\nload-address = 0x1000\n"
    ))
    .unwrap();
    let said = target.assemble(&parts, &crate::Cache::at("none".into()), &|_| {});
    let said = said.err().unwrap().to_string();
    assert!(said.contains("a board boots what is on it"), "{said}");
}

#[test]
fn an_emulated_machine_needs_its_parts() {
    let flash = format!("{PLAIN}{FLASH}");
    for (text, from, to, want) in [
        (
            PLAIN,
            "[kernel]\nimage = \"Image\"\ncmdline = \"a b\"\n",
            "",
            "t.toml:1: missing field `kernel`; add it",
        ),
        (
            PLAIN,
            "image = \"Image\"",
            "",
            "t.toml:14: missing field `image`; add it",
        ),
        (
            &flash,
            "image = \"u-boot\"",
            "",
            "t.toml:18: missing field `image`; add it",
        ),
        (
            PLAIN,
            "memory-mb = 64",
            "",
            "t.toml:7: missing field `memory-mb`; add it",
        ),
        (
            PLAIN,
            "program = \"qemu\"",
            "",
            "t.toml:7: missing field `program`; add it",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let said = mistake(&text.replacen(from, to, 1));
        assert!(said.starts_with(want), "{said}");
    }
}

#[test]
fn mistakes_of_boards_are_told_with_their_line_and_the_mend() {
    for (text, from, to, want) in [
        (
            PLAIN,
            "cpu =",
            "baud = 9600\ncpu =",
            "t.toml:11: baud is for machines of kind serial, and this one is of kind qemu; remove it",
        ),
        (
            BOARD,
            "power-on",
            "cpu = 'x'\npower-on",
            "t.toml:10: cpu is for machines of kind qemu, and this one is of kind serial",
        ),
        (
            COMMAND,
            "run =",
            "device =",
            "t.toml:9: device is for machines of kind serial, and this one is of kind command",
        ),
        (
            PLAIN,
            "cpu =",
            "settle-s = 1\ncpu =",
            "t.toml:11: settle-s is for machines of kind serial or command",
        ),
        (
            BOARD,
            "device = \"/dev/ttyUSB0\"",
            "",
            "t.toml:7: missing field `device`, the port",
        ),
        (
            COMMAND,
            "run = \"console board\"",
            "",
            "t.toml:7: missing field `run`, the program",
        ),
        (
            COMMAND,
            "console board",
            " ",
            "t.toml:9: that is no command",
        ),
        (BOARD, "relay off", "", "t.toml:11: that is no command"),
        (
            BOARD,
            "/dev/ttyUSB0",
            "tcp:rack",
            "t.toml:9: \"tcp:rack\" names no device; write its path",
        ),
        (
            BOARD,
            "/dev/ttyUSB0",
            "tcp:rack:0",
            "t.toml:9: \"tcp:rack:0\" names no device",
        ),
        (BOARD, "/dev/ttyUSB0", "tcp::2001", "t.toml:9: "),
        (BOARD, "/dev/ttyUSB0", "unix:", "t.toml:9: "),
        (
            BOARD,
            "power-on = \"relay on\"\npower-off = \"relay off\"\n",
            "",
            "t.toml:7: nothing says how the board is switched on; add power-on and power-off",
        ),
        (
            BOARD,
            "power-off = \"relay off\"\n",
            "",
            "t.toml:10: each boot begins with the board off, and nothing says how; add power-off",
        ),
        (
            BOARD,
            "power-off =",
            "power-off = 'x'\npower-cycle =",
            "t.toml:12: power-on and power-cycle both begin a boot",
        ),
        (
            BOARD,
            "power-on",
            "baud = 0\npower-on",
            "t.toml:10: 0 is too little",
        ),
        (
            BOARD,
            "power-on",
            "quiet-s = 0\npower-on",
            "t.toml:10: 0 is too little",
        ),
        (
            BOARD,
            "power-on",
            "settle-s = -1\npower-on",
            "t.toml:10: invalid value: integer `-1`, expected u64; write a whole number",
        ),
        (
            BOARD,
            "power-on",
            "send = [{ after = 'a(', text = '' }]\npower-on",
            "t.toml:10: not a regular expression",
        ),
        (
            BOARD,
            "power-on",
            "send = [{ after = '', text = '' }]\npower-on",
            "t.toml:10: the pattern matches the empty line",
        ),
        (
            BOARD,
            "power-on",
            "send = [{ text = '' }]\npower-on",
            "t.toml:10: missing field `after`",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let said = mistake(&text.replacen(from, to, 1));
        assert!(said.starts_with(want), "{said}\nis not\n{want}");
    }
}

fn mistake(text: &str) -> String {
    match parse(text) {
        Err(e @ TargetError::Spec { .. }) => e.to_string(),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn a_lone_file_brings_nothing_of_its_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let text = format!("{BOARD}[kernel]\nimage = 'Image'\ncmdline = 'a'\n");
    std::fs::write(dir.join("board.toml"), text).unwrap();
    std::fs::write(dir.join("Image"), "k").unwrap();
    std::fs::write(dir.join("diary"), "secret").unwrap();
    let target = Target::load(&dir.join("board.toml")).unwrap();
    assert!(target.is_lone());
    assert_eq!(target.typed(), dir.join("board.toml"));
    let changed = target.with(&[crate::Edit::set("kernel.cmdline", "b")]);
    // Also into the folder that it lies in: nothing of that is copied.
    let out = dir.join("out");
    changed.unwrap().write_to(&out).unwrap();
    let names: Vec<_> = std::fs::read_dir(&out)
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(names, ["target.toml"]);
    let copy = Target::load(&out).unwrap();
    assert!(!copy.is_lone());
    let kernel = copy.spec.kernel.unwrap();
    assert_eq!(kernel.cmdline, "b");
    let image = std::fs::canonicalize(dir.join("Image")).unwrap();
    assert_eq!(kernel.image.unwrap(), image.display().to_string());
}
