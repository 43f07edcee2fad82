//! Standard output behind a thread of its own: a screen that stands still
//! (Ctrl-S, a slow pipe) must not hold up the recording.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is kept for a screen that stands still.
const MOST_PENDING: usize = 64 << 20;
/// How long a terminal that stands still is waited for at the end.
const PATIENCE: Duration = Duration::from_secs(2);

enum Piece {
    Out(Vec<u8>),
    /// For standard error, in its place between the lines.
    Note(String),
}

/// See the module.
pub(super) struct Screen {
    send: Option<SyncSender<Piece>>,
    thread: Option<JoinHandle<()>>,
    pending: Vec<u8>,
    waiting: Vec<Piece>,
    waiting_len: usize,
    lost: Arc<AtomicBool>,
    terminal: bool,
}

impl Screen {
    pub(super) fn start(terminal: bool) -> Self {
        let (send, receive) = sync_channel::<Piece>(4);
        let lost = Arc::new(AtomicBool::new(false));
        let failed = lost.clone();
        let thread = std::thread::spawn(move || {
            for piece in receive {
                match piece {
                    Piece::Note(text) => {
                        let _ = writeln!(std::io::stderr(), "{text}");
                    }
                    Piece::Out(_) if failed.load(Ordering::Relaxed) => {}
                    Piece::Out(bytes) => {
                        let mut out = std::io::stdout().lock();
                        let written = out.write_all(&bytes).and_then(|()| out.flush());
                        failed.store(written.is_err(), Ordering::Relaxed);
                    }
                }
            }
        });
        Self {
            send: Some(send),
            thread: Some(thread),
            pending: Vec::new(),
            waiting: Vec::new(),
            waiting_len: 0,
            lost,
            terminal,
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.waiting_len + self.pending.len() < MOST_PENDING {
            self.pending.extend_from_slice(bytes);
        } else {
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn note(&mut self, text: &str) {
        self.queue_pending();
        self.waiting.push(Piece::Note(text.to_owned()));
        self.flush();
    }

    fn queue_pending(&mut self) {
        if !self.pending.is_empty() {
            self.waiting_len += self.pending.len();
            self.waiting
                .push(Piece::Out(std::mem::take(&mut self.pending)));
        }
    }

    /// Hands over what the screen takes now.
    pub(super) fn flush(&mut self) {
        self.queue_pending();
        let Some(send) = &self.send else { return };
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        for piece in waiting.by_ref() {
            let len = match &piece {
                Piece::Out(bytes) => bytes.len(),
                Piece::Note(_) => 0,
            };
            match send.try_send(piece) {
                Ok(()) => self.waiting_len -= len,
                Err(TrySendError::Full(piece)) => {
                    self.waiting.push(piece);
                    break;
                }
                Err(TrySendError::Disconnected(_)) => break,
            }
        }
        self.waiting.extend(waiting);
    }

    /// Shows the rest; says whether all was shown. A terminal that stands still
    /// is not waited for, nor a pipe when there is a `hurry`.
    pub(super) fn done(mut self, hurry: bool) -> bool {
        let until = Instant::now() + PATIENCE;
        let patient = !self.terminal && !hurry;
        loop {
            self.flush();
            if self.waiting.is_empty() {
                drop(self.send.take());
            }
            let over = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
            if over || (!patient && Instant::now() > until) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.waiting.is_empty() && !self.lost.load(Ordering::Relaxed)
    }
}
