//! What the stand-in has seen, and which rule decides about the next request.

use std::collections::{HashMap, VecDeque};
use std::f64::consts::TAU;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::fault::{Endpoint, Fault};
use super::script::{Latency, Offered, Script, When};

/// So many requests are remembered, so that a stand-in that serves for days stays small.
const MAX_SEEN: usize = 1_000;

/// So many bytes of a body are remembered.
const MAX_SEEN_BODY: usize = 16 * 1024;

/// A request for a message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Counted from 1.
    pub n: u64,
    /// When its last byte arrived.
    pub at: DateTime<Utc>,
    /// The path, with its prefix.
    pub path: String,
    /// Names and values in the order of arrival; the values that carry a key are redacted.
    pub headers: Vec<(String, String)>,
    /// The model that it asks for; empty if the body names none.
    pub model: String,
    /// The body, or its first 16 KB.
    pub body: String,
    /// The status of the reply; `None` if there was none.
    pub status: Option<u16>,
    /// The rule's fault, in the word of the script; `None` for an ordinary answer.
    pub fault: Option<&'static str>,
}

impl Seen {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What a rule may look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival<'a> {
    /// What it asks for.
    pub endpoint: Endpoint,
    /// The model.
    pub model: &'a str,
    /// Texts in which `contains` looks: the prompt, the system prompt, the raw body.
    pub texts: [&'a str; 3],
    /// When it arrived.
    pub at: DateTime<Utc>,
    /// The age of the stand-in.
    pub age: Duration,
}

/// What happens to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    /// The number of the request.
    pub n: u64,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// From the request to the last byte of an ordinary answer.
    pub latency: Duration,
}

/// Numbers requests, applies the script, and remembers.
#[derive(Debug)]
pub(super) struct Ledger {
    script: Script,
    seed: u64,
    /// How many requests have come: for messages and batches, for counts, for models.
    arrived: [u64; 3],
    /// How often each rule has decided.
    used: Vec<u32>,
    /// How often each body has come, by its hash.
    repeats: HashMap<u64, u64>,
    seen: VecDeque<Seen>,
}

impl Ledger {
    /// Nothing seen.
    pub fn new(script: Script, seed: u64) -> Self {
        Self {
            used: vec![0; script.rules.len()],
            script,
            seed,
            arrived: [0; 3],
            repeats: HashMap::new(),
            seen: VecDeque::new(),
        }
    }

    /// Numbers a request and decides what happens to it; a part has the number of its batch, which came just before.
    pub fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        let [messages, counts, models] = &mut self.arrived;
        let (arrived, more) = match arrival.endpoint {
            Endpoint::Messages | Endpoint::Batches => (messages, 1),
            Endpoint::Parts => (messages, 0),
            Endpoint::CountTokens => (counts, 1),
            Endpoint::Models => (models, 1),
        };
        *arrived += more;
        let n = *arrived;
        let mut draws = self.draws(arrival.texts[2]);
        let latency = draw_latency(self.script.latency, &mut draws);
        let mut fault = None;
        for (rule, used) in self.script.rules.iter().zip(&mut self.used) {
            // Drawn for every rule, so that a rule's chance does not hang on those before it.
            let draw: f64 = draws.random();
            let is_left = rule.times.is_none_or(|times| *used < times);
            let open = is_left && rule.then.fits(arrival.endpoint);
            if fault.is_none() && open && holds(&rule.when, n, arrival, draw) {
                *used += 1;
                fault = Some(rule.then.clone());
            }
        }
        Decision { n, fault, latency }
    }

    /// What the script says of the models.
    pub const fn offered(&self) -> &Offered {
        &self.script.models
    }

    /// Remembers how a request ended.
    pub fn remember(&mut self, mut seen: Seen) {
        if seen.body.len() > MAX_SEEN_BODY {
            seen.body
                .truncate(seen.body.floor_char_boundary(MAX_SEEN_BODY));
        }
        if self.seen.len() == MAX_SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(seen);
    }

    /// The latest requests, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.iter().cloned().collect()
    }

    /// Draws that hang on the seed, the body and its repetition, and not on the order of other requests.
    fn draws(&mut self, body: &str) -> StdRng {
        let hash = hash(body.as_bytes());
        let repeat = self.repeats.entry(hash).or_default();
        *repeat += 1;
        StdRng::seed_from_u64(
            self.seed ^ hash.rotate_left(17) ^ repeat.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        )
    }
}

/// FNV-1a: the same in every build and on every machine.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

fn holds(when: &When, n: u64, arrival: &Arrival<'_>, draw: f64) -> bool {
    let is_meant = match when.endpoint {
        Some(endpoint) => endpoint == arrival.endpoint,
        None => arrival.endpoint.is_work(),
    };
    is_meant
        && when.first.is_none_or(|first| n >= first)
        && when.last.is_none_or(|last| n <= last)
        && when.contains.as_ref().is_none_or(|part| {
            arrival
                .texts
                .iter()
                .any(|text| text.contains(part.as_str()))
        })
        && when
            .model
            .as_ref()
            .is_none_or(|model| model == arrival.model)
        && when.from.is_none_or(|from| arrival.at >= from)
        && when.until.is_none_or(|until| arrival.at < until)
        && when.after.is_none_or(|after| arrival.age >= after)
        && when.before.is_none_or(|before| arrival.age < before)
        && when.share.is_none_or(|share| draw < share)
}

fn draw_latency(latency: Latency, draws: &mut StdRng) -> Duration {
    // Box and Muller: a normal draw from two even ones. The first must not be zero.
    let (a, b): (f64, f64) = (1.0 - draws.random::<f64>(), draws.random());
    let normal = (-2.0 * a.ln()).sqrt() * (TAU * b).cos();
    let span = latency.median.mul_f64((latency.spread * normal).exp());
    latency.max.map_or(span, |max| span.min(max))
}

#[cfg(test)]
mod tests {
    use super::super::script::Rule;
    use super::*;

    fn arrival(body: &str) -> Arrival<'_> {
        Arrival {
            endpoint: Endpoint::Messages,
            model: "claude-sonnet-5-5",
            texts: ["the prompt", "the house style", body],
            at: DateTime::from_timestamp(1_000, 0).unwrap(),
            age: Duration::from_mins(1),
        }
    }

    fn ledger(rules: Vec<Rule>) -> Ledger {
        Ledger::new(
            Script {
                rules,
                ..Script::default()
            },
            1,
        )
    }

    fn meets(when: When) -> bool {
        ledger(vec![Rule::times(9, when, Fault::HangUp {})])
            .decide(&arrival("{\"raw\":1}"))
            .fault
            .is_some()
    }

    fn when(set: impl FnOnce(&mut When)) -> When {
        let mut when = When::default();
        set(&mut when);
        when
    }

    #[test]
    fn every_part_of_a_condition_counts_at_its_bound() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0);
        let span = |seconds| Some(Duration::from_secs(seconds));
        let text = |text: &str| Some(text.to_owned());
        let cases = [
            (When::default(), true),
            (when(|w| w.endpoint = Some(Endpoint::Messages)), true),
            (when(|w| w.endpoint = Some(Endpoint::Batches)), false),
            (when(|w| w.endpoint = Some(Endpoint::Models)), false),
            (when(|w| w.first = Some(1)), true),
            (when(|w| w.first = Some(2)), false),
            (when(|w| w.last = Some(1)), true),
            (when(|w| w.last = Some(0)), false),
            (When::contains("prompt"), true),
            (When::contains("house style"), true),
            (When::contains("raw"), true),
            (When::contains("digest"), false),
            (when(|w| w.model = text("claude-sonnet-5-5")), true),
            (when(|w| w.model = text("claude-sonnet-5")), false),
            (when(|w| w.from = at(1_000)), true),
            (when(|w| w.from = at(1_001)), false),
            (when(|w| w.until = at(1_001)), true),
            (when(|w| w.until = at(1_000)), false),
            (when(|w| w.after = span(60)), true),
            (when(|w| w.after = span(61)), false),
            (when(|w| w.before = span(61)), true),
            (when(|w| w.before = span(60)), false),
            (when(|w| w.share = Some(1.0)), true),
            (when(|w| w.share = Some(0.0)), false),
        ];
        for (when, expected) in cases {
            assert_eq!(meets(when.clone()), expected, "{when:?}");
        }
    }

    #[test]
    fn first_rule_that_holds_decides_until_its_times_are_used_up() {
        let rules = vec![
            Rule::times(2, When::default(), Fault::status(529)),
            Rule::times(1, When::default(), Fault::cut(1)),
        ];
        let mut ledger = ledger(rules);
        let words: Vec<_> = (0..4)
            .map(|_| {
                ledger
                    .decide(&arrival("{}"))
                    .fault
                    .map(|fault| fault.as_str())
            })
            .collect();
        assert_eq!(words, [Some("error"), Some("error"), Some("cut"), None]);
    }

    #[test]
    fn rule_whose_fault_cannot_happen_there_is_passed_over_and_stays() {
        let mut ledger = ledger(vec![
            Rule::times(1, When::default(), Fault::NeverEnds {}),
            Rule::times(1, When::default(), Fault::Pause {}),
            Rule::times(1, When::default(), Fault::status(529)),
        ]);
        let mut decide = |endpoint| {
            let decision = ledger.decide(&Arrival {
                endpoint,
                ..arrival("{}")
            });
            (decision.n, decision.fault.map(|fault| fault.as_str()))
        };
        assert_eq!(decide(Endpoint::Batches), (1, Some("never_ends")));
        assert_eq!(decide(Endpoint::Parts), (1, Some("pause")));
        assert_eq!(decide(Endpoint::Parts), (1, None));
        // Named by no rule, these meet none, and have numbers of their own.
        assert_eq!(decide(Endpoint::Models), (1, None));
        assert_eq!(decide(Endpoint::CountTokens), (1, None));
        assert_eq!(decide(Endpoint::Messages), (2, Some("error")));
    }

    #[test]
    fn draws_hang_on_the_body_and_not_on_the_order_of_arrival() {
        let script = || Script {
            latency: Latency {
                median: Duration::from_secs(10),
                spread: 0.5,
                max: None,
            },
            ..Script::default()
        };
        let mut forth = Ledger::new(script(), 7);
        let mut back = Ledger::new(script(), 7);
        let order = ["a", "b", "a"];
        let mut first: Vec<_> = order
            .iter()
            .map(|body| (*body, forth.decide(&arrival(body)).latency))
            .collect();
        let mut second: Vec<_> = ["b", "a", "a"]
            .iter()
            .map(|body| (*body, back.decide(&arrival(body)).latency))
            .collect();
        first.sort_unstable();
        second.sort_unstable();
        assert_eq!(first, second);
        assert_ne!(first[0], first[1], "a repetition is drawn anew");
        let other = Ledger::new(script(), 8).decide(&arrival("a")).latency;
        assert!(
            !first.contains(&("a", other)),
            "another seed draws otherwise"
        );
    }

    #[test]
    fn latencies_lie_around_their_median_and_under_their_limit() {
        let median = Duration::from_secs(10);
        let max = Duration::from_secs(30);
        let script = Script {
            latency: Latency {
                median,
                spread: 0.5,
                max: Some(max),
            },
            ..Script::default()
        };
        let mut ledger = Ledger::new(script, 3);
        let mut spans: Vec<_> = (0..1_001)
            .map(|_| ledger.decide(&arrival("{}")).latency)
            .collect();
        spans.sort_unstable();
        let middle = spans[500].as_secs_f64();
        assert!((9.0..11.0).contains(&middle), "{middle}");
        assert!(spans[0] < Duration::from_secs(4), "{:?}", spans[0]);
        assert_eq!(spans[1_000], max);
    }

    #[test]
    fn memory_is_bounded_and_cuts_between_characters() {
        let mut ledger = ledger(Vec::new());
        for n in 0..=MAX_SEEN as u64 {
            ledger.remember(Seen {
                n,
                at: DateTime::UNIX_EPOCH,
                path: String::new(),
                headers: Vec::new(),
                model: String::new(),
                body: format!("x{}", "語".repeat(MAX_SEEN_BODY)),
                status: None,
                fault: None,
            });
        }
        let seen = ledger.seen();
        assert_eq!((seen.len(), seen[0].n), (MAX_SEEN, 1));
        assert!(seen[0].body.len() <= MAX_SEEN_BODY && seen[0].body.len() > MAX_SEEN_BODY - 4);
    }
}
