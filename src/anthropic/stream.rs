//! Reads an event stream from bytes, however the network cut them.
//!
//! Only the payloads matter: the API names each event inside its data, and an
//! `event:` line may be lost behind a gateway. Lines end in LF, CRLF or CR and
//! in nothing else; several `data` lines of one event join with LF; an event
//! without its closing blank line is never handed out. A payload that lies in
//! one chunk is handed out without a copy.

/// A byte-order mark; skipped at the start of a stream only.
const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// A parser of one event stream.
#[derive(Debug)]
pub struct EventStream {
    /// The most bytes that one event may hold.
    max_event: usize,
    /// Where in the stream the next byte stands, as far as it matters.
    place: Place,
    /// The line that the last chunk left unfinished.
    line: Vec<u8>,
    /// The joined data of the event that the last chunk left unfinished.
    data: Vec<u8>,
    /// Whether `data` holds a line, an empty one included.
    begun: Begun,
}

/// An event holds more bytes than the limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is over {max_event} bytes")]
pub struct EventTooLarge {
    /// The limit.
    pub max_event: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// So many bytes of a byte-order mark have been seen.
    Start(usize),
    /// Anywhere else.
    Inside,
    /// Right after a CR: an LF here belongs to it.
    AfterCr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    No,
    Yes,
}

impl EventStream {
    /// A parser at the start of a stream, with a limit for each event.
    #[must_use]
    pub const fn new(max_event: usize) -> Self {
        Self {
            max_event,
            place: Place::Start(0),
            line: Vec::new(),
            data: Vec::new(),
            begun: Begun::No,
        }
    }

    /// Takes the next chunk, of any length, and hands out the data of every event that it completes.
    ///
    /// # Errors
    /// [`EventTooLarge`] when an unfinished event outgrows the limit; the stream is of no use after that.
    pub fn feed(&mut self, chunk: &[u8], mut sink: impl FnMut(&[u8])) -> Result<(), EventTooLarge> {
        let mut rest = self.skip_mark(chunk);
        // The data of an event that has one line so far, and that line lies in this chunk.
        let mut held: Option<&[u8]> = None;
        while !rest.is_empty() {
            if self.place == Place::AfterCr {
                self.place = Place::Inside;
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                continue;
            }
            let Some(end) = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') else {
                self.line.extend_from_slice(rest);
                break;
            };
            if rest[end] == b'\r' {
                self.place = Place::AfterCr;
            }
            if self.line.is_empty() {
                self.take_line(&rest[..end], &mut held, &mut sink);
            } else {
                self.take_carried_line(&rest[..end], &mut held, &mut sink);
            }
            rest = &rest[end + 1..];
        }
        self.keep(held);
        if self.line.len() + self.data.len() > self.max_event {
            return Err(EventTooLarge {
                max_event: self.max_event,
            });
        }
        Ok(())
    }

    /// Skips a byte-order mark that may come in pieces; a false start of one is part of the first line.
    fn skip_mark<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let Place::Start(seen) = self.place else {
            return chunk;
        };
        let expected = &BOM[seen..];
        let same = chunk
            .iter()
            .zip(expected)
            .take_while(|(a, b)| a == b)
            .count();
        if same < expected.len() && same == chunk.len() {
            self.place = Place::Start(seen + same);
            return &[];
        }
        self.place = Place::Inside;
        if same == expected.len() {
            return &chunk[same..];
        }
        self.line.extend_from_slice(&BOM[..seen]);
        chunk
    }

    /// Takes a line that lies in one chunk.
    fn take_line<'a>(
        &mut self,
        line: &'a [u8],
        held: &mut Option<&'a [u8]>,
        sink: &mut impl FnMut(&[u8]),
    ) {
        if line.is_empty() {
            self.dispatch(held.take(), sink);
        } else if let Some(value) = data_of(line) {
            if self.begun == Begun::No && held.is_none() {
                *held = Some(value);
            } else {
                self.keep(held.take());
                self.keep(Some(value));
            }
        }
    }

    /// Takes a line whose beginning was left by an earlier chunk.
    fn take_carried_line(
        &mut self,
        end: &[u8],
        held: &mut Option<&[u8]>,
        sink: &mut impl FnMut(&[u8]),
    ) {
        self.keep(held.take());
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        if line.is_empty() {
            self.dispatch(None, sink);
        } else {
            self.keep(data_of(&line));
        }
        line.clear();
        self.line = line;
    }

    /// Hands out the event that a blank line ends, if it has data.
    fn dispatch(&mut self, held: Option<&[u8]>, sink: &mut impl FnMut(&[u8])) {
        if let Some(value) = held {
            sink(value);
        } else if self.begun == Begun::Yes {
            sink(&self.data);
        }
        self.data.clear();
        self.begun = Begun::No;
    }

    /// Adds a data line to the unfinished event.
    fn keep(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else { return };
        if self.begun == Begun::Yes {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.begun = Begun::Yes;
    }
}

/// The value of a `data` line; comments and other fields have none.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"data")?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests;
