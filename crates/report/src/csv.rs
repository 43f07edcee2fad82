//! Text in the cells of a spreadsheet, which would take some of it for formulas.

use crate::clean::clean;

/// What a spreadsheet can hold in a cell is 32 767 characters.
const LONGEST_CELL: usize = 32_000;

/// Text that no spreadsheet computes with; a number stays one.
pub(crate) fn defused(text: &str) -> String {
    let text = clean(text);
    if text.parse::<f64>().is_ok_and(f64::is_finite) {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut at_start = true;
    for c in text.chars().take(LONGEST_CELL) {
        if at_start && matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') {
            out.push('\'');
        }
        at_start = c == ';' || at_start && c.is_whitespace();
        out.push(c);
    }
    if out.len() < text.len() && text.chars().nth(LONGEST_CELL).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_numbers_stay() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t =x", "  '=x"),
            ("＝1", "'＝1"),
            ("a;=cmd|' /C calc'!A0", "a;'=cmd|' /C calc'!A0"),
            ("a=b; -c=+d", "a=b; '-c=+d"),
            ("-12.5", "-12.5"),
            ("-inf", "'-inf"),
            ("serial8250_init+0x1", "serial8250_init+0x1"),
            ("-.mount", "'-.mount"),
            ("", ""),
        ] {
            assert_eq!(defused(text), expected);
        }
        let long = defused(&"界".repeat(40_000));
        assert_eq!(long.chars().count(), LONGEST_CELL + 1);
        assert_eq!(defused(&"a".repeat(LONGEST_CELL)).len(), LONGEST_CELL);
    }
}
