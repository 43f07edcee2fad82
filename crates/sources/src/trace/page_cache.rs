//! What was read of disks, from `filemap:mm_filemap_add_to_page_cache`.
//!
//! ```text
//! mm_filemap_add_to_page_cache: dev 179:2 ino 3f1 pfn=0x81b2 ofs=40960 order=2
//! mm_filemap_add_to_page_cache: pfn=33202 i_ino=1009 index=10 s_dev=187695106 order=2     trace.dat
//! ```
//!
//! Each event is a page, or since Linux 5.18 one of `2^order` pages. The text has
//! offsets in bytes and does not say how large a page is.

use bootlap_model::{Read, ReadOf, Severity};

use super::event::Moment;
use crate::text::Import;

/// The event.
pub(super) const NAME: &str = "mm_filemap_add_to_page_cache";
/// 4 GiB of small pages.
const MOST: usize = 1 << 20;
/// The kernel has none that are larger (`MAX_PAGECACHE_ORDER`).
const LARGEST_ORDER: u32 = 20;
/// Below these, a multiple may be chance.
const ENOUGH: usize = 16;
const PAGES: [u64; 3] = [65536, 16384, 4096];

struct Page {
    now: Moment,
    of: ReadOf,
    /// In bytes, or in pages.
    at: Offset,
    order: u32,
}

#[derive(Clone, Copy)]
enum Offset {
    Bytes(u64),
    Pages(u64),
}

/// The pages of one recording.
#[derive(Default)]
pub(super) struct PageCache {
    pages: Vec<Page>,
    /// What the recording says of it, bytes.
    page: Option<u64>,
}

impl PageCache {
    /// The machine's pages are so large.
    pub(super) fn page_is(&mut self, bytes: u64) {
        self.page = PAGES.contains(&bytes).then_some(bytes);
    }

    /// A page came into the page cache.
    pub(super) fn add(&mut self, fields: &str, now: &Moment, import: &mut Import<'_>) {
        let Some((of, at, order)) = page(fields) else {
            return import.notice(
                "page-unreadable",
                Severity::Notice,
                now.evidence,
                "these events do not say which page of which file was read: save the trace as the kernel writes it",
            );
        };
        if self.pages.len() >= MOST {
            return import.notice(
                "reads-left-out",
                Severity::DataLoss,
                now.evidence,
                "only the first million pages are kept: record a boot and not more",
            );
        }
        let now = *now;
        self.pages.push(Page { now, of, at, order });
    }

    /// There are no more.
    pub(super) fn finish(&mut self, import: &mut Import<'_>) {
        let size = self.page.unwrap_or_else(|| self.likely());
        for page in std::mem::take(&mut self.pages) {
            let start = match page.at {
                Offset::Bytes(at) => Some(at),
                Offset::Pages(at) => at.checked_mul(size),
            };
            let span = |start: u64| Some((start, start.checked_add(size << page.order)?));
            let Some((start, end)) = start.and_then(span) else {
                continue;
            };
            import.timeline.reads.push(Read {
                clock: page.now.clock,
                at: page.now.at,
                of: page.of,
                start,
                end,
                evidence: page.now.evidence,
            });
        }
    }

    /// The largest of which all offsets are multiples.
    fn likely(&self) -> u64 {
        let fits = |size: &u64| {
            self.pages.iter().all(|page| match page.at {
                Offset::Bytes(at) => at % size == 0,
                Offset::Pages(_) => false,
            })
        };
        match self.pages.len() {
            0..ENOUGH => 4096,
            _ => PAGES.into_iter().find(fits).unwrap_or(4096),
        }
    }
}

fn page(fields: &str) -> Option<(ReadOf, Offset, u32)> {
    let (mut device, mut inode, mut at, mut order) = (None, None, None, 0);
    let mut words = fields.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match (word, word.split_once('=')) {
            ("dev", _) => {
                let (major, minor) = words.next()?.split_once(':')?;
                let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
                let fits = major < 1 << 12 && minor < 1 << 20;
                device = fits.then_some(major << 20 | minor);
            }
            ("ino", _) => inode = u64::from_str_radix(words.next()?, 16).ok(),
            (_, Some(("s_dev", value))) => device = Some(value.parse().ok()?),
            (_, Some(("i_ino", value))) => inode = Some(value.parse().ok()?),
            (_, Some(("ofs", value))) => at = Some(Offset::Bytes(value.parse().ok()?)),
            (_, Some(("index", value))) => at = Some(Offset::Pages(value.parse().ok()?)),
            (_, Some(("order", value))) => order = value.parse().ok()?,
            _ => {}
        }
    }
    let (device, inode) = (device?, inode?);
    (order <= LARGEST_ORDER).then_some((ReadOf::Inode { device, inode }, at?, order))
}

#[cfg(test)]
mod tests {
    use bootlap_model::Timeline;

    use super::*;
    use crate::tried;

    fn read(text: &str) -> Timeline {
        tried::read(crate::named("ftrace").unwrap(), text.as_bytes())
    }

    fn ranges(timeline: &Timeline) -> Vec<(u64, u64)> {
        timeline.reads.iter().map(|r| (r.start, r.end)).collect()
    }

    const HEAD: &str = "# tracer: nop\n";

    #[test]
    fn pages_of_any_kernel() {
        let old = "cat-9 [001] .... 4.5: mm_filemap_add_to_page_cache: dev 8:1 ino 1f page=0000 pfn=1 ofs=8192\n";
        let new = "cat-9 [001] ..... 4.6: mm_filemap_add_to_page_cache: dev 0:3 ino 800001 pfn=0x1 ofs=16384 order=2\n";
        let timeline = read(&format!("{HEAD}{old}{new}"));
        assert_eq!(ranges(&timeline), [(8192, 12288), (16384, 32768)]);
        let of: Vec<_> = timeline.reads.iter().map(|r| r.of).collect();
        let inode = |device, inode| ReadOf::Inode { device, inode };
        assert_eq!(of, [inode(8 << 20 | 1, 0x1f), inode(3, 8 << 20 | 1)]);
        assert_eq!(timeline.reads[1].at.ns, 4_600_000_000);
        assert_eq!(timeline.reads[1].evidence.line, 3);
        let by_field = page("pfn=1 i_ino=31 index=2 s_dev=8388609 order=1").unwrap();
        assert!(matches!(by_field.1, Offset::Pages(2)) && by_field.2 == 1);
        assert_eq!(by_field.0, inode(8 << 20 | 1, 31));
    }

    #[test]
    fn larger_pages_are_seen() {
        let line = |at: u64| {
            format!(
                "cat-9 [001] ..... 4.6: {NAME}: dev 8:1 ino 1f pfn=0x1 ofs={} order=0\n",
                at << 16
            )
        };
        let few: String = (0..15).map(line).collect();
        assert_eq!(ranges(&read(&format!("{HEAD}{few}")))[1], (65536, 69632));
        let many: String = (0..16).map(line).collect();
        assert_eq!(ranges(&read(&format!("{HEAD}{many}")))[1], (65536, 131072));
    }

    #[test]
    fn hostile_numbers_are_left_out() {
        for fields in [
            "dev 8:1 ino 1f ofs=18446744073709551615 order=0",
            "dev 8:1 ino 1f ofs=0 order=63",
            "dev 99999:1 ino 1f ofs=0 order=0",
            "dev 8:1 ino xyz ofs=0 order=0",
            "dev 8:1 ino",
            "dev",
            "",
        ] {
            let timeline = read(&format!("{HEAD}cat-9 [001] ..... 4.6: {NAME}: {fields}\n"));
            assert_eq!(timeline.reads, [], "{fields}");
        }
    }
}
