//! One attempt under way: opens the reply, reads its body, holds the timeouts.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::select;
use reqwest::Response;
use secrecy::SecretString;

use crate::answer::{Answer, FailureKind, Reply, SendFailure};
use crate::engine::ports::Clock;
use crate::job::Delivery;

use super::failure::{Head, MAX_ERROR_BYTES, Media};
use super::message::{Broken, Gathering};
use super::redact::redacted;
use super::stream::EventStream;
use super::timing::{Limits, TimedOut, Timing};
use super::wire::Message;

/// The body of an error comes with its head; one that dribbles would hold the slot open for nothing.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(10);

/// What an attempt waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expect {
    /// How the answer was asked for.
    pub delivery: Delivery,
    /// The most bytes of a body.
    pub max_bytes: usize,
    /// To a connection; the transport holds it, and here it is only named.
    pub connect: Duration,
}

/// One attempt under way.
pub(super) struct Exchange<'a> {
    clock: &'a dyn Clock,
    timing: Timing<'a>,
    secret: &'a SecretString,
    expect: Expect,
    first_byte: Option<Duration>,
}

/// Why no further bytes came.
enum Stopped {
    Late(TimedOut),
    Lost(reqwest::Error),
}

impl From<TimedOut> for Stopped {
    fn from(late: TimedOut) -> Self {
        Self::Late(late)
    }
}

impl From<reqwest::Error> for Stopped {
    fn from(lost: reqwest::Error) -> Self {
        Self::Lost(lost)
    }
}

impl<'a> Exchange<'a> {
    /// Starts the clock of an attempt.
    pub fn start(
        clock: &'a dyn Clock,
        limits: Limits,
        secret: &'a SecretString,
        expect: Expect,
    ) -> Self {
        Self {
            clock,
            timing: Timing::start(clock, limits),
            secret,
            expect,
            first_byte: None,
        }
    }

    /// Sends the request and reads the reply to its end.
    pub async fn run(
        mut self,
        http: &reqwest::Client,
        ready: reqwest::Request,
    ) -> Result<Reply, SendFailure> {
        let reply = self.reply(http, ready).await;
        reply.map_err(|failure| self.stamped(failure))
    }

    /// Sends a request whose answer is no Message, and hands over what a success brings until it ends or `take` has had
    /// enough.
    pub async fn drain(
        mut self,
        http: &reqwest::Client,
        ready: reqwest::Request,
        take: impl FnMut(&[u8]) -> bool,
    ) -> Result<Head, SendFailure> {
        let head = match self.accepted(http, ready).await {
            Ok((head, mut response)) => {
                self.gather(&head, &mut response, take).await.map(|()| head)
            }
            Err(failure) => Err(failure),
        };
        head.map_err(|failure| self.stamped(failure))
    }

    /// The same, with the whole body at once.
    pub async fn fetch(
        self,
        http: &reqwest::Client,
        ready: reqwest::Request,
    ) -> Result<(Head, Vec<u8>), SendFailure> {
        let mut body = Vec::new();
        let take = |bytes: &[u8]| {
            body.extend_from_slice(bytes);
            false
        };
        let head = self.drain(http, ready, take).await?;
        Ok((head, body))
    }

    async fn reply(
        &mut self,
        http: &reqwest::Client,
        ready: reqwest::Request,
    ) -> Result<Reply, SendFailure> {
        let (head, mut response) = self.accepted(http, ready).await?;
        let answer = if self.comes_as_stream(&head) {
            self.read_stream(&head, &mut response).await
        } else {
            self.read_whole(&head, &mut response).await
        };
        Ok(Reply {
            answer: redacted(answer?, self.secret),
            status: head.status,
            request_id: head.request_id(),
            first_byte: self.first_byte,
        })
    }

    fn stamped(&self, failure: SendFailure) -> SendFailure {
        SendFailure {
            first_byte: self.first_byte,
            ..failure
        }
    }

    /// Sends, and goes on if the status is a success.
    async fn accepted(
        &mut self,
        http: &reqwest::Client,
        ready: reqwest::Request,
    ) -> Result<(Head, Response), SendFailure> {
        let mut response = self.open(http, ready).await?;
        let head = Head::read(
            response.status().as_u16(),
            response.headers(),
            self.clock.now(),
            self.secret,
        );
        match head.status {
            200..=299 => Ok((head, response)),
            300..=399 => Err(head.redirect(self.secret)),
            _ => Err(self.read_refusal(&head, &mut response).await),
        }
    }

    /// Connects, sends, and waits for status and headers.
    async fn open(
        &self,
        http: &reqwest::Client,
        ready: reqwest::Request,
    ) -> Result<Response, SendFailure> {
        match self.timing.first_byte(http.execute(ready)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() && error.is_timeout() => {
                let message = format!("no connection within {:?}", self.expect.connect);
                Err(SendFailure::new(FailureKind::Connect, message))
            }
            Ok(Err(error)) if error.is_connect() => {
                let message = format!("cannot connect to {}: {}", host_of(&error), cause(&error));
                Err(SendFailure::new(FailureKind::Connect, message))
            }
            Ok(Err(error)) => Err(SendFailure::new(
                FailureKind::Cut,
                format!("the connection broke before a reply: {}", cause(&error)),
            )),
            Err(late) => Err(SendFailure::new(late.kind(), late.to_string())),
        }
    }

    /// Believes the header; without one, expects what was asked for.
    fn comes_as_stream(&self, head: &Head) -> bool {
        match head.media {
            Media::EventStream => true,
            Media::Unsaid => self.expect.delivery == Delivery::Stream,
            Media::Other => false,
        }
    }

    async fn read_stream(
        &mut self,
        head: &Head,
        response: &mut Response,
    ) -> Result<Answer, SendFailure> {
        let mut stream = EventStream::new(self.expect.max_bytes);
        let mut gathering = Gathering::new();
        let take = |bytes: &[u8]| {
            // An event over the limit is a body over the limit, which `gather` reports.
            let _ = stream.feed(bytes, |data| gathering.take(data));
            gathering.is_over()
        };
        let read = self.gather(head, response, take).await;
        let usage = gathering.usage();
        let failure = match (read, gathering.finish()) {
            (Ok(()), Ok(answer)) => return Ok(answer),
            (Err(failure), _) => failure,
            (Ok(()), Err(Broken::Cut(what))) => head.failure(FailureKind::Cut, what),
            (Ok(()), Err(Broken::Error(data))) => head.stream_error(&data, self.secret),
        };
        Err(SendFailure { usage, ..failure })
    }

    async fn read_whole(
        &mut self,
        head: &Head,
        response: &mut Response,
    ) -> Result<Answer, SendFailure> {
        let mut body = Vec::new();
        self.gather(head, response, |bytes| {
            body.extend_from_slice(bytes);
            false
        })
        .await?;
        match Message::read(&body) {
            Ok(message) => message
                .into_answer()
                .ok_or_else(|| head.not_a_message(&body, self.secret)),
            Err(error) if error.is_eof() && !body.is_empty() => {
                Err(head.failure(FailureKind::Cut, "the body ends inside its JSON"))
            }
            Err(_) => Err(head.not_a_message(&body, self.secret)),
        }
    }

    /// Reads an error body as far as it comes: the status is known, so a break or a timeout here is no news.
    async fn read_refusal(&mut self, head: &Head, response: &mut Response) -> SendFailure {
        let mut body = Vec::new();
        let clock = self.clock;
        let reading = async {
            while body.len() < MAX_ERROR_BYTES {
                match self.chunk(response).await {
                    Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                    Ok(None) | Err(_) => break,
                }
            }
        };
        // Boxed by the clock and pinned here: whichever ends first, what has come is kept.
        select(pin!(reading), clock.sleep(REFUSAL_PATIENCE)).await;
        head.refused(&body, self.secret)
    }

    /// Hands over the chunks of a body until it ends or `take` has had enough.
    async fn gather(
        &mut self,
        head: &Head,
        response: &mut Response,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), SendFailure> {
        let mut total = 0_usize;
        loop {
            let bytes = match self.chunk(response).await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(()),
                Err(Stopped::Late(late)) => return Err(head.failure(late.kind(), late.to_string())),
                Err(Stopped::Lost(error)) => {
                    let message =
                        format!("the connection broke inside the reply: {}", cause(&error));
                    return Err(head.failure(FailureKind::Cut, message));
                }
            };
            total = total.saturating_add(bytes.len());
            if total > self.expect.max_bytes {
                let message = format!(
                    "the reply is over {} bytes, the limit of `upstream.max_answer_bytes`; it may be billed; \
                     raise the limit or ask for less",
                    self.expect.max_bytes
                );
                return Err(head.failure(FailureKind::TooLarge, message));
            }
            if take(&bytes) {
                return Ok(());
            }
        }
    }

    async fn chunk(&mut self, response: &mut Response) -> Result<Option<Bytes>, Stopped> {
        if self.first_byte.is_some() {
            return Ok(self.timing.next_byte(response.chunk()).await??);
        }
        let bytes = self.timing.first_byte(response.chunk()).await??;
        if bytes.is_some() {
            self.first_byte = Some(self.timing.elapsed());
        }
        Ok(bytes)
    }
}

/// The innermost cause: the layers around it only say that something failed.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    if std::ptr::eq(inner, error as &dyn Error) {
        // The library's own text names the address, which is known.
        return "the HTTP library gives no cause".to_owned();
    }
    inner.to_string()
}

/// Host and port of the address that could not be reached.
fn host_of(error: &reqwest::Error) -> String {
    let Some(url) = error.url() else {
        return "the upstream".to_owned();
    };
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
