//! What the linter proves is what the daemon fires: findings against its agenda.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Finding, Rule, Rules, Subject, check};
use offpeak::schedule::{Agenda, AgendaLine, Zones};

use super::brute::describe;
use super::random::{self, Chance};

/// The agenda that the daemon makes of these subjects.
fn agenda(subjects: &[Subject], from: DateTime<Utc>) -> Agenda {
    let line = |subject: &Subject| AgendaLine {
        group: subject.group.clone(),
        job: (!subject.job.as_str().starts_with("pickup:")).then(|| subject.job.clone()),
        timetable: subject.timetable.clone(),
        starts_after: from - TimeDelta::seconds(1),
    };
    Agenda::new(subjects.iter().map(line).collect())
}

/// The two jobs of a pair by name, with the first instant at which they are too close, and the gap.
type Pairs = BTreeMap<(JobId, JobId), (DateTime<Utc>, TimeDelta)>;

/// Wakes at every slot like the daemon does, and looks back from it.
fn walked(agenda: &Agenda, from: DateTime<Utc>, until: DateTime<Utc>, least: TimeDelta) -> Pairs {
    let mut pairs = Pairs::new();
    let mut recent: Vec<(DateTime<Utc>, GroupId, JobId)> = Vec::new();
    let mut watermark = from - TimeDelta::seconds(1);
    while let Some(next) = agenda
        .next_after(watermark)
        .filter(|next| next.fire_at < until)
    {
        let now = next.fire_at;
        recent.retain(|(at, ..)| now - *at < least);
        for entry in agenda.due(watermark, now) {
            assert_eq!(entry.fire_at, now, "nothing is due before the next slot");
            let pickup = || JobId::new(format!("pickup:{}", entry.group));
            let job = entry.job.clone().unwrap_or_else(pickup);
            // The nearest slot of each other job is the last one.
            for (at, group, other) in recent.iter().rev() {
                if *group != entry.group || (*other == job && *at == now) || least.is_zero() {
                    continue;
                }
                let key = if *other < job {
                    (other.clone(), job.clone())
                } else {
                    (job.clone(), other.clone())
                };
                let known = pairs.entry(key).or_insert((now, now - *at));
                if known.0 == now {
                    known.1 = known.1.min(now - *at);
                }
            }
            recent.push((now, entry.group, job));
        }
        watermark = now;
    }
    pairs
}

fn told(findings: &[Finding], until: DateTime<Utc>) -> Pairs {
    let gaps = findings
        .iter()
        .filter(|finding| finding.rule == Rule::KeyGap && finding.at.unwrap() < until);
    gaps.map(|finding| {
        let mut names = [finding.job.clone(), finding.other.clone().unwrap().job];
        names.sort();
        let [first, second] = names;
        let gap = TimeDelta::from_std(finding.gap.unwrap()).unwrap();
        ((first, second), (finding.at.unwrap(), gap))
    })
    .collect()
}

#[test]
fn pairs_that_are_told_are_those_of_the_daemons_agenda() {
    let zones = Zones::bundled();
    let mut seen = 0;
    for seed in 3_000..3_030 {
        let mut chance = Chance::new(seed);
        let random = random::rules(&mut chance, &zones);
        let rules = Rules::new(random.min_gap, random.comfortable_gap, random.peaks);
        let subjects = random::subjects(&mut chance, &zones);
        let from = super::from() + TimeDelta::minutes(chance.below(2 * 525_600));
        let until = from + TimeDelta::days(400);
        let least = TimeDelta::from_std(rules.min_gap).unwrap();
        let walked = walked(&agenda(&subjects, from), from, until, least);
        let told = told(&check(&subjects, &rules, from).findings, until);
        seen += told.len();
        assert_eq!(told, walked, "seed {seed}: {}", describe(&subjects));
    }
    assert!(seen > 30, "only {seen} pairs");
}
