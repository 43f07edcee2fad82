//! The words of a Kbuild value, and the names of lists.

use crate::makefile::{Guard, options};

/// `obj-$(CONFIG_X)` is a part of the list `obj-` and needs X, as `obj-y` is
/// without; so is `foo-objs` of `foo-`. Empty for what is never built.
pub(crate) fn key(name: &str) -> (String, Vec<Guard>) {
    if let Some(at) = name.find("$(") {
        let (list, option) = name.split_at_checked(at).unwrap_or((name, ""));
        // `$(subst m,y,$(CONFIG_X))` and `$(CONFIG_X:m=y)`
        let as_built_in = option.contains("m,y") || option.contains(":m=y");
        let guards = options(option).into_iter().map(|name| Guard {
            as_built_in,
            ..Guard::on(&name)
        });
        return (list.to_owned(), guards.collect());
    }
    if name.ends_with("-n") || name == "obj-" || name == "lib-" {
        return (String::new(), Vec::new());
    }
    for end in ["-objs", "-y", "-m"] {
        if let Some(list) = name.strip_suffix(end) {
            return (format!("{list}-"), Vec::new());
        }
    }
    (name.to_owned(), Vec::new())
}

/// Words apart by spaces; a `$(…)` is in one.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut open = 0_usize;
    let mut from = None;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        let apart = c.is_whitespace() && open == 0;
        match from {
            None if !apart => from = Some(at),
            Some(start) if apart => {
                words.extend(text.get(start..at));
                from = None;
            }
            _ => {}
        }
    }
    words.extend(from.and_then(|start| text.get(start..)));
    words
}

/// The first `$(…)` of a word: what is before, inside and after it.
pub(crate) fn reference(word: &str) -> Option<(&str, &str, &str)> {
    let start = match (word.find("$("), word.find("${")) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    let mut open = 0_usize;
    for (at, c) in word.char_indices().skip_while(|(at, _)| *at <= start) {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    let inner = word.get(start + 2..at)?;
                    return Some((word.get(..start)?, inner, word.get(at + 1..)?));
                }
            }
            _ => {}
        }
    }
    None
}

/// Arguments apart by commas that stand in no brackets.
pub(crate) fn arguments(text: &str) -> Vec<&str> {
    let mut open = 0_usize;
    let parts = text.split(|c| {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    });
    parts.map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_references_together() {
        assert_eq!(words(" a $(b c) d$(e) "), ["a", "$(b c)", "d$(e)"]);
        assert_eq!(reference("a$(b $(c))d"), Some(("a", "b $(c)", "d")));
        assert_eq!(reference("$(open"), None);
        assert_eq!(arguments("a, $(b,c) ,d"), ["a", "$(b,c)", "d"]);
    }

    #[test]
    fn lists_have_keys() {
        let of = |name: &str| {
            let (list, guards) = key(name);
            let options: Vec<String> = guards.iter().flat_map(|g| g.any.clone()).collect();
            (
                list,
                options.join(" "),
                guards.iter().any(|g| g.as_built_in),
            )
        };
        let is = |list: &str, option: &str, fixed| (list.to_owned(), option.to_owned(), fixed);
        assert_eq!(of("obj-$(CONFIG_X)"), is("obj-", "X", false));
        assert_eq!(of("obj-$(subst m,y,$(CONFIG_X))"), is("obj-", "X", true));
        assert_eq!(of("foo-objs"), is("foo-", "", false));
        assert_eq!(of("obj-"), is("", "", false));
    }
}
