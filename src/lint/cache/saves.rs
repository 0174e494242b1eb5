//! `cache-saves`: jobs that share a system prompt and would read it from a one-hour cache.
//!
//! The bill of the first 365 days is made twice: as the jobs are, and with a
//! one-hour cache for those that ever have a neighbour within the hour. Only
//! one call of a run counts: how many more it makes is not known for certain.

use super::super::advice::about;
use super::super::regimes::instant;
use super::super::{Finding, Identity, InputPrice, Other, Rule};
use super::set::{Member, Set, seconds};
use super::words;
use crate::job::{CacheTtl, JobId};

/// Tokens by which prices are named.
pub(super) const MILLION: f64 = 1_000_000.0;

/// Less a year, in dollars, is not worth a change.
const LEAST: f64 = 0.01;

/// An instant in seconds, and the member that fires.
type Firing = (i64, usize);

/// What the shared prompt costs in the first 365 days.
#[derive(Debug, Default)]
struct Bill {
    dollars: f64,
    reads: u64,
    first_read: Option<Read>,
}

/// One call that reads the entry, and the one that used it before.
#[derive(Debug, Clone, Copy)]
struct Read {
    at: i64,
    reader: usize,
    before: i64,
    writer: usize,
}

/// The saving of a set, if a one-hour cache clearly pays.
pub(super) fn finding(set: &Set<'_>) -> Option<Finding> {
    let prices = prices(set)?;
    let agenda = agenda(set);
    let near = neighbours(set, &agenda);
    let is_done = |member: usize| set.members[member].ttl() == Some(CacheTtl::OneHour);
    let joined: Vec<usize> = (0..set.members.len())
        .filter(|member| near[*member])
        .collect();
    if joined.iter().all(|member| is_done(*member)) {
        return None;
    }
    let tariff = Tariff {
        set,
        prices,
        agenda,
    };
    let now = tariff.bill(|member| set.members[member].ttl());
    let then = tariff.bill(|member| {
        if near[member] {
            Some(CacheTtl::OneHour)
        } else {
            set.members[member].ttl()
        }
    });
    let saved = now.dollars - then.dollars;
    if saved < LEAST {
        return None;
    }
    let to_do: Vec<usize> = joined
        .iter()
        .copied()
        .filter(|member| !is_done(*member))
        .collect();
    let marked = marked(
        set,
        *joined.first()?,
        then.first_read?,
        message(set, &joined, then.reads, saved)?,
    );
    Some(Finding {
        also: further(set, &joined, &marked),
        per_year: Some(then.reads),
        help: Some(format!(
            "write `cache: 1h` in {} of {}",
            words::place(set.members[*joined.first()?].prefix?),
            names(set, &to_do)
        )),
        ..marked
    })
}

/// The jobs that join, but for the two that the finding marks.
fn further(set: &Set<'_>, joined: &[usize], marked: &Finding) -> Vec<JobId> {
    let other = marked.other.as_ref().map(|other| &other.job);
    let jobs = joined
        .iter()
        .map(|member| &set.members[*member].subject.job);
    jobs.filter(|job| **job != marked.job && Some(*job) != other)
        .cloned()
        .collect()
}

fn names(set: &Set<'_>, members: &[usize]) -> String {
    let names: Vec<&str> = members
        .iter()
        .map(|member| set.members[*member].subject.job.as_str())
        .collect();
    words::names(&names)
}

fn message(set: &Set<'_>, joined: &[usize], reads: u64, saved: f64) -> Option<String> {
    let prefix = set.members[*joined.first()?].prefix?;
    let fires = |member: &usize| set.year[set.members[*member].class].len();
    let calls: usize = joined.iter().map(fires).sum();
    Some(format!(
        "{} {} the same {} of {} within the hour: with a 1h cache {reads} of {calls} calls a year would read \
         it, for about ${saved:.2} less",
        names(set, joined),
        if joined.len() == 1 { "sends" } else { "send" },
        words::what(prefix),
        words::tokens(prefix.tokens),
    ))
}

/// A finding about the first job by name, with the first read; the other job is the reader, or what the first job reads.
fn marked(set: &Set<'_>, first: usize, read: Read, message: String) -> Finding {
    let cron = |member: usize, at| set.cron_at(set.members[member].class, at);
    let (reader, writer) = ((read.reader, read.at), (read.writer, read.before));
    let own = [reader, writer].into_iter().find(|one| one.0 == first);
    let (other, at) = if read.reader == first { writer } else { reader };
    Finding {
        cron: own.and_then(|(member, at)| cron(member, at)),
        at: Some(instant(read.at)),
        other: cron(other, at).map(|cron| Other {
            job: set.members[other].subject.job.clone(),
            cron,
            at: instant(at),
        }),
        ..about(Rule::CacheSaves, set.members[first].subject, message)
    }
}

/// The price of each job's prompt; `None` if one is unknown, or if it is not known that they are the same and cached.
fn prices(set: &Set<'_>) -> Option<Vec<InputPrice>> {
    let price = |member: &Member<'_>| {
        let (prompt, prefix) = (member.prompt, member.prefix?);
        let is_steady = matches!(prefix.identity, Identity::Steady(_));
        let least = prompt.model.min_cacheable_tokens?;
        prompt
            .model
            .price
            .filter(|_| is_steady && prefix.tokens >= least)
    };
    set.members.iter().map(price).collect()
}

/// The firings of the first 365 days in order, each with its member.
fn agenda(set: &Set<'_>) -> Vec<Firing> {
    let mut agenda = Vec::new();
    for (index, member) in set.members.iter().enumerate() {
        agenda.extend(set.year[member.class].iter().map(|at| (*at, index)));
    }
    agenda.sort_unstable();
    agenda
}

/// The firings that share an instant.
fn slots(agenda: &[Firing]) -> impl Iterator<Item = &[Firing]> {
    agenda.chunk_by(|one, two| one.0 == two.0)
}

/// The members that ever fire less than an hour before or after another firing of the set.
fn neighbours(set: &Set<'_>, agenda: &[Firing]) -> Vec<bool> {
    let mut near = vec![false; set.members.len()];
    for (one, two) in slots(agenda).zip(slots(agenda).skip(1)) {
        if two[0].0 - one[0].0 < seconds(CacheTtl::OneHour) {
            for (_, member) in one.iter().chain(two) {
                near[*member] = true;
            }
        }
    }
    near
}

/// What the calls of a set cost.
struct Tariff<'s, 'a> {
    set: &'s Set<'a>,
    prices: Vec<InputPrice>,
    agenda: Vec<Firing>,
}

impl Tariff<'_, '_> {
    /// The bill if each member asked for this life.
    fn bill(&self, ttl: impl Fn(usize) -> Option<CacheTtl>) -> Bill {
        let lives = (0..self.prices.len()).filter_map(&ttl).map(seconds);
        let life = lives.max().unwrap_or(0);
        let mut bill = Bill::default();
        let mut last: Option<(i64, usize)> = None;
        for slot in slots(&self.agenda) {
            let at = slot[0].0;
            let alive = last.filter(|(used, _)| at - used < life);
            for (_, member) in slot {
                let price = &self.prices[*member];
                let cost = match (ttl(*member), alive) {
                    (None, _) => price.fresh,
                    (Some(_), Some((before, writer))) => {
                        bill.reads += 1;
                        bill.first_read.get_or_insert(Read {
                            at,
                            reader: *member,
                            before,
                            writer,
                        });
                        price.read
                    }
                    (Some(CacheTtl::FiveMinutes), None) => price.write_5m,
                    (Some(CacheTtl::OneHour), None) => price.write_1h,
                };
                bill.dollars += cost * self.tokens(*member) / MILLION;
            }
            let user = slot.iter().find(|(_, member)| ttl(*member).is_some());
            last = user.copied().or(last);
        }
        bill
    }

    fn tokens(&self, member: usize) -> f64 {
        let prefix = self.set.members[member].prefix;
        prefix.map_or(0.0, |prefix| prefix.own_tokens as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Subject;
    use super::super::super::fixture::at;
    use super::super::fixture::{found, model, on, sends, sized, then, with};
    use super::*;

    const LONG: Option<CacheTtl> = Some(CacheTtl::OneHour);

    fn saves(subjects: &[Subject]) -> Vec<Finding> {
        found(subjects, Rule::CacheSaves)
    }

    fn says(subjects: &[Subject], text: &str) {
        let found = saves(subjects);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains(text), "{}", found[0].message);
    }

    #[test]
    fn saving_is_what_reads_gain_less_what_writes_cost() {
        // A read gains 1.9 millionths of a dollar a token, a write costs 2 millionths.
        let pair = [
            sends("a", &["0 5 * * *"], None),
            sends("b", &["45 5 * * *"], None),
        ];
        assert_eq!(saves(&pair), []);
        let trio = [
            sends("b", &["45 5 * * *"], None),
            sends("a", &["0 5 * * *"], None),
            sends("c", &["30 6 * * *"], None),
        ];
        let found = saves(&trio);
        assert_eq!(
            found[0].message,
            "`a`, `b` and `c` send the same system prompt of about 2,000 tokens within the hour: \
             with a 1h cache 730 of 1095 calls a year would read it, for about $1.31 less"
        );
        assert_eq!(
            found[0].help.as_deref(),
            Some("write `cache: 1h` in `system` of `a`, `b` and `c`")
        );
        assert_eq!(found[0].job.as_str(), "a");
        assert_eq!(found[0].at, Some(at("2026-12-01T05:45:00Z")));
        let other = found[0].other.as_ref().unwrap();
        assert_eq!(
            (other.job.as_str(), other.at),
            ("b", at("2026-12-01T05:45:00Z"))
        );
        assert_eq!((found[0].cron, found[0].per_year), (Some(0), Some(730)));
    }

    #[test]
    fn any_of_the_jobs_that_join_may_accept_and_needs_to() {
        let jobs = [("a", "0 5"), ("b", "45 5"), ("c", "30 6"), ("d", "15 7")];
        let jobs = jobs.map(|(name, time)| sends(name, &[&format!("{time} * * *")], None));
        let further: Vec<String> = saves(&jobs)[0].also.iter().map(JobId::to_string).collect();
        assert_eq!(further, ["c", "d"]);
        for index in 0..jobs.len() {
            let mut jobs = jobs.clone();
            let accepted = &mut jobs[index].accepted;
            accepted.insert(Rule::CacheSaves, "not worth it".to_owned());
            assert_eq!(saves(&jobs)[0].accepted.as_deref(), Some("not worth it"));
            assert_eq!(found(&jobs, Rule::UnusedAccept), []);
        }
        let mut aside = sends("z", &["0 14 * * *"], None);
        aside.accepted.insert(Rule::CacheSaves, "no".to_owned());
        let jobs = [jobs.as_slice(), &[aside]].concat();
        assert_eq!(saves(&jobs)[0].accepted, None);
        assert_eq!(found(&jobs, Rule::UnusedAccept).len(), 1);
    }

    #[test]
    fn gap_of_an_hour_is_too_long() {
        let trio = |minute: &str| {
            let [b, c] = ["6", "7"].map(|hour| format!("{minute} {hour} * * *"));
            [
                sends("a", &["0 5 * * *"], None),
                sends("b", &[&b], None),
                sends("c", &[&c], None),
            ]
        };
        assert_eq!(saves(&trio("0")), []);
        let near = [
            sends("a", &["0 5 * * *"], None),
            sends("b", &["59 5 * * *"], None),
            sends("c", &["58 6 * * *"], None),
        ];
        says(&near, "730 of 1095");
    }

    #[test]
    fn job_that_meets_nobody_is_left_as_it_is() {
        let jobs = [
            sends("a", &["0 5 * * *"], None),
            sends("b", &["45 5 * * *"], None),
            sends("c", &["30 6 * * *"], None),
            sends("d", &["0 14 * * *"], None),
        ];
        says(&jobs, "730 of 1095");
    }

    #[test]
    fn own_firings_read_each_other() {
        let found = saves(&[sends("a", &["0 5 * * *", "30 5 * * *", "0 6 * * *"], None)]);
        assert!(
            found[0].message.starts_with("`a` sends the same"),
            "{}",
            found[0].message
        );
        let other = found[0].other.as_ref().unwrap();
        assert_eq!((other.job.as_str(), other.cron), ("a", 0));
        assert_eq!(
            (other.at, found[0].cron),
            (at("2026-12-01T05:00:00Z"), Some(1))
        );
    }

    #[test]
    fn short_cache_is_measured_against_the_long_one() {
        let short = Some(CacheTtl::FiveMinutes);
        let pair = [
            sends("a", &["0 5 * * *"], short),
            sends("b", &["45 5 * * *"], short),
        ];
        // Twice 2.5 now, 4 and 0.1 then.
        says(&pair, "$0.66 less");
    }

    #[test]
    fn only_the_tokens_beyond_the_breakpoint_before_are_saved() {
        let with_second = |name, cron: &str| {
            let first = sends(name, &[cron], LONG);
            then(first, "second", 1_000, CacheTtl::FiveMinutes)
        };
        let pair = [
            with_second("a", "0 5 * * *"),
            with_second("b", "45 5 * * *"),
        ];
        // Of 1,000 tokens: twice 2.5 now, 4 and 0.1 then.
        says(&pair, "$0.33 less");
        let found = &saves(&pair)[0];
        assert_eq!(
            found.help.as_deref(),
            Some("write `cache: 1h` in block 2 of `system` of `a` and `b`")
        );
        assert!(
            found
                .message
                .contains("the same system prompt up to block 2 of about 3,000 tokens"),
            "{}",
            found.message
        );
    }

    #[test]
    fn one_hour_for_some_is_completed_and_for_all_is_done() {
        let half = [
            sends("a", &["0 5 * * *"], LONG),
            sends("b", &["45 5 * * *"], None),
        ];
        says(&half, "365 of 730");
        assert_eq!(
            saves(&half)[0].help.as_deref(),
            Some("write `cache: 1h` in `system` of `b`")
        );
        let all = [
            sends("a", &["0 5 * * *"], LONG),
            sends("b", &["45 5 * * *"], LONG),
        ];
        assert_eq!(saves(&all), []);
    }

    #[test]
    fn nothing_is_promised_without_a_price_a_least_length_or_a_steady_text() {
        let trio = |change: &dyn Fn(Subject) -> Subject| {
            let jobs = ["0 5 * * *", "30 5 * * *", "0 6 * * *"];
            let jobs = jobs.iter().zip(["a", "b", "c"]);
            let jobs: Vec<Subject> = jobs
                .map(|(cron, name)| change(sends(name, &[cron], None)))
                .collect();
            saves(&jobs).len()
        };
        assert_eq!(trio(&|job| job), 1);
        let mut unpriced = model();
        unpriced.price = None;
        assert_eq!(trio(&|job| on(job, unpriced.clone())), 0);
        let mut unknown = model();
        unknown.min_cacheable_tokens = None;
        assert_eq!(trio(&|job| on(job, unknown.clone())), 0);
        let tokens = |tokens| move |job| sized(job, tokens);
        assert_eq!(trio(&tokens(511)), 0);
        assert_eq!(trio(&tokens(512)), 1);
        let loose = |job| {
            with(job, |prompt| {
                prompt.prefixes[0].identity = Identity::Loose("{{ date }}".into());
            })
        };
        assert_eq!(trio(&loose), 0);
    }

    #[test]
    fn saving_of_less_than_a_cent_is_not_told() {
        let yearly = |tokens| {
            let jobs = ["0 5 1 1 *", "30 5 1 1 *", "0 6 1 1 *"];
            let jobs = jobs.iter().zip(["a", "b", "c"]);
            let of = |(cron, name): (&&str, &str)| sized(sends(name, &[cron], None), tokens);
            saves(&jobs.map(of).collect::<Vec<_>>()).len()
        };
        // Two reads and a write gain 1.8 millionths of a dollar a token.
        assert_eq!(yearly(5_555), 0);
        assert_eq!(yearly(5_556), 1);
    }
}
