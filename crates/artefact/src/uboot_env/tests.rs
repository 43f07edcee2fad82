use proptest::prelude::*;

use super::*;

const TEXT: &str = "# comment\n\na=1\nb=two words\n";

/// `name=value` strings padded to `size`, after the given CRC and flag.
fn image(head: &[u8], strings: &[u8], pad: u8, size: usize) -> Vec<u8> {
    let mut image = [head, strings].concat();
    image.resize(size, pad);
    image
}

/// The heads are from `mkenvimage [-r] [-b] [-p 0] -s SIZE` of U-Boot 2023.01.
#[test]
fn the_bytes_are_those_of_mkenvimage() {
    let env = UbootEnv::from_text(TEXT).unwrap();
    let strings = b"a=1\0b=two words\0\0";
    let single = EnvLayout::single(64);
    let redundant = EnvLayout {
        flag: Some(1),
        ..single
    };
    let zeros = EnvLayout { pad: 0, ..single };
    for (layout, head) in [
        (single, &b"\x78\x2b\x53\x9b"[..]),
        (redundant, b"\x19\xb8\x83\x38\x01"),
        (zeros, b"\x11\x7b\x8d\x10"),
    ] {
        let expected = image(head, strings, layout.pad, 64);
        assert_eq!(env.to_bytes(&layout).unwrap(), expected);
        assert_eq!(
            UbootEnv::read(&expected, &layout),
            Ok((env.clone(), layout.flag))
        );
    }

    let big_endian = EnvLayout {
        big_endian: true,
        ..EnvLayout::single(16)
    };
    let expected = image(b"\xce\xc0\x0f\x86", b"a=1\0\0", 0xff, 16);
    let env = UbootEnv::from_text("a=1").unwrap();
    assert_eq!(env.to_bytes(&big_endian).unwrap(), expected);
    assert_eq!(UbootEnv::read(&expected, &big_endian), Ok((env, None)));

    let expected = image(b"\xef\x8e\x80\x8d", b"\0", 0xff, 16);
    assert_eq!(
        UbootEnv::new().to_bytes(&EnvLayout::single(16)).unwrap(),
        expected
    );

    let multi_line = UbootEnv::from_text("a=1\\\nmore\nb=2\n").unwrap();
    let expected = image(b"\x6d\xcc\xc5\x83", b"a=1\nmore\0b=2\0\0", 0xff, 32);
    assert_eq!(
        multi_line.to_bytes(&EnvLayout::single(32)).unwrap(),
        expected
    );
}

#[test]
fn variables_keep_their_place() {
    let mut env = UbootEnv::from_text(TEXT).unwrap();
    env.set("a", "3").unwrap();
    env.set("c", "").unwrap();
    assert!(env.remove("b") && !env.remove("b"));
    assert_eq!(env.iter().collect::<Vec<_>>(), [("a", "3"), ("c", "")]);
    assert_eq!(env.get("a"), Some("3"));
    assert_eq!(env.get("b"), None);
}

#[test]
fn errors_say_what_to_do() {
    let env = UbootEnv::from_text(TEXT).unwrap();
    let layout = EnvLayout::single(64);
    let mut bytes = env.to_bytes(&layout).unwrap();
    bytes[5] ^= 1;
    let error = UbootEnv::read(&bytes, &layout).unwrap_err().to_string();
    assert!(
        error.starts_with("environment has crc 9b532b78 but its bytes give "),
        "{error}"
    );
    assert_eq!(
        UbootEnv::read(&bytes[..63], &layout),
        Err(EnvError::Cut(63))
    );
    for size in 0..4 {
        assert!(UbootEnv::read(&bytes, &EnvLayout::single(size)).is_err());
    }
    assert_eq!(
        env.to_bytes(&EnvLayout::single(20)),
        Err(EnvError::TooBig {
            needed: 21,
            size: 20
        })
    );
    assert_eq!(
        UbootEnv::from_text("a=1\nbootdelay")
            .unwrap_err()
            .to_string(),
        "environment entry 2 (`bootdelay`) is not name=value; correct it"
    );
    assert!(UbootEnv::new().set("a=b", "").is_err());
    assert!(UbootEnv::new().set("a", "\0").is_err());

    let with_crc = |data: &[u8]| [&crc32fast::hash(data).to_le_bytes(), data].concat();
    let latin1 = with_crc(b"name=\xe9\0\0\0");
    let layout = EnvLayout::single(latin1.len());
    assert_eq!(
        UbootEnv::read(&latin1, &layout),
        Err(EnvError::NotText("name".into()))
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        variables in prop::collection::vec(("[a-z_#]{1,8}", "[^\0]{0,20}"), 0..8),
        flag in prop::option::of(any::<u8>()),
        pad in any::<u8>(),
        big_endian: bool,
    ) {
        let mut env = UbootEnv::new();
        for (name, value) in &variables {
            env.set(name, value).unwrap();
        }
        let layout = EnvLayout { size: 1024, flag, pad, big_endian };
        let bytes = env.to_bytes(&layout).unwrap();
        // Padding right after an empty environment's only NUL is not a variable.
        prop_assert_eq!(UbootEnv::read(&bytes, &layout), Ok((env, flag)));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let data = [&crc32fast::hash(&bytes).to_le_bytes()[..], &bytes].concat();
        let _ = UbootEnv::read(&data, &EnvLayout::single(data.len()));
    }
}
