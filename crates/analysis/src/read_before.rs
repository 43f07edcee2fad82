//! What of a disk had been read before: a cache would have had it.

use std::collections::BTreeMap;
use std::ops::Range;

use bootlap_model::{Milestone, Request, RequestKind, Stamp, Timeline};

use crate::view::View;

/// What was read of all disks so far: by the kernel, once that runs, as it has nothing of what a
/// boot loader read.
#[derive(Debug, Default)]
pub struct ReadBefore {
    kernel_ns: Option<i64>,
    /// By disk and start the ends of stretches that do not touch, bytes.
    read: BTreeMap<(u8, u64), u64>,
}

impl ReadBefore {
    /// Before the first request of a boot.
    pub fn of(timeline: &Timeline) -> Self {
        Self::in_view(&View::of(timeline))
    }

    pub(crate) fn in_view(view: &View) -> Self {
        let kernel = view.milestone(Milestone::KernelEntry);
        Self {
            kernel_ns: kernel.map(|at| at.ns),
            read: BTreeMap::new(),
        }
    }

    /// What of the next request had been read before, in bytes of its disk; nothing if it does not
    /// read. Requests come in the order in which they were done, `at` on the boot's axis.
    pub fn add(&mut self, at: Stamp, request: &Request) -> Vec<Range<u64>> {
        if self.kernel_ns.is_some_and(|kernel| at.ns >= kernel) {
            self.kernel_ns = None;
            self.read.clear();
        }
        if request.kind != RequestKind::Read || request.bytes == 0 {
            return Vec::new();
        }
        let (disk, start) = (request.disk, request.offset);
        let end = start.saturating_add(request.bytes.into());
        let before = self.read.range(..(disk, start)).next_back();
        let touches = before.filter(|((of, _), until)| *of == disk && **until >= start);
        let first = touches.map_or((disk, start), |(key, _)| *key);
        let touching = self.read.range(first..=(disk, end));
        let touching: Vec<_> = touching.map(|((_, from), to)| *from..*to).collect();
        let mut all = start..end;
        let mut again = Vec::new();
        for stretch in touching {
            self.read.remove(&(disk, stretch.start));
            let both = stretch.start.max(start)..stretch.end.min(end);
            again.extend(Some(both).filter(|both| !both.is_empty()));
            all = all.start.min(stretch.start)..all.end.max(stretch.end);
        }
        self.read.insert((disk, all.start), all.end);
        again
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Evidence, TimeKind};
    use proptest::prelude::*;

    use super::*;

    fn request(kind: RequestKind, disk: u8, offset: u64, bytes: u32) -> Request {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "test");
        let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Modelled, file);
        Request {
            clock,
            done: Stamp::new(0, 0),
            took_ns: 0,
            waited_ns: 0,
            kind,
            disk,
            offset,
            bytes,
            evidence: Evidence::whole(file, 0),
        }
    }

    #[test]
    fn a_kernel_has_nothing_of_what_its_loader_read() {
        let mut before = ReadBefore {
            kernel_ns: Some(10),
            ..ReadBefore::default()
        };
        let mut add = |ns, kind, disk| {
            let again = before.add(Stamp::new(ns, 0), &request(kind, disk, 0, 8));
            again.first().map(|range| (range.start, range.end))
        };
        assert_eq!(add(1, RequestKind::Read, 0), None);
        assert_eq!(add(2, RequestKind::Read, 0), Some((0, 8)));
        assert_eq!(add(3, RequestKind::Write, 0), None);
        assert_eq!(add(4, RequestKind::Read, 1), None);
        assert_eq!(add(11, RequestKind::Read, 0), None);
        assert_eq!(add(12, RequestKind::Read, 0), Some((0, 8)));
    }

    proptest! {
        #[test]
        fn it_is_what_a_list_of_bytes_says(
            requests in prop::collection::vec((0_u8..2, 0_u64..40, 0_u32..12), 0..40)
        ) {
            let mut before = ReadBefore::default();
            let mut read = [[false; 64]; 2];
            for (disk, offset, bytes) in requests {
                let request = request(RequestKind::Read, disk, offset, bytes);
                let mut again = [false; 64];
                for range in before.add(Stamp::new(0, 0), &request) {
                    for byte in range {
                        again[byte as usize] = true;
                    }
                }
                for byte in 0..64 {
                    let asked = (offset..offset + u64::from(bytes)).contains(&(byte as u64));
                    let known = &mut read[usize::from(disk)][byte];
                    prop_assert_eq!(again[byte], asked && *known);
                    *known |= asked;
                }
            }
        }
    }
}
