use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;

#[test]
fn slugs() {
    for (name, want) in [
        ("kiosk", "kiosk"),
        ("My Board (rev. 2)", "my-board-rev-2"),
        ("7inch", "target-7inch"),
        ("--", "target"),
        ("Größe_9", "gr-e-9"),
        ("${@x}", "x"),
    ] {
        assert_eq!(slug(name), want, "{name}");
    }
}

#[test]
fn what_a_place_cannot_hold_is_refused() {
    for bad in ["a$b", "a\"b", "a'b", "a`b", "a\\", "a\nb", "é", "a\0"] {
        assert_eq!(kconfig(bad), None, "{bad:?}");
        assert_eq!(bitbake(bad), None, "{bad:?}");
    }
    assert_eq!(kconfig("a # b"), None);
    assert_eq!(
        kconfig("console=ttyS0,115200 -- x").as_deref(),
        Some("\"console=ttyS0,115200 -- x\"")
    );
}

#[test]
fn markdown_is_no_markup() {
    assert_eq!(
        markdown("<b> `x` [a](b)\n# c"),
        "\\<b\\> \\`x\\` \\[a\\]\\(b\\)?\\# c"
    );
}

proptest! {
    #[test]
    fn a_slug_is_a_plain_word(name in any::<String>()) {
        let slug = slug(&name);
        prop_assert!(slug.starts_with(|c: char| c.is_ascii_lowercase()));
        prop_assert!(!slug.ends_with('-') && !slug.contains("--") && slug.len() <= 47);
        prop_assert!(slug.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')));
    }

    #[test]
    fn a_comment_is_one_line(text in any::<String>()) {
        let comment = comment(&text);
        prop_assert!(!comment.contains(|c: char| c.is_control() || c == '\\'));
        prop_assert_eq!(comment.lines().count(), usize::from(!comment.is_empty()));
        prop_assert_eq!(comment.chars().count(), text.chars().count());
    }
}

/// What a real shell makes of it; one shell for many words.
#[test]
fn a_shell_gives_a_word_back() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let word = proptest::collection::vec(1_u8.., 0..20);
    let mut words: Vec<Vec<u8>> = [
        &b"'"[..],
        b"''",
        b"$(x)",
        b"`x`",
        b"-n",
        b"a\nb",
        b"\\",
        b"!",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    for _ in 0..300 {
        words.push(word.new_tree(&mut runner).unwrap().current());
    }
    let mut script = b"LC_ALL=C; for w in".to_vec();
    for word in &words {
        script.push(b' ');
        script.extend(shell(word));
    }
    script.extend_from_slice(b"; do printf '%s\\0' \"$w\"; done");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("script");
    std::fs::write(&file, script).unwrap();
    let out = Command::new("sh").arg(&file).output().unwrap();
    let mut want: Vec<u8> = words.join(&0);
    want.push(0);
    assert_eq!(out.stdout, want, "{}", String::from_utf8_lossy(&out.stderr));
}
