//! The parameters of a world: plain values, and the YAML they are read from.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::error::WorldError;
use crate::schedule::{PeakWindow, PeakWindows, Zones};
use crate::span::parse;

/// The embedded world as users may copy and change it.
pub const DEFAULT_WORLD: &str = include_str!("default.yaml");

/// What the upstream is like. Spans are of real time, shares lie between 0 and 1.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorldModel {
    /// How long answers take.
    pub latency: LatencyModel,
    /// How long answers are.
    pub answers: AnswerModel,
    /// Inputs whose text is not at hand.
    pub inputs: InputModel,
    /// When the upstream is busy.
    pub peaks: PeakModel,
    /// The provider's limit of a group.
    pub limit: LimitModel,
    /// Times in which only a part of the limit is there.
    pub congestion: CongestionModel,
    /// Times in which requests get 529.
    pub overload: OverloadModel,
    /// What happens to single requests.
    pub faults: FaultModel,
    /// Message batches.
    pub batches: BatchModel,
}

/// How long answers take.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatencyModel {
    /// The median to the first byte, with a small input.
    #[serde(deserialize_with = "span")]
    pub first_byte: Duration,
    /// More for each 1,000 input tokens that are not read from the cache.
    #[serde(deserialize_with = "span")]
    pub per_1k_cold: Duration,
    /// More for each 1,000 input tokens that are.
    #[serde(deserialize_with = "span")]
    pub per_1k_cached: Duration,
    /// From so many cold tokens on each further one takes [`LatencyModel::bend`] times as long.
    pub bend_over: u64,
    /// At least 1.
    pub bend: f64,
    /// Tokens of output a second; above 0.
    pub output_per_second: f64,
    /// The standard deviation of the logarithm of the draw, 0 to 2.
    pub spread: f64,
    /// The few that take much longer.
    pub tail: TailModel,
}

/// The few requests that take much longer: a Pareto draw with alpha 2.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TailModel {
    /// Which part of the requests.
    pub share: f64,
    /// How many times as long at least; 1 or more.
    pub factor: f64,
}

/// How long answers are.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerModel {
    /// The median, as a part of `max_tokens`.
    pub share_of_max: f64,
    /// The standard deviation of its logarithm, 0 to 2.
    pub spread: f64,
}

/// Inputs whose text is not at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputModel {
    /// What one of them takes.
    pub tokens: u64,
}

/// When the upstream is busy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PeakModel {
    /// An IANA name.
    pub timezone: String,
    /// Such as `07:00-09:00`, start included and end excluded.
    pub windows: Vec<String>,
    /// How many times as wide p50 to p95 of the latency is; at least 1.
    pub spread: f64,
    /// How many times as often overload begins; 0 or more.
    pub overload: f64,
    /// How many times as often congestion begins; 0 or more.
    pub congestion: f64,
}

/// The provider's limit of a group.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitModel {
    /// Requests in any span of `per`; at least 1.
    pub requests: u32,
    /// Input tokens that are not read from the cache, in any span of `per`; at least 1.
    pub input_tokens: u64,
    /// The span.
    #[serde(deserialize_with = "span")]
    pub per: Duration,
    /// Whether a 429 says how long to wait.
    pub hint: bool,
}

/// Times in which only a part of the limit is there.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CongestionModel {
    /// How many begin on a day without peaks.
    pub per_day: f64,
    /// The median of how long one lasts.
    #[serde(deserialize_with = "span")]
    pub lasts: Duration,
    /// The standard deviation of its logarithm, 0 to 2.
    pub spread: f64,
    /// The part of the limit that is there.
    pub part: f64,
}

/// Times in which requests get 529.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OverloadModel {
    /// How many begin on a day without peaks.
    pub per_day: f64,
    /// The median of how long one lasts.
    #[serde(deserialize_with = "span")]
    pub lasts: Duration,
    /// The standard deviation of its logarithm, 0 to 2.
    pub spread: f64,
    /// Which part of the requests fails.
    pub failure_ratio: f64,
    /// How many times as long the others take; at least 1.
    pub slowdown: f64,
}

/// What happens to single requests, whatever the time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultModel {
    /// Answered with 500.
    pub server_error: f64,
    /// Broken off in the middle of the answer.
    pub cut: f64,
    /// Never answered.
    pub silence: f64,
    /// Of all calls: answered with 400, however often they are sent.
    pub refused: f64,
}

/// Message batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BatchModel {
    /// From handing in to its end.
    #[serde(deserialize_with = "span")]
    pub lasts: Duration,
}

impl WorldModel {
    /// Reads a world file; what it leaves out is as in [`DEFAULT_WORLD`], and so is an empty file.
    ///
    /// # Errors
    ///
    /// A [`WorldError`] if the text is no YAML, has a field of another name or type, or a value outside its bounds.
    ///
    /// ```
    /// use offpeak::sim::world::WorldModel;
    ///
    /// let world = WorldModel::from_yaml("overload: { per_day: 0 }").unwrap();
    /// assert_eq!(world.overload.per_day, 0.0);
    /// assert_eq!(world.latency, WorldModel::default().latency);
    ///
    /// let error = WorldModel::from_yaml("overload: { per_day: often }").unwrap_err();
    /// assert!(error.to_string().contains("line 1"), "{error}");
    /// ```
    pub fn from_yaml(yaml: &str) -> Result<Self, WorldError> {
        let is_blank = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        if yaml.lines().all(is_blank) {
            return Ok(Self::default());
        }
        let world: Self = serde_yaml::from_str(yaml).map_err(|error| {
            // The place alone: a snippet would repeat lines that the user has at hand.
            let problem = error.without_snippet().to_string();
            WorldError::Malformed { problem }
        })?;
        super::bounds::check(&world)?;
        world.peaks.windows()?;
        Ok(world)
    }

    /// A world in which nothing goes wrong and every answer takes its median.
    #[must_use]
    pub fn well(mut self) -> Self {
        self.latency.spread = 0.0;
        self.latency.tail.share = 0.0;
        self.answers.spread = 0.0;
        self.congestion.per_day = 0.0;
        self.overload.per_day = 0.0;
        self.faults = FaultModel {
            server_error: 0.0,
            cut: 0.0,
            silence: 0.0,
            refused: 0.0,
        };
        self.limit.requests = u32::MAX;
        self.limit.input_tokens = u64::MAX;
        self
    }

    /// The same with an upstream that refuses every request with 529.
    #[must_use]
    pub fn dead(mut self) -> Self {
        self.overload = OverloadModel {
            per_day: 1000.0,
            lasts: Duration::from_hours(24),
            spread: 0.0,
            failure_ratio: 1.0,
            slowdown: 1.0,
        };
        self
    }
}

impl PeakModel {
    /// The windows, in their zone.
    ///
    /// # Errors
    ///
    /// A [`WorldError`] if a window or the zone cannot be read.
    pub fn windows(&self) -> Result<PeakWindows, WorldError> {
        let zone = Zones::bundled().get(&self.timezone);
        let zone = zone.map_err(|error| WorldError::Zone {
            problem: error.to_string(),
        })?;
        let windows: Result<Vec<PeakWindow>, WorldError> =
            self.windows.iter().map(|text| window(text)).collect();
        Ok(PeakWindows::new(zone, windows?))
    }
}

fn window(text: &str) -> Result<PeakWindow, WorldError> {
    let minute = |text: &str| -> Option<u16> {
        let (hour, minute) = text.split_once(':')?;
        let is_two = |part: &str| part.len() == 2 && part.bytes().all(|it| it.is_ascii_digit());
        let at = (is_two(hour) && is_two(minute))
            .then(|| Some(hour.parse::<u16>().ok()? * 60 + minute.parse::<u16>().ok()?))??;
        (at <= 24 * 60 && minute < "60").then_some(at)
    };
    let ends = text.split_once('-');
    let ends = ends.and_then(|(start, end)| Some((minute(start)?, minute(end)?)));
    let (start, end) =
        ends.filter(|(start, end)| start < end)
            .ok_or_else(|| WorldError::Window {
                found: text.to_owned(),
            })?;
    let days = [true; 7];
    Ok(PeakWindow { start, end, days })
}

fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| {
        let problem =
            format!("`{text}` is no span of time such as `1200ms`, `90s`, `4m` or `1h30m`");
        serde::de::Error::custom(problem)
    })
}
