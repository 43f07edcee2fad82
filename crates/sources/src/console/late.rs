//! Who read a console late, in bursts.
//!
//! LAVA's dispatcher on a busy host reads 2000 bytes whenever it gets to it: 94 s late while
//! nothing was wrong with the board. The kernel's own times tell how late.

/// Whoever reads a console so much later than the kernel wrote it tells when it read.
const LATE_NS: i64 = 250_000_000;

/// No console is enabled so long after the kernel's first line.
const BACKLOG_NS: i64 = 5_000_000_000;

/// How many lines together tell how late they were read.
const WINDOW: usize = 32;

/// What kernel lines say of who read them.
pub(crate) struct Reader {
    /// When kernel lines were read, in order, when they were sent at the latest, and the
    /// same for all that come after them.
    lines: Vec<[i64; 3]>,
}

impl Reader {
    /// Of lines that were read and logged then, the clocks being `offset_ns` apart.
    pub(crate) fn of(mut read: Vec<[i64; 2]>, offset_ns: i64) -> Self {
        // A host's clock can be set back.
        read.sort_by_key(|line| line[0]);
        let mut least = i64::MAX;
        let back = read.into_iter().rev().map(|[read, logged]| {
            let sent = logged.saturating_add(offset_ns);
            least = least.min(sent);
            [read, sent, least]
        });
        let mut lines: Vec<[i64; 3]> = back.collect();
        lines.reverse();
        Self { lines }
    }

    /// When that was sent which was read at `read`, and how far that may be off: kernel lines
    /// when they were logged, the others as late as the last kernel line, and not after the
    /// next one.
    pub(crate) fn sent(&self, read: i64) -> (i64, u32) {
        let next = self.lines.partition_point(|l| l[0] < read);
        let after = self.lines.get(next);
        let until = after.map_or(i64::MAX, |l| l[2]);
        if after.is_some_and(|l| l[0] == read) {
            return (until, 0);
        }
        let before = self.lines[..next].last();
        let late = before.map_or(0, |l| l[0].saturating_sub(l[1]));
        let since = before.map_or(i64::MIN, |l| l[1]);
        let apart = until.min(read).saturating_sub(since);
        let sent = read.saturating_sub(late.max(0)).min(until);
        (sent, u32::try_from(apart).unwrap_or(u32::MAX))
    }

    /// Whether lines were late one after the other, and later than some before them: the
    /// backlog that a console prints when it is enabled comes first, and gets in time. (Where
    /// it never was nearly in time, the two clocks are not of one speed: a simulator's.)
    pub(crate) fn is_late(&self) -> bool {
        let least = |w: &[[i64; 3]]| w.iter().map(|l| l[0].saturating_sub(l[1])).min();
        let mut windows = self.lines.chunks_exact(WINDOW).filter_map(least);
        let Some(mut best) = windows.next().filter(|late| *late <= BACKLOG_NS) else {
            return false;
        };
        windows.any(|late| {
            best = late.min(best);
            late.saturating_sub(best) > LATE_NS
        })
    }

    /// Whether nobody can say how the clocks lie to each other, as they are not of one speed: a
    /// simulator's. The first lines were as good as in time, line by line, and yet further from
    /// the kernel's times than others. (What a console prints when it is enabled comes at once.)
    pub(crate) fn is_of_two_speeds(&self) -> bool {
        let Some(first) = self.lines.chunks_exact(WINDOW).next() else {
            return false;
        };
        let late = first.iter().map(|l| l[0].saturating_sub(l[1]));
        let between = |n: usize| first[WINDOW - 1][n].saturating_sub(first[0][n]);
        late.min() > Some(BACKLOG_NS) && between(0) > between(1)
    }

    /// When the line was read that was the first to be sent at that moment or later.
    pub(crate) fn read(&self, sent: i64) -> Option<i64> {
        self.lines.iter().find(|l| l[1] >= sent).map(|l| l[0])
    }

    /// By how much the latest line was late.
    pub(crate) fn latest(&self) -> i64 {
        let late = self.lines.iter().map(|l| l[0].saturating_sub(l[1]));
        late.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn who_reads_late_is_told_from_a_backlog_and_from_another_clock() {
        let is_late = |read: &dyn Fn(i64) -> i64| {
            let lines = (0..320).map(|n| [read(n * 10) * MS, n * 10 * MS]);
            Reader::of(lines.collect(), 0).is_late()
        };
        assert!(!is_late(&|logged| logged + 3));
        assert!(is_late(&|logged| logged + logged));
        assert!(is_late(&|logged| logged.max(2000).max(logged * 2 - 2000)));
        // A console that was enabled after 1.5 s, one that never was nearly in time.
        assert!(!is_late(&|logged| logged.max(1500)));
        assert!(!is_late(&|logged| logged * 10 + 25_000));
        let is_of_two_speeds = |read: &dyn Fn(i64) -> i64| {
            let lines = (0..320).map(|n| [read(n * 10) * MS, n * 10 * MS]);
            Reader::of(lines.collect(), 0).is_of_two_speeds()
        };
        assert!(is_of_two_speeds(&|logged| logged * 2 + 25_000));
        assert!(!is_of_two_speeds(&|logged| logged * 2));
        assert!(!is_of_two_speeds(&|logged| logged.max(6_000)));
        assert!(!is_of_two_speeds(&|logged| logged + 3));
    }

    #[test]
    fn what_was_read_late_stands_between_the_kernels_lines() {
        let lines = vec![[0, 0], [500, 100], [501, 110], [1000, 900]];
        let reader = Reader::of(lines, 7);
        let sent = [0, 500, 501, 1000].map(|read| reader.sent(read));
        assert_eq!(sent, [(7, 0), (107, 0), (117, 0), (907, 0)]);
        // As late as the line before, and not later than the one after.
        let sent = [499, 502, 999, 1100].map(|read| reader.sent(read));
        assert_eq!(sent, [(107, 100), (118, 385), (615, 790), (1007, 193)]);
        assert_eq!(reader.latest(), 393);
        assert_eq!(
            [7, 108, 900, 908].map(|sent| reader.read(sent)),
            [Some(0), Some(501), Some(1000), None]
        );
    }
}
