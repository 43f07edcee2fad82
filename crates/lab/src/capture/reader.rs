//! The thread that reads a port: poll, read, stamp, hand over, and nothing
//! else. What is slow (the disk, the screen, patterns) waits behind a queue
//! that is bounded in bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::port::{Port, PortError, PortEvent, monotonic_ns};
use crate::priority;

/// Bytes of one read; the kernel's buffer of a terminal is as large.
const PIECE: usize = 4096;
/// Pieces in the queue: 64 MiB at most, and minutes of any serial line.
const QUEUE: usize = 16_384;
/// How often the thread looks whether it shall end.
const LOOK: Duration = Duration::from_millis(100);

/// What the thread hands over.
pub(super) enum Heard {
    /// Bytes that were there at `ns` on the monotonic clock.
    Bytes {
        ns: i64,
        bytes: Box<[u8]>,
    },
    Gone {
        ns: i64,
        why: String,
    },
    Returned {
        ns: i64,
    },
    /// The queue was full: for so long nothing was read.
    Stalled {
        ns: i64,
        for_ns: i64,
    },
    Ended {
        why: String,
    },
    Failed(PortError),
}

/// A port that is being read.
pub(super) struct Reader {
    pub(super) heard: Receiver<Heard>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    pub(super) fn start(port: Port) -> Self {
        let (send, heard) = sync_channel(QUEUE);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || read(port, &send, &stopped));
        Self {
            heard,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It may wait for room.
        while self.heard.try_recv().is_ok() {}
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read(mut port: Port, send: &SyncSender<Heard>, stop: &AtomicBool) {
    // The thread does little, but soon.
    priority::raise();
    let mut buffer = vec![0; PIECE];
    while !stop.load(Ordering::Relaxed) {
        let (heard, last) = match port.read(&mut buffer, Instant::now() + LOOK) {
            Ok(PortEvent::Deadline) => continue,
            Ok(PortEvent::Bytes { len, ns }) => {
                let bytes = buffer[..len].into();
                (Heard::Bytes { ns, bytes }, false)
            }
            Ok(PortEvent::Gone { ns, why }) => (Heard::Gone { ns, why }, false),
            Ok(PortEvent::Returned { ns }) => (Heard::Returned { ns }, false),
            Ok(PortEvent::Ended { why, .. }) => (Heard::Ended { why }, true),
            Err(e) => (Heard::Failed(e), true),
        };
        if !hand_over(heard, send, stop) || last {
            return;
        }
    }
}

/// Says whether there is still somebody to hand over to.
fn hand_over(heard: Heard, send: &SyncSender<Heard>, stop: &AtomicBool) -> bool {
    let (mut heard, since) = match send.try_send(heard) {
        Ok(()) => return true,
        Err(TrySendError::Disconnected(_)) => return false,
        Err(TrySendError::Full(heard)) => (heard, monotonic_ns()),
    };
    loop {
        std::thread::sleep(Duration::from_millis(2));
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        match send.try_send(heard) {
            Ok(()) => {
                let ns = monotonic_ns();
                let for_ns = ns - since;
                return send.send(Heard::Stalled { ns, for_ns }).is_ok();
            }
            Err(TrySendError::Disconnected(_)) => return false,
            Err(TrySendError::Full(back)) => heard = back,
        }
    }
}
