//! The upstream as a server: every request that reaches it gets an answer, whoever sent it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::bounds;
use super::chance::{Chance, Question};
use super::error::WorldError;
use super::latency::{Size, Strain, latency};
use super::load::{CachedPart, StepLoad};
use super::model::WorldModel;
use super::weather::Weather;
use crate::answer::Usage;
use crate::job::CacheTtl;
use crate::schedule::PeakWindows;

/// A request as the server sees it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// When, in milliseconds since the start of the span; no earlier than the request before.
    pub at_ms: u64,
    /// Which limit it counts against, by number.
    pub group: u16,
    /// Which call it is for: each arm sends the same calls under the same names.
    pub call: u64,
    /// What it is made of.
    pub load: &'a StepLoad,
    /// How long the client waits for all of it.
    pub timeout: Duration,
    /// How long the client waits for the first byte.
    pub first_byte_timeout: Duration,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// From its start to its end.
    pub latency: Duration,
    /// To the first byte of an answer, if one came.
    pub first_byte: Option<Duration>,
    /// How it ended.
    pub end: ServedEnd,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedEnd {
    /// With a whole answer.
    Answered(Usage),
    /// 429, with the wait that the server asks for.
    Limited(Option<Duration>),
    /// 529.
    Overloaded,
    /// 500.
    ServerError,
    /// 400, and again each time.
    Refused,
    /// The answer broke off.
    Cut,
    /// The client waited for the first byte for as long as it would.
    FirstByteTimeout,
    /// The client waited for the whole answer for as long as it would.
    Timeout,
}

/// One world of one seed, and what clients have sent so far.
#[derive(Debug)]
pub struct Server {
    world: Arc<WorldModel>,
    weather: Weather,
    chance: Chance,
    start: DateTime<Utc>,
    peaks: PeakWindows,
    groups: Vec<Recent>,
    /// Until when each entry of the cache lives.
    cache: HashMap<u64, u64>,
    /// How often each call was sent.
    sent: HashMap<u64, u64>,
    /// When the last request came.
    last_ms: u64,
}

/// What a group sent within the span of the limit.
#[derive(Debug, Default)]
struct Recent {
    sends: VecDeque<(u64, u64)>,
    tokens: u64,
}

impl Server {
    /// The world of a seed, from an instant on, for so many days, with so many groups.
    ///
    /// # Errors
    ///
    /// A [`WorldError`] if a number of the world is outside its bounds, or its windows or zone cannot be read.
    pub fn new(
        world: Arc<WorldModel>,
        seed: u64,
        (start, days): (DateTime<Utc>, u32),
        groups: usize,
    ) -> Result<Self, WorldError> {
        bounds::check(&world)?;
        let peaks = world.peaks.windows()?;
        let chance = Chance::new(seed);
        let hours = i64::from(days) * 24;
        Ok(Self {
            weather: Weather::draw(&world, &peaks, chance, (start, hours)),
            world,
            chance,
            start,
            peaks,
            groups: (0..groups).map(|_| Recent::default()).collect(),
            cache: HashMap::new(),
            sent: HashMap::new(),
            last_ms: 0,
        })
    }

    /// Whether nothing is wrong with the upstream as a whole.
    #[must_use]
    pub fn is_well(&self, at_ms: u64) -> bool {
        let at = signed(at_ms);
        !self.weather.is_overloaded(at) && !self.weather.is_congested(at)
    }

    /// What it goes by.
    #[must_use]
    pub fn world(&self) -> &WorldModel {
        &self.world
    }

    /// What a part of a batch counts; `None` if it is refused for what it is. Batches have a limit of their own, and
    /// time to wait until the upstream is well.
    pub fn serve_in_batch(&mut self, call: u64, load: &StepLoad) -> Option<Usage> {
        if self.is_fatal(call) {
            return None;
        }
        let size = Size {
            cold: load.input_tokens,
            cached: 0,
            output: self.output(call, load),
        };
        Some(usage(load, size))
    }

    /// Takes a request and says what becomes of it.
    pub fn serve(&mut self, asked: Asked<'_>) -> Served {
        debug_assert!(
            asked.at_ms >= self.last_ms,
            "requests come in order of time"
        );
        self.last_ms = asked.at_ms;
        let sent = self.sent.entry(asked.call).or_default();
        *sent += 1;
        let request = (asked.call, *sent);
        let (cold, cached) = self.split(&asked);
        let limited = self.limited(&asked, cold);
        if let Some(refusal) = self.refusal(&asked, request, limited) {
            let draw = self.chance.draw(Question::Cut, request);
            return Served {
                latency: Duration::from_millis(100).mul_f64(1.0 + 9.0 * draw),
                first_byte: None,
                end: refusal,
            };
        }
        let size = Size {
            cold,
            cached,
            output: self.output(asked.call, asked.load),
        };
        let served = self.answer(&asked, request, size);
        let is_begun = served.first_byte.is_some();
        if let Some(part) = asked.load.cached.filter(|_| is_begun) {
            self.cache.insert(part.mark, asked.at_ms + life(part.ttl));
        }
        served
    }

    /// Input tokens that are not read from the cache, and those that are.
    fn split(&self, asked: &Asked<'_>) -> (u64, u64) {
        let lives = |part: &CachedPart| {
            let until = self.cache.get(&part.mark);
            until.is_some_and(|until| asked.at_ms < *until)
        };
        let cached = asked.load.cached.filter(lives);
        let cached = cached.map_or(0, |part| part.tokens.min(asked.load.input_tokens));
        (asked.load.input_tokens - cached, cached)
    }

    /// Counts a request against the limit of its group. Says when it is over it: how long until there is room.
    fn limited(&mut self, asked: &Asked<'_>, cold: u64) -> Option<Duration> {
        let limit = &self.world.limit;
        let is_congested = self.weather.is_congested(signed(asked.at_ms));
        let part = if is_congested {
            self.world.congestion.part
        } else {
            1.0
        };
        let recent = self.groups.get_mut(usize::from(asked.group))?;
        let per = u64::try_from(limit.per.as_millis()).unwrap_or(u64::MAX);
        recent.forget(asked.at_ms, per);
        let room = Room {
            requests: (f64::from(limit.requests) * part).floor().max(1.0),
            tokens: limit.input_tokens as f64 * part,
            cold,
        };
        let is_over = !room.takes(recent.sends.len(), recent.tokens);
        // What is refused counts as a request and has used no tokens.
        let used = if is_over { 0 } else { cold };
        recent.sends.push_back((asked.at_ms, used));
        recent.tokens += used;
        // The header has whole seconds.
        let wait = recent.room_at(room, per).saturating_sub(asked.at_ms);
        is_over.then(|| Duration::from_secs(wait.div_ceil(1000).max(1)))
    }

    fn refusal(
        &self,
        asked: &Asked<'_>,
        request: (u64, u64),
        limited: Option<Duration>,
    ) -> Option<ServedEnd> {
        let faults = &self.world.faults;
        if self.is_fatal(asked.call) {
            return Some(ServedEnd::Refused);
        }
        if let Some(wait) = limited {
            return Some(ServedEnd::Limited(self.world.limit.hint.then_some(wait)));
        }
        let is_overloaded = self.weather.is_overloaded(signed(asked.at_ms));
        let draw = self.chance.draw(Question::Refusal, request);
        if is_overloaded && draw < self.world.overload.failure_ratio {
            return Some(ServedEnd::Overloaded);
        }
        let draw = self.chance.draw(Question::Fault, request);
        (draw < faults.server_error).then_some(ServedEnd::ServerError)
    }

    /// Whether a call is refused for what it is, whichever request of it this is.
    fn is_fatal(&self, call: u64) -> bool {
        self.chance.draw(Question::Fatal, (call, 0)) < self.world.faults.refused
    }

    /// An answer of the same call has the same length, whichever request brings it.
    fn output(&self, call: u64, load: &StepLoad) -> u64 {
        let answers = &self.world.answers;
        let factor = (answers.spread * self.chance.normal(Question::Answer, (call, 0))).exp();
        let most = f64::from(load.max_tokens);
        whole((most * answers.share_of_max * factor).clamp(1.0, most.max(1.0)))
    }

    fn answer(&self, asked: &Asked<'_>, request: (u64, u64), size: Size) -> Served {
        let (spread, slowdown) = (self.world.peaks.spread, self.world.overload.slowdown);
        let at = self.start + TimeDelta::milliseconds(signed(asked.at_ms));
        let strain = Strain {
            spread: if self.peaks.is_peak(at) { spread } else { 1.0 },
            slowdown: if self.weather.is_overloaded(signed(asked.at_ms)) {
                slowdown
            } else {
                1.0
            },
        };
        let (first, total) = latency(&self.world.latency, size, strain, (self.chance, request));
        let faults = &self.world.faults;
        let draw = self.chance.draw(Question::Fault, request) - faults.server_error;
        let is_cut = draw < faults.cut;
        let is_silent = !is_cut && draw < faults.cut + faults.silence;
        if is_silent || first > asked.first_byte_timeout.min(asked.timeout) {
            return patience(asked);
        }
        let part = self.chance.draw(Question::Cut, request);
        let cut_at = first + total.saturating_sub(first).mul_f64(part);
        let (latency, end) = match (is_cut, total > asked.timeout) {
            (true, _) if cut_at <= asked.timeout => (cut_at, ServedEnd::Cut),
            (_, true) | (true, _) => (asked.timeout, ServedEnd::Timeout),
            (false, false) => (total, ServedEnd::Answered(usage(asked.load, size))),
        };
        Served {
            latency,
            first_byte: Some(first),
            end,
        }
    }
}

/// What is left of a limit, and what a request needs of it.
#[derive(Debug, Clone, Copy)]
struct Room {
    requests: f64,
    tokens: f64,
    cold: u64,
}

impl Room {
    /// Whether there is room beside so many requests and tokens. A single request larger than the limit has room when
    /// nothing else was sent.
    fn takes(&self, sends: usize, tokens: u64) -> bool {
        let has_tokens = sends == 0 || (tokens + self.cold) as f64 <= self.tokens;
        has_tokens && sends as f64 + 1.0 <= self.requests
    }
}

impl Recent {
    /// When so many of them have left that there is room.
    fn room_at(&self, room: Room, per: u64) -> u64 {
        let (mut sends, mut tokens) = (self.sends.len(), self.tokens);
        let mut free_at = 0;
        for (at, used) in &self.sends {
            if room.takes(sends, tokens) {
                break;
            }
            sends -= 1;
            tokens -= used;
            free_at = at + per;
        }
        free_at
    }

    fn forget(&mut self, now: u64, per: u64) {
        while let Some((at, tokens)) = self.sends.front().copied()
            && at + per <= now
        {
            self.sends.pop_front();
            self.tokens -= tokens;
        }
    }
}

/// No byte came for as long as the client would wait.
fn patience(asked: &Asked<'_>) -> Served {
    let is_first = asked.first_byte_timeout < asked.timeout;
    Served {
        latency: asked.first_byte_timeout.min(asked.timeout),
        first_byte: None,
        end: if is_first {
            ServedEnd::FirstByteTimeout
        } else {
            ServedEnd::Timeout
        },
    }
}

/// What is written to the cache is what asks for it and was not read from it.
fn usage(load: &StepLoad, size: Size) -> Usage {
    let written = load.cached.filter(|_| size.cached == 0);
    let written_tokens = written.map_or(0, |part| part.tokens.min(size.cold));
    let of = |ttl| match written {
        Some(part) if part.ttl == ttl => written_tokens,
        Some(_) | None => 0,
    };
    Usage {
        input_tokens: size.cold - written_tokens,
        cache_write_5m_tokens: of(CacheTtl::FiveMinutes),
        cache_write_1h_tokens: of(CacheTtl::OneHour),
        cache_read_tokens: size.cached,
        output_tokens: size.output,
        ..Usage::default()
    }
}

const fn life(ttl: CacheTtl) -> u64 {
    match ttl {
        CacheTtl::FiveMinutes => 300_000,
        CacheTtl::OneHour => 3_600_000,
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the tokens of an answer"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests;
