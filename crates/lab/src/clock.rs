//! What time it is.

use std::time::SystemTime;

use jiff::Timestamp;

/// Now, by the computer's clock. One beyond the year 9999, as a machine without
/// a battery may have it, is the end of that year.
pub fn now() -> Timestamp {
    of(SystemTime::now())
}

fn of(time: SystemTime) -> Timestamp {
    let beyond = match time > SystemTime::UNIX_EPOCH {
        true => Timestamp::MAX,
        false => Timestamp::MIN,
    };
    Timestamp::try_from(time).unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_clock_is_too_wrong_to_be_told() {
        let far = Duration::from_secs(253_402_300_800 + 86_400 * 400);
        assert_eq!(of(SystemTime::UNIX_EPOCH + far), Timestamp::MAX);
        assert_eq!(of(SystemTime::UNIX_EPOCH - 3 * far), Timestamp::MIN);
        assert_eq!(of(SystemTime::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
        assert!(now().to_string().ends_with('Z'));
    }
}
