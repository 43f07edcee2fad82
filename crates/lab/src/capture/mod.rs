//! Captures: a console recorded as it comes, of boots that nobody controls or
//! that a power command starts.
//!
//! ```text
//! Port ──reader thread (poll, read, stamp)──► bounded queue ──► session ──► run folder
//!                                                                  │
//!                                              patterns, faults ◄──┴──► whoever watches
//! ```
//!
//! What has arrived is handed to the kernel at the latest 100 ms later, so a
//! capture that is killed leaves a run of what it saw.
//!
//! Zero of a boot's times is the power command, or the line that `from` meets,
//! or the first byte. As long as that line has not come, what comes is recorded
//! from its first byte; when it comes, that is put aside as `before`.

mod garbage;
mod line;
mod plan;
mod reader;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::port::Port;
use crate::{Fault, LabError, Run, Split};

pub use plan::{Pin, Plan, Sending};

use reader::{Heard, Reader};
use session::Session;

/// How long bytes are gathered before they are looked at: who watches sees no
/// difference, and a processor does.
const GATHER: Duration = Duration::from_millis(70);
/// The same for a person who types and waits for the echo.
const GATHER_TYPING: Duration = Duration::from_millis(10);
/// How often those who watch hear of the time.
const TICK: Duration = Duration::from_millis(100);
/// How often the keyboard is looked at.
const KEYS: Duration = Duration::from_millis(20);
/// Pieces that are handled before the disk and the screen get their turn.
const BATCH: usize = 1024;

/// What a capture tells those who watch; all times are the host's monotonic
/// clock, ns.
pub enum CaptureEvent<'a> {
    /// A run is being recorded.
    Begins {
        /// Which boot, from 1.
        boot: u32,
        /// Its folder.
        dir: &'a std::path::Path,
    },
    /// The boot's times count from here.
    Zero {
        /// When.
        ns: i64,
    },
    /// Bytes of at most one line came.
    Bytes {
        /// When.
        ns: i64,
        /// The bytes as they came.
        bytes: &'a [u8],
    },
    /// A pattern was met.
    Split(&'a Split),
    /// Something went wrong with the recording.
    Fault(&'a Fault),
    /// Something was sent to the board.
    Sent(&'a [u8]),
    /// All that came so far was told.
    Tick {
        /// Now.
        ns: i64,
    },
    /// A run is recorded.
    Ends(&'a Run),
}

/// What came of a capture.
pub struct Recorded {
    /// The runs, in the order of their boots.
    pub runs: Vec<Run>,
    /// Why it did not record all that it was to record: the port or the power
    /// command failed.
    pub failed: Option<String>,
}

/// Records what `plan` says, until it is over or `stop` is set; `on_event` hears of
/// all that happens. What comes from `typed` is sent to the board, and not
/// recorded: it may be a password.
///
/// # Errors
/// If the port cannot be opened or a run cannot be written. What was recorded
/// until then is in the run.
pub fn capture(
    plan: &Plan,
    typed: Option<&Receiver<Vec<u8>>>,
    stop: &Arc<AtomicBool>,
    on_event: &mut dyn FnMut(CaptureEvent<'_>),
) -> Result<Recorded, LabError> {
    let port = Port::open(&plan.port, &plan.settings)?;
    let control = port.control();
    let reader = Reader::start(port);
    let mut session = Session::new(plan, control, stop.clone(), on_event);
    let result = session
        .start()
        .and_then(|()| pump(&mut session, &reader, typed, stop));
    drop(reader);
    match result {
        Ok(()) => Ok(session.into_recorded()),
        Err(e) => {
            session.abandon(&e);
            Err(e)
        }
    }
}

fn pump(
    session: &mut Session<'_>,
    reader: &Reader,
    typed: Option<&Receiver<Vec<u8>>>,
    stop: &AtomicBool,
) -> Result<(), LabError> {
    let gather = if typed.is_some() {
        GATHER_TYPING
    } else {
        GATHER
    };
    while !session.is_over() {
        for keys in typed.iter().flat_map(|typed| typed.try_iter()) {
            session.typed(&keys);
        }
        let longest = if typed.is_some() { KEYS } else { TICK };
        let wait = session.next_deadline().map_or(longest, |deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            left.min(longest)
        });
        let first = match reader.heard.recv_timeout(wait) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                session.port_ended("the port was closed".into())?;
                None
            }
        };
        if let Some(first) = first {
            std::thread::sleep(gather);
            let rest = std::iter::from_fn(|| reader.heard.try_recv().ok());
            for heard in std::iter::once(first).chain(rest.take(BATCH)) {
                session.hear(heard)?;
            }
        }
        let stop = stop.load(Ordering::Relaxed);
        if stop {
            // What has arrived is in the run.
            while let Ok(heard) = reader.heard.try_recv() {
                session.hear(heard)?;
            }
        }
        session.look_at_unfinished_line()?;
        session.flush()?;
        session.look_at_the_time(stop)?;
    }
    Ok(())
}
