//! Whole plans with the widest gaps, against walks over their firings and against every plan there is.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{
    Change, Extent, GroupSpread, Level, Obstacle, Rule, Rules, Spread, SpreadOutcome, Subject,
    check, spread,
};
use offpeak::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};

use crate::lint::random::{self, Chance};

const DAY: TimeDelta = TimeDelta::days(1);

fn from() -> DateTime<Utc> {
    "2026-12-01T00:00:00Z".parse().unwrap()
}

fn job(name: &str, zone: &str, crons: &[&str]) -> Subject {
    let exprs = crons
        .iter()
        .map(|cron| CronExpr::parse(cron).unwrap())
        .collect();
    let timetable = Timetable::new(exprs, Zones::bundled().get(zone).unwrap());
    Subject::new(JobId::new(name), GroupId::new("main"), timetable)
}

fn rules(zone: &str, windows: Vec<(u16, u16)>) -> Rules {
    let windows = windows.into_iter().map(|(start, end)| PeakWindow {
        start,
        end,
        days: [true; 7],
    });
    let peaks = PeakWindows::new(Zones::bundled().get(zone).unwrap(), windows.collect());
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

/// Off-peak from 00:00 to 07:00, from 09:00 to 18:00, and from 23:00 on.
fn tokyo() -> Rules {
    rules("Asia/Tokyo", vec![(420, 540), (1_080, 1_380)])
}

fn changed(subjects: &[Subject], changes: &[Change]) -> Vec<Subject> {
    let mut subjects = subjects.to_vec();
    for change in changes {
        let is_it = |subject: &&mut Subject| subject.job == change.job;
        let subject = subjects.iter_mut().find(is_it).unwrap();
        let mut exprs = subject.timetable.exprs().to_vec();
        let (old, new) = (&exprs[change.cron], CronExpr::parse(&change.to).unwrap());
        assert_eq!(old.text(), change.from);
        assert_ne!(change.from, change.to);
        assert_eq!(old.day_key(), new.day_key(), "{change:?}");
        assert_eq!(old.times().len(), new.times().len(), "{change:?}");
        exprs[change.cron] = new;
        subject.timetable = Timetable::new(exprs, subject.timetable.zone().clone());
    }
    subjects
}

/// The least gap of a group by a walk over every firing, if it is a day or less.
fn walked(subjects: &[Subject], group: &GroupId, span: TimeDelta) -> Option<TimeDelta> {
    let members = subjects.iter().filter(|subject| subject.group == *group);
    // The proof takes in its first instant, and the walk leaves it out.
    let start = from() - TimeDelta::seconds(1);
    let mut fires: Vec<DateTime<Utc>> = members
        .flat_map(|subject| subject.timetable.between(start, start + span))
        .collect();
    fires.sort_unstable();
    let gaps = fires.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.min().filter(|gap| *gap <= DAY)
}

fn assert_moves_together(change: &Change) {
    let gaps = |text: &str| {
        let expr = CronExpr::parse(text).unwrap();
        let pairs = expr.times().windows(2);
        pairs.map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    assert_eq!(gaps(&change.from), gaps(&change.to), "{change:?}");
}

fn delta(gap: Option<Duration>) -> Option<TimeDelta> {
    gap.map(|gap| TimeDelta::from_std(gap).unwrap())
}

fn assert_keeps_its_word(
    seed: u64,
    subjects: &[Subject],
    rules: &Rules,
    plan: &Spread,
) -> Vec<Subject> {
    let after = changed(subjects, &plan.changes);
    assert_eq!(
        check(&after, rules, from()).findings,
        plan.verdict.findings,
        "seed {seed}"
    );
    let present = check(subjects, rules, from());
    let stops = |findings: &[offpeak::lint::Finding], group: &GroupId| {
        findings.iter().any(|finding| {
            finding.group == *group
                && finding.accepted.is_none()
                && [Rule::KeyGap, Rule::PeakWindow].contains(&finding.rule)
        })
    };
    for group in &plan.groups {
        let was_legal = !stops(&present.findings, &group.group);
        let is_legal = !stops(&plan.verdict.findings, &group.group);
        let changes = plan.changes.iter().filter(|c| c.group == group.group);
        // Only where that leads to no plan, the times of an expression part.
        if group.outcome != SpreadOutcome::Mended(Extent::WidestFound) {
            changes.clone().for_each(assert_moves_together);
        }
        let (changes, wider) = (changes.count(), group.after > group.before);
        match group.outcome {
            SpreadOutcome::Widened(_) => assert!(was_legal && is_legal && changes > 0),
            SpreadOutcome::Mended(_) => assert!(!was_legal && is_legal && changes > 0),
            SpreadOutcome::Already(_) => assert!(was_legal && changes == 0 && !wider),
            SpreadOutcome::NoPlan(_) => assert!(!was_legal && changes == 0 && !wider),
        }
        if was_legal {
            let least = |gap: Option<Duration>| gap.unwrap_or(Duration::MAX);
            assert!(
                least(group.after) >= least(group.before),
                "seed {seed}: {group:?}"
            );
        }
    }
    after
}

#[test]
fn every_plan_for_random_sets_is_legal_and_as_wide_as_it_says() {
    let zones = Zones::bundled();
    let mut moved = BTreeMap::new();
    for seed in 0..20 {
        let mut chance = Chance::new(seed);
        let rules = random::rules(&mut chance, &zones);
        let mut subjects = random::subjects(&mut chance, &zones);
        let plan = spread(&subjects, &rules, from());
        let after = assert_keeps_its_word(seed, &subjects, &rules, &plan);
        // The rarest firings, on leap days, show in the whole horizon only.
        let span = match seed % 10 {
            0 => plan.verdict.until - from(),
            _ => DAY * 730,
        };
        for group in &plan.groups {
            let walked = walked(&after, &group.group, span);
            let told = delta(group.after);
            let holds = match seed % 10 {
                0 => told.is_some_and(|told| told > DAY) || told == walked,
                _ => told.is_none_or(|told| walked.is_none_or(|walked| told <= walked)),
            };
            assert!(holds, "seed {seed}: {group:?} and not {walked:?}");
            let outcome = format!("{:?}", std::mem::discriminant(&group.outcome));
            *moved.entry(outcome).or_insert(0) += 1;
        }
        subjects.reverse();
        let again = spread(&subjects, &rules, from());
        assert_eq!(
            (again.changes, again.groups),
            (plan.changes, plan.groups),
            "seed {seed}"
        );
    }
    assert_eq!(moved.len(), 4, "{moved:?}");
}

/// Jobs in UTC on days of the week, and the minutes of the day that are open: few enough to try every plan.
struct Small {
    subjects: Vec<Subject>,
    rules: Rules,
    jobs: Vec<([bool; 7], i64)>,
    open: Vec<i64>,
}

impl Small {
    fn new(seed: u64, days: &[(&str, [bool; 7])]) -> Self {
        let mut chance = Chance::new(seed);
        let mut open: Vec<i64> = (0..6 + chance.below(4))
            .map(|_| chance.below(96) * 15)
            .collect();
        open.sort_unstable();
        open.dedup();
        let minute = |minute: i64| u16::try_from(minute).unwrap();
        let ends = open.iter().copied().chain([1_440]);
        let starts = std::iter::once(-1).chain(open.iter().copied());
        let windows = starts
            .zip(ends)
            .filter(|(start, end)| start + 1 < *end)
            .map(|(start, end)| (minute(start + 1), minute(end)))
            .collect();
        let (mut subjects, mut jobs) = (Vec::new(), Vec::new());
        for index in 0..2 + chance.below(3) {
            let (text, days) = days[usize::try_from(chance.below(days.len() as i64)).unwrap()];
            let at = open[usize::try_from(chance.below(open.len() as i64)).unwrap()];
            let cron = format!("{} {} * * {text}", at % 60, at / 60);
            subjects.push(job(&format!("j{index}"), "UTC", &[&cron]));
            jobs.push((days, at));
        }
        Self {
            subjects,
            rules: rules("UTC", windows),
            jobs,
            open,
        }
    }

    /// The least gap of a plan in minutes, by the minutes of a week.
    fn gap(&self, plan: &[i64]) -> i64 {
        let mut fires: Vec<i64> = Vec::new();
        for ((days, _), at) in self.jobs.iter().zip(plan) {
            let firing = (0i64..).zip(days).filter(|(_, is_on)| **is_on);
            fires.extend(firing.map(|(day, _)| day * 1_440 + at));
        }
        fires.sort_unstable();
        let over = fires.first().unwrap() + 7 * 1_440 - fires.last().unwrap();
        let gaps = fires.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.chain([over]).min().unwrap()
    }

    /// The widest least gap of all plans and the least movement that reaches it.
    fn best(&self) -> (i64, i64) {
        let mut plan = vec![0; self.jobs.len()];
        let mut best = (-1, 0);
        for number in 0..self.open.len().pow(self.jobs.len() as u32) {
            let mut rest = number;
            for at in &mut plan {
                *at = self.open[rest % self.open.len()];
                rest /= self.open.len();
            }
            let moved = plan
                .iter()
                .zip(&self.jobs)
                .map(|(at, (_, was))| (at - was).abs());
            best = best.max((self.gap(&plan).min(1_440), -moved.sum::<i64>()));
        }
        (best.0, -best.1)
    }

    fn told(&self) -> (GroupSpread, i64) {
        let plan = spread(&self.subjects, &self.rules, from());
        let minute = |text: &str| i64::from(CronExpr::parse(text).unwrap().times()[0]);
        let moved = plan
            .changes
            .iter()
            .map(|c| (minute(&c.to) - minute(&c.from)).abs());
        (plan.groups[0].clone(), moved.sum())
    }
}

fn minutes(gap: Option<Duration>) -> i64 {
    gap.map_or(1_440, |gap| i64::try_from(gap.as_secs() / 60).unwrap())
}

#[test]
fn jobs_of_every_day_get_the_widest_of_all_plans_with_the_least_movement() {
    for seed in 0..40 {
        let small = Small::new(seed, &[("*", [true; 7])]);
        let (best, told) = (small.best(), small.told());
        if best.0 < 15 {
            assert!(matches!(told.0.outcome, SpreadOutcome::NoPlan(_)));
            continue;
        }
        assert_eq!(
            (minutes(told.0.after), told.1),
            best,
            "seed {seed}: {told:?}"
        );
        let is_proved = matches!(
            told.0.outcome,
            SpreadOutcome::Widened(Extent::Widest)
                | SpreadOutcome::Mended(Extent::Widest)
                | SpreadOutcome::Already(Extent::Widest)
        );
        assert!(is_proved, "seed {seed}: {told:?}");
    }
}

#[test]
fn jobs_of_various_days_get_the_widest_of_all_plans_where_there_are_few() {
    let days = [
        ("*", [true; 7]),
        ("mon-fri", [true, true, true, true, true, false, false]),
        ("sat,sun", [false, false, false, false, false, true, true]),
        ("mon", [true, false, false, false, false, false, false]),
        ("wed", [false, false, true, false, false, false, false]),
    ];
    for seed in 1_000..1_050 {
        let small = Small::new(seed, &days);
        let (best, told) = (small.best(), small.told());
        if best.0 < 15 {
            assert!(matches!(told.0.outcome, SpreadOutcome::NoPlan(_)));
            continue;
        }
        assert_eq!(minutes(told.0.after), best.0, "seed {seed}: {told:?}");
    }
}

fn outcome(subjects: &[Subject]) -> SpreadOutcome {
    let plan = spread(subjects, &tokyo(), from());
    assert_keeps_its_word(0, subjects, &tokyo(), &plan);
    plan.groups[0].outcome.clone()
}

fn texts(plan: &Spread) -> Vec<(&str, usize, &str)> {
    let changes = plan.changes.iter();
    changes
        .map(|change| (change.job.as_str(), change.cron, change.to.as_str()))
        .collect()
}

#[test]
fn what_stands_in_the_way_of_a_plan_is_named() {
    let dense = job("a", "Asia/Tokyo", &["*/5 2 * * *"]);
    let own_times = Obstacle::OwnTimes {
        job: dense.job.clone(),
        gap: Duration::from_mins(5),
    };
    assert_eq!(outcome(&[dense]), SpreadOutcome::NoPlan(own_times));
    // Ten minutes over midnight.
    let over_midnight = job("a", "Asia/Tokyo", &["55 0,23 * * *", "5 0 * * *"]);
    let late = job("a", "Asia/Tokyo", &["5 0,12 * * *"]);
    let hourly = job("b", "Asia/Tokyo", &["0 * * * *"]);
    let no_time = Obstacle::NoOffPeakTime {
        job: hourly.job.clone(),
    };
    assert!(matches!(
        outcome(&[over_midnight]),
        SpreadOutcome::Mended(_)
    ));
    assert_eq!(outcome(&[late, hourly]), SpreadOutcome::NoPlan(no_time));
    let crowd: Vec<Subject> = (0..70)
        .map(|n| job(&format!("j{n}"), "Asia/Tokyo", &["0 2 * * *"]))
        .collect();
    let firings = crowd.len();
    assert_eq!(
        outcome(&crowd),
        SpreadOutcome::NoPlan(Obstacle::Crowded { firings })
    );
}

#[test]
fn off_peak_hours_are_filled_to_the_last_minute() {
    // 36 rooms by day, and 32 by night: before and after midnight are one.
    let jobs: Vec<Subject> = (0..68)
        .map(|n| job(&format!("j{n:02}"), "Asia/Tokyo", &["0 2 * * *"]))
        .collect();
    let plan = spread(&jobs, &tokyo(), from());
    assert_eq!(plan.groups[0].after, Some(Duration::from_mins(15)));
    assert_eq!(
        plan.groups[0].outcome,
        SpreadOutcome::Mended(Extent::Widest)
    );
    assert_keeps_its_word(0, &jobs, &tokyo(), &plan);
}

#[test]
fn jobs_on_days_that_never_meet_need_no_room_from_each_other() {
    let jobs = [
        job("a", "Asia/Tokyo", &["0 2 * * mon"]),
        job("b", "Asia/Tokyo", &["0 2 * * wed"]),
        job("c", "Asia/Tokyo", &["0 2 * * sat"]),
    ];
    assert_eq!(outcome(&jobs), SpreadOutcome::Already(Extent::Widest));
}

#[test]
fn times_of_one_expression_move_together_and_bound_the_gap() {
    let jobs = [
        job("a", "Asia/Tokyo", &["0 0-6/3,12 * * *"]),
        job("b", "Asia/Tokyo", &["15 2 * * *"]),
    ];
    let plan = spread(&jobs, &tokyo(), from());
    assert_keeps_its_word(0, &jobs, &tokyo(), &plan);
    assert_eq!(texts(&plan), [("b", 0, "0 9 * * *")]);
    assert_eq!(plan.groups[0].after, Some(Duration::from_hours(3)));
    assert_eq!(
        plan.groups[0].outcome,
        SpreadOutcome::Widened(Extent::Widest)
    );
}

#[test]
fn expressions_that_share_a_slot_stay_together() {
    let jobs = [
        job("a", "Asia/Tokyo", &["0 2 * * *", "0 2,11 * * mon"]),
        job("b", "Asia/Tokyo", &["@daily"]),
    ];
    let plan = spread(&jobs, &tokyo(), from());
    let after = assert_keeps_its_word(0, &jobs, &tokyo(), &plan);
    let firings = |subjects: &[Subject]| {
        let fires = subjects[0].timetable.between(from(), from() + DAY * 28);
        fires.len()
    };
    assert_eq!(firings(&after), firings(&jobs));
}

#[test]
fn clock_changes_count_when_gaps_are_made() {
    // On 28 March 2027 an hour is missing between 02:00 and 03:00.
    let rules = rules("UTC", vec![]);
    let jobs = [
        job("a", "Europe/Berlin", &["0 1 * * *"]),
        job("b", "Europe/Berlin", &["30 1 * * *"]),
    ];
    let plan = spread(&jobs, &rules, from());
    let after = assert_keeps_its_word(0, &jobs, &rules, &plan);
    // Twelve hours on every other day would be eleven on that one.
    assert_eq!(plan.groups[0].after, Some(Duration::from_mins(690)));
    assert_eq!(
        walked(&after, &GroupId::new("main"), DAY * 730),
        Some(TimeDelta::minutes(690))
    );
}

#[test]
fn movement_is_as_little_as_the_gap_allows() {
    let jobs = [
        job("a", "Asia/Tokyo", &["0 4 * * *"]),
        job("b", "Asia/Tokyo", &["0 2 * * *"]),
    ];
    let plan = spread(&jobs, &tokyo(), from());
    assert_eq!(texts(&plan), [("a", 0, "0 14 * * *")]);
}

#[test]
fn nothing_and_what_never_fires_need_no_plan() {
    let plan = spread(&[], &tokyo(), from());
    assert!(plan.groups.is_empty() && plan.changes.is_empty() && plan.is_legal());
    let never = [
        job("a", "UTC", &["0 3 30 2 *"]),
        job("b", "UTC", &["0 3 31 2 *"]),
    ];
    assert_eq!(outcome(&never), SpreadOutcome::Already(Extent::Widest));
}

fn found(subjects: &[Subject], rules: &Rules) -> Spread {
    let plan = spread(subjects, rules, from());
    assert_keeps_its_word(0, subjects, rules, &plan);
    plan
}

#[test]
fn rules_that_are_off_bound_no_plan() {
    let off = |rule| {
        let mut rules = tokyo();
        rules.levels.set(rule, Level::Off);
        rules
    };
    let hourly = [job("a", "Asia/Tokyo", &["0 * * * *"])];
    let plan = found(&hourly, &off(Rule::PeakWindow));
    assert_eq!(
        plan.groups[0].outcome,
        SpreadOutcome::Already(Extent::Widest)
    );
    // A job of every five minutes is no obstacle where there is no least gap, and the other leaves the window.
    let dense = [
        job("a", "Asia/Tokyo", &["*/5 2 * * *"]),
        job("b", "Asia/Tokyo", &["0 8 * * *"]),
    ];
    let plan = found(&dense, &off(Rule::KeyGap));
    assert_eq!(
        plan.groups[0].outcome,
        SpreadOutcome::Mended(Extent::Widest)
    );
    assert_eq!(plan.groups[0].after, Some(Duration::from_mins(5)));
}

#[test]
fn what_a_job_accepts_is_legal_and_a_plan_is_proposed_only_if_it_is_wider() {
    let accepting = |rule, mut subject: Subject| {
        subject.accepted.insert(rule, "agreed".to_owned());
        subject
    };
    let dense = || accepting(Rule::KeyGap, job("a", "Asia/Tokyo", &["*/5 2 * * *"]));
    let hourly = accepting(Rule::PeakWindow, job("a", "Asia/Tokyo", &["0 * * * *"]));
    for jobs in [vec![dense()], vec![hourly]] {
        let plan = found(&jobs, &tokyo());
        assert!(matches!(plan.groups[0].outcome, SpreadOutcome::Already(_)));
        assert!(plan.is_legal() && plan.changes.is_empty());
    }
    let near = [
        accepting(Rule::KeyGap, job("a", "Asia/Tokyo", &["0 2 * * *"])),
        job("b", "Asia/Tokyo", &["5 2 * * *"]),
    ];
    let plan = found(&near, &tokyo());
    assert_eq!(
        plan.groups[0].outcome,
        SpreadOutcome::Widened(Extent::Widest)
    );
    // What the others do is their own affair.
    let other = [dense(), job("b", "Asia/Tokyo", &["0 8 * * *"])];
    assert!(matches!(
        found(&other, &tokyo()).groups[0].outcome,
        SpreadOutcome::Mended(_)
    ));
}

#[test]
fn group_without_a_plan_of_whole_moves_is_mended() {
    let rules = rules("Asia/Tokyo", vec![(420, 540), (1_080, 1_380)]);
    let jobs = [job("a", "Europe/Berlin", &["0 */7 * * *"])];
    let plan = found(&jobs, &rules);
    assert_eq!(
        plan.groups[0].outcome,
        SpreadOutcome::Mended(Extent::WidestFound)
    );
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(
        delta(plan.groups[0].after),
        walked(
            &changed(&jobs, &plan.changes),
            &GroupId::new("main"),
            DAY * 730
        )
    );
}
