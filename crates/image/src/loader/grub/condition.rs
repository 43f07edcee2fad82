//! GRUB's `test`: `[ "$OK" -eq 1 -a -e /vmlinuz ]`.

use super::value::Value;

/// What a file system answers.
pub(super) trait Ask {
    /// Whether there is such a file; `None` if its disk is not known.
    fn is_file(&self, path: &str) -> Option<bool>;
    fn is_folder(&self, path: &str) -> Option<bool>;
    fn is_empty(&self, path: &str) -> Option<bool>;
}

/// Whether it is met; `None` if only the machine knows.
///
/// Terms are joined by and, with `-a` between them or not; a word that is in none is one by
/// itself, so `[ $empty = a ]` is met. A GRUB 2.06 answers so.
pub(super) fn holds(words: &[Value], ask: &dyn Ask) -> Option<bool> {
    // Up to the last `-o`, and behind it.
    let (mut before, mut all) = (Some(false), Some(true));
    let mut is_turned = false;
    let mut rest = words;
    while let [first, behind @ ..] = rest {
        if let [operator, b, others @ ..] = behind
            && let Some(met) = compared(&first.text, &operator.text, &b.text)
        {
            rest = others;
            let met = Some(met).filter(|_| first.known && b.known);
            all = and(all, met.map(|met| met ^ is_turned));
            is_turned = false;
            continue;
        }
        let term = match (first.text.as_str(), behind) {
            ("-n" | "-z" | "-e" | "-f" | "-s" | "-d", [word, ..]) => {
                rest = &behind[1..];
                of_one(&first.text, &word.text, ask).filter(|_| word.known)
            }
            ("!", _) => {
                (is_turned, rest) = (!is_turned, behind);
                continue;
            }
            ("-a", _) => {
                rest = behind;
                continue;
            }
            ("-o", _) => {
                (before, all, rest) = (or(before, all), Some(true), behind);
                continue;
            }
            (text, _) => {
                rest = behind;
                Some(!text.is_empty()).filter(|_| first.known)
            }
        };
        all = and(all, term.map(|met| met ^ is_turned));
        is_turned = false;
    }
    or(before, all)
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    or(a.map(|met| !met), b.map(|met| !met)).map(|met| !met)
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

fn of_one(operator: &str, word: &str, ask: &dyn Ask) -> Option<bool> {
    match operator {
        "-n" => Some(!word.is_empty()),
        "-z" => Some(word.is_empty()),
        "-f" => ask.is_file(word),
        "-d" => ask.is_folder(word),
        "-s" => ask.is_empty(word).map(|is| !is),
        _ => or(ask.is_file(word), ask.is_folder(word)),
    }
}

fn compared(a: &str, operator: &str, b: &str) -> Option<bool> {
    // As `strtol` has it: what is no number is 0.
    let number = |text: &str| text.trim().parse::<i64>().unwrap_or(0);
    Some(match operator {
        "=" | "==" => a == b,
        "!=" => a != b,
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        "-eq" => number(a) == number(b),
        "-ne" => number(a) != number(b),
        "-lt" => number(a) < number(b),
        "-le" => number(a) <= number(b),
        "-gt" => number(a) > number(b),
        "-ge" => number(a) >= number(b),
        _ => return None,
    })
}
