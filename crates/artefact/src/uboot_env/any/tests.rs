use proptest::prelude::*;

use super::*;

fn env() -> UbootEnv {
    UbootEnv::from_text("bootdelay=2\nbootcmd=run a; run b\na=echo\n").unwrap()
}

fn found(bytes: &[u8]) -> Found {
    UbootEnv::read_any(bytes).unwrap()
}

#[test]
fn an_environment_is_found_in_a_dump_whatever_its_size() {
    for size in [0x100, 0x1000, 0x1f000, 0x40000] {
        for flag in [None, Some(1)] {
            for big_endian in [false, true] {
                let layout = EnvLayout {
                    flag,
                    big_endian,
                    ..EnvLayout::single(size)
                };
                let mut dump = vec![0x5a; 0x2000];
                dump.extend(env().to_bytes(&layout).unwrap());
                dump.extend([0xff; 0x300]);
                let found = found(&dump);
                assert_eq!((found.offset, found.layout), (0x2000, Some(layout)));
                assert_eq!(found.environment, env());
            }
        }
    }
    // Alone, and of a size that nobody has.
    let layout = EnvLayout::single(1001);
    let found = found(&env().to_bytes(&layout).unwrap());
    assert_eq!((found.offset, found.layout), (0, Some(layout)));
}

#[test]
fn of_two_copies_the_active_one_counts() {
    let copy = |flag: u8, delay: &str| {
        let mut env = env();
        env.set("bootdelay", delay).unwrap();
        let flag = Some(flag);
        let layout = EnvLayout {
            flag,
            ..EnvLayout::single(0x1000)
        };
        env.to_bytes(&layout).unwrap()
    };
    for (first, second, want) in [
        (1, 0, "first"),
        (0, 1, "second"),
        (7, 8, "second"),
        (255, 0, "second"),
        (0, 255, "first"),
        (1, 1, "first"),
    ] {
        let dump = [copy(first, "first"), copy(second, "second")].concat();
        assert_eq!(found(&dump).environment.get("bootdelay"), Some(want));
        // One of them may be damaged: U-Boot takes the other.
        let mut damaged = dump;
        damaged[40] ^= 1;
        assert_eq!(found(&damaged).environment.get("bootdelay"), Some("second"));
    }
}

#[test]
fn what_printenv_prints_is_read() {
    let printed = "=> printenv\r\nbootdelay=2\r\nbootcmd=run a; run b\r\na=echo\r\n\r\n\
                   Environment size: 40/262140 bytes\r\n";
    assert_eq!(found(printed.as_bytes()).environment, env());
    assert_eq!(found(printed.as_bytes()).layout, None);
    let lines = found(b"a=if true\nthen x\nb=1\n").environment;
    assert_eq!(lines.get("a"), Some("if true\nthen x"));
}

#[test]
fn what_is_wrong_is_said() {
    let mut dump = vec![0xff; 0x400];
    dump.extend(env().to_bytes(&EnvLayout::single(0x1000)).unwrap());
    dump[0x420] ^= 1;
    assert_eq!(
        UbootEnv::read_any(&dump).unwrap_err().to_string(),
        "variables begin at 0x400, but with no size up to 1 MiB is their crc right: they are \
         damaged or cut off; read the whole environment out of the flash again"
    );
    for nothing in [&b""[..], b"hello", &[0; 4096], &[0xff; 4096], b"\0=\0\0"] {
        assert_eq!(UbootEnv::read_any(nothing), Err(EnvError::Nowhere));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0_usize..1024) {
        let mut dump = vec![0xff; 1024];
        dump.extend_from_slice(&[&bytes[..], b"\0\0\0\0\0\0\0\0"].concat());
        dump[at..at + 4].copy_from_slice(b"ab=c");
        let _ = UbootEnv::read_any(&dump);
        let _ = UbootEnv::read_any(&bytes);
    }
}
