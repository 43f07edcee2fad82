use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn environment(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
    let own = |(n, v): &(&str, &str)| ((*n).to_owned(), (*v).to_owned());
    variables.iter().map(own).collect()
}

fn flat(bootcmd: &str, others: &[(&str, &str)]) -> String {
    let mut environment = environment(others);
    environment.insert("bootcmd".into(), bootcmd.into());
    flatten("bootcmd", &environment).unwrap().to_string()
}

#[test]
fn a_script_is_written_as_it_was_read() {
    for text in [
        "",
        "run a",
        "run a; run b && run c || echo no",
        "echo 'a  b' ${c} \"${d}\" ${e:-f g} $?",
        "echo \"it's\" \"x ${a} y\" '' a'b'c",
        "if test -n \"${a}\"; then run b; elif true; then run c; else run d; fi",
        "for x in a ${b} c; do run boot_${x}; done; echo end",
        "while true; do sleep 1; done",
        "until false; do if true; then echo; fi && echo; done",
        "setenv a if; echo then",
        "a=b",
    ] {
        let script = Script::parse(text).unwrap();
        assert_eq!(script.to_string(), text);
    }
    for (text, want) in [
        ("  run   a ;; run b;\n", "run a; run b"),
        ("# nothing\nrun a # no more\nrun b", "run a; run b"),
        ("setenv c run a\\; run b", "setenv c run a';' run b"),
        ("echo \"\\$a \\x\" $a.b $", "echo '$a \\x' ${a}.b $"),
        ("echo a#b", "echo a#b"),
        ("echo \"$a\"\"\"b ''$c", "echo \"${a}\"b ''${c}"),
        ("if true\nthen echo; fi", "if true; then echo; fi"),
        ("echo a &&echo b||echo c", "echo a && echo b || echo c"),
    ] {
        let script = Script::parse(text).unwrap();
        assert_eq!(script.to_string(), want);
        assert_eq!(Script::parse(want), Ok(script));
    }
}

#[test]
fn what_u_boot_would_not_read_is_refused() {
    for (text, want) in [
        (
            "echo 'a",
            "the script ends where a single quote is missing; add it",
        ),
        (
            "echo \"a",
            "the script ends where a double quote is missing; add it",
        ),
        (
            "echo ${a",
            "the script ends where a closing brace is missing; add it",
        ),
        (
            "echo \\",
            "the script ends where what the backslash stands before is missing; add it",
        ),
        (
            "echo a &&",
            "the script ends where a command is missing; add it",
        ),
        (
            "if true; then echo",
            "the script ends where fi is missing; add it",
        ),
        ("for x in a", "the script ends where do is missing; add it"),
        (
            "echo a & echo b",
            "`&` cannot stand at byte 7 of the script; correct it",
        ),
        (
            "echo a | echo b",
            "`|` cannot stand at byte 7 of the script; correct it",
        ),
        (
            "echo `a`",
            "``` cannot stand at byte 5 of the script; correct it",
        ),
        (
            "echo $(a)",
            "`(` cannot stand at byte 6 of the script; correct it",
        ),
        (
            "fi",
            "`fi` cannot stand at byte 0 of the script; correct it",
        ),
        (
            "&& a",
            "`&&` cannot stand at byte 0 of the script; correct it",
        ),
        (
            "a && ; b",
            "`;` cannot stand at byte 5 of the script; correct it",
        ),
        (
            "if true; then fi",
            "`fi` cannot stand at byte 14 of the script; correct it",
        ),
        (
            "if true; then a; fi b",
            "`b` cannot stand at byte 20 of the script; correct it",
        ),
        (
            "for x a b; do c; done",
            "`for` cannot stand at byte 0 of the script; correct it",
        ),
    ] {
        let said = Script::parse(text).unwrap_err().to_string();
        assert_eq!(said, want, "{text}");
    }
    let deep = format!("{}a{}", "if true; then ".repeat(20), "; fi".repeat(20));
    assert_eq!(Script::parse(&deep), Err(ScriptError::TooDeep));
    let long = "a".repeat(SIZE_LIMIT + 1);
    assert_eq!(Script::parse(&long), Err(ScriptError::TooLong));
}

#[test]
fn chains_become_one_script() {
    let others = [
        ("a", "echo a; run b"),
        ("b", "cp.b ${from} ${to} ${size}"),
        ("c", "x && y"),
        ("d", "x || y"),
        ("from", "0x1000"),
        ("to", "0x2000"),
        ("again", "echo; run again"),
    ];
    for (bootcmd, want) in [
        (
            "run a; run b",
            "echo a; cp.b 0x1000 0x2000 ${size}; cp.b 0x1000 0x2000 ${size}",
        ),
        (
            "run a b",
            "echo a; cp.b 0x1000 0x2000 ${size} && cp.b 0x1000 0x2000 ${size}",
        ),
        // What U-Boot sets while it boots stays open, and so does what is not there.
        (
            "bootm ${to} - ${fdtcontroladdr}",
            "bootm 0x2000 - ${fdtcontroladdr}",
        ),
        ("run missing; run ${x}", "run missing; run ${x}"),
        // A dollar that is none of a variable's.
        ("echo $$from \"$$from\"", "echo $${from} '$0x1000'"),
        // Where the list would mean something else, the `run` stays.
        ("z && run c", "z && x && y"),
        ("z && run d", "z && run d"),
        ("z || run d", "z || x || y"),
        ("z && run a", "z && run a"),
        ("run a && z", "echo a; cp.b 0x1000 0x2000 ${size} && z"),
        ("run b a", "run b a"),
        ("run again", "echo; run again"),
    ] {
        assert_eq!(flat(bootcmd, &others), want, "{bootcmd}");
    }
}

#[test]
fn what_may_change_is_not_put_in() {
    let a = [("a", "1"), ("b", "echo"), ("c", "setenv a 2")];
    for (bootcmd, want) in [
        ("echo ${a}", "echo 1"),
        ("setenv a 2; echo ${a}", "setenv a 2; echo ${a}"),
        ("run c; echo ${a}", "setenv a 2; echo ${a}"),
        ("env set -f a 2; echo ${a}", "env set -f a 2; echo ${a}"),
        ("a=2; echo ${a}", "a=2; echo ${a}"),
        (
            "for a in 1 2; do echo ${a}; done",
            "for a in 1 2; do echo ${a}; done",
        ),
        (
            "fdt get value a /x y; echo ${a}",
            "fdt get value a /x y; echo ${a}",
        ),
        (
            "env import -t 1000; echo ${a}",
            "env import -t 1000; echo ${a}",
        ),
        ("dhcp; echo ${a}", "dhcp; echo ${a}"),
        ("setenv ${x} 2; echo ${a}", "setenv ${x} 2; echo ${a}"),
        ("${x} a; echo ${a}", "${x} a; echo ${a}"),
        ("run ${x}; echo ${a}", "run ${x}; echo ${a}"),
        ("setenv x ${a}; echo ${a}", "setenv x 1; echo 1"),
        ("setenv b x; run b", "setenv b x; run b"),
    ] {
        assert_eq!(flat(bootcmd, &a), want, "{bootcmd}");
    }
    let odd = [
        ("spaces", "a b"),
        ("semicolon", "a;b"),
        ("empty", ""),
        ("word", "if"),
    ];
    for bootcmd in [
        "echo ${spaces}",
        "echo ${semicolon}",
        "echo ${empty}",
        "${word} x",
    ] {
        assert_eq!(flat(bootcmd, &odd), bootcmd);
    }
}

#[test]
fn conditions_that_are_known_are_decided() {
    let others = [("a", "1"), ("b", "echo b"), ("n", "test -n \"${a}\"")];
    for (bootcmd, want) in [
        ("if test ${a} = 1; then run b; else echo c; fi", "echo b"),
        ("if test ${a} != 1; then run b; else echo c; fi", "echo c"),
        ("if test -z \"${a}\"; then echo; fi; run b", "echo b"),
        ("if run n; then run b; fi", "echo b"),
        ("if false; then echo; fi", "true"),
        ("if env exists a; then run b; fi", "echo b"),
        (
            "if env exists z; then run b; fi",
            "if env exists z; then echo b; fi",
        ),
        (
            "if test -n \"${z}\"; then run b; fi",
            "if test -n \"${z}\"; then echo b; fi",
        ),
        (
            "if test -n \"${z}\"; then run b; elif true; then echo c; else echo d; fi",
            "if test -n \"${z}\"; then echo b; else echo c; fi",
        ),
        (
            "if false; then echo x; elif test -n \"${z}\"; then run b; fi",
            "if test -n \"${z}\"; then echo b; fi",
        ),
        (
            "x && if true; then echo; echo; fi",
            "x && if true; then echo; echo; fi",
        ),
        ("if false; then echo; fi && x", "true && x"),
        (
            "while run n; do run b; done",
            "while test -n '1'; do echo b; done",
        ),
    ] {
        assert_eq!(flat(bootcmd, &others), want, "{bootcmd}");
    }
}

#[test]
fn what_grows_without_end_is_refused() {
    let names: Vec<String> = (0..15).map(|i| format!("s{i}")).collect();
    let mut environment: BTreeMap<String, String> = names
        .windows(2)
        .map(|pair| (pair[0].clone(), format!("run {0}; run {0}", pair[1])))
        .collect();
    environment.insert("s14".into(), "echo".into());
    assert_eq!(flatten("s0", &environment), Err(ScriptError::TooLong));
    assert!(flatten("s10", &environment).is_ok());
    assert_eq!(
        flatten("none", &environment).unwrap_err().to_string(),
        "the environment has no `none`; write it there"
    );
    // Deeper than anybody runs scripts: the rest is left to U-Boot.
    let deep: BTreeMap<String, String> = (0..40)
        .map(|i| (format!("d{i}"), format!("run d{}", i + 1)))
        .collect();
    assert_eq!(flatten("d0", &deep).unwrap().to_string(), "run d17");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ab;&|'\"\\\\$#{}() \n]{0,40}") {
        if let Ok(script) = Script::parse(&text) {
            let written = script.to_string();
            prop_assert_eq!(Script::parse(&written), Ok(script), "{}", written);
        }
    }

    #[test]
    fn any_script_is_flattened_once(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "if", "then", "else", "fi", "for x in a", "do", "done", ";", ";", "&&", "||",
                "run a", "run b", "true", "false", "echo ${c}", "setenv c", "test -n \"${d}\"",
            ]),
            0..16,
        ),
        other in prop::sample::select(vec!["run b; x", "x && y", "if true; then run b; fi", "echo ${c}"]),
    ) {
        let bootcmd = words.join(" ");
        let environment = environment(&[("bootcmd", &bootcmd), ("a", other), ("b", "z"), ("c", "1")]);
        if let Ok(once) = flatten("bootcmd", &environment) {
            let text = once.to_string();
            prop_assert_eq!(Script::parse(&text), Ok(once.clone()));
            let mut again = environment.clone();
            again.insert("bootcmd".into(), text);
            prop_assert_eq!(flatten("bootcmd", &again), Ok(once));
        }
    }
}
