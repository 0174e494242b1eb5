//! What the linter says of the cache, against a walk over every firing.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::job::{CacheTtl, GroupId, JobId};
use offpeak::lint::{
    Identity, InputPrice, Known, Model, Prefix, Prompt, Rule, Rules, Subject, Verdict, check,
};
use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zones};

const FROM: &str = "2026-12-01T00:00:00Z";

/// Zones with half hours, with changes in either half of the year, and without any.
const ZONES: [&str; 6] = [
    "UTC",
    "Asia/Tokyo",
    "Asia/Kathmandu",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
];

const EVERY_FORM: &[&str] = &[
    "* * *",
    "* * mon",
    "1 * *",
    "29 2 *",
    "L * *",
    "* * fri#2",
    "1,15 6 *",
    "* */3 tue",
];

/// Days on which jobs often meet.
const DENSE: &[&str] = &["* * *", "* * *", "* * mon-fri"];

/// A seeded sequence of numbers (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn cron(&mut self, days: &[&str]) -> String {
        let days = self.pick(days);
        match self.below(8) {
            0 => format!("*/40 {} {days}", self.below(24)),
            1 => format!("{} */6 {days}", self.below(60)),
            _ => format!("{} {} {days}", self.below(60), self.below(5)),
        }
    }

    fn subject(&mut self, zones: &Zones, days: &[&str], number: usize) -> Subject {
        let exprs = (0..=self.below(2))
            .map(|_| CronExpr::parse(&self.cron(days)).unwrap())
            .collect();
        let timetable = Timetable::new(exprs, zones.get(self.pick(&ZONES)).unwrap());
        let group = GroupId::new(self.pick(&["main", "main", "archive"]));
        let text = self.pick(&["be brief", "be brief", "be long"]);
        let cache = self.pick(&[
            None,
            Some(CacheTtl::FiveMinutes),
            Some(CacheTtl::OneHour),
            Some(CacheTtl::OneHour),
        ]);
        Subject {
            prompt: Some(prompt(text, cache)),
            ..Subject::new(JobId::new(format!("j{number}")), group, timetable)
        }
    }
}

fn prompt(text: &str, cache: Option<CacheTtl>) -> Prompt {
    let model = Model {
        id: "m".to_owned(),
        known: Known::Yes,
        as_of: "2026-11-01".parse().unwrap(),
        ends_on: None,
        successor: None,
        min_cacheable_tokens: Some(512),
        price: Some(InputPrice {
            fresh: 2.0,
            write_5m: 2.5,
            write_1h: 4.0,
            read: 0.1,
        }),
    };
    Prompt {
        model: Arc::new(model),
        tokens: 20_000,
        more_tokens: 0,
        prefixes: vec![Prefix {
            identity: Identity::Steady(text.into()),
            tokens: 15_000,
            own_tokens: 15_000,
            cache,
            block: None,
        }],
    }
}

fn rules(zones: &Zones) -> Rules {
    let peaks = PeakWindows::new(zones.get("UTC").unwrap(), vec![]);
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

fn cache_of(subject: &Subject) -> Option<CacheTtl> {
    subject.prompt.as_ref()?.prefixes.first()?.cache
}

/// Who shares entries.
fn share(one: &Subject, two: &Subject) -> bool {
    let identity = |subject: &Subject| {
        let prompt = subject.prompt.as_ref().unwrap();
        prompt.prefixes[0].identity.clone()
    };
    one.group == two.group && identity(one) == identity(two)
}

/// The firings of jobs in a span, from its start on.
fn firings<'a>(
    subjects: impl Iterator<Item = &'a Subject>,
    span: (DateTime<Utc>, DateTime<Utc>),
) -> Vec<i64> {
    let tick = TimeDelta::seconds(1);
    let mut all: Vec<i64> = subjects
        .flat_map(|subject| subject.timetable.between(span.0 - tick, span.1 - tick))
        .map(|at| at.timestamp())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The longest life that a job asks for with which this one shares entries, in seconds.
fn life(subject: &Subject, subjects: &[Subject]) -> i64 {
    let sharing = subjects.iter().filter(|other| share(subject, other));
    let lives = sharing.filter_map(cache_of).map(|ttl| match ttl {
        CacheTtl::FiveMinutes => 300,
        CacheTtl::OneHour => 3_600,
    });
    lives.max().unwrap_or(0)
}

/// Whether a job has a firing less than a life before or after another cached firing of its set.
fn has_pair(subject: &Subject, subjects: &[Subject], span: (DateTime<Utc>, DateTime<Utc>)) -> bool {
    let life = life(subject, subjects);
    let own = firings(std::iter::once(subject), span);
    let cached = subjects
        .iter()
        .filter(|other| share(subject, other) && cache_of(other).is_some());
    let all = firings(cached, span);
    own.iter().any(|at| {
        let after = all.partition_point(|other| other <= at);
        let before = all.partition_point(|other| other < at);
        let next = all.get(after).is_some_and(|next| next - at < life);
        let last = before.checked_sub(1).map(|last| all[last]);
        next || last.is_some_and(|last| at - last < life)
    })
}

/// Random sets of jobs on days of these forms, and what is found.
fn sets(
    seeds: std::ops::Range<u64>,
    days: &[&str],
) -> impl Iterator<Item = (u64, Vec<Subject>, Verdict)> {
    let zones = Zones::bundled();
    seeds.map(move |seed| {
        let mut chance = Chance(seed);
        let count = 1 + chance.below(9);
        let subjects: Vec<Subject> = (0..count)
            .map(|number| chance.subject(&zones, days, number))
            .collect();
        let verdict = check(&subjects, &rules(&zones), FROM.parse().unwrap());
        (seed, subjects, verdict)
    })
}

fn describe(subject: &Subject, subjects: &[Subject]) -> String {
    let line = |subject: &Subject| {
        let texts = subject.timetable.exprs().iter().map(CronExpr::text);
        format!(
            "\n  {} {} {} {:?} {:?}",
            subject.job,
            subject.group,
            subject.timetable.zone().name(),
            cache_of(subject),
            texts.collect::<Vec<_>>()
        )
    };
    let all: String = subjects.iter().map(line).collect();
    format!("`{}` of{all}", subject.job)
}

#[test]
fn cache_that_is_told_never_read_has_no_pair_in_two_years_and_any_other_has_one_in_the_horizon() {
    let (mut told, mut silent) = (0, 0);
    for (seed, subjects, verdict) in sets(0..120, EVERY_FORM) {
        let two_years = (verdict.from, verdict.from + TimeDelta::days(2 * 365));
        for subject in subjects
            .iter()
            .filter(|subject| cache_of(subject).is_some())
        {
            let is_told = verdict
                .findings
                .iter()
                .any(|finding| finding.rule == Rule::CacheNeverRead && finding.job == subject.job);
            let pair_soon = has_pair(subject, &subjects, two_years);
            if is_told {
                told += 1;
                assert!(!pair_soon, "seed {seed}: {}", describe(subject, &subjects));
            } else {
                silent += 1;
                let horizon = (verdict.from, verdict.until);
                let pair = pair_soon || has_pair(subject, &subjects, horizon);
                assert!(pair, "seed {seed}: {}", describe(subject, &subjects));
            }
        }
    }
    assert!(told > 50 && silent > 50, "{told} told, {silent} not");
}

#[test]
fn cold_slots_are_those_of_a_walk_over_the_first_year() {
    let mut told = 0;
    for (seed, subjects, verdict) in sets(200..260, EVERY_FORM) {
        let year = (verdict.from, verdict.from + TimeDelta::days(365));
        for subject in &subjects {
            let own = firings(std::iter::once(subject), year);
            let cached = subjects
                .iter()
                .filter(|other| share(subject, other) && cache_of(other).is_some());
            let uses = firings(cached, year);
            let life = cache_of(subject).map_or(0, |_| life(subject, &subjects));
            // Warm, 5,000 tokens are left, and that is not large.
            let is_cold = |at: &&i64| {
                let before = uses.partition_point(|used| used < *at);
                before
                    .checked_sub(1)
                    .is_none_or(|last| *at - uses[last] >= life)
            };
            let cold: Vec<i64> = own.iter().filter(is_cold).copied().collect();
            let found = verdict
                .findings
                .iter()
                .find(|finding| finding.rule == Rule::LargeColdInput && finding.job == subject.job);
            let found = found.filter(|finding| finding.per_year != Some(0));
            let seen =
                found.map(|finding| (finding.at.unwrap().timestamp(), finding.per_year.unwrap()));
            let wanted = cold.first().map(|first| (*first, cold.len() as u64));
            assert_eq!(
                seen,
                wanted,
                "seed {seed}: {}",
                describe(subject, &subjects)
            );
            told += usize::from(seen.is_some());
        }
    }
    assert!(told > 40, "{told} told");
}

/// The bill of a set over a year, call by call, if each job asks for what `ttl` says.
fn bill(
    subjects: &[Subject],
    ttl: impl Fn(&Subject) -> Option<CacheTtl>,
    end: DateTime<Utc>,
) -> f64 {
    let start = FROM.parse().unwrap();
    let mut calls: Vec<(i64, Option<CacheTtl>)> = subjects
        .iter()
        .flat_map(|subject| {
            let fires = firings(std::iter::once(subject), (start, end));
            let ttl = ttl(subject);
            fires.into_iter().map(move |at| (at, ttl))
        })
        .collect();
    calls.sort_by_key(|call| call.0);
    let longest = subjects.iter().filter_map(&ttl).map(|ttl| match ttl {
        CacheTtl::FiveMinutes => 300,
        CacheTtl::OneHour => 3_600,
    });
    let longest = longest.max().unwrap_or(0);
    let (mut dollars, mut dies_at) = (0.0, i64::MIN);
    for call in calls.chunk_by(|one, two| one.0 == two.0) {
        let at = call[0].0;
        let alive = at < dies_at;
        for (_, ttl) in call {
            let price = match (ttl, alive) {
                (None, _) => 2.0,
                (Some(_), true) => 0.1,
                (Some(CacheTtl::FiveMinutes), false) => 2.5,
                (Some(CacheTtl::OneHour), false) => 4.0,
            };
            dollars += price * 15_000.0 / 1e6;
        }
        if call.iter().any(|(_, ttl)| ttl.is_some()) {
            dies_at = at + longest;
        }
    }
    dollars
}

#[test]
fn saving_is_the_difference_of_two_bills() {
    let mut told = 0;
    for (seed, subjects, verdict) in sets(300..380, DENSE) {
        let end = verdict.from + TimeDelta::days(365);
        for finding in verdict
            .findings
            .iter()
            .filter(|it| it.rule == Rule::CacheSaves)
        {
            let first = subjects
                .iter()
                .find(|subject| subject.job == finding.job)
                .unwrap();
            let set: Vec<Subject> = subjects
                .iter()
                .filter(|other| share(first, other))
                .cloned()
                .collect();
            let help = finding.help.as_ref().unwrap();
            let more_than_named = help.contains(" more");
            if more_than_named {
                continue;
            }
            let named = |subject: &Subject| help.contains(&format!("`{}`", subject.job));
            let now = bill(&set, cache_of, end);
            let then = bill(
                &set,
                |subject| {
                    if named(subject) {
                        Some(CacheTtl::OneHour)
                    } else {
                        cache_of(subject)
                    }
                },
                end,
            );
            let saved = format!("for about ${:.2} less", now - then);
            assert!(
                finding.message.ends_with(&saved),
                "seed {seed}: {} is not {saved}",
                finding.message
            );
            told += 1;
        }
    }
    assert!(told > 15, "{told} told");
}
