//! Rows of CSV: cells, and what they can be.

/// What separates the cells of a table, by its first line.
pub(super) fn separator(line: &str) -> char {
    let count = |c: char| line.matches(c).count();
    let most = [',', ';', '\t'].into_iter().rev().max_by_key(|c| count(*c));
    most.unwrap_or(',')
}

/// The cells of a line, without quotes. Names with a separator in quotes are
/// cut there: no analyser writes them.
pub(super) fn cells(line: &str, separator: char) -> impl Iterator<Item = &str> {
    // A separator after the last cell is one of old sigrok versions.
    let line = line.trim().strip_suffix(separator).unwrap_or(line.trim());
    line.split(separator)
        .map(|c| c.trim().trim_matches('"').trim())
}

/// Whether it is a comment; sigrok-cli prints `META samplerate: 1000000` into
/// the file.
pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with([';', '#']) || line.starts_with("META ") || line.starts_with("//")
}

/// Whether a cell is the level of one pin.
pub(super) fn is_level(cell: &str) -> bool {
    matches!(cell, "0" | "1" | "x" | "X" | "z" | "Z")
}

/// A cell that is a number.
pub(super) fn value(cell: &str) -> Option<f64> {
    let first = cell.as_bytes().first()?;
    if !matches!(first, b'0'..=b'9' | b'-' | b'+' | b'.') {
        return None;
    }
    // A decimal comma stands where cells are apart by something else.
    match cell.contains(',') {
        true => cell.replace(',', ".").parse().ok(),
        false => cell.parse().ok(),
    }
}

/// Whether a heading tells only of what kind a column is, as sigrok's does.
pub(super) fn is_kind(name: &str) -> bool {
    let units = ["V", "A", "W", "Ohm"];
    let unit = name.split(' ').next().unwrap_or_default();
    matches!(name, "logic" | "Trigger" | "") || (units.contains(&unit) && name.len() <= 8)
}

/// The unit that a heading tells: of `V DC`, `Channel 1 (V)`, `U [mV]`.
pub(super) fn unit(name: &str) -> Option<&str> {
    if is_kind(name) {
        return name
            .split(' ')
            .next()
            .filter(|u| !matches!(*u, "logic" | "Trigger" | ""));
    }
    let inner = name.strip_suffix([')', ']'])?;
    let unit = &inner[inner.rfind(['(', '['])? + 1..];
    matches!(unit, "V" | "mV" | "Volt" | "A" | "mA" | "W" | "mW").then_some(unit)
}

/// `A0: -10.0000 V DC`.
pub(super) fn is_listed_voltage(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(": ") else {
        return false;
    };
    !name.contains(',') && rest.split(' ').next().is_some_and(|n| value(n).is_some())
}

/// DSView calls its channels `0`, `1` …
pub(super) fn channel_name(name: &str) -> String {
    if !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) {
        return format!("channel {name}");
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_taken_apart() {
        assert_eq!(separator("Time [s];Channel 0,5"), ',');
        assert_eq!(separator("Time\tSPI, fast\tUART"), '\t');
        let row: Vec<&str> = cells("0.5, \"1\" ,0,", ',').collect();
        assert_eq!(row, ["0.5", "1", "0"]);
        assert_eq!(value("-1e-06"), Some(-1e-6));
        assert_eq!(value("1,5"), Some(1.5));
        assert_eq!(value("nan"), None);
        assert_eq!(unit("V DC"), Some("V"));
        assert_eq!(unit("Channel 1 (mV)"), Some("mV"));
        assert_eq!((unit("logic"), unit("D0 (x)")), (None, None));
        assert!(is_listed_voltage("A0: -10.0000 V DC") && !is_listed_voltage("Time: s,0"));
    }
}
