//! Reading stamped consoles of both versions, record by record.

use std::io::{self, BufRead};

use bootlap_model::Stamp;

use super::chunks::{Event, MAX_TEXT, MOST_LEB128};
use super::{HEADER_LEN, Header, HeaderError, RECORD_LEN, Record, VERSION_CHUNKS, Zero};

/// Reads a stamped console record by record.
pub struct Reader<R> {
    bytes: R,
    header: Header,
    zero: Zero,
    torn: usize,
    chunks: Option<Chunks>,
}

/// Where the reading of version 2 is.
#[derive(Default)]
struct Chunks {
    /// The stamp of the chunk, ns.
    ns: i64,
    /// Bytes of it that are still to come.
    left: u64,
    /// Bytes of it that came.
    came: usize,
    /// What the last event said.
    text: Vec<u8>,
}

/// Why a stamped console cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The bytes are something else.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If `bytes` cannot be read or are no stamped console.
    pub fn new(mut bytes: R) -> Result<Self, OpenError> {
        let mut head = [0; HEADER_LEN];
        let n = fill(&mut bytes, &mut head)?;
        let header = Header::decode(&head[..n])?;
        let (version, zero) = Header::layout(&head)?;
        Ok(Self {
            bytes,
            header,
            zero,
            torn: 0,
            chunks: (version == VERSION_CHUNKS).then(Chunks::default),
        })
    }

    /// The header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// What the stamps are counted from.
    pub fn zero(&self) -> Zero {
        self.zero
    }

    /// At the end: how many bytes there are of a last, incomplete record.
    pub fn torn(&self) -> usize {
        self.torn
    }

    /// What the last event said, in its own words.
    pub fn text(&self) -> &[u8] {
        self.chunks.as_ref().map_or(&[], |c| &c.text)
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    #[inline]
    pub fn record(&mut self) -> io::Result<Option<Record>> {
        if self.chunks.is_some() {
            return self.of_chunk();
        }
        let clock = self.header.clock;
        if let Some(bytes) = self.bytes.fill_buf()?.first_chunk() {
            let record = Record::decode(bytes, clock);
            self.bytes.consume(RECORD_LEN);
            return Ok(Some(record));
        }
        self.straddling()
    }

    /// A record of which the buffer holds only a part.
    #[cold]
    fn straddling(&mut self) -> io::Result<Option<Record>> {
        let mut bytes = [0; RECORD_LEN];
        let n = fill(&mut self.bytes, &mut bytes)?;
        if n == RECORD_LEN {
            return Ok(Some(Record::decode(&bytes, self.header.clock)));
        }
        if n > 0 {
            self.torn = n;
        }
        Ok(None)
    }

    /// The next byte or event of version 2.
    #[inline]
    fn of_chunk(&mut self) -> io::Result<Option<Record>> {
        loop {
            let clock = self.header.clock;
            let Some(chunk) = &mut self.chunks else {
                return Ok(None);
            };
            if chunk.left == 0 {
                match self.next_chunk()? {
                    Some(0) => continue,
                    Some(kind) => return self.event(kind),
                    None => return Ok(None),
                }
            }
            let at = clock.stamp(chunk.ns, 0);
            let Some(&byte) = self.bytes.fill_buf()?.first() else {
                self.torn = chunk.came.max(1);
                return Ok(None);
            };
            self.bytes.consume(1);
            chunk.left -= 1;
            chunk.came += 1;
            return Ok(Some(Record::Byte { at, byte }));
        }
    }

    /// Reads what a record begins with; says its kind.
    fn next_chunk(&mut self) -> io::Result<Option<u8>> {
        let mut read = 0;
        let head = match self.leb128(&mut read)? {
            Some(delta) => self.leb128(&mut read)?.map(|word| (delta, word)),
            None => None,
        };
        let Some((delta, word)) = head else {
            // A record that was torn before this end counts, too.
            self.torn = self.torn.max(read);
            return Ok(None);
        };
        let chunk = self.chunks.get_or_insert_default();
        let delta = i64::try_from(delta).unwrap_or(i64::MAX);
        chunk.ns = chunk.ns.saturating_add(delta);
        chunk.left = word >> 3;
        chunk.came = 0;
        Ok(Some((word & 7) as u8))
    }

    /// Takes in the text of an event.
    fn event(&mut self, kind: u8) -> io::Result<Option<Record>> {
        let clock = self.header.clock;
        let chunk = self.chunks.get_or_insert_default();
        chunk.text.clear();
        while chunk.left > 0 {
            let bytes = self.bytes.fill_buf()?;
            if bytes.is_empty() {
                self.torn = chunk.came.max(1);
                chunk.left = 0;
                break;
            }
            let n = bytes
                .len()
                .min(usize::try_from(chunk.left).unwrap_or(usize::MAX));
            let room = MAX_TEXT - chunk.text.len();
            chunk.text.extend_from_slice(&bytes[..n.min(room)]);
            self.bytes.consume(n);
            chunk.left -= n as u64;
            chunk.came += n;
        }
        let at: Stamp = clock.stamp(chunk.ns, 0);
        let event = Event::from_kind(kind);
        Ok(Some(Record::Event { at, event }))
    }

    /// A number; `None` if the bytes end in it. One of too many bytes is as
    /// large as can be.
    fn leb128(&mut self, read: &mut usize) -> io::Result<Option<u64>> {
        let mut value = 0_u64;
        for i in 0..MOST_LEB128 {
            let Some(&byte) = self.bytes.fill_buf()?.first() else {
                return Ok(None);
            };
            self.bytes.consume(1);
            *read += 1;
            let part = u64::from(byte & 0x7f);
            let shifted = part.checked_shl(7 * i).filter(|s| s >> (7 * i) == part);
            value |= shifted.unwrap_or(u64::MAX);
            if byte & 0x80 == 0 {
                return Ok(Some(value));
            }
        }
        Ok(Some(u64::MAX))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.record().transpose()
    }
}

/// Reads until `into` is full or the bytes end; says how many there were.
fn fill(bytes: &mut impl BufRead, into: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < into.len() {
        match bytes.read(&mut into[n..]) {
            Ok(0) => break,
            Ok(got) => n += got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(n)
}
