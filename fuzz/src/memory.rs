//! An allocator that stops at a bound: a small file must not take the memory
//! that its numbers ask for. libFuzzer's own bounds look once a second, and at
//! single allocations only with a sanitiser.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What all that lives may take together.
const MOST: usize = 512 << 20;

#[global_allocator]
static BOUNDED: Bounded = Bounded {
    live: AtomicUsize::new(0),
};

struct Bounded {
    live: AtomicUsize,
}

impl Bounded {
    fn add(&self, bytes: usize) {
        let live = self.live.fetch_add(bytes, Relaxed) + bytes;
        if live > MOST {
            // Reporting it allocates.
            self.live.store(0, Relaxed);
            panic!("{live} bytes are in use: more than any small input needs");
        }
    }

    fn take(&self, bytes: usize) {
        let less = |live: usize| Some(live.saturating_sub(bytes));
        let _ = self.live.fetch_update(Relaxed, Relaxed, less);
    }
}

// SAFETY: all is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        self.take(layout.size());
        self.add(new);
        unsafe { System.realloc(at, layout, new) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.take(layout.size());
        unsafe { System.dealloc(at, layout) }
    }
}
