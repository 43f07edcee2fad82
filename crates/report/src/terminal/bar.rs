//! Bars made of block characters, precise to an eighth of a column.

/// Parts of a column that can be drawn.
const STEPS: i128 = 8;

/// A thick bar from `from` to `to` on a scale where `whole` fills `columns`.
/// What is shorter than the eye can see still leaves a trace.
pub(crate) fn block(from: i64, to: i64, whole: i64, columns: usize) -> String {
    let (start, end) = place(from, to, whole, columns);
    let mut bar = " ".repeat((start / STEPS) as usize);
    let mut at = start;
    while at < end {
        let cell_end = (at / STEPS + 1) * STEPS;
        let (left, right) = (at % STEPS, end.min(cell_end) - at / STEPS * STEPS);
        bar.push(block_cell(left, right));
        at = cell_end;
    }
    bar
}

/// A column filled from `left` to `right` eighths. There are only left blocks
/// and a right half.
fn block_cell(left: i128, right: i128) -> char {
    const LEFT: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    match (left, right) {
        (4.., STEPS) => '▐',
        (0..=3, _) => LEFT[(right - 1).clamp(0, 7) as usize],
        _ => '▐',
    }
}

/// A thin bar, for what lies within a thick one.
pub(crate) fn rule(from: i64, to: i64, whole: i64, columns: usize) -> String {
    let (start, end) = place(from, to, whole, columns);
    let half = STEPS / 2;
    // In half columns, and at least one.
    let (start, end) = (start / half, (end / half).max(start / half + 1));
    let mut bar = " ".repeat((start / 2) as usize);
    let mut at = start;
    while at < end {
        let whole_cell = at % 2 == 0 && at + 1 < end;
        bar.push(match at % 2 {
            _ if whole_cell => '━',
            0 => '╸',
            _ => '╺',
        });
        at += 2 - at % 2;
    }
    bar
}

/// `from` and `to` in eighths of a column, within the bar and not empty.
fn place(from: i64, to: i64, whole: i64, columns: usize) -> (i128, i128) {
    let all = columns as i128 * STEPS;
    if all == 0 {
        return (0, 0);
    }
    let whole = i128::from(whole.max(1));
    let eighths = |ns: i64| (i128::from(ns) * all / whole).clamp(0, all);
    let start = eighths(from).min(all - 1);
    (start, eighths(to).max(start + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_and_never_vanish() {
        assert_eq!(block(0, 100, 100, 4), "████");
        assert_eq!(block(0, 50, 100, 4), "██");
        assert_eq!(block(50, 100, 100, 4), "  ██");
        assert_eq!(block(0, 1, 100, 4), "▏");
        assert_eq!(block(99, 100, 100, 4), "   ▐");
        assert_eq!(block(13, 60, 100, 4), "▐█▍");
        assert_eq!(block(-5, 500, 100, 4), "████");
        assert_eq!(block(7, 3, 0, 4), "   ▐");
        assert_eq!(block(0, 1, 1, 0), "");
    }

    #[test]
    fn rules_have_half_columns() {
        assert_eq!(rule(0, 100, 100, 4), "━━━━");
        assert_eq!(rule(0, 1, 100, 4), "╸");
        assert_eq!(rule(13, 63, 100, 4), "╺━╸");
        assert_eq!(rule(100, 100, 100, 4), "   ╺");
    }
}
